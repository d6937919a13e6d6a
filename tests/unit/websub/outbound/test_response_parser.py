"""The strict parser of HTTP responses (E12, RFC 9112)."""

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reviewsd.websub.outbound.response_parser import (
    MAX_CHUNKED,
    MAX_FIELDS,
    MAX_HEAD,
    MalformedResponseError,
    ResponseParser,
    parse_head,
)

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def parse(*pieces: bytes, max_body: int = 1024) -> ResponseParser:
    parser = ResponseParser(max_body)
    for piece in pieces:
        parser.feed(piece)
    return parser


def state(parser: ResponseParser) -> tuple[int | None, bytes, bool]:
    status = None if parser.head is None else parser.head.status
    return (status, bytes(parser.body), parser.complete)


# Heads --------------------------------------------------------------------------------------------


def test_head_has_status_and_fields() -> None:
    head = parse_head(b"HTTP/1.0 404 Not  Found\t\xe9\r\nA-b:  c \t\r\nA-B:d\r\nEmpty:")
    assert (0, 404) == (head.minor_version, head.status)
    assert {b"a-b": b"c, d", b"empty": b""} == head.fields


@pytest.mark.parametrize("line", [b"HTTP/1.1 204", b"HTTP/1.1 204 ", b"HTTP/1.1 204 No Content"])
def test_reason_phrase_is_optional(line: bytes) -> None:
    assert 204 == parse_head(line).status


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6",
        b"HTTP/2 200",
        b"HTTP/1.2 200 OK",
        b"HTTP/1.1  200 OK",
        b"HTTP/1.1 20 OK",
        b"HTTP/1.1 2000 OK",
        b"HTTP/1.1 600 OK",
        b"HTTP/1.1 099 OK",
        b"HTTP/1.1 200OK",
        b"http/1.1 200 OK",
        b"HTTP/1.1 200 O\nK",
        b"HTTP/1.1 200 O\x00K",
        b"HTTP/1.1 \xb2\xb0\xb0 OK",
    ],
)
def test_other_status_line_is_malformed(head: bytes) -> None:
    with pytest.raises(MalformedResponseError):
        parse_head(head)


@pytest.mark.parametrize(
    "line",
    [
        b" folded",
        b"\tfolded",
        b"A b: c",
        b"A : b",
        b": b",
        b"A",
        b"A: b\nC: d",
        b"A: b\rC: d",
        b"A: \x00",
        b"A: \x7f",
        b"\xc3\xa4: b",
        b"",
    ],
)
def test_other_header_line_is_malformed(line: bytes) -> None:
    with pytest.raises(MalformedResponseError):
        parse_head(OK + b"X: y\r\n" + line)


def test_number_of_fields_is_limited() -> None:
    assert 200 == parse_head(b"\r\n".join([OK[:-2], *[b"A: b"] * MAX_FIELDS])).status
    with pytest.raises(MalformedResponseError, match="fields"):
        parse_head(b"\r\n".join([OK[:-2], *[b"A: b"] * (MAX_FIELDS + 1)]))


def test_length_of_a_head_is_limited() -> None:
    filler = OK + b"A: " + b"x" * (MAX_HEAD - len(OK) - 3)
    for pieces in ((filler + b"\r\n\r\n",), (filler, b"\r\n\r\n"), (filler, b"\r\n\r", b"\n")):
        assert (200, b"", False) == state(parse(*pieces)), "it depends on the pieces"
    with pytest.raises(MalformedResponseError, match="too long"):
        parse(filler, b"x\r\n\r\n")
    with pytest.raises(MalformedResponseError, match="too long"):
        parse(filler, b"xxxx")


def test_spaces_in_a_value_take_linear_time() -> None:
    """A lazy pattern would try them in pairs: 30 kB of them took seconds."""
    head = parse_head(OK + b"A:" + b" " * 30_000 + b"b" + b" " * 2_000)
    assert b"b" == head.fields[b"a"]


# Framing ------------------------------------------------------------------------------------------


def test_interim_responses_are_skipped() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    assert (404, b"", True) == state(parse(early + b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"))


def test_switch_of_protocols_is_malformed() -> None:
    with pytest.raises(MalformedResponseError, match="protocols"):
        parse(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n")


@pytest.mark.parametrize("status", [b"204", b"304"])
def test_response_without_body_ends_with_its_head(status: bytes) -> None:
    parser = parse(b"HTTP/1.1 " + status + b" X\r\nContent-Length: 3\r\n\r\n")
    assert (True, True) == (parser.complete, parser.keeps_alive)


def test_body_ends_after_its_length() -> None:
    parser = parse(OK + b"Content-Length: 3\r\n\r\nab")
    assert (200, b"ab", False) == state(parser)
    assert 1 == parser.remaining
    parser.feed(b"c")
    assert (200, b"abc", True) == state(parser)


@pytest.mark.parametrize(
    "length",
    [
        b"-1",
        b"+1",
        b"1, 1",
        b"0x1",
        b"",
        b"1 1",
        b"1" * 16,
        b"\xb2",
        b"1_0",
        b"1\r\nContent-Length: 1",
    ],
)
def test_length_must_be_a_number(length: bytes) -> None:
    with pytest.raises(MalformedResponseError, match="Content-Length"):
        parse(OK + b"Content-Length: " + length + b"\r\n\r\n")


def test_chunks_are_joined() -> None:
    body = b'3\r\nabc\r\n002;a="b"\r\nde\r\nA \t;x\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n'
    assert (200, b"abcde0123456789", True) == state(parse(CHUNKED + body))


def test_chunks_are_read_as_strictly_as_those_of_requests() -> None:
    """``tests/unit/http1/test_body`` has their grammar."""
    with pytest.raises(MalformedResponseError, match="chunks"):
        parse(CHUNKED + b"3\r\nabcd\r\n")


def test_chunks_beyond_the_limit_are_not_kept_nor_is_the_connection() -> None:
    parser = parse(CHUNKED, b"ffffff\r\n" + b"x" * MAX_CHUNKED, *[b"x" * 4_096] * 9, max_body=0)
    assert (1, False, True) == (len(parser.body), parser.complete, parser.excess)
    assert not parser.keeps_alive
    assert b"" == parser._buffer


@pytest.mark.parametrize(
    "fields",
    [
        b"Transfer-Encoding: gzip, chunked",
        b"Transfer-Encoding: chunked, chunked",
        b"Transfer-Encoding: identity",
        b"Transfer-Encoding: chunked\r\nContent-Length: 3",
    ],
)
def test_other_framing_is_malformed(fields: bytes) -> None:
    with pytest.raises(MalformedResponseError, match="framed"):
        parse(OK + fields + b"\r\n\r\n")


def test_chunks_in_http_1_0_are_malformed() -> None:
    with pytest.raises(MalformedResponseError, match="framed"):
        parse(b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")


def test_response_without_length_ends_with_its_connection() -> None:
    parser = parse(OK + b"\r\nab", b"c")
    assert (200, b"abc", False) == state(parser)
    assert not parser.keeps_alive
    parser.end()
    assert parser.complete


@pytest.mark.parametrize(
    "cut", [b"", OK, OK + b"Content-Length: 3\r\n\r\nab", CHUNKED + b"3\r\nabc\r\n"]
)
def test_framed_response_does_not_end_with_its_connection(cut: bytes) -> None:
    parser = parse(cut)
    parser.end()
    assert not parser.complete


@pytest.mark.parametrize(
    "first",
    [OK + b"Content-Length: 0\r\n\r\n", OK + b"Content-Length: 1\r\n\r\nx", CHUNKED + b"0\r\n\r\n"],
)
@pytest.mark.parametrize("together", [True, False])
def test_bytes_after_the_response_end_the_connection(first: bytes, together: bool) -> None:
    """They could be taken for the response to the next request."""
    parser = parse(*([first + OK] if together else [first, OK]))
    assert (True, True, False) == (parser.complete, parser.excess, parser.keeps_alive)


# Bounds and reuse -----------------------------------------------------------------------------------


@pytest.mark.parametrize("framing", [b"", b"Content-Length: 5000\r\n"])
def test_body_is_kept_up_to_one_byte_too_many(framing: bytes) -> None:
    parser = parse(OK + framing + b"\r\n" + b"x" * 2_000, b"x" * 1_000, max_body=1_024)
    assert (1_025, True) == (len(parser.body), parser.overlong)


def test_body_of_exactly_the_limit_is_not_overlong() -> None:
    parser = parse(OK + b"Content-Length: 1024\r\n\r\n" + b"x" * 1_024, max_body=1_024)
    assert (1_024, False, True) == (len(parser.body), parser.overlong, parser.complete)


@pytest.mark.parametrize(
    ("head", "keeps_alive"),
    [
        (OK, True),
        (OK + b"Connection: keep-alive\r\n", True),
        (OK + b"Connection: close\r\n", False),
        (OK + b"Connection: Keep-Alive, CLOSE\r\n", False),
        (OK + b"Connection: x\r\nConnection: close\r\n", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n", False),
    ],
)
def test_peer_decides_whether_the_connection_is_kept(head: bytes, keeps_alive: bool) -> None:
    assert keeps_alive == parse(head + b"Content-Length: 0\r\n\r\n").keeps_alive


# Any bytes at all -----------------------------------------------------------------------------------

RESPONSES = st.sampled_from(
    [
        OK + b"Content-Length: 5\r\n\r\nhello",
        CHUNKED + b"2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nA: b\r\n\r\n",
        b"HTTP/1.1 103 Early\r\nA: b\r\n\r\n" + OK + b"Content-Length: 5\r\n\r\nhello",
        OK + b"\r\nhello",
    ]
)


@given(response=RESPONSES, cuts=st.lists(st.integers(0, 120), max_size=8))
def test_response_is_the_same_in_any_pieces(response: bytes, cuts: list[int]) -> None:
    bounds = [0, *sorted(min(cut, len(response)) for cut in cuts), len(response)]
    pieces = [response[a:b] for a, b in pairwise(bounds)]
    parser = parse(*pieces)
    parser.end()
    assert (200, b"hello", True) == state(parser)


@given(data=st.binary(max_size=300), start=st.sampled_from([b"", OK, CHUNKED, OK + b"\r\n"]))
@example(data=b"\r\n\r\n", start=b"")
def test_any_bytes_are_a_response_or_malformed(data: bytes, start: bytes) -> None:
    parser = ResponseParser(16)
    with suppress(MalformedResponseError):
        parser.feed(start + data)
    assert len(parser.body) <= 17
