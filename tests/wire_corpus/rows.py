"""Rows of the corpus, and their parts (S1 to S8; RFC 9110, RFC 9112)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

HOST = b"Host: localhost\r\n"
END = b"\r\n"
CLOSE = b"Connection: close\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
EXPECT = b"Expect: 100-continue\r\n"

READ = b"/reviews.json"
HEALTH = b"/healthz"
HUB = b"/api/websub/hub"
MCP = b"/mcp"

PROBE = b"PUT /healthz HTTP/1.1\r\n" + HOST + CLOSE + END
"""A request that shows whether a connection is open and at the begin of a request; no row sends it."""

REQUESTS = 1_000
"""Requests of one connection (S1)."""


class Act(Enum):
    """An act of the client between two pieces."""

    AWAIT = "waits for bytes to come back"
    END = "closes its side of the connection"


Status = int | tuple[int, ...]
"""The status of a response, or several if the sources leave a choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Bytes to send on a new connection, and the expected responses."""

    name: str
    pieces: tuple[bytes | Act, ...]
    statuses: tuple[Status, ...]
    """The statuses of all responses in order; 100 if the client waits for it."""
    closed: bool | None
    """Whether the connection is closed after them; None if it may be."""
    heads: tuple[int, ...] = ()
    """The positions of responses to HEAD."""

    @property
    def waits(self) -> bool:
        """Whether the client waits for a response between two pieces."""
        return Act.AWAIT in self.pieces


def request(
    target: bytes = HEALTH,
    *fields: bytes,
    method: bytes = b"GET",
    host: bytes = HOST,
    version: bytes = b"HTTP/1.1",
    body: bytes = b"",
) -> bytes:
    """Return the bytes of a request, without changes to its parts."""
    lines = b"".join(field + b"\r\n" for field in fields)
    return method + b" " + target + b" " + version + b"\r\n" + host + lines + END + body


def post(target: bytes, *fields: bytes, body: bytes = b"") -> bytes:
    """Return a POST; its fields may frame the body."""
    return request(target, *fields, method=b"POST", body=body)


def sized(target: bytes, body: bytes, *fields: bytes) -> bytes:
    """Return a POST with the right Content-Length."""
    return post(target, b"Content-Length: %d" % len(body), *fields, body=body)


def chunked(body: bytes, target: bytes = HUB) -> bytes:
    """Return a POST with a chunked body."""
    return post(target, CHUNKED.strip(), body=body)


def row(
    name: str,
    *pieces: bytes | Act,
    status: Status | None = None,
    statuses: Iterable[Status] = (),
    closed: bool | None = True,
    heads: tuple[int, ...] = (),
) -> Row:
    """Return a row.

    Args:
        name: The fault or peculiarity.
        pieces: The bytes and acts in order.
        status: The status of the only response.
        statuses: The statuses of all responses, if there is not one.
        closed: As in ``Row``.
        heads: As in ``Row``.
    """
    expected = tuple(statuses) if status is None else (status,)
    return Row(name=name, pieces=pieces, statuses=expected, closed=closed, heads=heads)


def broken(name: str, data: bytes) -> Row:
    """Return a row of malformed HTTP, which is answered 400 and closed."""
    return row(name, data, status=400)


def fine(name: str, data: bytes, status: Status = 200) -> Row:
    """Return a row of unusual HTTP, which is answered and leaves the connection open."""
    return row(name, data, status=status, closed=False)


def bytewise(data: bytes) -> tuple[bytes, ...]:
    """Return each byte as a piece."""
    return tuple(data[at : at + 1] for at in range(len(data)))
