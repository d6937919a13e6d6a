"""Parses the bytes of a connection into requests (RFC 9112 2 to 7; S1 to S3). No I/O, no clock.

Bytes stay in ``buffer`` until a request is taken out of it. ``state`` is the part of the next request that is coming,
because each part has its own deadline.
"""

from collections.abc import Callable
from dataclasses import dataclass

from reviewsd.http1 import problems
from reviewsd.http1.body import BodyReader, Chunked, Sized
from reviewsd.http1.head import (
    MAX_HEAD,
    MAX_LINE,
    Fields,
    RefusedError,
    RequestLine,
    read_fields,
    read_line,
)
from reviewsd.http1.problems import Problem
from reviewsd.http1.request import Request
from reviewsd.http1.usual_head import read_usual

NOTHING, HEAD, BODY = range(3)
"""The part of a request that is coming."""

_LEADING = (b"\r\n\r\n", b"\r\n")  # empty lines that may stand before a request (RFC 9112 2.2)


@dataclass(frozen=True, slots=True)
class Cap:
    """The limit of a body."""

    room: int
    """Bytes of content."""
    problem: Problem
    """The refusal of a larger body."""
    truncates: bool = False
    """Whether the route refuses a larger body itself."""


class RequestParser:
    """Takes requests out of the bytes of a connection.

    Args:
        cap: Returns the limit of a body by method and path.
    """

    def __init__(self, cap: Callable[[bytes, bytes], Cap]) -> None:
        self.buffer = b""
        """Bytes that have come and belong to no request yet."""
        self.state = NOTHING
        self.line: RequestLine | None = None
        """The line of the request that is coming, once it is complete."""
        self._cap_of = cap
        self.client: str | None = None
        """The address of the client; None if the transport knows none."""
        self.loopback = False
        """Whether the client is on this machine."""
        self._checked = 0  # bytes of an incomplete head that are checked
        self._fields: Fields | None = None  # of a request, while its body is coming
        self._body: BodyReader | None = None
        self._cap: Cap | None = None

    @property
    def awaits_continue(self) -> bool:
        """Whether the client waits for a 100 before it sends the body."""
        fields = self._fields
        return self.state == BODY and not self.buffer and fields is not None and fields.expects

    def next_request(self) -> Request | None:
        """Return the next request; None while it is not complete.

        Raises:
            RefusedError: The bytes are no request, or its body is too large.
        """
        if self.state == BODY:
            return self._read_body()
        buffer = self.buffer
        if not self._checked and (usual := read_usual(buffer)) is not None:
            method, path, query, fields, end = usual
            self.buffer = buffer[end:]
            if fields.length != 0:
                self.line = RequestLine(method, path, query, None, old=False)
                return self._begin_body(self.line, fields)
            client, loopback, host = self.client, self.loopback, fields.host
            return Request(method, path, query, fields, b"", False, client, loopback, host)  # noqa: FBT003  in order
        begin = 0
        if buffer.startswith(b"\r\n"):
            begin = len(next(lines for lines in _LEADING if buffer.startswith(lines)))
        end = buffer.find(b"\r\n\r\n", max(begin, self._checked - 3))
        if end < 0:
            self._check(buffer, begin)
            return None
        first = buffer.find(b"\r\n", begin)
        line = self.line
        if line is None:
            if first - begin > MAX_LINE:
                raise RefusedError(problems.URI_TOO_LONG)
            self.line = line = read_line(buffer[begin:first])
        fields = read_fields(buffer[first + 2 : end + 2], old=line.old)
        self.buffer = buffer[end + 4 :]
        if fields.length == 0:
            return self._complete(line, fields)
        return self._begin_body(line, fields)

    def _check(self, buffer: bytes, begin: int) -> None:
        """Refuse bytes that cannot become a head (a carriage return may be half a line end)."""
        if len(buffer) - begin <= buffer.endswith(b"\r"):
            return
        self.state = HEAD
        line, end, rest = buffer[begin:].partition(b"\r\n")
        if len(line) - line.endswith(b"\r") > MAX_LINE:
            raise RefusedError(problems.URI_TOO_LONG)
        if len(rest) - rest.endswith(b"\r") > MAX_HEAD:
            raise RefusedError(problems.FIELDS_TOO_LARGE)
        if end and self.line is None:
            self.line = read_line(line)
        new = buffer[self._checked - 1 :] if self._checked else buffer
        is_checked_end = self._checked > 0 and new.startswith(b"\n")
        if new.count(b"\n") - is_checked_end != new.count(b"\r\n"):
            raise RefusedError(problems.NOT_HTTP)
        self._checked = len(buffer)

    def _begin_body(self, line: RequestLine, fields: Fields) -> Request | None:
        """Read a body if it is not too large (S2)."""
        cap, length = self._cap_of(line.method, line.path), fields.length
        if length is None:
            self._body = Chunked(cap.room)
        elif length <= cap.room:
            if len(self.buffer) >= length:
                body, self.buffer = self.buffer[:length], self.buffer[length:]
                return self._complete(line, fields, body)
            self._body = Sized(length)
        elif cap.truncates:
            return self._complete(line, fields, truncated=True)
        else:
            raise RefusedError(cap.problem)  # before a client that waits for 100 gets it
        self._cap, self._fields = cap, fields
        self.state = BODY
        return self._read_body() if self.buffer else None

    def _read_body(self) -> Request | None:
        body, cap, line, fields = self._body, self._cap, self.line, self._fields
        assert body is not None and cap is not None  # noqa: PT018, S101  it has begun
        assert line is not None and fields is not None  # noqa: PT018, S101  before it
        self.buffer = body.feed(self.buffer)
        if body.size > cap.room:
            if not cap.truncates:
                raise RefusedError(cap.problem)
            return self._complete(line, fields, truncated=True)
        return self._complete(line, fields, body.content()) if body.done else None

    def _complete(
        self, line: RequestLine, fields: Fields, body: bytes = b"", *, truncated: bool = False
    ) -> Request:
        self.line = self._body = self._fields = None
        self.state, self._checked = NOTHING, 0
        return Request(
            line.method,
            line.path,
            line.query,
            fields,
            body,
            truncated,
            self.client,
            self.loopback,
            line.authority or fields.host,
        )
