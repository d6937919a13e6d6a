"""Bodies are read the same however they are cut, and malformed ones are refused.

RFC 9112 6 and 7; S2 and S3 of the specification.
"""

import re
import tracemalloc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.http1 import body as body_module
from reviewsd.http1 import problems
from reviewsd.http1.body import BodyReader, Chunked, Sized
from reviewsd.http1.head import RefusedError

NEXT = b"GET / HTTP/1.1\r\n"
"""Bytes behind a body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The state of a reader after some bytes."""

    content: bytes
    size: int
    done: bool
    rest: bytes


def read(body: BodyReader, pieces: Iterable[bytes]) -> Reading | None:
    """Feed a body as a connection does; returns None if it is refused."""
    rest = b""
    try:
        for piece in pieces:
            if body.done:
                rest += piece
            else:
                assert b"" == rest
                rest = body.feed(piece)
    except RefusedError:
        return None
    return Reading(content=body.content(), size=body.size, done=body.done, rest=rest)


def bytewise(data: bytes) -> Sequence[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


def halves(data: bytes) -> Iterator[Sequence[bytes]]:
    for at in range(len(data) + 1):
        yield data[:at], data[at:]


def chunks(data: bytes) -> Reading | None:
    """Return the reading of a chunked body: the same in one piece, in two, and byte by byte."""
    reading = read(Chunked(), [data])
    assert reading == read(Chunked(), bytewise(data))
    for pair in halves(data):
        assert reading == read(Chunked(), pair)
    return reading


def complete(content: bytes, rest: bytes = b"") -> Reading:
    return Reading(content=content, size=len(content), done=True, rest=rest)


# With a Content-Length ---------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"abcdef", b"abcdef" + NEXT, b"abcdef\r\n", b"\r\n\r\n\0\xff"])
def test_sized_body_ends_after_its_length(data: bytes) -> None:
    expected = complete(data[:6], data[6:])
    assert expected == read(Sized(6), [data])
    assert expected == read(Sized(6), bytewise(data))
    assert [] == [pair for pair in halves(data) if read(Sized(6), pair) != expected]


def test_empty_body_is_complete_at_once() -> None:
    assert Sized(0).done
    assert complete(b"") == read(Sized(0), [])
    assert complete(b"", NEXT) == read(Sized(0), [NEXT])
    assert NEXT == Sized(0).feed(NEXT)


def test_sized_body_has_its_length_from_the_start() -> None:
    """A body that is too large is known before it arrives."""
    body = Sized(10**16 - 1)
    assert b"" == body.feed(b"abc")
    assert (10**16 - 1, False, b"abc") == (body.size, body.done, body.content())


# Chunked ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "content"),
    [
        (b"0\r\n\r\n", b""),
        (b"00000000\r\n\r\n", b""),
        (b"3\r\nabc\r\n0\r\n\r\n", b"abc"),
        (b"003\r\nabc\r\n000\r\n\r\n", b"abc"),
        (b"00000003\r\nabc\r\n0\r\n\r\n", b"abc"),
        (b"1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", b"abc"),
        (b"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", 2 * b"0123456789"),
        (
            b"1F\r\n" + 31 * b"a" + b"\r\n1f\r\n" + 31 * b"b" + b"\r\n0\r\n\r\n",
            31 * b"a" + 31 * b"b",
        ),
        (b"2\r\n\r\n\r\n0\r\n\r\n", b"\r\n"),
        (b"7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n", b"\r\n0\r\n\r\n"),
        (b"1\r\n\r\r\n1\r\n\n\r\n0\r\n\r\n", b"\r\n"),
        (b"2\r\n\0\xff\r\n0\r\n\r\n", b"\0\xff"),
        (b"3;a\r\nabc\r\n0;b\r\n\r\n", b"abc"),
        (b'3;a=b;c="d e"\r\nabc\r\n0\r\n\r\n', b"abc"),
        (b"3 ;a\r\nabc\r\n0\t; b\r\n\r\n", b"abc"),
        (b"3;\r\nabc\r\n0;;;\r\n\r\n", b"abc"),
        (b"3;\xff\t \r\nabc\r\n0\r\n\r\n", b"abc"),
        (b"3\r\nabc\r\n0\r\nA: b\r\n\r\n", b"abc"),
        (b"0\r\nA:\r\nb-c:d\r\nA: \t\xff:\r\n\r\n", b""),
        (b"3\r\nabc\r\n0\r\nContent-Length: 9\r\nTransfer-Encoding: x\r\nHost: y\r\n\r\n", b"abc"),
    ],
)
def test_chunks_are_joined(data: bytes, content: bytes) -> None:
    """Extensions and trailers are skipped."""
    assert complete(content) == chunks(data)
    assert complete(content, NEXT) == chunks(data + NEXT)
    assert complete(content, b"\r\n") == chunks(data + b"\r\n")


SIZES = [
    *(b"", b" ", b"g", b"x", b"0x3", b"0X3", b"\\x33", b"+3", b"-3", b"-0", b"3_0", b" 3", b"\t3"),
    *(b"3 ", b"3\t", b"3 3", b"3,3", b"3.0", b"3h", b"3:", b"3=a", b"3 a;b", b"'3'", b'"3"', b"three"),
    *(b"\xb3", b"\xef\xbc\x93", b"\xd9\xa3", b"3\0", b"\x003", b"3\x0b", b"3\x0c", b"3\r", b"\r3"),
    *(b"000000003", b"100000000", 17 * b"0", 17 * b"f", 300 * b"0", b"3;a\0", b"3;a\rb", b"3;a\nb"),
    *(b"3;a\x7f", b"3;\x01", b"3\r;a", b"3;a\r", b"3\n", b"\n3", b"\r\n3", b";3", b";"),
]  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
def test_malformed_chunk_size_is_refused(size: bytes) -> None:
    with pytest.raises(RefusedError) as caught:
        Chunked().feed(size + b"\r\nabc\r\n0\r\n\r\n")
    assert problems.NOT_HTTP == caught.value.problem
    assert chunks(size + b"\r\nabc\r\n0\r\n\r\n") is None
    assert chunks(b"1\r\nx\r\n" + size + b"\r\nabc\r\n0\r\n\r\n") is None


@pytest.mark.parametrize(
    "data",
    [
        *(b"3\nabc\r\n0\r\n\r\n", b"3\rabc\r\n0\r\n\r\n", b"3\r\rabc\r\n0\r\n\r\n", b"3\n\rabc\r\n0\r\n\r\n"),
        *(b"3\r\nabc\n0\r\n\r\n", b"3\r\nabc\r0\r\n\r\n", b"3\r\nabc\n\r0\r\n\r\n", b"3\r\nabc\r\r\n0\r\n\r\n"),
        *(b"3\r\nabc0\r\n\r\n", b"3\r\nabcd\r\n0\r\n\r\n", b"3\r\nab\r\n0\r\n\r\n", b"3\r\nabc \r\n0\r\n\r\n"),
        *(b"3\r\nabc\r\n\r\n0\r\n\r\n", b"3\r\nabc;0\r\n\r\n", b"3xyz\r\n0\r\n\r\n", b"\n0\r\n\r\n"),
        *(b"0\n\r\n", b"0\r\n\n", b"0\r\n\r\r\n", b"0\r\n \r\n\r\n", b"0\r\n\0\r\n\r\n", b"0\r\n\t\r\n\r\n"),
        *(b"0\r\nabc\r\n\r\n", b"0\r\n: b\r\n\r\n", b"0\r\n" + NEXT + b"\r\n", b"0\r\n3\r\nabc\r\n\r\n"),
        # before they are complete
        *(b"3\r\nabcd", b"3\r\nabc\n", b"3\r\nabc\rd", b"3\n", b"0\r\n\n"),
    ],
)  # fmt: skip
def test_misplaced_or_bare_line_end_is_refused(data: bytes) -> None:
    assert chunks(data) is None


@pytest.mark.parametrize(
    "trailer",
    [
        *(b"A : b", b"A\t: b", b" A: b", b"\tA: b", b"A b: c", b"A(b): c", b"\xe9: b", b"A\0: b", b"A"),
        *(b"A: b\0", b"A: b\x01", b"A: b\x7f", b"A: b\rc", b"A: b\nc", b"A: b\r", b"A: b\r\n c", b":"),
    ],
)  # fmt: skip
def test_malformed_trailer_is_refused(trailer: bytes) -> None:
    assert chunks(b"0\r\n" + trailer + b"\r\n\r\n") is None
    assert chunks(b"0\r\nA: b\r\n" + trailer + b"\r\n\r\n") is None


def test_each_character_is_allowed_only_in_its_place() -> None:
    """RFC 9112 7.1; of an extension only the characters are checked."""
    for char in (bytes([byte]) for byte in range(256)):
        text = char == b"\t" or (char >= b" " and char != b"\x7f")
        token = re.fullmatch(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]", char) is not None
        size = re.fullmatch(rb"[0-9A-Fa-f]", char) is not None
        start = b"0" + char + b"\r\n"
        assert (size or char == b";") == (chunks(start) is not None)
        assert text == (chunks(b"0;" + char + b"\r\n\r\n") is not None)
        assert text == (chunks(b"0\r\nA:" + char + b"\r\n\r\n") is not None)
        assert (token or char == b":") == (chunks(b"0\r\nA" + char + b":\r\n\r\n") is not None)
        assert token == (chunks(b"0\r\n" + char + b":\r\n\r\n") is not None)


def test_chunk_line_of_more_than_256_bytes_is_refused() -> None:
    line = b"0;" + 254 * b"a"
    assert 256 == len(line)
    assert complete(b"") == chunks(line + b"\r\n\r\n")
    assert chunks(line + b"a\r\n\r\n") is None
    assert read(Chunked(), [line]) is not None
    assert read(Chunked(), [line + b"\r"]) is not None
    assert read(Chunked(), [line + b"a"]) is None
    assert read(Chunked(), [200_000 * b"0"]) is None


def trailers(*lengths: int) -> bytes:
    """Return trailers of these lengths, line ends included."""
    return b"".join(b"A:" + (length - 4) * b"b" + b"\r\n" for length in lengths)


@pytest.mark.parametrize("lengths", [[4_096], [4, 4_092], [4_092, 4], [2_048, 2_048], 1_024 * [4]])
def test_trailers_of_more_than_4_kib_are_refused(lengths: list[int]) -> None:
    data = trailers(*lengths)
    assert 4_096 == len(data)
    start = b"1\r\na\r\n0\r\n"
    expected = complete(b"a", NEXT)
    for pieces in ([start + data + b"\r\n" + NEXT], bytewise(start + data + b"\r\n" + NEXT)):
        assert expected == read(Chunked(), pieces)
    for longer in (trailers(4) + data, data + trailers(4), data.replace(b"A:", b"A:b", 1)):
        for pieces in ([start + longer + b"\r\n"], bytewise(start + longer + b"\r\n")):
            assert read(Chunked(), pieces) is None


def test_endless_trailer_is_refused() -> None:
    assert read(Chunked(), [b"0\r\n", 5_000 * b"A"]) is None
    assert read(Chunked(), [b"0\r\n", *bytewise(5_000 * b"A")]) is None


def test_content_is_counted_before_its_chunk_is_complete() -> None:
    """A chunk that is too large is refused before it has arrived (S2)."""
    body = Chunked()
    for count in range(1, 100):
        assert b"" == body.feed(b"ffffffff\r\na" if count == 1 else b"a")
        assert (count, False) == (body.size, body.done)
    assert 99 * b"a" == body.content()


@pytest.mark.parametrize("data", [b"3\r\nabc\r\n0\r\nA: b\r\n\r\n", b"1;a\r\n\r\r\n0;b\r\n\r\n"])
def test_truncated_chunks_are_not_complete(data: bytes) -> None:
    cuts = [chunks(data[:at]) for at in range(len(data))]
    assert [] == [reading for reading in cuts if reading is None or reading.done]


# Any bytes ----------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        *(b"0\r\n\r\n", b"3\r\nabc\r\n", b"0\r\n", b"\r\n", b"3", b"0", b"abc", b"\r", b"\n", b";", b" "),
        *(b"A: b\r\n", b":", b"f", b"1\r\n", b"\0", b"\xff", b"3;a\r\nabc\r\n", 250 * b"0", 4_000 * b"a"),
    ]
)  # fmt: skip
ANYTHING = st.binary(max_size=40) | st.lists(PIECES, max_size=12).map(b"".join)
CHUNKS = st.lists(st.binary(min_size=1, max_size=20), max_size=5).map(
    lambda parts: b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
)
BODIES = st.tuples(CHUNKS, ANYTHING).map(b"".join)


def peer_reads(data: bytes) -> tuple[bytes, bool, bytes] | None:
    """Return the content of a chunked body by h11, whether it is complete, and the rest; None if it is refused."""
    peer = h11.Connection(h11.SERVER)
    peer.receive_data(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + data)
    content = b""
    try:
        while True:
            event = peer.next_event()
            if isinstance(event, h11.Data):
                content += event.data
            elif isinstance(event, h11.EndOfMessage):
                return content, True, peer.trailing_data[0]
            elif event is h11.NEED_DATA:
                return content, False, b""
    except h11.RemoteProtocolError:
        return None


@given(BODIES)
def test_chunks_are_read_as_by_h11_or_refused(data: bytes) -> None:
    """h11 knows no blanks before extensions, and bounds neither extensions nor trailers."""
    ours = read(Chunked(), [data])
    if ours is None or re.search(rb"[ \t];", data):
        return
    assert (ours.content, ours.done, ours.rest) == peer_reads(data)


# Memory -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("piece", [1, 2, 3])
@pytest.mark.parametrize("kind", ["chunks", "packets"])
def test_body_of_small_pieces_takes_the_memory_of_its_bytes(kind: str, piece: int) -> None:
    """An object for each small piece would take thirty times as much."""
    size = 65_536 // piece * piece
    pieces = [bytes((at % 251, at % 241, at % 239)[:piece]) for at in range(size // piece)]
    body: BodyReader = Sized(size)
    if kind == "chunks":
        body = Chunked()
        pieces = [b"%x\r\n%b\r\n" % (piece, content) for content in pieces]
    tracemalloc.start()
    try:
        for data in pieces:
            body.feed(data)
        ours = [tracemalloc.Filter(inclusive=True, filename_pattern=body_module.__file__)]
        buffer = sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces(ours).traces)
    finally:
        tracemalloc.stop()

    assert size == len(body.content())
    assert buffer < 1.3 * size
