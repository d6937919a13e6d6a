"""A wall clock that is set while the daemon runs stops nothing and ends no lease (D13)."""

import socket
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, until
from tests.support.subscriber import Subscriber, ask, hub, settings, until_open

HOUR, DAY = 3_600, 86_400
SETTINGS = "server: {idle: 0.5}\n"
WATCHDOG = {"WATCHDOG_USEC": "900000"}  # a sign of life each 0.3 s

LIBRARY = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)
"""The variant for programs with threads."""

needs_library = pytest.mark.skipif(
    LIBRARY is None, reason="no libfaketime: apt-get install faketime sets the clock of a process"
)


class WallClock:
    """The wall clock of all processes that are started with ``environ``.

    Args:
        file: Says how far it is off; it is read whenever one of them asks for the time.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self.environ = {
            "LD_PRELOAD": str(LIBRARY),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }
        self.set(0)

    def set(self, seconds: int) -> None:
        """Set it so many seconds ahead of the right time, or behind."""
        aside = self._file.with_suffix(".new")
        aside.write_text(f"{seconds:+d}\n")
        aside.replace(self._file)  # never half of it


def check_alive(daemon: Daemon, subscriber: Subscriber, name: str) -> None:
    """Check all that waits: new data, a delivery, the watchdog, the deadline of a silent client."""
    delivered, signs = len(subscriber.deliveries("/callback")), daemon.heard.count("WATCHDOG=1")
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as mute:
        daemon.edit(name=name)
        until(lambda: daemon.get("/reviews.json").json()["business"]["name"] == name, "new data")
        subscriber.until_deliveries(delivered + 1, "/callback")
        until(lambda: daemon.heard.count("WATCHDOG=1") > signs + 1, "signs of life")
        assert b"" == mute.recv(100)


@needs_library
def test_clock_that_is_set_stops_nothing_and_ends_no_lease(tmp_path: Path) -> None:
    clock = WallClock(tmp_path / "clock")
    with Subscriber(tmp_path) as subscriber:
        daemon = Daemon(
            tmp_path, SETTINGS + settings(subscriber.ca_file), environ={**clock.environ, **WATCHDOG}
        )
        with daemon:
            until_open(daemon)
            for path, lease in (("/callback", 2 * DAY), ("/short", HOUR)):
                assert 202 == ask(daemon, subscriber.url(path), lease_seconds=lease).status
            until(lambda: hub(daemon)["active"] == 2, "the subscriptions")
            for off in (-DAY, DAY):
                clock.set(off)
                check_alive(daemon, subscriber, f"at {off}")
            assert 1 == hub(daemon)["active"]  # by this clock the short lease has expired
            clock.set(0)
            assert 2 == hub(daemon)["active"]
            check_alive(daemon, subscriber, "at the right time")
            subscriber.until_deliveries(2, "/short")
            assert 0 == daemon.stop()
