"""The parser of usual heads agrees with the parser of all heads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.http1.head import READ, Fields, RefusedError, RequestLine, read_fields, read_line
from reviewsd.http1.usual_head import MAX_SIZE, read_usual
from tests.support.examples import examples
from tests.unit.http1.test_head import FIELDS, HOST, LINES

USUAL = b"GET /a?b=c HTTP/1.1\r\nHost: localhost\r\nUser-Agent: d\r\n\r\n"
NAMES = [spelling for name in sorted(READ) for spelling in (name, name.title(), name.upper())]
NEAR = [*NAMES, *(name[:-1] for name in NAMES), *(name + b"s" for name in NAMES), b"a", b"X", b"c"]
VALUES = [b"", b" ", b"close", b"a, b", b"*", b'"a"', b" b ", b"\tb\t", b"\xff", b"\0", b"1", b"0"]
READ_FIELDS = st.lists(
    st.tuples(st.sampled_from(NEAR), st.sampled_from([b":", b": ", b" :"]), st.sampled_from(VALUES))
    .map(b"".join)
    .map(lambda line: line + b"\r\n"),
    max_size=4,
).map(b"".join)
HOSTS = st.sampled_from(
    [b"", HOST, HOST, b"host:a:80\r\n", b"Host: a%41\r\n", b"HOST: [::1]\r\n", b"Host: a:\r\n"]
)


def read(data: bytes) -> tuple[RequestLine, Fields, int] | None:
    """Return the result of the parser of all heads; None if the head is refused."""
    head, _, _ = data.partition(b"\r\n\r\n")
    line, _, fields = (head + b"\r\n").partition(b"\r\n")
    try:
        request_line = read_line(line)
        return request_line, read_fields(fields, old=request_line.old), len(head) + 4
    except RefusedError:
        return None


def agree(data: bytes) -> bool:
    """Check that both parsers agree; returns whether the head is usual."""
    usual = read_usual(data)
    if usual is None:
        return False
    method, path, query, fields, end = usual
    assert (RequestLine(method, path, query, None, old=False), fields, end) == read(data)
    return True


@examples(200)
@given(LINES, FIELDS | READ_FIELDS, HOSTS, READ_FIELDS, st.sampled_from([b"", b"GET / HTTP/1.1"]))
def test_both_parsers_agree_on_any_head(
    line: bytes, fields: bytes, host: bytes, more: bytes, rest: bytes
) -> None:
    agree(line + b"\r\n" + fields + host + more + b"\r\n" + rest)


@examples(200)
@given(READ_FIELDS, READ_FIELDS, st.sampled_from([b"GET", b"HEAD", b"POST"]))
def test_both_parsers_agree_on_well_formed_heads(
    before: bytes, after: bytes, method: bytes
) -> None:
    agree(method + b" /a HTTP/1.1\r\n" + before + HOST + after + b"\r\n")


@given(st.integers(0, len(USUAL)), st.binary(min_size=1, max_size=3))
def test_both_parsers_agree_on_a_usual_head_with_more_bytes(at: int, piece: bytes) -> None:
    agree(USUAL[:at] + piece + USUAL[at:])


@pytest.mark.parametrize(
    "line",
    [
        *(b"User-Agent: a", b"Cookie: a=b; c", b"Accept-Language: de", b"X-Forwarded-Proto: https"),
        *(b"Accept: */*", b"accept-encoding: gzip, br", b'If-None-Match: W/"a", "b"', b"A:"),
        *(b"Connection: keep-alive", b"CONNECTION: close", b"X-Forwarded-For: 192.0.2.1"),
        *(b"Content-Length: 003", b"content-type:a/b", b"Origin: null", b"MCP-Session-Id: a"),
        *(b"Mcp-Method: a", b"Mcp-Name: b", b"Mcp-Protocol-Version: 2025-06-18"),
        *(b"If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", b"TE: trailers", b"Content-MD5: a"),
    ],
)
def test_heads_of_clients_are_usual(line: bytes) -> None:
    assert agree(USUAL[:-2] + line + b"\r\n\r\n")
    assert agree(USUAL[:-2].replace(b"GET", b"POST") + line + b"\r\n\r\n")


@pytest.mark.parametrize("value", [b"", b"+3", b"3,3", b"3 3", 17 * b"0", b"0x3", b"\xb2", b"3\t"])
def test_malformed_length_is_not_usual(value: bytes) -> None:
    assert read_usual(USUAL[:-2] + b"Content-Length: " + value + b"\r\n\r\n") is None


def test_incomplete_head_is_not_usual() -> None:
    assert [] == [size for size in range(len(USUAL)) if read_usual(USUAL[:size]) is not None]


@pytest.mark.parametrize("name", sorted(READ))
def test_repeated_field_is_not_usual(name: bytes) -> None:
    line = name.title() + b": 1\r\n"
    assert read_usual(USUAL[:-2] + line + line + b"\r\n") is None


@pytest.mark.parametrize(
    "name", [*(b"Transfer-Encoding", b"Expect", b"If-Match", b"If-Unmodified-Since")]
)
def test_fields_that_need_more_checks_are_not_usual(name: bytes) -> None:
    for spelling in (name, name.lower(), name.upper()):
        assert read_usual(USUAL[:-2] + spelling + b": 0\r\n\r\n") is None


def test_large_head_is_not_usual() -> None:
    room = MAX_SIZE - len(USUAL) - len(b"A:\r\n")
    assert agree(USUAL[:-2] + b"A:" + room * b"b" + b"\r\n\r\n")
    assert not agree(USUAL[:-2] + b"A:" + room * b"b" + b"b\r\n\r\n")
