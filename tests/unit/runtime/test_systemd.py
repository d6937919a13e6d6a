"""Notifications of systemd (sd_notify(3), O1-O4), on a real datagram socket."""

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from twisted.logger import ILogObserver, LogEvent, globalLogPublisher
from zope.interface import provider

from reviewsd.runtime.systemd import Notifier, watchdog_interval


class Manager:
    """systemd's end of the socket."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.settimeout(0)

    def heard(self) -> list[str]:
        """The datagrams so far."""
        messages = []
        try:
            while True:
                messages.append(self.socket.recv(4096).decode())
        except BlockingIOError:
            return messages


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    manager = Manager(str(tmp_path / "notify"))
    yield manager
    manager.socket.close()


@pytest.fixture
def notifier(manager: Manager, tmp_path: Path) -> Notifier:
    return Notifier(str(tmp_path / "notify"))


@pytest.fixture
def warnings() -> Iterator[list[LogEvent]]:
    events: list[LogEvent] = []

    @provider(ILogObserver)
    def observe(event: LogEvent) -> None:
        if event["log_namespace"] == "reviewsd.runtime.systemd.Notifier":
            events.append(event)

    globalLogPublisher.addObserver(observe)
    yield events
    globalLogPublisher.removeObserver(observe)


@pytest.mark.parametrize(
    ("tell", "datagram"),
    [
        (Notifier.ready, "READY=1"),
        (Notifier.stopping, "STOPPING=1"),
        (Notifier.watchdog, "WATCHDOG=1"),
        (lambda notifier: notifier.extend(20), "EXTEND_TIMEOUT_USEC=20000000"),
        (lambda notifier: notifier.extend(0.5), "EXTEND_TIMEOUT_USEC=500000"),
        (lambda notifier: notifier.status("Loading 3 reviews"), "STATUS=Loading 3 reviews"),
        (lambda notifier: notifier.status("é \udce4\x1b"), r"STATUS=é \udce4\u001b"),
    ],
)
def test_each_message_is_one_datagram(
    notifier: Notifier, manager: Manager, tell: Callable[[Notifier], None], datagram: str
) -> None:
    tell(notifier)
    assert [datagram] == manager.heard()


def test_status_cannot_contain_another_field(notifier: Notifier, manager: Manager) -> None:
    """It may quote a reason from the operator's data."""
    notifier.status("refused: \nREADY=1\r\n")
    assert manager.heard() == ["STATUS=refused: READY=1"]


def test_the_time_of_a_reload_is_the_clock_systemd_reads(manager: Manager, tmp_path: Path) -> None:
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    Notifier(str(tmp_path / "notify")).reloading()
    after = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    (message,) = manager.heard()
    assert before - 1 <= int(message.rpartition("=")[2]) <= after + 1


def test_an_abstract_address_begins_with_an_at() -> None:
    name = f"reviewsd-test-{os.getpid()}"
    manager = Manager(f"\0{name}")
    try:
        Notifier(f"@{name}").ready()
        assert manager.heard() == ["READY=1"]
    finally:
        manager.socket.close()


@pytest.mark.parametrize("address", [None, ""])
def test_nothing_is_sent_without_an_address(address: str | None, warnings: list[LogEvent]) -> None:
    notifier = Notifier(address)
    notifier.ready()
    notifier.watchdog()
    assert warnings == []


@pytest.mark.parametrize(
    "address", ["/nowhere/notify", "vsock:2:1234", "/" + "x" * 200, "/nul\0/x", "@" + "x" * 200]
)
def test_an_impossible_address_is_logged_once(address: str, warnings: list[LogEvent]) -> None:
    notifier = Notifier(address)
    notifier.ready()
    notifier.stopping()
    assert [address] == [event["address"] for event in warnings]


def test_missing_socket_is_logged_only(
    notifier: Notifier, manager: Manager, tmp_path: Path, warnings: list[LogEvent]
) -> None:
    notifier.ready()
    (tmp_path / "notify").unlink()
    notifier.watchdog()
    notifier.watchdog()
    assert manager.heard() == ["READY=1"]
    assert len(warnings) == 1


def test_manager_that_does_not_read_is_logged_only(
    notifier: Notifier, manager: Manager, warnings: list[LogEvent]
) -> None:
    """A full queue of datagrams blocks the sender, for a second at most."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as filler:
        filler.settimeout(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                filler.sendto(b"full", manager.socket.getsockname())
    notifier.ready()
    assert len(warnings) == 1
    assert set(manager.heard()) == {"full"}


@pytest.mark.parametrize(
    ("environ", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 10.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "42"}, 10.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "43"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "-5"}, None),
        ({"WATCHDOG_USEC": "30s"}, None),
        ({"WATCHDOG_USEC": ""}, None),
        ({"WATCHDOG_USEC": "9" * 5000}, None),
        ({"WATCHDOG_PID": "42"}, None),
    ],
)
def test_watchdog_interval_is_a_third_of_its_timeout(
    environ: dict[str, str], seconds: float | None
) -> None:
    assert seconds == watchdog_interval(environ, pid=42)
