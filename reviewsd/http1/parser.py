"""From the bytes of a connection to whole requests (RFC 9112 2 to 7; S1 to S3). No I/O, no clock.

What has come waits in ``held`` until somebody takes a request out of it; what follows that stays for
the next. How far the next one has come is told by ``stage``, so that whoever has a clock can give
each part its time.
"""

from collections.abc import Callable
from dataclasses import dataclass

from reviewsd.http1 import problems
from reviewsd.http1.body import Body, Chunked, Sized
from reviewsd.http1.head import (
    MAX_HEAD,
    MAX_LINE,
    Fields,
    Line,
    RefusedError,
    read_fields,
    read_line,
    resized,
)
from reviewsd.http1.problems import Problem
from reviewsd.http1.request import Request

NOTHING, HEAD, BODY = range(3)
"""What has begun to come."""

_LEADING = (b"\r\n\r\n", b"\r\n")  # empty lines that may stand before a request (RFC 9112 2.2)


@dataclass(frozen=True, slots=True)
class Cap:
    """What may come in a body."""

    room: int
    """Bytes of content."""
    problem: Problem
    """What is told that brings more."""
    chunks: bool = False
    """Whether it may come in chunks."""
    truncates: bool = False
    """Whether the route itself refuses what is more."""


class DivertedError(Exception):
    """The next request is for somebody else; it is held, from its first byte on."""


class RequestParser:
    """Takes requests out of what comes.

    Args:
        cap: What may come in the body of a request, by method and path.
        diverts: Whether a request is for somebody else, by method and path.
    """

    def __init__(
        self,
        cap: Callable[[bytes, bytes], Cap],
        diverts: Callable[[bytes, bytes], bool] | None = None,
    ) -> None:
        self.held = b""
        """What has come and is not taken."""
        self.stage = NOTHING
        self.line: Line | None = None
        """Of the request that is coming, as soon as it is known."""
        self._cap_of = cap
        self.client: str | None = None
        """The address of who asks, where somebody knows it."""
        self.loopback = False
        """Whether only this machine can have asked."""
        self._diverts = diverts
        self._seen = 0  # bytes of a part of a head that are judged
        self._fields: Fields | None = None  # the last ones
        self._body: Body | None = None
        self._cap: Cap | None = None

    @property
    def awaited(self) -> bool:
        """Whether the client waits for a 100 before it sends the body."""
        fields = self._fields
        return self.stage == BODY and not self.held and fields is not None and fields.expects

    def forget(self) -> None:
        """Keep no fields but those of a request whose body is coming."""
        if self.stage != BODY:
            self._fields = None

    def take(self) -> Request | None:
        """The next request; None where more of it must come.

        Raises:
            RefusedError: What comes is none, or more than may come.
            DivertedError: It is for somebody else.
        """
        return self._read_body() if self.stage == BODY else self._read_head()

    def _read_head(self) -> Request | None:
        held = self.held
        begin = 0
        if held.startswith(b"\r\n"):
            begin = len(next(lines for lines in _LEADING if held.startswith(lines)))
        end = held.find(b"\r\n\r\n", max(begin, self._seen - 3))
        if end < 0:
            self._judge(held, begin)
            return None
        first = held.find(b"\r\n", begin)
        line = self.line
        if line is None:
            if first - begin > MAX_LINE:
                raise RefusedError(problems.URI_TOO_LONG)
            self.line = line = read_line(held[begin:first])
        raw, fields = held[first + 2 : end + 2], self._fields
        if fields is None or line.old:
            self._fields = fields = read_fields(raw, old=line.old)
        elif raw != fields.raw:
            self._fields = fields = resized(fields, raw) or read_fields(raw, old=False)
        if self._diverts is not None and self._diverts(line.method, line.path):
            self.held, self.stage = held[begin:], NOTHING
            raise DivertedError
        self.held = held[end + 4 :]
        if fields.length == 0:
            return self._whole(line, fields)
        return self._begin_body(line, fields)

    def _judge(self, held: bytes, begin: int) -> None:
        """Refuse what cannot become a head any more (a carriage return may be half a line end)."""
        if len(held) - begin <= held.endswith(b"\r"):
            return
        self.stage = HEAD
        line, end, rest = held[begin:].partition(b"\r\n")
        if len(line) - line.endswith(b"\r") > MAX_LINE:
            raise RefusedError(problems.URI_TOO_LONG)
        if len(rest) - rest.endswith(b"\r") > MAX_HEAD:
            raise RefusedError(problems.FIELDS_TOO_LARGE)
        if end and self.line is None:
            self.line = read_line(line)
        fresh = held[self._seen - 1 :] if self._seen else held
        known = self._seen > 0 and fresh.startswith(b"\n")
        if fresh.count(b"\n") - known != fresh.count(b"\r\n"):
            raise RefusedError(problems.NOT_HTTP)
        self._seen = len(held)

    def _begin_body(self, line: Line, fields: Fields) -> Request | None:
        """Read a body, if it may come (S2)."""
        cap, length = self._cap_of(line.method, line.path), fields.length
        if length is None and cap.chunks:
            self._body = Chunked()
        elif length is not None and length <= cap.room:
            if len(self.held) >= length:
                body, self.held = self.held[:length], self.held[length:]
                return self._whole(line, fields, body)
            self._body = Sized(length)
        elif cap.truncates:
            return self._whole(line, fields, truncated=True)
        else:
            raise RefusedError(cap.problem)  # before a client that waits for leave has it
        self._cap = cap
        self.stage = BODY
        return self._read_body() if self.held else None

    def _read_body(self) -> Request | None:
        body, cap, line, fields = self._body, self._cap, self.line, self._fields
        assert body is not None and cap is not None  # noqa: PT018, S101  it has begun
        assert line is not None and fields is not None  # noqa: PT018, S101  before it
        self.held = body.take(self.held)
        if body.size > cap.room:
            if not cap.truncates:
                raise RefusedError(cap.problem)
            return self._whole(line, fields, truncated=True)
        return self._whole(line, fields, body.content()) if body.done else None

    def _whole(
        self, line: Line, fields: Fields, body: bytes = b"", *, truncated: bool = False
    ) -> Request:
        self.line = self._body = None
        self.stage, self._seen = NOTHING, 0
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
