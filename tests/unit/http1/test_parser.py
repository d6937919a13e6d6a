"""The parser takes the same requests out of bytes however they are cut (RFC 9112 2 to 7, S1 to S3)."""

from itertools import pairwise

import h11
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reviewsd.http1 import problems
from reviewsd.http1.head import MAX_HEAD, MAX_LINE, RefusedError
from reviewsd.http1.parser import BODY, HEAD, NOTHING, Cap, RequestParser
from reviewsd.http1.request import Request
from tests.support.connections import ask
from tests.support.examples import examples
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
    """Return the limits of a hub, of an endpoint that refuses large bodies itself, and of reads."""
    if path == b"/mcp":
        return Cap(ROOM, problems.CONTENT_TOO_LARGE, truncates=True)
    return Cap(ROOM if path == b"/hub" else 0, problems.CONTENT_TOO_LARGE)


def parsed(*pieces: bytes, parser: RequestParser | None = None) -> list[Request | str]:
    """Return the requests in some pieces, and the title of a refusal."""
    parser = parser or RequestParser(cap)
    requests: list[Request | str] = []
    for piece in pieces:
        parser.buffer += piece
        try:
            while parser.buffer and (request := parser.next_request()) is not None:
                requests.append(request)
        except RefusedError as refused:
            return [*requests, refused.problem.title]
    return requests


def cut(data: bytes, places: list[int]) -> list[bytes]:
    borders = sorted({0, *(place % (len(data) + 1) for place in places), len(data)})
    return [data[begin:end] for begin, end in pairwise(borders)]


@example([TOO_LARGE, b"get / HTTP/1.1\r\n"], [len(TOO_LARGE)])
@given(st.lists(st.sampled_from((*GOOD, *BAD)), max_size=4), st.lists(st.integers(0, 999)))
def test_requests_do_not_depend_on_cuts(several: list[bytes], places: list[int]) -> None:
    data = b"".join(several)
    assert parsed(data) == parsed(*cut(data, places))


# Against h11: lengths decide whether bytes are a body or a request --------------------------------


def sized(body: bytes, missing: int) -> bytes:
    """Return a POST whose length is that of its body and some missing bytes."""
    return ask("/x", f"Content-Length: {len(body) + missing}", method="POST") + body


def chunked(body: bytes) -> bytes:
    """Return a POST with its body in one chunk; an empty one ends the body too early."""
    head = ask("/x", "Transfer-Encoding: chunked", method="POST")
    return head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


READS = st.sampled_from(
    [
        *(ask("/a"), ask("/a", method="HEAD"), ask("/a", "A: b"), ask("/b", "Content-Length: 0")),
        ask("/a", method="POST"),
    ]
)
BODIES = st.binary(max_size=8) | READS | st.builds(sized, READS, st.just(0))
MESSAGES = st.one_of(
    READS,
    READS,
    st.builds(sized, BODIES, st.sampled_from([0, 0, 0, 1, 40, -1])),
    st.builds(chunked, BODIES),
)


def framed(data: bytes) -> list[tuple[bytes, bytes, bytes]]:
    """Return the methods, targets and bodies of the requests that h11 reads."""
    requests: list[tuple[bytes, bytes, bytes]] = []
    while True:
        for _ in range(2):  # empty lines before a request, which h11 refuses (RFC 9112 2.2)
            data = data.removeprefix(b"\r\n")
        if data in (b"", b"\r"):
            return requests
        peer = h11.Connection(h11.SERVER)
        peer.receive_data(data)
        method = target = body = b""
        event: object = None
        while not isinstance(event, h11.EndOfMessage):
            try:
                event = peer.next_event()
            except h11.RemoteProtocolError:
                return requests
            match event:
                case h11.Request():
                    method, target = event.method, event.target
                case h11.Data():
                    body += event.data
                case h11.NEED_DATA:
                    return requests
        requests.append((method, target, body))
        data, _ = peer.trailing_data


@examples(200)
@given(st.lists(MESSAGES, max_size=5).map(b"".join), st.lists(st.integers(0, 999), max_size=8))
def test_parser_and_h11_read_the_same_requests(data: bytes, places: list[int]) -> None:
    parser = RequestParser(lambda _method, _path: Cap(65_536, problems.CONTENT_TOO_LARGE))
    parts = parsed(*cut(data, places), parser=parser)
    ours = [(part.method, part.path, part.body) for part in parts if isinstance(part, Request)]
    expected = framed(data)
    refused = len(ours) < len(parts)
    assert expected[: len(ours)] == ours
    assert refused or expected == ours


@pytest.mark.parametrize("data", GOOD)
def test_request_ends_where_the_next_begins(data: bytes) -> None:
    (request,) = parsed(data + READ)[:1]
    assert isinstance(request, Request)
    body = b"hello" if b"hello" in data else b""
    assert (b"x", body) == (request.authority, request.body)
    assert 2 == len(parsed(data + READ))


@pytest.mark.parametrize("data", BAD)
def test_malformed_request_is_refused_and_ends_parsing(data: bytes) -> None:
    (*before, refusal) = parsed(READ + data + READ)
    assert 1 == len(before)
    assert isinstance(refusal, str)
    assert refusal == parsed(*(bytes([byte]) for byte in data))[-1]


def test_too_large_body_is_truncated_if_the_route_refuses_it() -> None:
    (request,) = parsed(TOO_MUCH)
    assert isinstance(request, Request)
    assert (True, b"") == (request.truncated, request.body)


def long_line(size: int) -> bytes:
    return b"GET /" + (size - 14) * b"a" + b" HTTP/1.1\r\nHost: x\r\n\r\n"


def long_fields(size: int) -> bytes:
    return b"GET / HTTP/1.1\r\nHost: x\r\nA: " + (size - 14) * b"a" + b"\r\n\r\n"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (long_line(MAX_LINE), None),
        (long_line(MAX_LINE + 1), problems.URI_TOO_LONG.title),
        (long_fields(MAX_HEAD), None),
        (long_fields(MAX_HEAD + 1), problems.FIELDS_TOO_LARGE.title),
    ],
    ids=["longest line", "longer line", "longest fields", "longer fields"],
)
def test_limits_of_a_head_do_not_depend_on_cuts(data: bytes, expected: str | None) -> None:
    line_end = data.index(b"\r\n")
    for place in (*range(line_end - 1, line_end + 3), *range(len(data) - 6, len(data) + 1)):
        (request,) = parsed(data[:place], data[place:])
        assert expected == (request if isinstance(request, str) else None)


def test_state_is_the_part_that_is_coming() -> None:
    parser = RequestParser(cap)
    states: list[str] = []
    for byte in b"\r\n" + SENT:
        assert not states or states[-1] != "complete"
        states.append("complete" if parsed(bytes([byte]), parser=parser) else str(parser.state))
    assert [str(NOTHING)] * 2 == states[:2]
    assert [str(HEAD)] * (len(SENT) - 6) == states[2 : len(SENT) - 4]
    assert [*[str(BODY)] * 5, "complete"] == states[len(SENT) - 4 :]


def test_client_that_expects_100_is_recognized() -> None:
    parser = RequestParser(cap)
    head = SENT[:-9] + b"\r\nExpect: 100-continue\r\n\r\n"
    assert ([], True) == (parsed(head, parser=parser), parser.awaits_continue)
    assert ([], False) == (parsed(head + b"h"), RequestParser(cap).awaits_continue)


def test_head_in_single_bytes_takes_linear_time() -> None:
    def parsing(size: int) -> Thunk:
        data = b"GET / HTTP/1.1\r\nHost: x\r\nA: %b\r\n\r\n" % (min(size, 16_000) * b"a")
        pieces = [bytes([byte]) for byte in data]
        return lambda: parsed(*pieces)

    assert_linear(parsing)
