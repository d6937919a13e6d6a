"""What comes of calling a callback, as values, and what a call is made of.

A subscriber that hangs, lies or is gone is not an error of ours: it is an outcome.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

BodyBuffer = bytes | memoryview

SUCCESS = range(200, 300)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The callback has answered: HTTP, with a final status."""

    status: int
    headers: Mapping[bytes, bytes]
    """``retry-after``, if given; names in lower case."""
    body: bytes
    """Of a verification: at most 1,025 bytes, where more than 1,024 mean that it was too long, and
    empty when it came in a Content-Encoding. Of a delivery: never read, empty."""
    address: str
    """Who answered."""

    @property
    def successful(self) -> bool:
        """A 2xx (RFC 9110 15.3)."""
        return self.status in SUCCESS


@dataclass(frozen=True, slots=True)
class Unanswered:
    """No answer, or nothing that is one."""

    reason: str
    """Short, for people; without the callback's path and query."""
    address: str | None
    """Which was tried last; None if it never came to that."""


@dataclass(frozen=True, slots=True)
class Throttled:
    """Nothing was tried: so many exchanges with that address network are under way (H2, H8)."""

    address: str
    """One in it."""


AttemptOutcome = Answered | Unanswered | Throttled


class Admission(Protocol):
    """Bounds the exchanges that are under way with one address network at a time."""

    def enter(self, network: str, trail: "Trail") -> bool:
        """Take a place for an attempt; False when all are taken."""

    def leave(self, network: str, trail: "Trail") -> None:
        """Give the place back."""


class Trail:
    """How far an attempt has come.

    Attributes:
        address: Which was tried last.
        is_busy: Whether there is something to do, or the callback is taking the request.
        keeps_place: Whether it keeps its place in the callback's network until it has ended: strangers
            can have anybody verified, so nobody gets more of these at once than H2 says.
    """

    def __init__(self, *, keeps_place: bool = False) -> None:
        self.address: str | None = None
        self.is_busy: Callable[[], bool] = lambda: False
        self.keeps_place = keeps_place


@dataclass(frozen=True, slots=True)
class Push:
    """A topic's content on its way to many subscribers, prepared once for all of them."""

    headers: bytes
    """Ready lines, each ended with CRLF: Content-Type, Content-Length, Link, ETag."""
    body: tuple[BodyBuffer, ...]
    """Content-Length bytes in all; slices of mapped files are never joined or copied whole."""
    signature: bytes | None
    """The value of ``X-Hub-Signature``, for a subscription with a secret."""
