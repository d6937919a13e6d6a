"""One connection in memory: its responses and their order, its end, refusals and bodies.

``test_connection_time`` has the deadlines, ``test_connection_pressure`` clients that send or take too much or too
little, ``test_connection_bytes`` any bytes. The grammar is in tests/unit/http1 and tests/wire_corpus.
"""

import pytest
from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import capturedLogs

from reviewsd.http1 import problems, urls
from reviewsd.http1.problems import Problem
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response
from reviewsd.server.connections import ConnectionLimits
from reviewsd.server.site import Answer
from tests.support.connections import LARGE, REPLIES, MemoryListener, ask

HUB, MCP = urls.HUB, urls.MCP
CLOSE = "Connection: close"


def posted(path: str, body: bytes, *fields: str) -> bytes:
    return ask(path, f"Content-Length: {len(body)}", *fields, method="POST") + body


def chunked(path: str, *chunks: bytes) -> bytes:
    body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))
    return ask(path, "Transfer-Encoding: chunked", method="POST") + body


# Answers ------------------------------------------------------------------------------------------


def test_response_begins_with_server_and_date(listener: MemoryListener) -> None:
    client = listener.sent(ask())
    (answer,) = client.answers()
    assert ["Server", "Date"] == [name for name, _ in answer.fields[:2]]
    assert "reviewsd" == answer.values("Server")[0]
    assert (200, b"/now\n", False) == (answer.status, answer.body, answer.closes)


def test_response_may_take_any_time(listener: MemoryListener) -> None:
    client = listener.sent(ask("/later"))
    listener.wait(600)
    assert b"" == client.received
    listener.routes.waiting.pop().answer()
    assert ["/later"] == client.texts
    assert not client.line.closed


@pytest.mark.parametrize("path", ["/bug", "/later"])
def test_failing_route_is_answered_500_and_logged_once(listener: MemoryListener, path: str) -> None:
    client = listener.connect()
    with capturedLogs() as events:
        client.send(ask(path), ask())
        for later in listener.routes.waiting:
            later.fail()
        client.settle()
    assert [500, 200] == client.statuses
    (event,) = (event for event in events if "log_failure" in event)
    assert isinstance(event["log_failure"].value, ValueError)


def test_answer_is_cancelled_when_its_client_leaves(listener: MemoryListener) -> None:
    client = listener.sent(ask("/later"))
    (later,) = listener.routes.waiting
    assert not later.cancelled
    with capturedLogs() as events:
        client.line.leave()
    assert later.cancelled
    assert set() == listener.connections.open
    assert [] == [event for event in events if "log_failure" in event]


def test_response_after_the_client_has_left_is_dropped() -> None:
    """A route may catch its cancellation."""
    listener = MemoryListener()
    answer = Deferred[Response](lambda deferred: deferred.callback(Response(204, b"")))
    listener.routes.respond = lambda _request: answer
    client = listener.sent(ask())
    client.line.leave()
    assert b"" == client.received
    listener.close()


def test_answer_cancelled_by_its_route_is_500() -> None:
    """Otherwise the client would wait for ever."""
    listener, answer = MemoryListener(), Deferred[Response]()
    listener.routes.respond = lambda _request: answer
    client = listener.sent(ask())
    answer.errback(CancelledError())
    assert [500] == client.statuses
    listener.close()


# One after the other ------------------------------------------------------------------------------


def test_pipelined_request_waits_for_the_response_before_it(listener: MemoryListener) -> None:
    client = listener.sent(ask("/1") + ask("/later") + ask("/2") + posted(HUB, b"abc"), ask("/3"))
    assert ["/1"] == client.texts
    listener.routes.waiting.pop().answer()
    assert ["/1", "/later", "/2", "abc", "/3"] == client.texts


def test_pipelining_client_does_not_delay_others(listener: MemoryListener) -> None:
    client, second = listener.connect(), listener.connect()
    client.connection.dataReceived(500 * ask())
    second.connection.dataReceived(ask())
    assert 0 < client.received.count(b"HTTP/1.1 200") < 100
    assert second.received
    assert 500 == len(client.answers())


def test_exception_in_a_queued_request_ends_only_its_connection(listener: MemoryListener) -> None:
    """Twisted ends it in ``dataReceived``, but not in a turn of the queue."""

    def respond(request: Request) -> Answer:
        if request.path == b"/broken":
            raise ZeroDivisionError
        return listener.routes.respond_by_path(request)

    listener.routes.respond = respond
    client, second = listener.connect(), listener.connect()
    with capturedLogs() as events:
        client.connection.dataReceived(ask() + ask("/broken"))
        second.send(3 * ask())

    (event,) = events
    assert isinstance(event["log_failure"].value, ZeroDivisionError)
    assert client.line.aborted
    assert ["/now"] * 3 == second.texts


@pytest.mark.parametrize("path", ["/now", "/soon"])
def test_pipelined_requests_are_answered_in_order(path: str, listener: MemoryListener) -> None:
    """Answering one request inside the call of another would exceed Python's recursion limit."""
    client = listener.connect()
    listener.connections.limits = ConnectionLimits(requests=100_000)
    client.send(ask("/later") + 1_000 * ask(path) + ask("/later") + 998 * ask(path))
    while listener.routes.waiting:
        listener.routes.waiting.pop().answer()
        client.settle()
    expected = ["/later", *1_000 * [path], "/later", *998 * [path]]
    assert expected == client.texts


@pytest.mark.parametrize("over", [ask(), b"\0"])
def test_bytes_after_the_last_request_are_skipped(listener: MemoryListener, over: bytes) -> None:
    """Bytes to a closed connection reset it, perhaps before the client has read the response (RFC 9112 9.6)."""
    client = listener.sent(ask("/now", CLOSE) + over, over)
    assert 1 == len(client.answers())
    assert client.line.half_closed
    assert not client.line.closed
    listener.wait(5.25)
    assert client.line.closed


# The client's side is closed ----------------------------------------------------------------------


@pytest.mark.parametrize("before", [b"", ask("/later")])
def test_half_closed_client_has_the_idle_deadline(listener: MemoryListener, before: bytes) -> None:
    """A client that has left looks the same."""
    client = listener.sent(before + ask("/later"))
    client.finish()
    if before:
        listener.routes.waiting.pop().answer()
        client.settle()
    (later,) = listener.routes.waiting
    listener.wait(59.5)
    assert not later.cancelled
    listener.wait(0.75)

    assert later.cancelled
    assert client.line.closed


@pytest.mark.parametrize("part", [b"", b"G", ask()[:-2], posted(HUB, b"abc")[:-1]])
def test_half_closed_client_gets_each_answer(listener: MemoryListener, part: bytes) -> None:
    client = listener.sent(
        ask("/later") + 20 * ask("/1") + ask("/later") + posted(HUB, b"abc") + part
    )
    client.finish()
    while listener.routes.waiting:
        listener.routes.waiting.pop().answer()
        client.settle()
    assert ["/later", *20 * ["/1"], "/later", "abc"] == client.texts
    assert client.line.closed


@pytest.mark.parametrize("before", [b"", ask()])
@pytest.mark.parametrize("part", [b"", b"G", b"\r\n", ask()[:-2], posted(HUB, b"abc")[:-1]])
def test_half_closed_client_without_a_complete_request_is_closed(
    listener: MemoryListener, before: bytes, part: bytes
) -> None:
    client = listener.sent(before + part)
    client.finish()
    assert before.count(b"GET") == len(client.answers())
    assert client.line.closed
    assert set() == listener.connections.open


@pytest.mark.parametrize(
    ("requests", "sizes"),
    [(ask("/large") + ask("/2"), [LARGE, 3]), (ask("/large", CLOSE), [LARGE])],
)
def test_half_closed_slow_reader_gets_all_responses(
    listener: MemoryListener, requests: bytes, sizes: list[int]
) -> None:
    client = listener.sent(requests, slow=True)
    client.finish()
    assert not client.line.closed
    client.take_all()
    assert sizes == [len(answer.body) for answer in client.answers()]
    assert client.line.closed


def test_refused_client_that_half_closes_is_closed(listener: MemoryListener) -> None:
    client = listener.sent(b"\0\r\n")
    assert (True, False) == (client.line.half_closed, client.line.closed)
    client.finish()
    assert client.line.closed


def test_half_closed_client_gets_its_refusal(listener: MemoryListener) -> None:
    client = listener.sent(ask("/later") + b"\0\r\n")
    client.finish()
    listener.routes.waiting.pop().answer()
    assert [200, 400] == client.statuses
    assert client.line.closed


# Refusals: all of them are in tests/wire_corpus --------------------------------------------------


REFUSED: list[tuple[tuple[bytes, ...], Problem]] = [
    ((ask()[:-2], *[b"A: b\r\n"] * 3_000), problems.FIELDS_TOO_LARGE),
    ((b"x\r\n", ask(), ask()), problems.NOT_HTTP),
    ((posted("/x", 65_537 * b"x"), ask()), problems.CONTENT_TOO_LARGE),
    ((chunked(HUB, 9_000 * b"x")[:200], 8_500 * b"x"), problems.HUB_CONTENT_TOO_LARGE),
]


@pytest.mark.parametrize(("pieces", "problem"), REFUSED)
@pytest.mark.parametrize("before", [b"", ask(), ask(method="HEAD")], ids=["first", "GET", "HEAD"])
def test_refusal_is_one_response_and_the_last(
    listener: MemoryListener, before: bytes, pieces: tuple[bytes, ...], problem: Problem
) -> None:
    client = listener.sent(before, *pieces, ask())

    answers = client.answers(heads=(0,) if before.startswith(b"HEAD") else ())
    refusal = REPLIES.refusal(problem)
    assert bool(before) + 1 == len(answers)
    assert (problem.status, True) == (answers[-1].status, answers[-1].closes)
    assert b"".join(refusal.body) == answers[-1].body
    names = [line.partition(b":")[0].decode() for line in refusal.block.split(b"\r\n")[:-1]]
    assert ["Server", "Date", *names, "Connection"] == [name for name, _ in answers[-1].fields]
    assert bool(before) == len(listener.routes.requests)


def test_bytes_of_a_refused_client_are_skipped_for_five_seconds(listener: MemoryListener) -> None:
    """Bytes to a closed connection reset it, perhaps before the client has read the response."""
    client = listener.sent(ask("/x", "Content-Length: 9999999", method="POST"))
    for _ in range(5):
        assert client.line.half_closed
        assert not client.line.closed
        client.send(ask())
        listener.wait(1)
    listener.wait(0.25)

    assert client.line.closed
    assert [413] == client.statuses
    assert [] == listener.routes.requests


# Bodies -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pieces",
    [
        (posted(MCP, 65_537 * b"x"),),
        (posted(MCP, 65_537 * b"x")[:300],),
        (chunked(MCP, 65_536 * b"x", b"x"),),
        (chunked(MCP, 65_536 * b"x", b"x")[:-30], chunked(MCP, 65_536 * b"x", b"x")[-30:]),
        (ask(MCP, "Transfer-Encoding: chunked", method="POST"), b"ffffff\r\n", 65_537 * b"x"),
    ],
)
def test_too_large_body_reaches_mcp_truncated(
    listener: MemoryListener, pieces: tuple[bytes, ...]
) -> None:
    """MCP has its own order of refusals, which does not need the bytes after the first 64 KiB."""
    client = listener.sent(*pieces, ask())
    assert ["truncated"] == client.texts
    assert [True] == [answer.closes for answer in client.answers()]
    assert client.line.half_closed
