"""One exchange with a callback, as values: whom, what is sent, what came back."""

from collections.abc import Iterator
from dataclasses import dataclass

from reviewsd.domain.callback import Callback
from reviewsd.websub.outbound.outcomes import BodyBuffer
from reviewsd.websub.outbound.response_parser import Head

PIECE = 262_144  # bytes written at once; a request that fits into it is written in one go


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Whom a connection leads to."""

    callback: Callback
    """For which it was made; another with the same host and port may use it."""
    address: str
    """That was checked, and is dialled."""


@dataclass(frozen=True, slots=True)
class OutboundRequest:
    """What goes over the wire."""

    head: bytes
    """Request line and fields, with the empty line at the end."""
    body: tuple[BodyBuffer, ...] = ()
    max_answer: int | None = None
    """Bytes of the answer's body that are wanted; None: the head alone says it all."""


@dataclass(frozen=True, slots=True)
class OutboundResponse:
    """The answer, as far as it was wanted."""

    head: Head
    body: bytes


@dataclass(frozen=True, slots=True)
class Lost:
    """The exchange has come to nothing."""

    reason: str
    begun: bool
    """Some of an answer had come in."""


def pieces_of(request: OutboundRequest) -> Iterator[BodyBuffer]:
    """The request in pieces that may be encrypted in one go."""
    if len(request.head) + sum(map(len, request.body)) <= PIECE:
        yield b"".join((request.head, *request.body))
        return
    yield request.head
    for part in request.body:
        view = memoryview(part)
        for start in range(0, len(view), PIECE):
            yield view[start : start + PIECE]
