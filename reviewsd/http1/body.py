"""The body of a request, read strictly while it arrives (RFC 9112 6 and 7; S2, S3). No I/O.

A reader takes what has come and keeps what it needs, in one piece: a body of 64 KiB may come as 32,768
objects. What is left over belongs to the next request.
"""

import re
from typing import Protocol

from reviewsd.http1 import problems
from reviewsd.http1.head import RefusedError

_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})(?:[ \t]*;[\t -~\x80-\xff]*)?")
_TRAILER = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t -~\x80-\xff]*")

_MAX_LINE = 256  # bytes of a chunk's size and its extension
_MAX_TRAILERS = 4_096  # bytes of all of them


class BodyReader(Protocol):
    """Reads one body."""

    size: int
    """Bytes of content that have come, and for a body of known length those to come."""
    done: bool
    """Whether it is complete."""

    def feed(self, data: bytes) -> bytes:
        """Take what belongs to it; returns the rest, which is empty until it is complete.

        Raises:
            RefusedError: It breaks the grammar.
        """

    def content(self) -> bytes:
        """What has come so far."""


class Sized:
    """A body whose length was told.

    Args:
        length: Bytes.
    """

    def __init__(self, length: int) -> None:
        self.size = self._missing = length
        self.done = not length
        self._content = bytearray()

    def feed(self, data: bytes) -> bytes:
        """Take what belongs to it."""
        part = data[: self._missing]
        self._content += part
        self._missing -= len(part)
        self.done = not self._missing
        return data[len(part) :]

    def content(self) -> bytes:
        """What has come so far."""
        return bytes(self._content)


class Chunked:
    """A body in chunks (RFC 9112 7.1). Extensions and trailers are read past, and bounded."""

    def __init__(self) -> None:
        self.size = 0
        self.done = False
        self._content = bytearray()
        self._missing = 0  # bytes of the chunk under way
        self._pending = b""  # of what is no content: a line that is not complete
        self._ending = False  # whether a chunk's own line end has to come
        self._trailers = -1  # bytes of them, once the last chunk has come

    def feed(self, data: bytes) -> bytes:
        """Take what belongs to it."""
        data, self._pending = self._pending + data, b""
        at = 0  # so far it is read: many small chunks must not be copied again for each
        while at < len(data) and not self.done:
            if self._missing:
                part = data[at : at + self._missing]
                self._content += part
                self.size += len(part)
                self._missing -= len(part)
                self._ending = not self._missing
                at += len(part)
                continue
            end = data.find(b"\r\n", at)
            if end < 0:
                self._hold(data[at:])
                return b""
            self._line(data[at:end])
            at = end + 2
        return data[at:]

    def _hold(self, data: bytes) -> None:
        """Wait for the end of a line; what can no longer become one is refused."""
        length = len(data) - data.endswith(b"\r")
        if length > self._room() or b"\n" in data or (self._ending and data != b"\r"):
            raise RefusedError(problems.NOT_HTTP)
        self._pending = data

    def _room(self) -> int:
        return _MAX_LINE if self._trailers < 0 else _MAX_TRAILERS - self._trailers

    def _line(self, line: bytes) -> None:
        if self._ending:
            valid = not line
            self._ending = False
        elif len(line) > self._room():
            valid = False
        elif self._trailers >= 0:
            self._trailers += len(line) + 2
            self.done = not line
            valid = not line or _TRAILER.fullmatch(line) is not None
        else:
            size = _SIZE.fullmatch(line)
            valid = size is not None
            self._missing = 0 if size is None else int(size[1], 16)
            self._trailers = -1 if self._missing else 0
        if not valid:
            raise RefusedError(problems.NOT_HTTP)

    def content(self) -> bytes:
        """What has come so far."""
        return bytes(self._content)
