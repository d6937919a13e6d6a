"""Reading an HTTP/1.1 answer, strictly and within bounds; bytes in, values out (RFC 9112).

What a browser would forgive is broken here: a line folded or ended by a bare LF, a control
character, two lengths. A subscriber that answers so is told by the outcome, and nothing that two
readers could read differently is ever believed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

MAX_HEAD = 32_768  # bytes, of one head
MAX_FIELDS = 128  # of one head
MAX_LINE = 4_096  # bytes, of one line between chunks

_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9][0-9])(?: [\t\x20-\x7e\x80-\xff]*)?")
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)")
_LENGTH = re.compile(rb"[0-9]{1,15}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?")

_INTERIM = 200  # statuses below are followed by another head
_SWITCHING = 101
_BODILESS = frozenset({204, 304})


class BrokenAnswerError(Exception):
    """It is no HTTP answer; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The final status line and its fields."""

    minor: int
    """The 1 of HTTP/1.1."""
    status: int
    fields: Mapping[bytes, bytes]
    """Names in lower case; the values of a repeated field joined by ``, ``."""


def read_head(data: bytes) -> Head:
    """Read a head without the empty line at its end.

    Raises:
        BrokenAnswerError: Its form is not RFC 9112's.
    """
    line, *rest = data.split(b"\r\n")
    status = _STATUS.fullmatch(line)
    if status is None:
        raise BrokenAnswerError("the status line is not HTTP/1.1's")
    if len(rest) > MAX_FIELDS:
        raise BrokenAnswerError(f"more than {MAX_FIELDS} header fields")
    fields: dict[bytes, bytes] = {}
    for each in rest:
        field = _FIELD.fullmatch(each)
        if field is None:
            raise BrokenAnswerError("a header line is malformed")
        name, value = field[1].lower(), field[2].strip(b" \t")
        fields[name] = fields[name] + b", " + value if name in fields else value
    return Head(minor=int(status[1]), status=int(status[2]), fields=fields)


class AnswerReader:
    """One answer, as its bytes come in.

    Attributes:
        begun: Something has come in.
        head: The final one, once it is there; what is interim is passed over.
        body: As much as is wanted, one byte more if there is more.
        complete: The end has been reached.
        framed: The end is known from the answer itself, not from the connection's.
        left: Bytes missing to the end, as far as they are announced.
        excess: Something came behind the end, which nobody had asked for.

    Args:
        max_body: Bytes of the body that are wanted; the rest is only counted.
    """

    def __init__(self, max_body: int) -> None:
        self.begun = False
        self.head: Head | None = None
        self.body = bytearray()
        self.complete = False
        self.framed = True
        self.left = 0
        self.excess = False
        self._max_body = max_body
        self._chunked = False
        self._behind_chunk = False
        self._trailers = False
        self._buffer = bytearray()

    @property
    def overlong(self) -> bool:
        """The body is longer than wanted."""
        return len(self.body) > self._max_body

    @property
    def persistent(self) -> bool:
        """The connection may be used again, once the answer is complete (RFC 9112 9.3)."""
        if self.head is None or self.head.minor == 0 or not self.framed or self.excess:
            return False
        options = self.head.fields.get(b"connection", b"").lower()
        return b"close" not in [option.strip() for option in options.split(b",")]

    def feed(self, data: bytes) -> None:
        """Take what has come in.

        Raises:
            BrokenAnswerError: It is no answer.
        """
        self.begun = True
        self._buffer += data
        while self.head is None:
            head = self._cut(b"\r\n\r\n", MAX_HEAD)
            if head is None:
                return
            self._begin(read_head(head))
        if self._chunked:
            self._read_chunks()
        elif not self.complete:
            self._read_plain()
        if self.complete and self._buffer:
            self.excess = True
            self._buffer.clear()

    def end(self) -> None:
        """The connection has ended in order, and with it an answer that has no other end."""
        if self.head is not None and not self.framed:
            self.complete = True

    def _begin(self, head: Head) -> None:
        """Find out how the body is framed (RFC 9112 6.3)."""
        if head.status < _INTERIM:
            if head.status == _SWITCHING:
                raise BrokenAnswerError("it switches protocols, unasked")
            return
        self.head = head
        length = head.fields.get(b"content-length")
        coding = head.fields.get(b"transfer-encoding")
        if head.status in _BODILESS:
            self.complete = True
        elif coding is not None:
            if coding.lower() != b"chunked" or length is not None or head.minor == 0:
                raise BrokenAnswerError("its body is framed in a way that cannot be trusted")
            self._chunked = True
        elif length is not None:
            if _LENGTH.fullmatch(length) is None:
                raise BrokenAnswerError("Content-Length is no number")
            self.left = int(length)
            self.complete = self.left == 0
        else:
            self.framed = False

    def _cut(self, end: bytes, limit: int) -> bytes | None:
        """What comes before ``end``, or None as long as that is not there."""
        at = self._buffer.find(end, 0, limit + len(end))
        if at < 0:
            if len(self._buffer) >= limit:
                raise BrokenAnswerError("a head or line of it is too long")
            return None
        cut = bytes(self._buffer[:at])
        del self._buffer[: at + len(end)]
        return cut

    def _read_plain(self) -> None:
        if not self.framed:
            self._keep(len(self._buffer))
            return
        self._keep(min(self.left, len(self._buffer)))
        if self.left == 0:
            self.complete = True

    def _read_chunks(self) -> None:
        """RFC 9112 7.1: size, data, an empty line; at last trailers, and an empty line."""
        while not self.complete:
            if self.left:
                if not self._buffer:
                    return
                self._keep(min(self.left, len(self._buffer)))
                continue
            line = self._cut(b"\r\n", MAX_LINE)
            if line is None:
                return
            if self._behind_chunk and line:
                raise BrokenAnswerError("a chunk is longer than announced")
            if self._behind_chunk:
                self._behind_chunk = False
            elif self._trailers:
                if line and _FIELD.fullmatch(line) is None:
                    raise BrokenAnswerError("a trailer line is malformed")
                self.complete = not line
            else:
                self._begin_chunk(line)

    def _begin_chunk(self, line: bytes) -> None:
        size = _CHUNK.fullmatch(line)
        if size is None:
            raise BrokenAnswerError("the size of a chunk is malformed")
        self.left = int(size[1], 16)
        self._behind_chunk = self.left > 0
        self._trailers = self.left == 0

    def _keep(self, count: int) -> None:
        """Move bytes from the buffer to the body, as far as they are wanted there."""
        wanted = min(count, self._max_body + 1 - len(self.body))
        self.body += self._buffer[:wanted]
        del self._buffer[:count]
        self.left -= count
