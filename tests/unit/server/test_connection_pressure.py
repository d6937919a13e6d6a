"""Clients that send more, take less, or are more than a house has room for (S4, S5), in memory."""

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
    one = MemoryListener(requests=1_000_000)
    yield one
    one.close()


def flood(client: Client) -> int:
    """Send requests until they are not read any more, as a kernel would; how many bytes that took."""
    data, sent = 1_000 * ask(), 0
    while client.line.reading:
        assert sent < 1_000_000, "it is read on and on"
        client.send(data[:PIECE])
        data = data[PIECE:] + data[:PIECE]
        sent += PIECE
    return sent


# More than is answered ----------------------------------------------------------------------------


def test_what_waits_while_an_answer_is_made_is_bounded(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(ask("/later"))
    sent = flood(client)
    assert HELD < sent <= HELD + PIECE
    listener.routes.waiting.pop().answer()

    assert 1 + sent // len(ask()) == len(client.answers())
    assert client.line.reading


def test_a_body_that_comes_while_an_answer_is_made_is_bounded(listener: MemoryListener) -> None:
    client = listener.connect()
    head = ask(urls.MCP, f"Content-Length: {HELD}", method="POST")
    client.send(ask("/later"), head + (HELD - 20) * b"x")
    assert not client.line.reading
    listener.routes.waiting.pop().answer()
    client.settle()
    assert client.line.reading
    client.send(20 * b"x")

    assert HELD == len(client.answers()[1].body) - 1


def test_reading_goes_on_when_the_client_is_refused_meanwhile(listener: MemoryListener) -> None:
    """Or it would not be read past."""
    client = listener.connect()
    client.send(ask("/later"), b"\0\r\n" + 65_536 * b"x")
    assert not client.line.reading
    listener.routes.waiting.pop().answer()

    assert [200, 431] == client.statuses
    assert client.line.reading
    assert client.line.half_closed


def test_and_when_the_answer_was_the_last(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(ask("/later", "Connection: close"), 2 * HELD * b"x")
    listener.routes.waiting.pop().answer()

    assert [200] == client.statuses
    assert client.line.reading
    assert client.line.half_closed


# More than is taken -------------------------------------------------------------------------------


def test_who_has_not_taken_an_answer_is_given_no_other(listener: MemoryListener) -> None:
    client = listener.connect(slow=True)
    client.send(ask("/large") + ask() + ask("/later"), ask())
    assert 1 == len(listener.routes.asked)
    assert client.received.count(b"HTTP/1.1") == 1
    client.take_all()

    assert [b"/large", b"/now", b"/later"] == [asked.path for asked in listener.routes.asked]
    listener.routes.waiting.pop().answer()
    assert [LARGE, 5, 7, 5] == [len(answer.body) for answer in client.answers()]


def test_what_he_sends_meanwhile_is_bounded(listener: MemoryListener) -> None:
    client = listener.connect(slow=True)
    client.send(ask("/large"))
    sent = flood(client)
    assert HELD < sent <= HELD + PIECE
    client.take_all()

    assert 1 + sent // len(ask()) == len(client.answers())
    assert client.line.reading


def test_and_so_is_what_waits_for_him(listener: MemoryListener) -> None:
    """Small answers are no way around it."""
    client = listener.connect(slow=True)
    flood(client)

    assert len(client.received) < 3 * 65_536  # of which a transport is full


def test_a_body_that_was_begun_goes_on_when_he_has_taken_the_answer(
    listener: MemoryListener,
) -> None:
    client = listener.connect(slow=True)
    client.send(ask("/large") + ask(urls.HUB, "Content-Length: 3", method="POST") + b"a", b"bc")
    client.take_all()

    assert b"abc\n" == client.answers()[1].body


# What is kept -------------------------------------------------------------------------------------

IDLE_BYTES = 16_384
"""That a connection may keep while nothing is asked."""


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
def test_an_idle_connection_keeps_little_whatever_it_has_been(
    listener: MemoryListener, request_: bytes
) -> None:
    """Its clients are many, and say nothing for a minute."""
    count, text = 20, 200_000 * "x"

    def answer(asked: Request) -> Response:
        return REPLIES.plain(200, asked.path.decode() + text)

    listener.routes.respond = answer
    tracemalloc.start()
    try:
        clients = [listener.connect() for _ in range(count)]
        before, _ = tracemalloc.get_traced_memory()
        for client in clients:
            client.send(request_, request_)
            assert 2 * bool(request_) == client.received.count(b"HTTP/1.1 200")
            client.line.clear()
        listener.routes.asked.clear()
        listener.wait(0.25)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert not any(client.line.closed for client in clients)
    assert (after - before) / count < IDLE_BYTES


# More than there is room for ----------------------------------------------------------------------


def test_a_network_may_have_so_many_connections(listener: MemoryListener) -> None:
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


def test_ipv6_is_counted_by_network(listener: MemoryListener) -> None:
    listener.connections.limits = ConnectionLimits(per_client=1)
    listener.connect("2001:db8:1:2::3")

    assert [429] == listener.connect("2001:db8:1:2:ffff::4").statuses
    assert b"" == listener.connect("2001:db8:1:3::3").received


@pytest.mark.parametrize("client", ["2001:db8:7:{:x}::1", "192.0.2.{}"])
def test_who_has_a_whole_network_may_have_four_times_as_many(
    listener: MemoryListener, client: str
) -> None:
    """A /48 has 65,536 clients: 16 of them had all connections that there are."""
    listener.connections.limits = ConnectionLimits(per_client=2)
    clients = [listener.connect(client.format(number)) for number in range(9)]

    assert [429] == clients[8].statuses
    for each in clients:
        each.line.leave()
    assert b"" == listener.connect(client.format(9)).received


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.9.9.9", "::1", PROXY])
def test_this_machine_and_proxies_may_have_as_many_as_they_like(
    listener: MemoryListener, peer: str
) -> None:
    listener.connections.limits = ConnectionLimits(per_client=1)
    clients = [listener.connect(peer) for _ in range(5)]

    assert [b""] * 5 == [client.received for client in clients]


def test_networks_are_forgotten_with_their_last_connection(listener: MemoryListener) -> None:
    listener.connect("192.0.2.9").line.leave()
    listener.connect("2001:db8::1").line.leave()

    assert {} == listener.connections._per_network


def test_when_the_house_is_full_who_has_been_idle_longest_makes_room(
    listener: MemoryListener,
) -> None:
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


def ready(listener: MemoryListener) -> Client:
    return listener.connect()


def busy(listener: MemoryListener) -> Client:
    client = listener.connect()
    client.send(ask("/later"))
    return client


def sending(listener: MemoryListener) -> Client:
    client = listener.connect()
    client.send(ask()[:9])
    return client


def bringing(listener: MemoryListener) -> Client:
    client = listener.connect()
    client.send(ask(urls.HUB, "Content-Length: 9", method="POST"))
    return client


def taking(listener: MemoryListener) -> Client:
    client = listener.connect(slow=True)
    client.send(ask("/large"))
    return client


def taking_the_last(listener: MemoryListener) -> Client:
    client = listener.connect(slow=True)
    client.send(ask("/large", "Connection: close"))
    return client


@pytest.mark.parametrize("occupied", [busy, sending, bringing, taking, taking_the_last])
def test_nobody_who_is_asking_is_sent_away_for_another(
    listener: MemoryListener, occupied: object
) -> None:
    assert callable(occupied)
    listener.connections.limits = ConnectionLimits(connections=2)
    clients = [occupied(listener), occupied(listener)]
    newest = listener.connect()

    assert [problems.NO_ROOM.status] == newest.statuses
    assert newest.line.half_closed
    assert [False, False] == [client.line.closed for client in clients]


def test_those_who_were_refused_make_room_first(listener: MemoryListener) -> None:
    """They may stay to read why, but not so many that nobody else comes in."""
    listener.connections.limits = ConnectionLimits(connections=2)
    idle, refused = listener.connect(), listener.connect()
    refused.send(b"\0\r\n")
    newest = listener.connect()
    newest.send(ask())

    assert [200] == newest.statuses
    assert (False, True) == (idle.line.closed, refused.line.aborted)


class Looked(set[CountedConnection]):
    """Counts how often all of them are looked at."""

    looks = 0

    def __iter__(self) -> Iterator[CountedConnection]:
        self.looks += 1
        return super().__iter__()


@pytest.mark.parametrize("occupied", [sending, ready])
def test_a_full_house_is_looked_over_once_between_two_sweeps(
    listener: MemoryListener, occupied: object
) -> None:
    """At 4,096 connections a look takes 5 ms, and strangers decide how often they come."""
    assert callable(occupied)
    listener.connections.limits = ConnectionLimits(connections=20)
    for _ in range(20):
        occupied(listener)
    listener.connections.open = opened = Looked(listener.connections.open)
    for _ in range(10):
        listener.connect()
    assert 1 == opened.looks
    assert (occupied is ready) == (len(opened) == 20)
    listener.wait(SWEEP_SECONDS)
    opened.looks = 0
    listener.connect()
    assert 1 == opened.looks
