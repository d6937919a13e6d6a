"""A wall clock that is set while the daemon runs: it goes on as if nothing had happened (D13)."""

import re
import socket
from pathlib import Path

from tests.support import wall_clock
from tests.support.daemon import Daemon, until
from tests.support.subscriber import Subscriber, ask, hub, settings, until_open
from tests.system.test_start_stop import edit

HOUR, DAY = 3_600, 86_400
SETTINGS = "server: {header_deadline: 0.5}\n"
WATCHDOG = {"WATCHDOG_USEC": "900000"}  # a sign of life each 0.3 s


def check_alive(daemon: Daemon, subscriber: Subscriber, name: str) -> None:
    """Whatever waits for its time: new data, a delivery, systemd, a client that says nothing."""
    delivered, signs = len(subscriber.deliveries()), daemon.heard.count("WATCHDOG=1")
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as mute:
        mute.sendall(b"GET ")
        edit(daemon, name=name)
        until(lambda: daemon.get("/reviews.json").json()["business"]["name"] == name, "new data")
        subscriber.until_deliveries(delivered + 1)
        until(lambda: daemon.heard.count("WATCHDOG=1") > signs + 1, "signs of life")
        assert mute.recv(100).startswith(b"HTTP/1.1 408 ")


@wall_clock.needed
def test_a_clock_that_is_set_stops_nothing_and_ends_no_subscription(tmp_path: Path) -> None:
    clock = wall_clock.WallClock(tmp_path / "clock")
    with Subscriber(tmp_path) as subscriber:
        daemon = Daemon(
            tmp_path,
            SETTINGS + settings(subscriber.ca_file),
            environ={**clock.environ, **WATCHDOG},
        )
        with daemon:
            until_open(daemon)
            for path, lease in (("/callback", 2 * DAY), ("/short", HOUR)):
                assert 202 == ask(daemon, subscriber.url(path), lease_seconds=lease).status
            until(lambda: hub(daemon)["active"] == 2, "the subscriptions")
            for off in (-HOUR, -DAY, DAY):
                clock.set(off)
                check_alive(daemon, subscriber, f"at {off}")
                assert 2 == hub(daemon)["active"]
            assert len(subscriber.deliveries()) == len(subscriber.deliveries("/short"))
            assert 0 == daemon.stop()
        said = [re.search("the clock was set (.*);", line) for line in daemon.unusual]
        jumps = [found[1] for found in said if found is not None]
        assert ["back by 3,600 s", "back by 82,800 s", "ahead by 172,800 s"] == jumps
