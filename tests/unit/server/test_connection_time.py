"""Deadlines of connections in memory, and the drain (O4, S1, S5)."""

from itertools import product

import pytest

from reviewsd.http1 import problems, urls
from reviewsd.server.connection import LAST_REQUEST_SECONDS, LINGER_SECONDS
from reviewsd.server.connections import DRAIN_SECONDS, SWEEP_SECONDS
from tests.support.connections import LARGE, REPLIES, Client, MemoryListener, ask

HEADER, BODY, IDLE = 10, 20, 60  # seconds
HUB = urls.HUB
POST = ask(HUB, "Content-Length: 100000", method="POST").replace(b"100000", b"1000")


def lived(listener: MemoryListener, client: Client, most: float, drip: bytes = b"") -> float:
    """Return the seconds until our side is closed; a byte of the drip is sent each quarter second."""
    for quarter in range(round(most / SWEEP_SECONDS)):
        if client.line.closed or client.line.half_closed:
            return quarter * SWEEP_SECONDS
        if drip:
            client.send(drip[:1])
            drip = drip[1:]
        listener.wait(SWEEP_SECONDS)
    raise AssertionError("the connection stays open")


def timed_out(client: Client) -> bool:
    """Return whether the last response is the 408 of a late request."""
    body = b"".join(REPLIES.refusal(problems.TIMEOUT).body)
    last = client.answers()[-1]
    return (408, body, True) == (last.status, last.body, last.closes)


# Incomplete requests ------------------------------------------------------------------------------


@pytest.mark.parametrize("begin", [b"G", b"\r\nG", ask()[:20], ask()[:-1]])
@pytest.mark.parametrize("before", [b"", ask()], ids=["first", "second"])
def test_head_has_ten_seconds_in_all(listener: MemoryListener, before: bytes, begin: bytes) -> None:
    client = listener.connect()
    listener.wait(30)
    client.send(before, begin)
    assert HEADER == lived(listener, client, 20)
    assert timed_out(client)


def test_slow_bytes_do_not_extend_the_deadline_of_a_head(listener: MemoryListener) -> None:
    """F5: a byte every 59 seconds once held a connection for 10.9 days."""
    client = listener.sent(ask()[:-2])
    assert HEADER == lived(listener, client, 20, b"A: " + 99 * b"b")
    assert timed_out(client)


def test_each_head_has_its_own_deadline(listener: MemoryListener) -> None:
    client = listener.sent(ask()[:9])
    listener.wait(9)
    client.send(ask()[9:])
    listener.wait(30)
    client.send(ask()[:9])
    listener.wait(9)
    client.send(ask()[9:])
    assert [200, 200] == client.statuses


def test_head_that_begins_behind_a_request_has_ten_seconds(listener: MemoryListener) -> None:
    client = listener.sent(ask() + ask()[:9])
    assert HEADER == lived(listener, client, 20)
    assert [200, 408] == client.statuses


@pytest.mark.parametrize("drip", [b"", 99 * b"x"], ids=["silent", "dripping"])
@pytest.mark.parametrize(
    "head", [POST, ask(HUB, "Transfer-Encoding: chunked", method="POST") + b"3e8\r\n"]
)
def test_body_has_twenty_seconds_from_the_end_of_the_head(
    listener: MemoryListener, head: bytes, drip: bytes
) -> None:
    client = listener.sent(head[:9])
    listener.wait(8)
    client.send(head[9:])
    assert BODY == lived(listener, client, 30, drip)
    assert timed_out(client)
    assert [] == listener.routes.requests


def test_body_in_time_is_answered(listener: MemoryListener) -> None:
    client = listener.sent(POST)
    for _ in range(10):
        listener.wait(1.75)
        client.send(100 * b"x")
    assert [1000] == [len(request.body) for request in listener.routes.requests]


def test_deadlines_are_configured() -> None:
    listener = MemoryListener(header=1.0, body=2.0, idle=3.0)
    clients = [listener.connect() for _ in range(3)]
    clients[0].send(ask()[:9])
    clients[1].send(POST)
    assert [1, 1, 1] == [lived(listener, client, 9) for client in clients]  # one after the other
    listener.close()


# Idle connections------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [b"", ask(), ask() + ask()])
def test_idle_connection_is_closed_without_response(listener: MemoryListener, sent: bytes) -> None:
    client = listener.sent(sent)
    assert IDLE == lived(listener, client, 90)
    assert client.line.closed
    assert sent.count(b"GET") == len(client.answers())
    assert set() == listener.connections.open


def test_response_restarts_the_idle_time(listener: MemoryListener) -> None:
    client = listener.connect()
    for _ in range(5):
        listener.wait(50)
        client.send(ask())
    assert IDLE == lived(listener, client, 90)


def test_late_response_restarts_the_idle_time(listener: MemoryListener) -> None:
    client = listener.sent(ask("/later"))
    listener.wait(500)
    listener.routes.waiting.pop().answer()
    assert IDLE == lived(listener, client, 90)


def test_idle_time_is_right_after_a_time_without_connections(listener: MemoryListener) -> None:
    """The server reads its clock only while it has connections."""
    listener.connect().line.leave()
    listener.clock.advance(10_000)
    client = listener.sent(ask())
    assert IDLE == lived(listener, client, 90)


def test_sweep_runs_only_with_connections(listener: MemoryListener) -> None:
    client = listener.connect()
    assert 1 == len(listener.clock.getDelayedCalls())
    client.line.leave()
    assert [] == listener.clock.getDelayedCalls()


# Slow readers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "end"),
    [*product([9_000, 20_000, 1_000_000], ["goes on", "closes"]), (50_000, "drain")],
)
def test_steady_slow_reader_gets_response(listener: MemoryListener, rate: int, end: str) -> None:
    client = listener.sent(ask("/large", *["Connection: close"] * (end == "closes")), slow=True)
    ended = listener.drain() if end == "drain" else []
    while client.line.pending:
        client.line.take(rate)
        listener.wait(1)

    (answer,) = client.answers()
    assert LARGE == len(answer.body)
    assert not client.line.aborted
    assert (end != "goes on") == client.line.closed
    assert ["ended"] * (end == "drain") == ended


@pytest.mark.parametrize("rate", [0, 1_000, 5_000])
@pytest.mark.parametrize("last", [False, True], ids=["goes on", "closes"])
def test_too_slow_reader_is_cut_off(listener: MemoryListener, rate: int, *, last: bool) -> None:
    """S5: 8 KiB a second, over 10 s."""
    client = listener.sent(ask("/large", *["Connection: close"] * last), slow=True)
    while not client.line.closed:
        client.line.take(rate)
        listener.wait(1)
    assert client.line.aborted
    assert 10 <= listener.clock.seconds() <= 21
    assert set() == listener.connections.open


def test_bytes_from_a_slow_reader_do_not_extend_its_deadline(listener: MemoryListener) -> None:
    client = listener.sent(ask("/large"), slow=True)
    while not client.line.closed:
        client.send(b"G" if client.line.reading else b"")
        listener.wait(1)
        assert listener.clock.seconds() < 21
    assert client.line.aborted


def test_idle_time_begins_when_a_slow_reader_has_all(listener: MemoryListener) -> None:
    client = listener.sent(ask("/large"), slow=True)
    listener.wait(9)
    client.take_all()
    assert IDLE == lived(listener, client, 90)
    assert not client.line.aborted


def test_taken_response_does_not_extend_the_deadline_of_a_head() -> None:
    listener = MemoryListener()
    client = listener.sent(ask("/middle"), slow=True)
    client.line.pending = 65_536
    client.send(ask()[:9])
    listener.wait(5)
    client.take_all()
    assert HEADER - 5 == lived(listener, client, 90)
    listener.close()


# The drain ----------------------------------------------------------------------------------------


def test_drain_without_connections_ends_at_once(listener: MemoryListener) -> None:
    assert ["ended"] == listener.drain()


@pytest.mark.parametrize("before", [0, 1])
def test_draining_connection_waits_for_a_request(listener: MemoryListener, before: int) -> None:
    """A request may be on its way (O4)."""
    client = listener.sent(*before * [ask()])
    ended = listener.drain()
    listener.wait(LAST_REQUEST_SECONDS - SWEEP_SECONDS)
    assert (False, []) == (client.line.closed, ended)
    listener.wait(SWEEP_SECONDS)
    assert (True, ["ended"]) == (client.line.closed, ended)


@pytest.mark.parametrize("before", [0, 1])
@pytest.mark.parametrize("cut", [len(ask()), 9])
def test_request_in_a_drain_is_answered(listener: MemoryListener, cut: int, before: int) -> None:
    client = listener.sent(*before * [ask()])
    ended = listener.drain()
    client.send(ask()[:cut])
    listener.wait(LAST_REQUEST_SECONDS / 2)
    if ask()[cut:]:
        client.send(ask()[cut:])
    assert (200, True) == (client.answers()[-1].status, client.answers()[-1].closes)
    assert before + 1 == len(client.answers())
    assert (True, ["ended"]) == (client.line.closed, ended)


def test_new_connection_during_the_drain_is_answered_once(listener: MemoryListener) -> None:
    """The kernel accepted the connection before the port was closed."""
    listener.sent(ask("/later"))
    listener.drain()
    client = listener.sent(ask())
    assert [(200, True)] == [(answer.status, answer.closes) for answer in client.answers()]
    assert client.line.closed


def test_drain_waits_for_the_answer_under_way_and_closes(listener: MemoryListener) -> None:
    client = listener.sent(ask("/later"))
    ended = listener.drain()

    listener.wait(DRAIN_SECONDS - 1)
    assert (False, []) == (client.line.closed, ended)
    listener.routes.waiting.pop().answer()

    assert [("/later", True)] == [
        (answer.body.decode().strip(), answer.closes) for answer in client.answers()
    ]
    assert (True, ["ended"]) == (client.line.closed, ended)


def test_pipelined_request_is_skipped_during_the_drain(listener: MemoryListener) -> None:
    """Connection: close says so, and the client can send it to another instance."""
    client = listener.sent(ask("/later") + ask())
    ended = listener.drain()
    listener.routes.waiting.pop().answer()
    assert ["/later"] == client.texts
    assert (True, []) == (client.line.half_closed, ended)
    client.line.leave()
    assert ["ended"] == ended


def test_partial_request_is_answered_during_the_drain(listener: MemoryListener) -> None:
    clients = [listener.connect() for _ in range(2)]
    clients[0].send(ask()[:20])
    clients[1].send(POST)
    ended = listener.drain()
    listener.wait(5)
    clients[0].send(ask()[20:])
    clients[1].send(1_000 * b"x")

    for client in clients:
        assert [(200, True)] == [(answer.status, answer.closes) for answer in client.answers()]
    assert ["ended"] == ended


def test_drain_aborts_connections_after_20_seconds(listener: MemoryListener) -> None:
    client = listener.sent(ask("/later"))
    ended = listener.drain()
    listener.wait(DRAIN_SECONDS - SWEEP_SECONDS)
    assert not client.line.closed
    listener.wait(SWEEP_SECONDS)
    assert client.line.aborted
    assert ["ended"] == ended


def test_refused_connection_ends_during_the_drain(listener: MemoryListener) -> None:
    client = listener.sent(b"\0\r\n")
    ended = listener.drain()
    listener.wait(LINGER_SECONDS)
    assert client.line.closed
    assert ["ended"] == ended
