"""Readers of a real daemon that are too slow are cut off, and cost little (S5, F8).

Steady slow readers are in tests/unit/server/test_write_buffer.py, deadlines of heads and bodies and full servers in
test_connection_time.py and test_connection_pressure.py there, with a fake clock.
"""

import json
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.daemon import HAND_MADE, Daemon, until
from tests.support.raw import Wire, reset, responses

MIN_SIZE = 30_000_000  # bytes of the large response
DRAIN = 10  # seconds over which a client must keep to the minimum rate (S5)

LARGE = b"GET /insights.json HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon for all tests; its clients may cause no error in its log."""
    directory = tmp_path_factory.mktemp("daemon")
    with Daemon(directory) as running:
        write_large(running.data)
        assert "published" == running.reload()["outcome"]
        yield running
        assert [] == [line for line in running.unusual if "notify" not in line]


def write_large(data: Path) -> None:
    """Write insights of 30 MB, with an unknown member that is published quickly."""
    insights = json.loads(HAND_MADE.read_bytes())
    insights["padding"] = MIN_SIZE * "x"
    (data / "insights.json").write_text(json.dumps(insights))


class SlowReaders(NamedTuple):
    """The outcome of fifty readers that take 2 kB a second of 30 MB each."""

    growth: int
    """Bytes of memory that they took together at most."""
    ends: list[float]
    """The seconds after which each was cut off."""
    latency: float
    """The longest time that another client waited for a response, in seconds."""


@pytest.fixture(scope="module")
def slow(daemon: Daemon) -> SlowReaders:
    """Run slow readers for a dozen seconds, once for all tests."""
    readers, latency, ends = 50, 0.0, dict[int, float]()
    for _ in range(3):
        daemon.get("/insights.json")
    before = peak = daemon.memory()
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(daemon.port, 32_768)) for _ in range(readers)]
        began = time.monotonic()
        for wire in wires:
            wire.send(LARGE)
        while len(ends) < readers and time.monotonic() - began < 3 * DRAIN:
            for number, wire in enumerate(wires):
                if number not in ends and wire.gone():
                    ends[number] = time.monotonic() - began
                elif number not in ends:
                    wire.read(0.01, 500)
            start = time.monotonic()
            assert 200 == daemon.get("/healthz").status
            latency = max(latency, time.monotonic() - start)
            peak = max(peak, daemon.memory())
            time.sleep(0.2)
    return SlowReaders(peak - before, sorted(ends.values()), latency)


def test_too_slow_reader_is_cut_off(slow: SlowReaders) -> None:
    assert 50 == len(slow.ends)
    assert DRAIN * 0.8 < slow.ends[0]
    assert slow.ends[-1] < DRAIN * 1.6


def test_slow_readers_take_little_memory(slow: SlowReaders) -> None:
    assert slow.growth < MIN_SIZE


def test_slow_readers_do_not_delay_others(slow: SlowReaders) -> None:
    assert slow.latency < 0.5


def sockets(daemon: Daemon) -> int:
    """Return the number of the daemon's open sockets."""
    return sum(file.is_socket() for file in Path(f"/proc/{daemon.process.pid}/fd").iterdir())


def test_sockets_of_slow_readers_are_closed(daemon: Daemon, slow: SlowReaders) -> None:
    until(lambda: sockets(daemon) < 12, "few open sockets", seconds=5)


@pytest.mark.parametrize("leave", [socket.socket.close, reset], ids=["closes", "resets"])
def test_sockets_of_readers_that_leave_early_are_closed(
    daemon: Daemon, leave: Callable[[socket.socket], None]
) -> None:
    """The fixture checks that the log has no error."""
    wires = [reading(daemon) for _ in range(12)]
    assert sockets(daemon) > 12
    for wire in wires:
        leave(wire.socket)
    until(lambda: sockets(daemon) < 12, "few open sockets", seconds=5)


def reading(daemon: Daemon) -> Wire:
    """Return a client that has the begin of the large response."""
    wire = Wire(daemon.port, 65_536)
    wire.send(LARGE)
    wire.read(30)
    return wire


def test_response_under_way_is_finished_when_the_daemon_stops(daemon: Daemon) -> None:
    """O4; the kernel refuses new connections, so another instance can take them."""
    expected = daemon.get("/insights.json").body
    with reading(daemon) as reader, Wire(daemon.port) as idle:
        answer = idle.ask(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        daemon.process.send_signal(signal.SIGTERM)

        assert answer == idle.read_all(), "an idle connection is closed at once"
        with pytest.raises(ConnectionRefusedError):
            daemon.get("/healthz")
        assert len(reader.received) < MIN_SIZE / 2
        assert daemon.process.poll() is None
        rest = b"".join(iter(lambda: reader.socket.recv(262_144), b""))
        assert [expected] == [part.body for part in responses(reader.received + rest)]
    assert 0 == daemon.process.wait(10)
    daemon.start()  # for the others
