"""The strict reading of HTTP answers (E12, RFC 9112)."""

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reviewsd.websub.outbound.response_parser import (
    MAX_FIELDS,
    MAX_HEAD,
    MAX_LINE,
    AnswerReader,
    BrokenAnswerError,
    read_head,
)

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def read(*pieces: bytes, max_body: int = 1024) -> AnswerReader:
    reader = AnswerReader(max_body)
    for piece in pieces:
        reader.feed(piece)
    return reader


def found(reader: AnswerReader) -> tuple[int | None, bytes, bool]:
    status = None if reader.head is None else reader.head.status
    return (status, bytes(reader.body), reader.complete)


# Heads --------------------------------------------------------------------------------------------


def test_a_head_is_its_status_and_its_fields() -> None:
    head = read_head(b"HTTP/1.0 404 Not  Found\t\xe9\r\nA-b:  c \t\r\nA-B:d\r\nEmpty:")

    assert (0, 404) == (head.minor, head.status)
    assert {b"a-b": b"c, d", b"empty": b""} == head.fields


@pytest.mark.parametrize("line", [b"HTTP/1.1 204", b"HTTP/1.1 204 ", b"HTTP/1.1 204 No Content"])
def test_a_reason_may_be_missing(line: bytes) -> None:
    assert 204 == read_head(line).status


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
def test_another_status_line_is_broken(head: bytes) -> None:
    with pytest.raises(BrokenAnswerError):
        read_head(head)


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
def test_a_malformed_line_is_broken(line: bytes) -> None:
    with pytest.raises(BrokenAnswerError):
        read_head(OK + b"X: y\r\n" + line)


def test_a_head_has_only_so_many_fields() -> None:
    assert 200 == read_head(b"\r\n".join([OK[:-2], *[b"A: b"] * MAX_FIELDS])).status
    with pytest.raises(BrokenAnswerError, match="fields"):
        read_head(b"\r\n".join([OK[:-2], *[b"A: b"] * (MAX_FIELDS + 1)]))


def test_a_head_has_only_so_many_bytes() -> None:
    filler = OK + b"A: " + b"x" * (MAX_HEAD - len(OK) - 3)
    assert (200, b"", False) == found(read(filler[:-1], b"\r\n\r\n"))
    with pytest.raises(BrokenAnswerError, match="too long"):
        read(filler[:-1], b"xx")


def test_spaces_in_a_value_take_no_time() -> None:
    """A lazy expression would try them all in pairs: 30 kB of them took seconds."""
    head = read_head(OK + b"A:" + b" " * 30_000 + b"b" + b" " * 2_000)
    assert b"b" == head.fields[b"a"]


# Framing ------------------------------------------------------------------------------------------


def test_interim_answers_are_passed_over() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    assert (404, b"", True) == found(read(early + b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"))


def test_nobody_asked_for_another_protocol() -> None:
    with pytest.raises(BrokenAnswerError, match="protocols"):
        read(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n")


@pytest.mark.parametrize("status", [b"204", b"304"])
def test_some_statuses_have_no_body(status: bytes) -> None:
    reader = read(b"HTTP/1.1 " + status + b" X\r\nContent-Length: 3\r\n\r\n")
    assert (True, True) == (reader.complete, reader.persistent)


def test_a_length_is_read_to_its_end() -> None:
    reader = read(OK + b"Content-Length: 3\r\n\r\nab")
    assert (200, b"ab", False) == found(reader)
    assert 1 == reader.left
    reader.feed(b"c")
    assert (200, b"abc", True) == found(reader)


@pytest.mark.parametrize(
    "length", [b"-1", b"+1", b"1, 1", b"0x1", b"", b"1 1", b"1" * 16, b"\xb2", b"1_0"]
)
def test_a_length_is_a_number(length: bytes) -> None:
    with pytest.raises(BrokenAnswerError, match="Content-Length"):
        read(OK + b"Content-Length: " + length + b"\r\n\r\n")


def test_two_lengths_are_none() -> None:
    with pytest.raises(BrokenAnswerError, match="Content-Length"):
        read(OK + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\n")


def test_chunks_are_put_together() -> None:
    body = b'3\r\nabc\r\n002;a="b"\r\nde\r\nA \t;x\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n'
    assert (200, b"abcde0123456789", True) == found(read(CHUNKED + body))


@pytest.mark.parametrize(
    "body",
    [
        b"x\r\n",
        b"-1\r\n",
        b"0x1\r\na\r\n",
        b"1 2\r\n",
        b"123456789\r\n",
        b"\r\n",
        b"3\r\nabcd\r\n",
        b"1\na\n0\n\n\r\n",
        b"0\r\n folded\r\n",
        b"1" * (MAX_LINE + 1),
    ],
)
def test_malformed_chunks_are_broken(body: bytes) -> None:
    with pytest.raises(BrokenAnswerError):
        read(CHUNKED + body)


@pytest.mark.parametrize(
    "fields",
    [
        b"Transfer-Encoding: gzip, chunked",
        b"Transfer-Encoding: chunked, chunked",
        b"Transfer-Encoding: identity",
        b"Transfer-Encoding: chunked\r\nContent-Length: 3",
    ],
)
def test_other_framings_are_not_trusted(fields: bytes) -> None:
    with pytest.raises(BrokenAnswerError, match="framed"):
        read(OK + fields + b"\r\n\r\n")


def test_http_1_0_knows_no_chunks() -> None:
    with pytest.raises(BrokenAnswerError, match="framed"):
        read(b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")


def test_an_answer_without_length_ends_with_its_connection() -> None:
    reader = read(OK + b"\r\nab", b"c")
    assert (200, b"abc", False) == found(reader)
    assert not reader.persistent
    reader.end()
    assert reader.complete


@pytest.mark.parametrize(
    "cut", [b"", OK, OK + b"Content-Length: 3\r\n\r\nab", CHUNKED + b"3\r\nabc\r\n"]
)
def test_a_framed_answer_does_not_end_with_its_connection(cut: bytes) -> None:
    reader = read(cut)
    reader.end()
    assert not reader.complete


@pytest.mark.parametrize(
    "first",
    [OK + b"Content-Length: 0\r\n\r\n", OK + b"Content-Length: 1\r\n\r\nx", CHUNKED + b"0\r\n\r\n"],
)
@pytest.mark.parametrize("together", [True, False])
def test_what_comes_behind_the_answer_ends_the_connection(first: bytes, together: bool) -> None:  # noqa: FBT001
    """A second one could be taken for that to the next request on this connection."""
    reader = read(*([first + OK] if together else [first, OK]))
    assert (True, True, False) == (reader.complete, reader.excess, reader.persistent)


# Bounds and reuse -----------------------------------------------------------------------------------


@pytest.mark.parametrize("framing", [b"", b"Content-Length: 5000\r\n"])
def test_no_more_of_the_body_is_kept_than_shows_that_it_is_too_long(framing: bytes) -> None:
    reader = read(OK + framing + b"\r\n" + b"x" * 2_000, b"x" * 1_000, max_body=1_024)
    assert (1_025, True) == (len(reader.body), reader.overlong)


def test_a_body_of_just_that_length_is_not_too_long() -> None:
    reader = read(OK + b"Content-Length: 1024\r\n\r\n" + b"x" * 1_024, max_body=1_024)
    assert (1_024, False, True) == (len(reader.body), reader.overlong, reader.complete)


@pytest.mark.parametrize(
    ("head", "persistent"),
    [
        (OK, True),
        (OK + b"Connection: keep-alive\r\n", True),
        (OK + b"Connection: close\r\n", False),
        (OK + b"Connection: Keep-Alive, CLOSE\r\n", False),
        (OK + b"Connection: x\r\nConnection: close\r\n", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n", False),
    ],
)
def test_the_peer_says_whether_the_connection_stays(head: bytes, persistent: bool) -> None:  # noqa: FBT001
    assert persistent == read(head + b"Content-Length: 0\r\n\r\n").persistent


# Any bytes at all -----------------------------------------------------------------------------------

ANSWERS = st.sampled_from(
    [
        OK + b"Content-Length: 5\r\n\r\nhello",
        CHUNKED + b"2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nA: b\r\n\r\n",
        b"HTTP/1.1 103 Early\r\nA: b\r\n\r\n" + OK + b"Content-Length: 5\r\n\r\nhello",
        OK + b"\r\nhello",
    ]
)


@given(answer=ANSWERS, cuts=st.lists(st.integers(0, 120), max_size=8))
def test_it_does_not_matter_how_the_bytes_come_in(answer: bytes, cuts: list[int]) -> None:
    bounds = [0, *sorted(min(cut, len(answer)) for cut in cuts), len(answer)]
    pieces = [answer[a:b] for a, b in pairwise(bounds)]
    reader = read(*pieces)
    reader.end()
    assert (200, b"hello", True) == found(reader)


@given(data=st.binary(max_size=300), start=st.sampled_from([b"", OK, CHUNKED, OK + b"\r\n"]))
@example(data=b"\r\n\r\n", start=b"")
def test_any_bytes_are_an_answer_or_broken(data: bytes, start: bytes) -> None:
    reader = AnswerReader(16)
    with suppress(BrokenAnswerError):
        reader.feed(start + data)
    assert len(reader.body) <= 17
