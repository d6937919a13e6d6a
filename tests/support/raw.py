"""HTTP/1.1 as bytes on a socket, with responses that are parsed strictly (RFC 9112).

``responses`` accepts only complete responses with exactly the length that they state. So a second answer to a
smuggled request, a body after HEAD, or a byte too many is always found.
"""

import json
import re
import select
import socket
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

SECURITY = {
    "Server": "reviewsd",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Strict-Transport-Security": "max-age=31536000",
}
"""The fields of every response of a site whose base_url is of https."""

_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2}) [!-~][ -~]*")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([!-~]([ -~]*[!-~])?)?")
_PASSING = re.compile(rb"(\r\n(?:Date|Mcp-Session-Id)): [^\r\n]*(?=\r\n)")

_BODILESS = frozenset({204, 304})


class NotAResponseError(Exception):
    """The bytes are no sequence of complete responses."""


@dataclass(frozen=True, slots=True)
class ReceivedResponse:
    """One response."""

    status: int
    fields: tuple[tuple[str, str], ...]
    body: bytes

    def values(self, name: str) -> list[str]:
        """Return the values of the fields with a name, in order."""
        return [value for field, value in self.fields if field.lower() == name.lower()]

    def header(self, name: str) -> str:
        """Return the value of a field that came once."""
        (value,) = self.values(name)
        return value

    @property
    def headers(self) -> dict[str, str]:
        """The fields, of which each came once."""
        assert len(self.fields) == len({name.lower() for name, _ in self.fields})
        return dict(self.fields)

    def json(self) -> Any:
        """Return the body, decoded."""
        return json.loads(self.body)

    @property
    def interim(self) -> bool:
        """Whether the final response is still to come (RFC 9110 15.2)."""
        return self.status < 200

    @property
    def closes(self) -> bool:
        """Whether it has ``Connection: close``."""
        return "close" in self.values("Connection")


def responses(data: bytes, heads: Sequence[int] = ()) -> list[ReceivedResponse]:
    """Parse all responses of a connection.

    Args:
        data: All bytes of the connection.
        heads: The positions of responses to HEAD, from 0, without interim ones.

    Raises:
        NotAResponseError: The bytes are no complete responses.
    """
    received: list[ReceivedResponse] = []
    answered = at = 0
    while at < len(data):
        response, at = _next(data, at, to_head=answered in heads)
        received.append(response)
        answered += not response.interim
    return received


def _next(data: bytes, begin: int, *, to_head: bool) -> tuple[ReceivedResponse, int]:
    """Return the response that begins at a position, and the position of its end."""
    end = data.find(b"\r\n\r\n", begin)
    head, rest = data[begin:end], end + 4
    status_line, *lines = head.split(b"\r\n")
    line = _STATUS_LINE.fullmatch(status_line)
    if end < 0 or line is None:
        began = data[begin : begin + 200]
        raise NotAResponseError(f"no status line, or no end of the head: {began!r}")
    fields = tuple(map(_field, lines))
    status = int(line[1])
    bare = ReceivedResponse(status, fields, b"")
    lengths = bare.values("Content-Length")
    if bare.values("Transfer-Encoding") or len(lengths) > 1:
        raise NotAResponseError(f"framed in more than one way: {head!r}")
    if bare.interim or status in _BODILESS:
        if lengths:
            raise NotAResponseError(f"a length where no body can be: {head!r}")
        return bare, rest
    if not lengths or not re.fullmatch("[0-9]+", lengths[0]):
        raise NotAResponseError(f"does not say how long it is: {head!r}")
    if to_head:
        return bare, rest
    length = int(lengths[0])
    came = len(data) - rest
    if came < length:
        raise NotAResponseError(f"{came} of {length} bytes of the body came: {head!r}")
    return ReceivedResponse(status, fields, data[rest : rest + length]), rest + length


def _field(line: bytes) -> tuple[str, str]:
    field = _FIELD.fullmatch(line)
    if field is None:
        raise NotAResponseError(f"no header field: {line!r}")
    return field[1].decode(), (field[2] or b"").decode()


def lasting(data: bytes) -> bytes:
    """Return received bytes without the date and the id of a new session."""
    return _PASSING.sub(rb"\1: *", data)


class Wire:
    """A connection that sends any bytes, and has all bytes that come back.

    Args:
        port: The port of the daemon on loopback.
        receive_buffer: Bytes that the kernel buffers for a client that does not read.
    """

    def __init__(self, port: int, receive_buffer: int | None = None) -> None:
        self.received = b""
        self.closed = False
        """Whether the other side has closed the connection, and all its bytes are read."""
        self.socket = socket.socket()
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(60)
        self.opened = time.monotonic()
        """Monotonic seconds, before the connection is open."""
        self.socket.connect(("127.0.0.1", port))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        """Send bytes; an error of a closed connection is ignored."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            return

    def half_close(self) -> None:
        """Close this side of the connection."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:  # the connection is reset
            return

    def read(self, seconds: float, size: int = 65_536) -> int:
        """Read for a time at most, and return the number of bytes."""
        self.socket.settimeout(seconds)
        try:
            piece = self.socket.recv(size)
        except TimeoutError:
            return 0
        except ConnectionResetError:
            piece = b""
        self.received += piece
        self.closed = not piece
        return len(piece)

    def read_until(self, true: Callable[[], object], seconds: float = 30) -> None:
        """Read until a condition is true, the connection is closed, or the time is over."""
        end = time.monotonic() + seconds
        while not self.closed and not true() and (seconds := end - time.monotonic()) > 0:
            self.read(seconds)

    def read_all(self) -> bytes:
        """Return all bytes of the connection, which the other side has to close."""
        self.read_until(lambda: False)
        assert self.closed, f"the connection stayed open after {self.received[-400:]!r}"
        return self.received

    def ask(self, data: bytes, *, to_head: bool = False) -> bytes:
        """Send a request, and return the bytes of its response.

        Args:
            data: The request.
            to_head: Whether it is HEAD, so that the response has no body.
        """
        begin = len(self.received)
        self.send(data)

        def is_complete() -> bool:
            head, end, body = self.received[begin:].partition(b"\r\n\r\n")
            length = None if to_head else re.search(rb"(?im)^Content-Length: ([0-9]+)", head)
            return bool(end) and len(body) >= int(length[1] if length else 0)

        self.read_until(is_complete)
        return self.received[begin:]

    def gone(self) -> bool:
        """Return whether the other side has closed, also if bytes are still unread."""
        poll = select.poll()
        poll.register(self.socket, select.POLLRDHUP)
        return bool(poll.poll(0))


def reset(connection: socket.socket) -> None:
    """Close a connection by a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def exchange(port: int, *pieces: bytes) -> bytes:
    """Send pieces on a new connection, and return all bytes until it is closed."""
    with Wire(port) as wire:
        for piece in pieces:
            wire.send(piece)
        return wire.read_all()
