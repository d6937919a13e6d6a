"""The environment of the hub, which tests replace."""

from collections.abc import Callable
from dataclasses import dataclass, field

from twisted.internet.interfaces import IReactorTime

from reviewsd.runtime.counters import Counters
from reviewsd.store.transactions import InThread


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Clocks, random numbers, threads and counters."""

    clock: IReactorTime
    """Schedules timers and returns monotonic seconds, for times that do not outlive the process (D13)."""
    now: Callable[[], int]
    """Returns the wall clock for times that are stored, in milliseconds since 1970 UTC."""
    token: Callable[[], str]
    """Returns 32 random bytes as base64url (H12)."""
    random: Callable[[], float]
    """Returns a random number from 0 to 1."""
    in_thread: InThread
    counters: Counters = field(default_factory=Counters)
