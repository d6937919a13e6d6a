"""Slow clients of a real daemon, and a daemon with all its connections in use (S1, S4, S5, F5, F8).

Steady slow readers are in tests/unit/server/test_write_buffer.py, with real sockets and a fake clock.

All slow requests are sent at the same time, since a deadline takes 20 s. Times are measured from before the first
byte is sent.
"""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from reviewsd.server.connections import ConnectionLimits
from tests.support.daemon import HAND_MADE, Daemon, until
from tests.support.raw import ReceivedResponse, Wire, responses

HEADER, BODY = ConnectionLimits().header, ConnectionLimits().body
LATE = 20.0  # seconds; a deadline may be noticed so late on a busy machine
DRIP = 0.5  # seconds between two bytes
MIN_SIZE = 30_000_000  # bytes of the large response
DRAIN = 10  # seconds over which a client must keep to the minimum rate (S5)

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
LARGE = b"GET /insights.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
FORM = b"POST /api/websub/hub HTTP/1.1\r\nHost: localhost\r\n"
CALL = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


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


class End(NamedTuple):
    """The end of a connection."""

    seconds: float
    """The age of the connection."""
    answers: list[ReceivedResponse]


def check_timeout(end: End, deadline: float) -> None:
    """Check that the client got 408 after its deadline, and the connection was closed."""
    (answer,) = end.answers
    assert 408 == answer.status
    assert answer.closes
    assert ["no-store"] == answer.values("Cache-Control")
    assert deadline <= end.seconds < deadline + LATE


# Heads and bodies ---------------------------------------------------------------------------------


HEADS = {
    "request line": b"GET /" + 99 * b"a",
    "fields": HEALTH[:-2] + 99 * b"A: b\r\n",
}
BODIES = {
    "hub": (FORM + b"Content-Length: 99\r\n\r\n", 99 * b"a"),
    "chunks": (FORM + b"Transfer-Encoding: chunked\r\n\r\n", 99 * b"1\r\na\r\n"),
    "skipped body": (
        b"PUT /feed.xml HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n",
        99 * b" ",
    ),
}


def test_request_in_single_bytes_is_refused_at_its_deadline(daemon: Daemon) -> None:
    """F5."""
    rest = {name: iter(data) for name, data in HEADS.items()}
    rest |= {name: iter(body) for name, (_, body) in BODIES.items()}
    deadlines = {**dict.fromkeys(HEADS, HEADER), **dict.fromkeys(BODIES, BODY)}
    with ExitStack() as stack:
        wires = {name: stack.enter_context(Wire(daemon.port)) for name in rest}
        silent = stack.enter_context(Wire(daemon.port))
        silent.send(HEALTH[:-2])
        for name, (head, _) in BODIES.items():
            wires[name].send(head)
        ends = dict[str, End]()
        while len(ends) < len(wires):
            for name in wires.keys() - ends:
                wire = wires[name]
                wire.read(0.01)
                if wire.received or wire.closed:
                    seconds = time.monotonic() - wire.opened
                    ends[name] = End(seconds, responses(wire.read_all()))
                else:
                    wire.send(bytes([next(rest[name])]))
            time.sleep(DRIP)
        for name, end in ends.items():
            check_timeout(end, deadlines[name])
        (answer,) = responses(silent.read_all())
        assert 408 == answer.status


# Slow readers -------------------------------------------------------------------------------------


class SlowReaders(NamedTuple):
    """The outcome of fifty readers that take 2 kB a second of 30 MB each."""

    growth: int
    """Bytes of memory that they took together at most."""
    ends: list[float]
    """The seconds after which each was cut off."""
    latency: float
    """The longest time that another client waited for a response, in seconds."""


def own_memory(daemon: Daemon) -> int:
    """Return the bytes of memory of the process without mapped files."""
    assert daemon.process is not None
    status = Path(f"/proc/{daemon.process.pid}/status").read_text()
    lines = dict(line.split(":", 1) for line in status.splitlines())
    return 1024 * (int(lines["VmRSS"].split()[0]) - int(lines["RssFile"].split()[0]))


@pytest.fixture(scope="module")
def slow(daemon: Daemon) -> SlowReaders:
    """Run slow readers for a dozen seconds, once for all tests."""
    readers, latency, ends = 50, 0.0, dict[int, float]()
    for _ in range(3):
        daemon.get("/insights.json")
    before = peak = own_memory(daemon)
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
            peak = max(peak, own_memory(daemon))
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


def test_sockets_of_slow_readers_are_closed(daemon: Daemon, slow: SlowReaders) -> None:
    assert daemon.process is not None
    directory = Path(f"/proc/{daemon.process.pid}/fd")

    def sockets() -> int:
        return sum(file.is_socket() for file in directory.iterdir())

    until(lambda: sockets() < 12, "few open sockets", seconds=5)


# Full servers -------------------------------------------------------------------------------------

MAX_CONNECTIONS = 16


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path, f"server: {{max_connections: {MAX_CONNECTIONS}}}\n") as running:
        yield running


@pytest.mark.parametrize("used", [True, False], ids=["idle", "silent"])
def test_oldest_idle_connection_is_closed_when_full(small: Daemon, *, used: bool) -> None:
    """S4."""
    with ExitStack() as stack:
        wires = []
        for _ in range(MAX_CONNECTIONS):
            wires.append(stack.enter_context(Wire(small.port)))
            if used:
                wires[-1].ask(HEALTH)
            time.sleep(0.3 if len(wires) < 3 else 0)  # the first are older by more than a sweep
        newest = stack.enter_context(Wire(small.port))

        assert newest.ask(HEALTH).endswith(b'{"status":"ok"}')
        if used:
            until(wires[0].gone, "the oldest is closed", seconds=5)
            for wire in wires[-8:]:
                assert wire.ask(HEALTH).endswith(b'{"status":"ok"}')


def test_connection_with_a_partial_request_is_not_closed_when_full(small: Daemon) -> None:
    with ExitStack() as stack:
        busy = [stack.enter_context(Wire(small.port)) for _ in range(MAX_CONNECTIONS // 2)]
        for wire in busy:
            wire.send(FORM + b"Content-Length: 3\r\n\r\n")
        for _ in range(2 * MAX_CONNECTIONS):
            assert stack.enter_context(Wire(small.port)).ask(HEALTH).endswith(b'{"status":"ok"}')
        for wire in busy:
            assert wire.ask(b"abc").startswith(b"HTTP/1.1 415 ")


def test_new_connection_is_503_when_all_are_busy(small: Daemon) -> None:
    with ExitStack() as stack:
        busy = [stack.enter_context(Wire(small.port)) for _ in range(MAX_CONNECTIONS)]
        for wire in busy:
            wire.send(FORM + b"Content-Length: 3\r\n\r\n")
        with Wire(small.port) as late:
            late.send(HEALTH)
            (answer,) = responses(late.read_all())
        for wire in busy:
            assert wire.ask(b"abc").startswith(b"HTTP/1.1 415 ")

    assert 503 == answer.status
    assert answer.closes
