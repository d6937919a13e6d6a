"""Reads bodies of requests, and of responses in chunks, strictly, while they come (RFC 9112 6 and 7; S2, S3). No I/O.

A reader has the content in one buffer, because a body of 64 KiB may come as 32,768 chunks. Bytes behind the body
belong to the next request.
"""

import re

from reviewsd.http1 import problems
from reviewsd.http1.head import RefusedError

_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})(?:[ \t]*;[\t -~\x80-\xff]*)?")
_TRAILER = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t -~\x80-\xff]*")

_MAX_LINE = 256  # bytes of a chunk's size and its extension
_MAX_TRAILERS = 4_096  # bytes of all trailers


class _Body:
    size: int
    """Bytes of content that have come; for a body of known length, those to come."""
    done = False
    """Whether the body is complete."""

    def __init__(self) -> None:
        self._content = bytearray()
        self._missing = 0  # bytes of the body, or of the chunk under way

    def content(self) -> bytes:
        """Return the content that has come."""
        return bytes(self._content)


class Sized(_Body):
    """A body with a Content-Length.

    Args:
        length: Bytes.
    """

    def __init__(self, length: int) -> None:
        super().__init__()
        self.size = self._missing = length
        self.done = not length

    def feed(self, data: bytes) -> bytes:
        """Read bytes of the body; returns those behind it."""
        part = data[: self._missing]
        self._content += part
        self._missing -= len(part)
        self.done = not self._missing
        return data[len(part) :]


class Chunked(_Body):
    """A body in chunks (RFC 9112 7.1); extensions and trailers are skipped, and bounded.

    Args:
        max_size: The most bytes of content. Bytes behind more are not read, so that the refusal does not
            depend on how the bytes were cut.
    """

    def __init__(self, max_size: float = float("inf")) -> None:
        super().__init__()
        self.size = 0
        self._max_size = max_size
        self._line = b""  # the part of a line that has come
        self._chunk_ended = False  # whether the line end behind a chunk has to come
        self._trailer_size = -1  # bytes of the trailers; -1 before the last chunk

    def feed(self, data: bytes) -> bytes:
        """Read bytes of the body; returns those behind it, none while it is not complete.

        Raises:
            RefusedError: The bytes break the grammar.
        """
        data, self._line = self._line + data, b""
        at = 0  # many small chunks must not be copied again for each
        while at < len(data) and not self.done and self.size <= self._max_size:
            if self._missing:
                part = data[at : at + self._missing]
                self._content += part
                self.size += len(part)
                self._missing -= len(part)
                self._chunk_ended = not self._missing
                at += len(part)
                continue
            end = data.find(b"\r\n", at)
            if end < 0:
                self._keep_line(data[at:])
                return b""
            self._read_line(data[at:end])
            at = end + 2
        return data[at:]

    def _keep_line(self, data: bytes) -> None:
        """Keep the begin of a line, and refuse what can no longer become one."""
        length = len(data) - data.endswith(b"\r")
        is_stray = self._chunk_ended and data != b"\r"
        if length > self._max_line() or b"\n" in data or is_stray:
            raise RefusedError(problems.NOT_HTTP)
        self._line = data

    def _max_line(self) -> int:
        return _MAX_LINE if self._trailer_size < 0 else _MAX_TRAILERS - self._trailer_size

    def _read_line(self, line: bytes) -> None:
        """Read the line end behind a chunk, a chunk's size, or a trailer."""
        if self._chunk_ended:
            is_valid = not line
            self._chunk_ended = False
        elif len(line) > self._max_line():
            is_valid = False
        elif self._trailer_size >= 0:
            self._trailer_size += len(line) + 2
            self.done = not line
            is_valid = not line or _TRAILER.fullmatch(line) is not None
        else:
            size = _SIZE.fullmatch(line)
            is_valid = size is not None
            self._missing = 0 if size is None else int(size[1], 16)
            self._trailer_size = -1 if self._missing else 0
        if not is_valid:
            raise RefusedError(problems.NOT_HTTP)


BodyReader = Sized | Chunked
