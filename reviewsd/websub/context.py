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
from reviewsd.websub.outbound.outcomes import AttemptOutcome, Push
from reviewsd.websub.slots import Slot

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
    """Sends requests to callbacks: ``client.CallbackClient``."""

    async def verify(self, callback: Callback, *, timeout: float, slot: Slot) -> AttemptOutcome:
        """GET a callback; at most a kilobyte of the response is read."""

    async def deliver(
        self, callback: Callback, push: Push, *, timeout: float, slot: Slot
    ) -> AttemptOutcome:
        """POST a topic's content to a callback."""
