"""Clients that take their time: within their deadlines served, beyond them cut off (S1, S4, S5, F5, F8).

The deadlines here are short, and a bit more than a quarter of a second may go by before one is noticed.
Times are measured from before the first byte is sent: what is too early is so in any case.
"""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.daemon import DEMO, Daemon, until
from tests.support.raw import ReceivedResponse, Wire, responses

HEADER, BODY, IDLE = 0.5, 1.0, 1.0
LATE = 20.0  # seconds: how late a deadline may be noticed beside other work
DRIP = 0.1  # seconds between two bytes
WHOLE = 30_000_000  # bytes of the large answer
DRAIN = 10  # seconds over which a client must keep to the minimum rate (S5)

SETTINGS = f"server: {{header_deadline: {HEADER}, body_deadline: {BODY}, idle: {IDLE}}}\n"

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
LARGE = b"GET /insights.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
FORM = b"POST /api/websub/hub HTTP/1.1\r\nHost: localhost\r\n"
CALL = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One for all; nothing that clients do here may be an error in its log."""
    directory = tmp_path_factory.mktemp("daemon")
    with Daemon(directory, SETTINGS) as running:
        write_large(running.data)
        assert "published" == running.reload()["outcome"]
        yield running
        assert [] == [line for line in running.unusual if "notify" not in line]


def write_large(data: Path) -> None:
    """An answer of 30 MB that costs nothing to publish: a member of the operator's own."""
    insights = json.loads((DEMO / "insights.json").read_bytes())
    insights["padding"] = WHOLE * "x"
    (data / "insights.json").write_text(json.dumps(insights))


class Ended(NamedTuple):
    """How a connection ended."""

    seconds: float
    """After it was opened."""
    answers: list[ReceivedResponse]


def drip(wire: Wire, data: bytes) -> Ended:
    """Send a byte every tenth of a second, until the other side has enough."""
    known = len(wire.received)
    for at in range(len(data)):
        wire.send(data[at : at + 1])
        wire.read(DRIP)
        if wire.received[known:] or wire.closed:
            break
    seconds = time.monotonic() - wire.opened
    wire.socket.settimeout(5)
    return Ended(seconds, responses(wire.read_all()[known:]))


def wait(wire: Wire) -> Ended:
    """Do nothing until the connection is closed."""
    known = len(wire.received)
    wire.read_all()
    return Ended(time.monotonic() - wire.opened, responses(wire.received[known:]))


def check_timeout(ended: Ended, deadline: float) -> None:
    """It was told that it was too slow, when it was, and the connection closed."""
    (answer,) = ended.answers
    assert 408 == answer.status
    assert answer.closes
    assert ["no-store"] == answer.values("Cache-Control")
    assert deadline <= ended.seconds < deadline + LATE


# Clients that only listen -------------------------------------------------------------------------


def test_who_closes_its_side_after_a_request_has_its_answer(daemon: Daemon) -> None:
    """Some programs say in this way that they have nothing more to ask."""
    call = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    for request, status in {
        FORM + b"Content-Length: 3\r\n\r\na=b": 415,
        CALL + b"Content-Length: %d\r\n\r\n%b" % (len(call), call): 400,
        HEALTH + FORM + b"Content-Length: 3\r\n\r\na=b": 415,
        LARGE: 200,
    }.items():
        with Wire(daemon.port) as wire:
            wire.send(request)
            wire.half_close()
            answer = responses(wire.read_all())[-1]
        assert status == answer.status
        assert request is not LARGE or len(answer.body) > WHOLE


# Heads and bodies ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"GET /" + 99 * b"a", id="request line"),
        pytest.param(HEALTH[:-2] + 99 * b"A: b\r\n", id="fields"),
        pytest.param(b"\r\n" + HEALTH, id="an empty line first"),
        pytest.param(FORM + b"Content-Length: 3" + 99 * b" ", id="blanks"),
    ],
)
def test_a_head_that_drips_is_ended_at_its_deadline(daemon: Daemon, data: bytes) -> None:
    with Wire(daemon.port) as wire:
        check_timeout(drip(wire, data), HEADER)


def test_a_head_that_stops_is_ended_at_its_deadline(daemon: Daemon) -> None:
    with Wire(daemon.port) as wire:
        wire.send(HEALTH[:-2])
        check_timeout(wait(wire), HEADER)


def test_the_second_head_of_a_connection_has_no_more_time_than_the_first(daemon: Daemon) -> None:
    with Wire(daemon.port) as wire:
        assert wire.ask(HEALTH).endswith(b'{"status":"ok"}')
        check_timeout(drip(wire, b"GET /" + 99 * b"a"), HEADER)


def test_what_came_with_the_request_before_has_no_more_time_either(daemon: Daemon) -> None:
    with Wire(daemon.port) as wire:
        assert wire.ask(HEALTH + b"GET /").startswith(b"HTTP/1.1 200 ")
        check_timeout(wait(wire), HEADER)


@pytest.mark.parametrize(
    ("head", "body"),
    [
        pytest.param(FORM + b"Content-Length: 99\r\n\r\n", 99 * b"a", id="hub"),
        pytest.param(FORM + b"Transfer-Encoding: chunked\r\n\r\n", 99 * b"1\r\na\r\n", id="chunks"),
        pytest.param(
            FORM + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", 99 * b"A: b\r\n", id="trailers"
        ),
        pytest.param(CALL + b"Content-Length: 99\r\n\r\n", 99 * b" ", id="mcp"),
        pytest.param(
            b"PUT /feed.xml HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n",
            99 * b" ",
            id="what is read past",
        ),
    ],
)
def test_a_body_that_drips_is_ended_at_its_deadline(
    daemon: Daemon, head: bytes, body: bytes
) -> None:
    """F5: any byte used to put it off."""
    with Wire(daemon.port) as wire:
        wire.send(head)
        check_timeout(drip(wire, body), BODY)


def test_a_body_that_never_comes_is_ended_at_its_deadline(daemon: Daemon) -> None:
    with Wire(daemon.port) as wire:
        wire.send(FORM + b"Content-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        wire.read_until(lambda: wire.received)
        assert b"HTTP/1.1 100 Continue\r\n\r\n" == wire.received
        ended = wait(wire)

    (answer,) = ended.answers
    assert 408 == answer.status


def test_who_keeps_to_the_deadlines_is_answered(daemon: Daemon) -> None:
    with Wire(daemon.port) as wire:
        for at in (20, len(FORM)):
            wire.send(FORM[:at])
            time.sleep(HEADER / 2)
            wire.send(FORM[at:] + b"Content-Length: 3\r\n\r\n")
            time.sleep(BODY / 2)
            assert wire.ask(b"abc").startswith(b"HTTP/1.1 415 ")


# Idle connections ---------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [0, 1, 3])
def test_an_idle_connection_is_closed_in_silence(daemon: Daemon, asked: int) -> None:
    with Wire(daemon.port) as wire:
        for _ in range(asked):
            wire.ask(HEALTH)
        ended = wait(wire)

    assert [] == ended.answers
    # The kernel may keep one that has said nothing to itself for a moment (TCP_DEFER_ACCEPT)
    assert IDLE * 0.7 <= ended.seconds < IDLE + LATE + (0 if asked else 3)


def test_a_connection_that_is_used_is_not_idle(daemon: Daemon) -> None:
    with Wire(daemon.port) as wire:
        began = time.monotonic()
        while time.monotonic() - began < 2.5 * IDLE:
            assert wire.ask(HEALTH).endswith(b'{"status":"ok"}')
            time.sleep(IDLE / 2)


# Slow readers -------------------------------------------------------------------------------------


def test_a_steady_slow_reader_gets_all_of_30_mb(daemon: Daemon) -> None:
    """F8; at 10 MB/s it takes far longer than any deadline."""
    with Wire(daemon.port, receive_buffer=262_144) as wire:
        wire.send(LARGE)
        wire.read_until(lambda: b"\r\n\r\n" in wire.received)
        head, _, body = wire.received.partition(b"\r\n\r\n")
        size = int(head.partition(b"Content-Length: ")[2].split(b"\r\n")[0])
        left, began = size - len(body), time.monotonic()
        while left:
            piece = wire.socket.recv(min(left, 200_000))
            assert piece, f"cut off with {left} bytes to go"
            left -= len(piece)
            time.sleep(0.02)
        seconds = time.monotonic() - began

        assert wire.ask(HEALTH).endswith(b'{"status":"ok"}'), "and the connection serves on"
    assert size > WHOLE
    assert seconds > 2 * max(HEADER, BODY, IDLE), "it was not slow"


class Modest(threading.Thread):
    """Reads 50 kB a second for as long as it can: six times what is asked of a client.

    The kernel has taken three megabytes of the answer, and takes no more until a third of them is with
    the client. So who counts only what the kernel takes, sees nothing happen for twenty seconds.
    """

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.seconds = 0.0
        """For how long it was served."""
        self._wire = Wire(port, receive_buffer=65_536)
        self._stopping = threading.Event()

    def run(self) -> None:
        with self._wire as wire:
            wire.send(LARGE)
            began = time.monotonic()
            while not wire.gone() and not self._stopping.wait(0.1):
                wire.read(5, 5_000)
                self.seconds = time.monotonic() - began

    def stop(self) -> None:
        self._stopping.set()
        self.join()


@pytest.fixture(scope="module")
def modest(daemon: Daemon) -> Iterator[Modest]:
    """Reads while the other tests run."""
    reader = Modest(daemon.port)
    reader.start()
    yield reader
    reader.stop()


@pytest.fixture(autouse=True, scope="module")
def _meanwhile(modest: Modest) -> None:
    """So that its time is no one else's."""


class Slow(NamedTuple):
    """What came of fifty readers who take 2 kB a second of 30 MB each."""

    growth: int
    """Bytes of memory that they cost together at most."""
    ended: list[float]
    """When each was cut off, in seconds after it asked."""
    taken: float
    """The longest that another client waited for its answer meanwhile, seconds."""


def own_memory(daemon: Daemon) -> int:
    """Bytes that the process holds beside the files it maps."""
    assert daemon.process is not None
    status = Path(f"/proc/{daemon.process.pid}/status").read_text()
    lines = dict(line.split(":", 1) for line in status.splitlines())
    return 1024 * (int(lines["VmRSS"].split()[0]) - int(lines["RssFile"].split()[0]))


@pytest.fixture(scope="module")
def slow(daemon: Daemon) -> Slow:
    """Takes a dozen seconds, for all tests of this kind together: nothing else here is as slow."""
    readers, taken, ended = 50, 0.0, dict[int, float]()
    for _ in range(3):
        daemon.get("/insights.json")
    before = most = own_memory(daemon)
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(daemon.port, 32_768)) for _ in range(readers)]
        began = time.monotonic()
        for wire in wires:
            wire.send(LARGE)
        while len(ended) < readers and time.monotonic() - began < 3 * DRAIN:
            for number, wire in enumerate(wires):
                if number not in ended and wire.gone():
                    ended[number] = time.monotonic() - began
                elif number not in ended:
                    wire.read(0.01, 500)
            asked = time.monotonic()
            assert 200 == daemon.get("/healthz").status
            taken = max(taken, time.monotonic() - asked)
            most = max(most, own_memory(daemon))
            time.sleep(0.2)
    return Slow(most - before, sorted(ended.values()), taken)


def test_a_reader_who_is_too_slow_is_cut_off(slow: Slow) -> None:
    assert 50 == len(slow.ended)
    assert DRAIN * 0.8 < slow.ended[0]
    assert slow.ended[-1] < DRAIN * 1.6


def test_a_modest_reader_is_not_cut_off(modest: Modest) -> None:
    while modest.is_alive() and modest.seconds < 3.2 * DRAIN:
        time.sleep(0.1)

    assert modest.seconds >= 3.2 * DRAIN


def test_slow_readers_cost_little_memory(slow: Slow) -> None:
    assert slow.growth < WHOLE


def test_others_do_not_notice_slow_readers(slow: Slow) -> None:
    assert slow.taken < 0.5


def test_nothing_is_left_of_who_was_cut_off(daemon: Daemon, slow: Slow) -> None:
    assert daemon.process is not None
    directory = Path(f"/proc/{daemon.process.pid}/fd")

    def sockets() -> int:
        return sum(each.is_socket() for each in directory.iterdir())

    until(lambda: sockets() < 12, "few open sockets", seconds=5)


# A full house -------------------------------------------------------------------------------------

PLACES = 16


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Daemon]:
    with Daemon(tmp_path, f"server: {{max_connections: {PLACES}}}\n") as running:
        yield running


@pytest.mark.parametrize("asked", [True, False], ids=["idle", "silent"])
def test_who_has_been_idle_longest_makes_room(small: Daemon, *, asked: bool) -> None:
    """S4; silence is no reason to keep a place, from the beginning or later."""
    with ExitStack() as stack:
        wires = []
        for _ in range(PLACES):
            wires.append(stack.enter_context(Wire(small.port)))
            if asked:
                wires[-1].ask(HEALTH)
            time.sleep(0.3 if len(wires) < 3 else 0)  # the first are older by more than a sweep
        newcomer = stack.enter_context(Wire(small.port))

        assert newcomer.ask(HEALTH).endswith(b'{"status":"ok"}')
        if asked:
            until(wires[0].gone, "the oldest is closed", seconds=5)
            for wire in wires[-8:]:
                assert wire.ask(HEALTH).endswith(b'{"status":"ok"}')


def test_newcomers_are_served_however_many_are_idle(small: Daemon) -> None:
    with ExitStack() as stack:
        for _ in range(5 * PLACES):
            wire = stack.enter_context(Wire(small.port))
            assert wire.ask(HEALTH).endswith(b'{"status":"ok"}')


def test_who_is_in_the_middle_of_a_request_keeps_the_place(small: Daemon) -> None:
    with ExitStack() as stack:
        busy = [stack.enter_context(Wire(small.port)) for _ in range(PLACES // 2)]
        for wire in busy:
            wire.send(FORM + b"Content-Length: 3\r\n\r\n")
        for _ in range(2 * PLACES):
            assert stack.enter_context(Wire(small.port)).ask(HEALTH).endswith(b'{"status":"ok"}')
        for wire in busy:
            assert wire.ask(b"abc").startswith(b"HTTP/1.1 415 ")


def test_a_house_full_of_the_busy_takes_nobody_in_but_says_so(small: Daemon) -> None:
    with ExitStack() as stack:
        busy = [stack.enter_context(Wire(small.port)) for _ in range(PLACES)]
        for wire in busy:
            wire.send(FORM + b"Content-Length: 3\r\n\r\n")
        with Wire(small.port) as late:
            late.send(HEALTH)
            (answer,) = responses(late.read_all())
        for wire in busy:
            assert wire.ask(b"abc").startswith(b"HTTP/1.1 415 ")

    assert 503 == answer.status
    assert answer.closes
