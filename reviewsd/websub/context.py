"""What the hub has from outside: time, chance, threads, counters, a store, the way to callbacks.

Tests bring their own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from twisted.internet.interfaces import IReactorTime

from reviewsd.domain.callback import Callback
from reviewsd.runtime.counters import Counters
from reviewsd.store.interface import InThread
from reviewsd.websub.outbound.outcomes import Admission, AttemptOutcome, Push, Trail
from reviewsd.websub.places import NetworkPlaces

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Time, chance, threads, and who counts what happens."""

    clock: IReactorTime
    """Waits, and monotonic seconds for what does not outlive the process (D13)."""
    now: Callable[[], int]
    """Wall clock, milliseconds since 1970 UTC: what is stored."""
    token: Callable[[], str]
    """Another string each time that nobody can guess: 32 random bytes, base64url (H12)."""
    chance: Callable[[], float]
    """A number from 0 to 1, another one each time."""
    in_thread: InThread
    counters: Counters = field(default_factory=Counters)


class Client(Protocol):
    """What calls callbacks: ``client.CallbackClient``."""

    async def verify(
        self, callback: Callback, *, timeout: float, admission: Admission, requester: str
    ) -> AttemptOutcome:
        """GET a callback."""

    async def deliver(
        self,
        callback: Callback,
        push: Push,
        *,
        timeout: float,
        admission: Admission,
        trail: Trail,
    ) -> AttemptOutcome:
        """POST to a callback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How callbacks are reached for one purpose."""

    client: Client
    networks: NetworkPlaces
    """Of address networks, for the exchanges that are under way with them (H2, H8)."""
    timeout: float
    """Of one exchange, seconds."""

    async def ask(self, callback: Callback, requester: str = "") -> AttemptOutcome:
        """GET a callback, perhaps for a client network; what it answers is at most a kilobyte."""
        return await self.client.verify(
            callback, timeout=self.timeout, admission=self.networks, requester=requester
        )

    async def deliver(self, callback: Callback, push: Push, trail: Trail) -> AttemptOutcome:
        """POST a topic's content to a callback."""
        return await self.client.deliver(
            callback, push, timeout=self.timeout, admission=self.networks, trail=trail
        )
