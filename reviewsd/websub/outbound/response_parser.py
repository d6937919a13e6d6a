"""Parses the responses of callbacks as strict HTTP/1.1 (RFC 9112), and has the errors without a valid one.

Folded lines, lines that end with a bare LF, control characters and a repeated Content-Length are refused, though
some clients accept them, so that no other parser can read a response differently. Only the space after the
status code may be absent. Chunks are read as those of requests are (``http1.body``). The connection limits the
bytes of heads and bodies together (E12).
"""

import re
from collections.abc import Mapping

from msgspec import Struct

from reviewsd.http1.body import Chunked
from reviewsd.http1.head import RefusedError

MAX_HEAD = 32_768  # bytes of a head without the empty line at its end
MAX_FIELDS = 128  # header fields of one head
MAX_CHUNKED = 16_384  # bytes of content in chunks that are read, so that the connection can be kept

_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9][0-9])(?: [\t\x20-\x7e\x80-\xff]*)?")
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)")
_LENGTH = re.compile(rb"[0-9]{1,15}")

_FIRST_FINAL = 200  # lower statuses are followed by another head
_SWITCHING_PROTOCOLS = 101
_BODILESS = frozenset({204, 304})


class NoResponseError(Exception):
    """A callback sent no valid response, which is an expected result and not a bug.

    Attributes:
        reason: Short text for the operator; it never has the path or query of the callback.
        begun: Whether part of a response was received.
    """

    def __init__(self, reason: str, *, begun: bool = False) -> None:
        self.reason = reason
        self.begun = begun
        super().__init__(reason)


class NetworkFullError(Exception):
    """Nothing was sent, because too many attempts at addresses of that /24 or /48 are under way (H2, H8)."""


class MalformedResponseError(Exception):
    """A response breaks RFC 9112; the text says how."""


class ResponseHead(Struct, frozen=True, kw_only=True):
    """The final status line and header fields of a response."""

    minor_version: int
    """1 for HTTP/1.1."""
    status: int
    fields: Mapping[bytes, bytes]
    """Names in lower case; the values of a repeated field joined by ``, ``."""


def parse_head(data: bytes) -> ResponseHead:
    """Parse a head without the empty line at its end.

    Raises:
        MalformedResponseError: The head does not conform to RFC 9112.
    """
    status_line, *lines = data.split(b"\r\n")
    status = _STATUS.fullmatch(status_line)
    if status is None:
        raise MalformedResponseError("the status line is not that of HTTP/1.1 or 1.0")
    if len(lines) > MAX_FIELDS:
        raise MalformedResponseError(f"more than {MAX_FIELDS} header fields")
    fields: dict[bytes, bytes] = {}
    for line in lines:
        field = _FIELD.fullmatch(line)
        if field is None:
            raise MalformedResponseError("a header line is malformed")
        name, value = field[1].lower(), field[2].strip(b" \t")
        fields[name] = fields[name] + b", " + value if name in fields else value
    return ResponseHead(minor_version=int(status[1]), status=int(status[2]), fields=fields)


class ResponseParser:
    """Parses one response as its bytes arrive.

    Attributes:
        begun: Whether anything has arrived.
        head: The final head; interim ones are skipped.
        body: At most ``max_body`` bytes, and one more if the body is longer.
        complete: Whether the end has been reached.
        framed: False if only the end of the connection ends the body.
        remaining: Bytes of a body with a length that have not arrived.
        excess: Whether bytes came after the end, or more in chunks than are read.

    Args:
        max_body: Bytes of the body to return; further bytes are discarded.
    """

    def __init__(self, max_body: int) -> None:
        self.begun = False
        self.head: ResponseHead | None = None
        self.body = bytearray()
        self.complete = False
        self.framed = True
        self.remaining = 0
        self.excess = False
        self._max_body = max_body
        self._chunks: Chunked | None = None
        self._buffer = bytearray()

    @property
    def overlong(self) -> bool:
        """Whether the body is longer than ``max_body``."""
        return len(self.body) > self._max_body

    @property
    def keeps_alive(self) -> bool:
        """Whether the connection may be reused after the response (RFC 9112 9.3)."""
        if self.head is None or not self.head.minor_version or not self.framed or self.excess:
            return False
        options = self.head.fields.get(b"connection", b"").lower()
        return b"close" not in [option.strip() for option in options.split(b",")]

    def feed(self, data: bytes) -> None:
        """Parse bytes that have arrived.

        Raises:
            MalformedResponseError: The bytes are not a valid HTTP response.
        """
        self.begun = True
        self._buffer += data
        while self.head is None:
            head = self._cut_head()
            if head is None:
                return
            self._begin_body(parse_head(head))
        if self._chunks is not None:
            self._read_chunks(self._chunks)
        elif not self.complete:
            self._read_plain()
        if self.complete and self._buffer:
            self.excess = True
            self._buffer.clear()

    def end(self) -> None:
        """Complete a response that ends with its connection."""
        if self.head is not None and not self.framed:
            self.complete = True

    def _begin_body(self, head: ResponseHead) -> None:
        """Determine how the body is framed (RFC 9112 6.3)."""
        if head.status < _FIRST_FINAL:
            if head.status == _SWITCHING_PROTOCOLS:
                raise MalformedResponseError("it switches protocols, which was not requested")
            return
        self.head = head
        length = head.fields.get(b"content-length")
        coding = head.fields.get(b"transfer-encoding")
        if head.status in _BODILESS:
            self.complete = True
        elif coding is not None:
            if coding.lower() != b"chunked" or length is not None or not head.minor_version:
                raise MalformedResponseError(
                    "its body is not framed by one length, or by chunks alone"
                )
            self._chunks = Chunked(max(self._max_body, MAX_CHUNKED))
        elif length is not None:
            if _LENGTH.fullmatch(length) is None:
                raise MalformedResponseError(
                    "Content-Length is not one number of at most 15 digits"
                )
            self.remaining = int(length)
            self.complete = self.remaining == 0
        else:
            self.framed = False

    def _cut_head(self) -> bytes | None:
        """Remove and return the bytes before an empty line; None if that has not arrived.

        Raises:
            MalformedResponseError: There are too many bytes before it.
        """
        end = b"\r\n\r\n"
        longest = MAX_HEAD + len(end)
        index = self._buffer.find(end, 0, longest)
        if index < 0:
            if len(self._buffer) >= longest:
                raise MalformedResponseError("the head is too long")
            return None
        head = bytes(self._buffer[:index])
        del self._buffer[: index + len(end)]
        return head

    def _read_plain(self) -> None:
        if not self.framed:
            self._keep(len(self._buffer))
            return
        self._keep(min(self.remaining, len(self._buffer)))
        if self.remaining == 0:
            self.complete = True

    def _read_chunks(self, chunks: Chunked) -> None:
        if self.complete:
            return
        try:
            rest = chunks.feed(bytes(self._buffer))
        except RefusedError:
            raise MalformedResponseError("the chunks of its body are malformed") from None
        if chunks.size and not self.overlong:
            self.body[:] = chunks.content()[: self._max_body + 1]
        self.complete = chunks.done
        self.excess = not chunks.done and chunks.size > max(self._max_body, MAX_CHUNKED)
        self._buffer[:] = rest if chunks.done else b""

    def _keep(self, count: int) -> None:
        """Move bytes from the buffer to the body, up to one more than ``max_body``."""
        size = min(count, self._max_body + 1 - len(self.body))
        self.body += self._buffer[:size]
        del self._buffer[:count]
        self.remaining -= count
