"""Requests taken out of bytes: however they are cut, the same ones (RFC 9112 2 to 7, S1 to S3)."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reviewsd.http1 import problems
from reviewsd.http1.head import MAX_HEAD, MAX_LINE, RefusedError
from reviewsd.http1.parser import BODY, HEAD, NOTHING, Cap, RequestParser
from reviewsd.http1.request import Request
from tests.support.growth import Thunk, assert_linear

ROOM = 10
READ = b"GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n"
SENT = b"POST /hub HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"POST /hub HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nT: u\r\n\r\n"
TOO_MUCH = b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\nhello"
NO_CHUNKS = b"GET /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
GOOD = (READ, SENT, CHUNKED, NO_CHUNKS)
TOO_LARGE = b"POST /hub HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world"
BAD = (
    b"get / HTTP/1.1\r\n",
    b"GET / HTTP/1.1\nHost: x\n\n",
    b"\nGET / HTTP/1.1\r\n",
    b"\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"POST /hub HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n",
    TOO_LARGE,
    b"PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
)


def cap(method: bytes, path: bytes) -> Cap:
    """A hub, an endpoint that refuses by itself, and reads."""
    if path == b"/mcp":
        return Cap(ROOM, problems.CONTENT_TOO_LARGE, truncates=True)
    return Cap(ROOM if path == b"/hub" else 0, problems.CONTENT_TOO_LARGE)


def taken(*pieces: bytes, parser: RequestParser | None = None) -> list[Request | str]:
    """The requests in some pieces, and how it ended where it did."""
    parser = parser or RequestParser(cap)
    found: list[Request | str] = []
    for piece in pieces:
        parser.buffer += piece
        try:
            while parser.buffer and (asked := parser.next_request()) is not None:
                found.append(asked)
        except RefusedError as refused:
            return [*found, refused.problem.title]
    return found


def cut(data: bytes, places: list[int]) -> list[bytes]:
    borders = sorted({0, *(place % (len(data) + 1) for place in places), len(data)})
    return [data[begin:end] for begin, end in pairwise(borders)]


@example([TOO_LARGE, b"get / HTTP/1.1\r\n"], [len(TOO_LARGE)])
@given(st.lists(st.sampled_from((*GOOD, *BAD)), max_size=4), st.lists(st.integers(0, 999)))
def test_requests_are_the_same_however_they_are_cut(
    several: list[bytes], places: list[int]
) -> None:
    data = b"".join(several)
    assert taken(data) == taken(*cut(data, places))


@pytest.mark.parametrize("data", GOOD)
def test_a_request_is_taken_whole(data: bytes) -> None:
    (asked,) = taken(data + READ)[:1]
    assert isinstance(asked, Request)
    body = b"hello" if b"hello" in data else b""
    assert (b"x", body) == (asked.authority, asked.body)
    assert 2 == len(taken(data + READ))


@pytest.mark.parametrize("data", BAD)
def test_what_is_no_request_is_refused_at_once_and_nothing_follows_it(data: bytes) -> None:
    (*before, refusal) = taken(READ + data + READ)
    assert 1 == len(before)
    assert isinstance(refusal, str)
    assert refusal == taken(*(bytes([byte]) for byte in data))[-1]


def test_more_of_a_body_than_may_come_is_its_routes_business_where_that_is_so() -> None:
    (asked,) = taken(TOO_MUCH)
    assert isinstance(asked, Request)
    assert (True, b"") == (asked.truncated, asked.body)


@pytest.mark.parametrize(
    "size", [MAX_LINE, MAX_LINE + 1], ids=["of the greatest length", "a byte longer"]
)
def test_a_request_line_has_its_limit_wherever_it_is_cut(size: int) -> None:
    line = b"GET /" + (size - 14) * b"a" + b" HTTP/1.1"
    data = line + b"\r\nHost: x\r\n\r\n"
    expected = problems.URI_TOO_LONG.title if len(line) > MAX_LINE else None
    for place in (size - 1, size, size + 1, size + 2, len(data) - 1, len(data)):
        (found,) = taken(data[:place], data[place:])
        assert expected == (found if isinstance(found, str) else None)


@pytest.mark.parametrize("size", [MAX_HEAD, MAX_HEAD + 1])
def test_fields_have_their_limit_wherever_they_are_cut(size: int) -> None:
    fields = b"Host: x\r\nA: " + (size - 14) * b"a" + b"\r\n"
    data = b"GET / HTTP/1.1\r\n" + fields + b"\r\n"
    expected = problems.FIELDS_TOO_LARGE.title if len(fields) > MAX_HEAD else None
    assert size == len(fields)
    for place in range(len(data) - 6, len(data) + 1):
        (found,) = taken(data[:place], data[place:])
        assert expected == (found if isinstance(found, str) else None)


def test_the_stage_tells_what_has_begun_to_come() -> None:
    parser = RequestParser(cap)
    stages: list[str] = []
    for byte in b"\r\n" + SENT:
        assert not stages or stages[-1] != "whole"
        stages.append("whole" if taken(bytes([byte]), parser=parser) else str(parser.state))
    assert [str(NOTHING)] * 2 == stages[:2]
    assert [str(HEAD)] * (len(SENT) - 6) == stages[2 : len(SENT) - 4]
    assert [*[str(BODY)] * 5, "whole"] == stages[len(SENT) - 4 :]


def test_a_client_that_waits_for_leave_is_known() -> None:
    parser = RequestParser(cap)
    head = SENT[:-9] + b"\r\nExpect: 100-continue\r\n\r\n"
    assert ([], True) == (taken(head, parser=parser), parser.awaited)
    assert ([], False) == (taken(head + b"h"), RequestParser(cap).awaited)


def test_a_head_that_comes_byte_by_byte_is_looked_at_once() -> None:
    def taking(size: int) -> Thunk:
        data = b"GET / HTTP/1.1\r\nHost: x\r\nA: %b\r\n\r\n" % (min(size, 16_000) * b"a")
        pieces = [bytes([byte]) for byte in data]
        return lambda: taken(*pieces)

    assert_linear(taking)
