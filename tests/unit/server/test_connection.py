"""One connection in memory: what is answered, in which order, and what of it the client is sent.

Both ways are tested, the quick look-up and what stands for Klein. ``test_head`` and
``test_bodies`` prove the grammar, ``test_channel_time`` the deadlines, ``test_channel_pressure`` what
happens when clients send or take more or less than they should, ``test_channel_bytes`` any bytes at all.
"""

from collections.abc import Iterator

import pytest
from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import capturedLogs

from reviewsd.http1 import problems, urls
from reviewsd.http1.hosts import Hosts
from reviewsd.http1.problems import Problem
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response
from reviewsd.server.connections import ConnectionLimits
from reviewsd.server.site import Answer
from tests.support.connections import BASE_URL, LARGE, REPLIES, Client, MemoryListener, ask

HUB, MCP = urls.HUB, urls.MCP
CLOSE = "Connection: close"


@pytest.fixture
def listener() -> Iterator[MemoryListener]:
    one = MemoryListener()
    yield one
    one.close()


def posted(path: str, body: bytes, *fields: str) -> bytes:
    return ask(path, f"Content-Length: {len(body)}", *fields, method="POST") + body


def chunked(path: str, *chunks: bytes) -> bytes:
    body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))
    return ask(path, "Transfer-Encoding: chunked", method="POST") + body


# Answers ------------------------------------------------------------------------------------------


def test_an_answer_begins_with_the_same_fields_for_all(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(ask())

    (answer,) = client.answers()
    assert ["Server", "Date"] == [name for name, _ in answer.fields[:2]]
    assert "reviewsd" == answer.values("Server")[0]
    assert (200, b"/now\n", False) == (answer.status, answer.body, answer.closes)


def test_the_answer_to_head_is_that_to_get_without_its_body(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(ask(), ask(method="HEAD"), ask())

    got, headed, _ = client.answers(heads=(1,))
    assert got.values("Content-Length") == headed.values("Content-Length") == ["5"]
    assert b"" == headed.body


def test_an_answer_may_take_its_time(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(ask("/later"))
    listener.wait(600)
    assert b"" == client.received
    listener.routes.waiting.pop().answer()

    assert ["/later"] == client.texts
    assert not client.line.closed


def test_an_answer_of_http_1_0_is_the_last_and_says_so(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(ask(version="1.0"))

    assert client.received.startswith(b"HTTP/1.1 200 OK\r\nServer: reviewsd\r\n")
    assert [True] == [answer.closes for answer in client.answers()]
    assert client.line.closed


def test_failing_route_is_answered_500(listener: MemoryListener) -> None:
    client = listener.connect()
    with capturedLogs() as events:
        client.send(ask("/bug"), ask())

    assert [500, 200] == client.statuses
    assert 1 == len([event for event in events if "log_failure" in event])


def test_an_answer_that_fails_later_is_a_500_and_is_logged_once(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(ask("/later"))
    with capturedLogs() as events:
        listener.routes.waiting.pop().fail()

    assert [500] == client.statuses
    (event,) = (event for event in events if "log_failure" in event)
    assert isinstance(event["log_failure"].value, ValueError)


def test_a_client_that_leaves_has_its_answer_cancelled(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(ask("/later"))
    (later,) = listener.routes.waiting
    assert not later.cancelled
    with capturedLogs() as events:
        client.line.leave()

    assert later.cancelled
    assert set() == listener.connections.open
    assert [] == [event for event in events if "log_failure" in event]


def test_an_answer_that_comes_when_the_client_has_left_is_nothing_to_anybody() -> None:
    """A route may catch its cancellation."""
    listener, done = (
        MemoryListener(),
        Deferred[Response](lambda deferred: deferred.callback(Response(204, b""))),
    )
    listener.routes.respond = lambda _asked: done
    client = listener.connect()
    client.send(ask())
    client.line.leave()

    assert b"" == client.received
    listener.close()


def test_an_answer_that_somebody_else_cancels_is_a_500() -> None:
    """So that the client need not wait for ever."""
    listener, done = MemoryListener(), Deferred[Response]()
    listener.routes.respond = lambda _asked: done
    client = listener.connect()
    client.send(ask())
    done.errback(CancelledError())

    assert [500] == client.statuses
    listener.close()


# One after the other ------------------------------------------------------------------------------


def test_a_connection_answers_one_request_after_the_other(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(ask(), ask()[:10], ask()[10:] + ask())

    assert ["/now"] * 3 == client.texts
    assert not client.line.closed
    assert b"Connection:" not in client.received


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_it_does_not_matter_how_a_request_is_cut(listener: MemoryListener, size: int) -> None:
    data = posted(HUB, b"abc") + ask() + chunked(HUB, b"de", b"f") + b"\r\n" + ask("/x")
    client = listener.connect()
    client.send(*(data[at : at + size] for at in range(0, len(data), size)))

    assert ["abc", "/now", "def", "/x"] == client.texts


def test_what_is_pipelined_waits_for_the_answer_before_it(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(ask("/1") + ask("/later") + ask("/2") + posted(HUB, b"abc"), ask("/3"))
    assert ["/1"] == client.texts
    listener.routes.waiting.pop().answer()

    assert ["/1", "/later", "/2", "abc", "/3"] == client.texts


def test_a_body_is_no_part_of_what_comes_while_it_is_answered(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(posted("/later", b"abc") + ask("/1"), posted(HUB, b"de"))
    listener.routes.waiting.pop().answer()

    assert ["abc", "/1", "de"] == client.texts


def test_who_asks_much_at_once_lets_others_have_their_turn(listener: MemoryListener) -> None:
    client, other = listener.connect(), listener.connect()
    client.connection.dataReceived(500 * ask())
    other.connection.dataReceived(ask())

    assert 0 < client.received.count(b"HTTP/1.1 200") < 100
    assert other.received
    assert 500 == len(client.answers())


def test_exception_in_a_queued_request_ends_only_its_connection(listener: MemoryListener) -> None:
    """Twisted ends it in ``dataReceived``, but not in a turn of the queue."""

    def respond(request: Request) -> Answer:
        if request.path == b"/broken":
            raise ZeroDivisionError
        return listener.routes.respond_by_path(request)

    listener.routes.respond = respond
    client, other = listener.connect(), listener.connect()
    with capturedLogs() as events:
        client.connection.dataReceived(ask() + ask("/broken"))
        other.send(3 * ask())

    (event,) = events
    assert isinstance(event["log_failure"].value, ZeroDivisionError)
    assert client.line.aborted
    assert ["/now"] * 3 == other.texts


@pytest.mark.parametrize("path", ["/now", "/soon"])
def test_two_thousand_pipelined_requests_are_answered_in_order(
    path: str, listener: MemoryListener
) -> None:
    """None of them inside another: Python would not go so deep."""
    client = listener.connect()
    listener.connections.limits = ConnectionLimits(requests=100_000)
    client.send(ask("/later") + 1_000 * ask(path) + ask("/later") + 998 * ask(path))
    while listener.routes.waiting:
        listener.routes.waiting.pop().answer()
        client.settle()

    expected = ["/later", *1_000 * [path], "/later", *998 * [path]]
    assert expected == client.texts


def test_the_last_answer_that_a_connection_may_have_says_so(listener: MemoryListener) -> None:
    client = listener.connect()
    listener.connections.limits = ConnectionLimits(requests=3)
    client.send(3 * ask())

    assert [False, False, True] == [answer.closes for answer in client.answers()]
    assert client.line.closed


@pytest.mark.parametrize("over", [ask(), b"\0"])
def test_what_follows_the_last_answer_is_read_past(listener: MemoryListener, over: bytes) -> None:
    """A closed connection would be reset by it, perhaps before the answer is read (RFC 9112 9.6)."""
    client = listener.connect()
    client.send(ask("/now", CLOSE) + over, over)

    assert 1 == len(client.answers())
    assert client.line.half_closed
    assert not client.line.closed
    listener.wait(5.25)
    assert client.line.closed


# The client's side is closed ----------------------------------------------------------------------


@pytest.mark.parametrize("request_", [ask("/later"), posted("/later", b"abc")])
def test_who_says_nothing_more_is_answered_all_the_same(
    listener: MemoryListener, request_: bytes
) -> None:
    client = listener.connect()
    client.send(request_)
    client.finish()
    assert not client.line.closed
    listener.routes.waiting.pop().answer()

    assert [200] == client.statuses
    assert (True, False) == (client.line.closed, client.line.aborted)


@pytest.mark.parametrize("before", [b"", ask("/later")])
def test_but_not_for_ever(listener: MemoryListener, before: bytes) -> None:
    """It may have left, and nobody else would notice."""
    client = listener.connect()
    client.send(before + ask("/later"))
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
def test_all_that_was_asked_by_then_is_answered_and_no_part(
    listener: MemoryListener, part: bytes
) -> None:
    client = listener.connect()
    client.send(ask("/later") + 20 * ask("/1") + ask("/later") + posted(HUB, b"abc") + part)
    client.finish()
    while listener.routes.waiting:
        listener.routes.waiting.pop().answer()
        client.settle()

    assert ["/later", *20 * ["/1"], "/later", "abc"] == client.texts
    assert client.line.closed


@pytest.mark.parametrize("before", [b"", ask()])
@pytest.mark.parametrize("part", [b"", b"G", b"\r\n", ask()[:-2], posted(HUB, b"abc")[:-1]])
def test_who_has_not_asked_to_the_end_is_closed_at_once(
    listener: MemoryListener, before: bytes, part: bytes
) -> None:
    client = listener.connect()
    client.send(before + part)
    client.finish()

    assert before.count(b"GET") == len(client.answers())
    assert client.line.closed
    assert set() == listener.connections.open


def test_a_slow_reader_who_says_nothing_more_gets_all_of_it(listener: MemoryListener) -> None:
    client = listener.connect(slow=True)
    client.send(ask("/large") + ask("/2"))
    client.finish()
    assert not client.line.closed
    client.take_all()

    assert [LARGE, 3] == [len(answer.body) for answer in client.answers()]
    assert client.line.closed


def test_so_does_one_whose_last_answer_it_was(listener: MemoryListener) -> None:
    client = listener.connect(slow=True)
    client.send(ask("/large", CLOSE))
    client.finish()
    client.take_all()

    assert [LARGE] == [len(answer.body) for answer in client.answers()]
    assert client.line.closed


def test_nothing_is_waited_for_from_who_was_refused_and_says_nothing_more(
    listener: MemoryListener,
) -> None:
    client = listener.connect()
    client.send(b"\0\r\n")
    assert (True, False) == (client.line.half_closed, client.line.closed)
    client.finish()

    assert client.line.closed


def test_who_is_refused_when_it_says_nothing_more_is_told(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(ask("/later") + b"\0\r\n")
    client.finish()
    listener.routes.waiting.pop().answer()

    assert [200, 400] == client.statuses
    assert client.line.closed


# Fields from request to request -------------------------------------------------------------------


def test_what_one_request_says_is_not_said_by_the_next(listener: MemoryListener) -> None:
    client = listener.connect()
    first, second = "Accept: b", "Accept: c"
    client.send(ask("/1", first), ask("/2", second, "Origin: e"), ask("/3"), ask("/4", first))

    asked = listener.routes.asked
    assert [(b"b",), (b"c",), (), (b"b",)] == [each.lines(b"accept") for each in asked]
    assert [(), (b"e",), (), ()] == [each.lines(b"origin") for each in asked]


def test_the_same_fields_mean_another_thing_in_http_1_0(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(ask(), ask(version="1.0"))

    assert [False, True] == [answer.closes for answer in client.answers()]


def test_a_body_is_that_of_its_request_alone(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(posted(HUB, b"abc"), ask(), posted(HUB, b"def"))

    assert [b"abc", b"", b"def"] == [asked.body for asked in listener.routes.asked]


# Names --------------------------------------------------------------------------------------------


@pytest.fixture
def named() -> Iterator[Client]:
    """A connection to who is called reviews.example."""
    listener = MemoryListener(hosts=Hosts(BASE_URL))
    yield listener.connect()
    listener.close()


def hosted(host: str, path: str = "/now") -> bytes:
    return ask(path).replace(b"Host: a", f"Host: {host}".encode())


def test_who_asks_for_another_name_is_told_so_and_may_ask_again(named: Client) -> None:
    named.send(hosted("evil.example"), hosted("reviews.example"), hosted("Reviews.Example:443"))

    assert [421, 200, 200] == named.statuses
    assert problems.MISDIRECTED.detail in named.texts[0]


@pytest.mark.parametrize("path", [urls.HEALTH, MCP])
def test_names_are_judged_again_behind_what_any_name_may_ask(named: Client, path: str) -> None:
    """Probes know none, MCP judges by itself; neither opens the door for what follows."""
    named.send(hosted("evil.example", path), hosted("evil.example"), hosted("reviews.example"))

    assert [200, 421, 200] == named.statuses


def test_a_name_that_was_served_serves_no_other(named: Client) -> None:
    named.send(hosted("reviews.example") + hosted("evil.example") + hosted("evil.example"))

    assert [200, 421, 421] == named.statuses


def test_the_name_in_the_target_takes_the_place_of_host(named: Client) -> None:
    """RFC 9112 3.2.2."""
    named.send(hosted("reviews.example", "http://evil.example/now"))
    named.send(hosted("evil.example", "https://reviews.example/now"))

    assert [421, 200] == named.statuses


# Refusals -----------------------------------------------------------------------------------------


FIELD = b"A: b\r\n"
REFUSED: list[tuple[tuple[bytes, ...], Problem]] = [
    ((b"x" * 16_387,), problems.URI_TOO_LONG),
    ((b"x" * 10_000, b"x" * 10_000, b"x" * 10_000), problems.URI_TOO_LONG),
    ((b"GET /" + b"x" * 16_400 + ask()[4:],), problems.URI_TOO_LONG),
    ((ask()[:-2], b"A: " + b"b" * 16_385), problems.FIELDS_TOO_LARGE),
    ((ask()[:-2], *[FIELD] * 3_000), problems.FIELDS_TOO_LARGE),
    ((ask()[:-2] + FIELD * 600 + b"\r\n",), problems.FIELDS_TOO_LARGE),
    ((b"x\r\n", ask(), ask()), problems.NOT_HTTP),
    ((b"GET / HTTP/1.1\nHost: a\n\n",), problems.NOT_HTTP),
    ((ask()[:-2] + b"Content-Length: 3\r\n", b"\r\n", b"abc", ask()), problems.CONTENT_TOO_LARGE),
    ((posted("/x", 65_537 * b"x"), ask()), problems.CONTENT_TOO_LARGE),
    ((chunked("/x", 65_536 * b"x", b"x"),), problems.CONTENT_TOO_LARGE),
    ((posted(HUB, 8_193 * b"x"), ask()), problems.HUB_CONTENT_TOO_LARGE),
    ((chunked(HUB, 8_192 * b"x", b"x"), ask()), problems.HUB_CONTENT_TOO_LARGE),
    ((chunked(HUB, 9_000 * b"x")[:200], 8_500 * b"x"), problems.HUB_CONTENT_TOO_LARGE),
    ((chunked(HUB, b"abc")[:-7] + b"x\r\n",), problems.NOT_HTTP),
]


@pytest.mark.parametrize(("pieces", "problem"), REFUSED)
@pytest.mark.parametrize("before", [b"", ask(), ask(method="HEAD")], ids=["first", "GET", "HEAD"])
def test_a_refusal_is_one_whole_response_and_the_last(
    listener: MemoryListener, before: bytes, pieces: tuple[bytes, ...], problem: Problem
) -> None:
    client = listener.connect()
    client.send(before, *pieces, ask())

    answers = client.answers(heads=(0,) if before.startswith(b"HEAD") else ())
    refusal = REPLIES.refusal(problem)
    assert bool(before) + 1 == len(answers)
    assert (problem.status, True) == (answers[-1].status, answers[-1].closes)
    assert b"".join(refusal.body) == answers[-1].body
    names = [line.partition(b":")[0].decode() for line in refusal.block.split(b"\r\n")[:-1]]
    assert ["Server", "Date", *names, "Connection"] == [name for name, _ in answers[-1].fields]
    assert bool(before) == len(listener.routes.asked)


@pytest.mark.parametrize(
    "rest", [b"Content-Length: 3\r\n\r\nabc", b"A b: c\r\n\r\n", 3_000 * FIELD, b"A\n\r\n\r\n"]
)
def test_the_refusal_of_head_has_no_body(listener: MemoryListener, rest: bytes) -> None:
    """RFC 9110 9.3.2; a body would be taken for the next response."""
    client = listener.connect()
    client.send(ask(method="HEAD")[:-2], rest)

    (answer,) = client.answers(heads=(0,))
    assert answer.closes


def test_who_is_refused_is_read_past_for_a_while(listener: MemoryListener) -> None:
    """A closed connection would be reset by what still comes, perhaps before the answer is read."""
    client = listener.connect()
    client.send(ask("/x", "Content-Length: 9999999", method="POST"))
    for _ in range(5):
        assert client.line.half_closed
        assert not client.line.closed
        client.send(ask())
        listener.wait(1)
    listener.wait(0.25)

    assert client.line.closed
    assert [413] == client.statuses
    assert [] == listener.routes.asked


def test_a_request_of_unknown_length_in_between_is_answered_once(listener: MemoryListener) -> None:
    """The smuggler's favourite: both lengths."""
    client = listener.connect()
    fields = ("Content-Length: 5", "Transfer-Encoding: chunked")
    client.send(ask(HUB, *fields, method="POST") + b"0\r\n\r\n" + ask("/smuggled"))

    assert [400] == client.statuses
    assert [] == listener.routes.asked


# Bodies -------------------------------------------------------------------------------------------


def test_a_body_that_no_read_wants_is_read_past_when_it_is_small(listener: MemoryListener) -> None:
    client = listener.connect()
    whole = posted("/x", 65_536 * b"x")
    client.send(whole[:100], whole[100:], ask())

    assert [200, 200] == client.statuses


def test_the_room_for_one_body_is_not_what_the_one_before_has_left(
    listener: MemoryListener,
) -> None:
    client = listener.connect()
    body = 8_192 * b"x"
    client.send(*2 * [posted(HUB, body), chunked(HUB, body[:5_000], body[5_000:])])

    assert 4 * [body] == [asked.body for asked in listener.routes.asked]


def test_who_waits_for_leave_to_send_a_body_gets_it(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(ask(HUB, "Content-Length: 3", "Expect: 100-Continue", method="POST"))
    assert b"HTTP/1.1 100 Continue\r\n\r\n" == client.received
    client.send(b"abc", ask())

    assert [100, 200, 200] == client.statuses


def test_who_does_not_wait_for_it_needs_none(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(posted(HUB, b"abc", "Expect: 100-continue"))
    client.send(ask("/x", "Expect: 100-continue"))

    assert ["abc", "/x"] == client.texts


@pytest.mark.parametrize("path", [HUB, MCP, "/x"])
def test_who_announces_too_much_gets_no_leave(listener: MemoryListener, path: str) -> None:
    client = listener.connect()
    client.send(ask(path, "Content-Length: 65537", "Expect: 100-continue", method="POST"))

    assert b"HTTP/1.1 100" not in client.received
    assert client.line.half_closed


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
def test_mcp_itself_refuses_a_body_that_is_too_large(
    listener: MemoryListener, pieces: tuple[bytes, ...]
) -> None:
    """It has an order of refusals, and what comes after the first 64 KiB is not needed for it."""
    client = listener.connect()
    client.send(*pieces, ask())

    assert ["truncated"] == client.texts
    assert [True] == [answer.closes for answer in client.answers()]
    assert client.line.half_closed


def test_mcp_is_given_what_it_may_have(listener: MemoryListener) -> None:
    client = listener.connect()
    client.send(posted(MCP, 65_536 * b"x"), chunked(MCP, 65_535 * b"x", b"x"), ask())

    assert [(65_536, False)] * 2 == [
        (len(asked.body), asked.truncated) for asked in listener.routes.asked[:2]
    ]
    assert "/now" == client.texts[-1]


def test_connection_ends_after_its_last_request() -> None:
    listener = MemoryListener(requests=3)
    client = listener.connect()
    client.send(ask(), ask(), ask())
    assert [False, False, True] == [answer.closes for answer in client.answers()]


@pytest.mark.parametrize("before", [b"", ask(), ask("/other") + ask()])
def test_a_body_is_no_request_although_it_equals_what_came_before(
    listener: MemoryListener, before: bytes
) -> None:
    client = listener.connect()
    head = ask(HUB, "Content-Length: 00000", method="POST")
    length = len(before + head)
    again = before + head.replace(b"00000", b"%05d" % length)
    client.send(again, again, ask())

    assert [*before.count(b"GET") * [b""], again, b""] == [
        asked.body for asked in listener.routes.asked
    ]
    assert again.decode().strip() in client.received.decode()
