"""What comes of calling a callback, as values, and what a call is made of.

A subscriber that hangs, lies or is gone is not an error of ours: it is an outcome.
"""

from collections.abc import Mapping
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Push:
    """A topic's content on its way to many subscribers, prepared once for all of them."""

    headers: bytes
    """Ready lines, each ended with CRLF: Content-Type, Content-Length, Link, ETag."""
    body: tuple[BodyBuffer, ...]
    """Content-Length bytes in all; slices of mapped files are never joined or copied whole."""
    signature: bytes | None
    """The value of ``X-Hub-Signature``, for a subscription with a secret."""
