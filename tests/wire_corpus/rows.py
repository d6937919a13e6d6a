"""What a row of the corpus is, and what rows are made of (S1 to S8; RFC 9110, RFC 9112)."""

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
"""Asks whether a connection still serves, and is at the beginning of a request; no row asks that."""

REQUESTS = 150
"""That one connection may bring; ``server.requests_per_connection`` of the corpus."""


class Act(Enum):
    """What a client does between two pieces."""

    AWAIT = "waits until something has come back"
    END = "says that nothing more will come"


Status = int | tuple[int, ...]
"""Of an answer; where the sources leave a choice, each that may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Something sent on a connection of its own, and what has to come back."""

    name: str
    pieces: tuple[bytes | Act, ...]
    statuses: tuple[Status, ...]
    """Of all answers in their order; 100 where a client waits for it."""
    closed: bool | None
    """Whether the connection is closed then; None: it may be. If not, it has to serve on."""
    heads: tuple[int, ...] = ()
    """Which answers are to HEAD."""

    @property
    def waits(self) -> bool:
        """Whether the client waits for something to come back before it goes on."""
        return Act.AWAIT in self.pieces


def request(
    target: bytes = HEALTH,
    *fields: bytes,
    method: bytes = b"GET",
    host: bytes = HOST,
    version: bytes = b"HTTP/1.1",
    body: bytes = b"",
) -> bytes:
    """A request whose parts are as they are given.

    Args:
        target: After the method.
        fields: Lines without their ends.
        method: First word.
        host: The lines before the other fields.
        version: Last word of the request line.
        body: What follows.
    """
    lines = b"".join(field + b"\r\n" for field in fields)
    return method + b" " + target + b" " + version + b"\r\n" + host + lines + END + body


def post(target: bytes, *fields: bytes, body: bytes = b"") -> bytes:
    """A POST whose fields say how long its body is, or do not."""
    return request(target, *fields, method=b"POST", body=body)


def sized(target: bytes, body: bytes, *fields: bytes) -> bytes:
    """A POST that states its length as it should."""
    return post(target, b"Content-Length: %d" % len(body), *fields, body=body)


def chunked(body: bytes, target: bytes = HUB) -> bytes:
    """A POST in chunks, which are as they are given."""
    return post(target, CHUNKED.strip(), body=body)


def row(
    name: str,
    *pieces: bytes | Act,
    status: Status | None = None,
    statuses: Iterable[Status] = (),
    closed: bool | None = True,
    heads: tuple[int, ...] = (),
) -> Row:
    """A row of one answer, or of several.

    Args:
        name: What is wrong, or stretched.
        pieces: What is sent, and when.
        status: Of the only answer.
        statuses: Of all; neither is none.
        closed: As of the row.
        heads: As of the row.
    """
    expected = tuple(statuses) if status is None else (status,)
    return Row(name=name, pieces=pieces, statuses=expected, closed=closed, heads=heads)


def broken(name: str, data: bytes) -> Row:
    """No HTTP: 400, and the end."""
    return row(name, data, status=400)


def fine(name: str, data: bytes, status: Status = 200) -> Row:
    """Unusual, but HTTP: answered for what it is, and the connection serves on."""
    return row(name, data, status=status, closed=False)


def bytewise(data: bytes) -> tuple[bytes, ...]:
    """Every byte for itself."""
    return tuple(data[at : at + 1] for at in range(len(data)))
