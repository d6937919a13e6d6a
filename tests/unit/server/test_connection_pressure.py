"""Clients that send too much, take too little, or are too many (S4, S5), in memory."""

import gc
import tracemalloc
from collections.abc import Iterator

import pytest

from reviewsd.http1 import problems, urls
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response
from reviewsd.server.connections import SWEEP_SECONDS, ConnectionLimits, CountedConnection
from tests.support.connections import LARGE, PROXY, REPLIES, Client, MemoryListener, ask

HELD = 16_384
"""Bytes that may wait while a request is answered."""

PIECE = 4_096


@pytest.fixture
def listener() -> Iterator[MemoryListener]:
    listener = MemoryListener(requests=1_000_000)
    yield listener
    listener.close()


def flood(client: Client) -> int:
    """Send requests until they are no longer read, and return the number of bytes."""
    data, sent = 1_000 * ask(), 0
    while client.line.reading:
        assert sent < 1_000_000, "reading is not paused"
        client.send(data[:PIECE])
        data = data[PIECE:] + data[:PIECE]
        sent += PIECE
    return sent


# Requests during an answer --------------------------------------------------------------------------


def test_pipelined_bytes_are_bounded_during_an_answer(listener: MemoryListener) -> None:
    client = listener.sent(ask("/later"))
    sent = flood(client)
    assert HELD < sent <= HELD + PIECE
    listener.routes.waiting.pop().answer()
    assert 1 + sent // len(ask()) == len(client.answers())
    assert client.line.reading


def test_pipelined_body_is_bounded_during_an_answer(listener: MemoryListener) -> None:
    client = listener.connect()
    head = ask(urls.MCP, f"Content-Length: {HELD}", method="POST")
    client.send(ask("/later"), head + (HELD - 20) * b"x")
    assert not client.line.reading
    listener.routes.waiting.pop().answer()
    client.settle()
    assert client.line.reading
    client.send(20 * b"x")
    assert HELD == len(client.answers()[1].body) - 1


def test_reading_is_resumed_for_a_refused_client(listener: MemoryListener) -> None:
    """Otherwise its bytes would not be skipped."""
    client = listener.sent(ask("/later"), b"\0\r\n" + 65_536 * b"x")
    assert not client.line.reading
    listener.routes.waiting.pop().answer()
    assert [200, 431] == client.statuses
    assert client.line.reading
    assert client.line.half_closed


def test_reading_is_resumed_after_the_last_response(listener: MemoryListener) -> None:
    client = listener.sent(ask("/later", "Connection: close"), 2 * HELD * b"x")
    listener.routes.waiting.pop().answer()
    assert [200] == client.statuses
    assert client.line.reading
    assert client.line.half_closed


# Slow readers -------------------------------------------------------------------------------------


def test_slow_reader_gets_next_response_after_taking_first(listener: MemoryListener) -> None:
    client = listener.sent(ask("/large") + ask() + ask("/later"), ask(), slow=True)
    assert 1 == len(listener.routes.requests)
    assert client.received.count(b"HTTP/1.1") == 1
    client.take_all()
    assert [b"/large", b"/now", b"/later"] == [request.path for request in listener.routes.requests]
    listener.routes.waiting.pop().answer()
    assert [LARGE, 5, 7, 5] == [len(answer.body) for answer in client.answers()]


def test_bytes_from_a_slow_reader_are_bounded(listener: MemoryListener) -> None:
    client = listener.sent(ask("/large"), slow=True)
    sent = flood(client)
    assert HELD < sent <= HELD + PIECE
    client.take_all()
    assert 1 + sent // len(ask()) == len(client.answers())
    assert client.line.reading


def test_responses_waiting_for_a_slow_reader_are_bounded(listener: MemoryListener) -> None:
    """Small responses are counted as well."""
    client = listener.connect(slow=True)
    flood(client)
    assert len(client.received) < 3 * 65_536  # of which a transport is full


def test_partial_body_is_read_on_after_the_response_is_taken(listener: MemoryListener) -> None:
    client = listener.sent(
        ask("/large") + ask(urls.HUB, "Content-Length: 3", method="POST") + b"a", b"bc", slow=True
    )
    client.take_all()
    assert b"abc\n" == client.answers()[1].body


# Idle connections----------------------------------------------------------------------------------

IDLE_BYTES = 16_384
"""Bytes of memory that an idle connection may take."""


def many_fields() -> bytes:
    return ask("/a", *(f"X-{number}: {number}" for number in range(450)))


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(b"", id="silent"),
        pytest.param(ask("/a", "A: " + 16_000 * "b"), id="large head"),
        pytest.param(many_fields(), id="many fields"),
        pytest.param(ask("/a?" + 16_000 * "a"), id="long query"),
        pytest.param(ask("/a").replace(b": a", b": " + 16_000 * b"a"), id="long name"),
        pytest.param(
            ask(urls.MCP, f"Content-Length: {HELD}", method="POST") + HELD * b"x", id="large body"
        ),
        pytest.param(ask("/a", method="HEAD"), id="large answer"),
    ],
)
def test_idle_connection_takes_little_memory(listener: MemoryListener, request_: bytes) -> None:
    """Idle connections are many, and stay for a minute."""
    count, text = 20, 200_000 * "x"

    def answer(request: Request) -> Response:
        return REPLIES.plain(200, request.path.decode() + text)

    listener.routes.respond = answer
    tracemalloc.start()
    try:
        clients = [listener.connect() for _ in range(count)]
        before, _ = tracemalloc.get_traced_memory()
        for client in clients:
            client.send(request_, request_)
            assert 2 * bool(request_) == client.received.count(b"HTTP/1.1 200")
            client.line.clear()
        listener.routes.requests.clear()
        listener.wait(0.25)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert not any(client.line.closed for client in clients)
    assert (after - before) / count < IDLE_BYTES


# Full servers ------------------------------------------------------------------------------------


def test_connections_of_a_network_are_limited(listener: MemoryListener) -> None:
    listener.connections.limits = ConnectionLimits(per_client=2)
    first, second, third = (listener.connect() for _ in range(3))

    assert [problems.TOO_MANY_CONNECTIONS.status] == third.statuses
    assert third.line.half_closed
    third.line.leave()
    first.line.leave()
    fourth = listener.connect()
    for client in (second, fourth):
        client.send(ask())
        assert [200] == client.statuses


def test_ipv6_clients_are_counted_by_64(listener: MemoryListener) -> None:
    listener.connections.limits = ConnectionLimits(per_client=1)
    listener.connect("2001:db8:1:2::3")
    assert [429] == listener.connect("2001:db8:1:2:ffff::4").statuses
    assert b"" == listener.connect("2001:db8:1:3::3").received


@pytest.mark.parametrize("client", ["2001:db8:7:{:x}::1", "192.0.2.{}"])
def test_wider_network_has_four_times_the_limit(listener: MemoryListener, client: str) -> None:
    """A /48 has 65,536 client networks, and 16 of them could have all connections."""
    listener.connections.limits = ConnectionLimits(per_client=2)
    clients = [listener.connect(client.format(number)) for number in range(9)]
    assert [429] == clients[8].statuses
    for connected in clients:
        connected.line.leave()
    assert b"" == listener.connect(client.format(9)).received


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.9.9.9", "::1", PROXY])
def test_this_machine_and_proxies_are_not_limited(listener: MemoryListener, peer: str) -> None:
    listener.connections.limits = ConnectionLimits(per_client=1)
    clients = [listener.connect(peer) for _ in range(5)]
    assert [b""] * 5 == [client.received for client in clients]


def test_network_is_forgotten_with_its_last_connection(listener: MemoryListener) -> None:
    listener.connect("192.0.2.9").line.leave()
    listener.connect("2001:db8::1").line.leave()
    assert {} == listener.connections._per_network


def test_oldest_idle_connection_is_closed_when_full(listener: MemoryListener) -> None:
    listener.connections.limits = ConnectionLimits(connections=3)
    clients = []
    for number in range(3):
        clients.append(listener.connect(f"192.0.2.{number}"))
        listener.wait(1)
    clients[0].send(ask())
    newest = listener.connect("192.0.2.9")
    newest.send(ask())

    assert [200] == newest.statuses
    assert [False, True, False] == [client.line.aborted for client in clients]


OCCUPIED = {
    "is answered": ask("/later"),
    "sends a head": ask()[:9],
    "sends a body": ask(urls.HUB, "Content-Length: 9", method="POST"),
    "takes a response": ask("/large"),
    "takes the last response": ask("/large", "Connection: close"),
}
"""The bytes after which a slow client has a request under way."""


@pytest.mark.parametrize("sent", OCCUPIED.values(), ids=OCCUPIED)
def test_busy_connection_is_not_closed_when_full(listener: MemoryListener, sent: bytes) -> None:
    listener.connections.limits = ConnectionLimits(connections=2)
    clients = [listener.connect(slow=True) for _ in range(2)]
    for client in clients:
        client.send(sent)
    newest = listener.connect()
    assert [problems.NO_ROOM.status] == newest.statuses
    assert newest.line.half_closed
    assert [False, False] == [client.line.closed for client in clients]


def test_refused_connection_is_closed_first_when_full(listener: MemoryListener) -> None:
    """They stay to read the refusal, but new clients come first."""
    listener.connections.limits = ConnectionLimits(connections=2)
    idle, refused = listener.connect(), listener.connect()
    refused.send(b"\0\r\n")
    newest = listener.sent(ask())
    assert [200] == newest.statuses
    assert (False, True) == (idle.line.closed, refused.line.aborted)


class ScannedSet(set[CountedConnection]):
    """Counts how often it is scanned."""

    scans = 0

    def __iter__(self) -> Iterator[CountedConnection]:
        self.scans += 1
        return super().__iter__()


@pytest.mark.parametrize("sent", [b"", ask()[:9]], ids=["idle", "sending"])
def test_full_server_scans_once_between_sweeps(listener: MemoryListener, sent: bytes) -> None:
    """A scan of 4,096 connections takes 5 ms, and any client can open connections often."""
    listener.connections.limits = ConnectionLimits(connections=20)
    for _ in range(20):
        listener.sent(*filter(None, [sent]))
    listener.connections.open = opened = ScannedSet(listener.connections.open)
    for _ in range(10):
        listener.connect()
    assert 1 == opened.scans
    assert bool(sent) == (len(opened) > 20)
    listener.wait(SWEEP_SECONDS)
    opened.scans = 0
    listener.connect()
    assert 1 == opened.scans
