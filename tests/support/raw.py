"""HTTP/1.1 as bytes on a socket: sent as they stand, and what comes back read strictly (RFC 9112).

``responses`` believes nothing: what is not a whole response of exactly the length it states, in the
spelling of the RFC, is no response. So a second answer to a smuggled request, a body after HEAD, or a
byte too many is always found.
"""

import re
import select
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2}) [!-~][ -~]*")
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([!-~]([ -~]*[!-~])?)?")
_PASSING = re.compile(rb"(\r\n(?:Date|Mcp-Session-Id)): [^\r\n]*(?=\r\n)")

_BODILESS = frozenset({204, 304})


class NotAResponseError(Exception):
    """What came back is no sequence of whole responses."""


@dataclass(frozen=True, slots=True)
class ReceivedResponse:
    """One of them."""

    status: int
    fields: tuple[tuple[str, str], ...]
    body: bytes

    def values(self, name: str) -> list[str]:
        """What the fields of a name say, in order."""
        return [value for known, value in self.fields if known.lower() == name.lower()]

    @property
    def interim(self) -> bool:
        """Whether the answer proper is still to come (RFC 9110 15.2)."""
        return self.status < 200

    @property
    def closes(self) -> bool:
        """Whether it says to be the last on its connection."""
        return "close" in self.values("Connection")


def responses(data: bytes, heads: Sequence[int] = ()) -> list[ReceivedResponse]:
    """All responses in what came back.

    Args:
        data: All bytes of a connection.
        heads: Which of the answers, interim ones not counted, are to HEAD; from 0.

    Raises:
        NotAResponseError: With where and why.
    """
    found: list[ReceivedResponse] = []
    answered = at = 0
    while at < len(data):
        response, at = _next(data, at, to_head=answered in heads)
        found.append(response)
        answered += not response.interim
    return found


def _next(data: bytes, begin: int, *, to_head: bool) -> tuple[ReceivedResponse, int]:
    """The response that begins somewhere, and where it ends; nothing behind it is copied."""
    end = data.find(b"\r\n\r\n", begin)
    head, rest = data[begin:end], end + 4
    status_line, *lines = head.split(b"\r\n")
    found = _STATUS_LINE.fullmatch(status_line)
    if end < 0 or found is None:
        began = data[begin : begin + 200]
        raise NotAResponseError(f"no status line, or no end of the head: {began!r}")
    fields = tuple(map(_field, lines))
    status = int(found[1])
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
    found = _FIELD.fullmatch(line)
    if found is None:
        raise NotAResponseError(f"no header field: {line!r}")
    return found[1].decode(), (found[2] or b"").decode()


def lasting(data: bytes) -> bytes:
    """What came back, but for what is different each time: the date, and the id of a new session."""
    return _PASSING.sub(rb"\1: *", data)


class Wire:
    """A connection that sends what it is told to, and keeps all that comes back.

    Args:
        port: Of the daemon, on loopback.
        receive_buffer: Bytes that the kernel holds for a client who does not read.
    """

    def __init__(self, port: int, receive_buffer: int | None = None) -> None:
        self.received = b""
        self.closed = False
        """Whether the other side has ended the connection, and all it sent has been read."""
        self.socket = socket.socket()
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(60)
        self.opened = time.monotonic()
        """Before the other side can have counted any time of it."""
        self.socket.connect(("127.0.0.1", port))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        """Send, even if the other side reads no more."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            return

    def half_close(self) -> None:
        """Say that nothing more will be sent."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:  # has been reset
            return

    def read(self, seconds: float, size: int = 65_536) -> int:
        """Take what comes next; how many bytes that were in the time given."""
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
        """Take what comes until something is true, the connection is closed, or time is over."""
        end = time.monotonic() + seconds
        while not self.closed and not true() and (left := end - time.monotonic()) > 0:
            self.read(left)

    def read_all(self, seconds: float = 30) -> bytes:
        """All that came back, now that the connection is closed.

        Raises:
            AssertionError: It is not.
        """
        self.read_until(lambda: False, seconds)
        assert self.closed, f"the connection stayed open after {self.received[-400:]!r}"
        return self.received

    def ask(self, data: bytes, *, to_head: bool = False) -> bytes:
        """Send a request on a connection that stays; the bytes of its answer.

        Args:
            data: The request.
            to_head: Whether it is HEAD, so that a length is one of nothing.
        """
        begin = len(self.received)
        self.send(data)

        def whole() -> bool:
            head, end, body = self.received[begin:].partition(b"\r\n\r\n")
            length = None if to_head else re.search(rb"(?im)^Content-Length: ([0-9]+)", head)
            return bool(end) and len(body) >= int(length[1] if length else 0)

        self.read_until(whole)
        return self.received[begin:]

    def gone(self) -> bool:
        """Whether the other side has ended the connection, however much is still to be read."""
        poll = select.poll()
        poll.register(self.socket, select.POLLRDHUP)
        return bool(poll.poll(0))


def exchange(port: int, *pieces: bytes) -> bytes:
    """Send pieces on a connection of their own; all that comes back until it is closed."""
    with Wire(port) as wire:
        for piece in pieces:
            wire.send(piece)
        return wire.read_all()
