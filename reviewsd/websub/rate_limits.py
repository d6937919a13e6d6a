"""What keeps the open hub from being a weapon: how often somebody may ask, and who is left in peace.

Sources: H1 to H3. Everything is in memory and bounded: the keys come from strangers, so the least
recently used are forgotten. That is safe because a key that was forgotten is only one that may
begin anew. Times are monotonic seconds, given by the caller.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Generic, TypeVar

CAPACITY = 100_000
"""Keys that are remembered; S14 has the same."""

STRIKES = 20
"""Failed verifications of one host in a row, after which it is left in peace; H3."""

FIRST_BACKOFF, LONGEST_BACKOFF = 60, 86_400
"""Seconds; the first is doubled by every failure that follows it; H3."""

MINUTE, DAY = 60.0, 86_400.0
_ROUNDING = 1e-3  # seconds; sums of floats miss the exact moment by less

V = TypeVar("V")


class Recent(Generic[V]):
    """A mapping that forgets the least recently used key when it is full.

    Args:
        capacity: Keys that are remembered.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[str | int, V] = OrderedDict()

    def get(self, key: str | int) -> V | None:
        """The value of a key, if it is remembered; then it is used now."""
        value = self._kept.get(key)
        if value is not None:
            self._kept.move_to_end(key)
        return value

    def set(self, key: str | int, value: V) -> None:
        """Remember a value."""
        self._kept[key] = value
        self._kept.move_to_end(key)
        if len(self._kept) > self._capacity:
            self._kept.popitem(last=False)

    def drop(self, key: str | int) -> None:
        """Forget a key."""
        self._kept.pop(key, None)

    def clear(self) -> None:
        """Forget them all."""
        self._kept.clear()

    def __contains__(self, key: object) -> bool:
        return key in self._kept


class TokenBuckets:
    """So many in a time for each key, all of them at once if need be (H1, H2).

    One number a key: the moment when its bucket will be full again (GCRA).

    Args:
        tokens: That a key gains in the time, and may have at most.
        seconds: The time.
        capacity: Keys that are remembered.
    """

    def __init__(self, tokens: int, seconds: float = MINUTE, capacity: int = CAPACITY) -> None:
        self._interval = seconds / tokens
        self._seconds = seconds
        self._full: Recent[float] = Recent(capacity)

    def take(self, key: str, now: float, tokens: int = 1) -> float:
        """Take tokens, not more than there may be at most.

        Returns:
            0.0 if there were so many, else the seconds until there are; then none was taken.
        """
        full = max(self._full.get(key) or 0.0, now) + self._interval * tokens
        wait = full - now - self._seconds
        if wait > _ROUNDING:
            return wait
        self._full.set(key, full)
        return 0.0

    def left(self, key: str, now: float) -> tuple[float, float]:
        """The tokens there are, and the seconds until there are as many as there may be."""
        full_in = max((self._full.get(key) or 0.0) - now, 0.0)
        return max((self._seconds - full_in) / self._interval, 0.0), full_in


@dataclass(frozen=True, slots=True)
class _Struck:
    """A host that has failed."""

    failures: int
    """In a row; those that a back-off overtook are not counted."""
    until: float
    """The end of its back-off; in the past where it has none."""


class Backoffs:
    """Hosts that are left in peace because their verifications keep failing (H3).

    After 20 failures in a row a host is asked nothing for a minute. From then on it is verified one
    at a time, and every failure doubles the wait, until one succeeds.

    Args:
        capacity: Hosts that are remembered.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._struck: Recent[_Struck] = Recent(capacity)

    def failed(self, host: str, now: float) -> None:
        """A verification of the host has failed."""
        struck = self._struck.get(host) or _Struck(0, now)
        if struck.until > now:
            return  # under way when the back-off began: no answer to what the host was asked since
        failures = struck.failures + 1
        until = now
        if failures >= STRIKES:
            until += min(FIRST_BACKOFF * 2 ** (failures - STRIKES), LONGEST_BACKOFF)
        self._struck.set(host, _Struck(failures, until))

    def succeeded(self, host: str) -> None:
        """A verification of the host has succeeded: all is forgiven."""
        self._struck.drop(host)

    def wait(self, host: str, now: float) -> float:
        """Seconds that the host must still be left in peace; 0.0 for none."""
        struck = self._struck.get(host)
        return 0.0 if struck is None else max(struck.until - now, 0.0)

    def failing(self, host: str) -> bool:
        """Whether the last verification of the host has failed."""
        return self._struck.get(host) is not None

    def one_at_a_time(self, host: str) -> bool:
        """Whether no second verification of the host may begin while one is under way."""
        struck = self._struck.get(host)
        return struck is not None and struck.failures >= STRIKES
