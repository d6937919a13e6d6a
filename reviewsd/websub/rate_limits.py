"""Rate limits and back-offs that keep the hub from being used against third parties (H1 to H3).

All state is in memory and bounded. Keys come from clients, so the least recently used are evicted; an
evicted key starts again with a full bucket, or without a back-off. Times are monotonic seconds, passed in by
the caller.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import TypeVar

MAX_KEYS = 100_000
"""Capacity of each limiter (S14)."""

MAX_FAILURES = 20
"""Consecutive failed verifications of a host before its back-off begins."""

FIRST_BACKOFF, MAX_BACKOFF = 60, 86_400  # seconds; doubled by each further failure

_ROUNDING = 1e-3  # seconds; absorbs float error at the exact end of a wait

K = TypeVar("K")
V = TypeVar("V")


class LRUCache(OrderedDict[K, V]):
    """A mapping that evicts the least recently used key when it is full.

    Args:
        max_keys: Capacity.
    """

    def __init__(self, max_keys: int = MAX_KEYS) -> None:
        super().__init__()
        self._max_keys = max_keys

    def get(self, key: K) -> V | None:  # type: ignore[override]  # no other default is needed
        """Return the value of a key, which counts as a use of it, or None."""
        value = super().get(key)
        if value is not None:
            self.move_to_end(key)
        return value

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._max_keys:
            self.popitem(last=False)


class TokenBuckets:
    """A token bucket for each key, as a generic cell rate algorithm.

    One number is kept for each key: the time at which its bucket is full again.

    Args:
        tokens: Bucket size, and tokens gained per period.
        period: Length of the period, in seconds.
    """

    def __init__(self, tokens: int, period: float = 60.0) -> None:
        self._seconds_per_token = period / tokens
        self._period = period
        self._full_at: LRUCache[str, float] = LRUCache()

    def take(self, key: str, now: float, tokens: int = 1) -> float:
        """Take tokens if the bucket holds enough.

        Returns:
            0.0 if the tokens were taken, else the seconds until they can be.
        """
        full_at = max(self._full_at.get(key) or 0.0, now) + self._seconds_per_token * tokens
        wait = full_at - now - self._period
        if wait > _ROUNDING:
            return wait
        self._full_at[key] = full_at
        return 0.0

    def available(self, key: str, now: float) -> tuple[float, float]:
        """Return the tokens in the bucket, and the seconds until it is full."""
        seconds_to_full = max((self._full_at.get(key) or 0.0) - now, 0.0)
        return max((self._period - seconds_to_full) / self._seconds_per_token, 0.0), seconds_to_full


@dataclass(frozen=True, slots=True)
class _FailingHost:
    failures: int
    """Consecutive failures; those of attempts that began before a back-off do not count."""
    backoff_ends_at: float


class Backoffs:
    """Hosts with verifications that keep failing, and a back-off that doubles (H3).

    After 20 consecutive failures a host is not contacted for a minute. After that it is verified one
    request at a time, and each failure doubles the back-off, up to a day, until a verification succeeds.
    """

    def __init__(self) -> None:
        self._hosts: LRUCache[str, _FailingHost] = LRUCache()

    def record_failure(self, host: str, now: float) -> None:
        """Count a failed verification and extend the back-off if the host has had too many."""
        state = self._hosts.get(host) or _FailingHost(0, now)
        if state.backoff_ends_at > now:
            return  # of an attempt that began before the back-off
        failures = state.failures + 1
        backoff = 0.0
        if failures >= MAX_FAILURES:
            backoff = min(FIRST_BACKOFF * 2 ** (failures - MAX_FAILURES), MAX_BACKOFF)
        self._hosts[host] = _FailingHost(failures, now + backoff)

    def record_success(self, host: str) -> None:
        """Clear the failures of a host."""
        self._hosts.pop(host, None)

    def seconds_left(self, host: str, now: float) -> float:
        """Return the remaining back-off of a host; 0.0 without one."""
        state = self._hosts.get(host)
        return 0.0 if state is None else max(state.backoff_ends_at - now, 0.0)

    def is_failing(self, host: str) -> bool:
        """Return whether the last verification of a host failed."""
        return host in self._hosts

    def is_serialized(self, host: str) -> bool:
        """Return whether a host may have only one verification under way."""
        state = self._hosts.get(host)
        return state is not None and state.failures >= MAX_FAILURES
