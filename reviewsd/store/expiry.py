"""Ends leases and requests that have expired, by a wall clock that may be wrong (W13, D13).

The clock may be set by an operator, by NTP after a start without a battery, or on a virtual machine that
was moved. So a lease or request ends only if two checks, ten minutes of monotonic time apart, find it
expired. Nothing ends in the first ten minutes after a start, in which a wrong clock is usually set. Nothing
is delivered in the meantime, because a delivery is due only before the lease expires.
"""

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from functools import partial

from twisted.internet.interfaces import IReactorTime

from reviewsd.store import upkeep
from reviewsd.store.rows import Pair
from reviewsd.store.thread import Store

EXPIRY_SECONDS = 600.0
"""Interval of the checks."""

BATCH = 1_000
"""Pairs in one transaction, so that no transaction holds the store for long."""


class Expiry:
    """Ends expired leases and requests.

    Args:
        store: Holds the leases and requests.
        clock: The monotonic clock.
        now: The store's clock, milliseconds since 1970 UTC.
    """

    def __init__(self, store: Store, clock: IReactorTime, now: Callable[[], int]) -> None:
        self._store = store
        self._clock = clock
        self._now = now
        self._expired: AbstractSet[tuple[Pair, int]] = frozenset()
        self._next_check_at: float | None = None

    async def end(self) -> int:
        """End what two checks have found expired; do nothing between two checks.

        Returns:
            The number of subscriptions and requests that ended.

        Raises:
            StoreError: The store cannot be used now.
        """
        seconds = self._clock.seconds()
        if self._next_check_at is not None and seconds < self._next_check_at:
            return 0
        expired = await self._store.run(lambda cursor: upkeep.expired(cursor, self._now()))
        before, self._expired = self._expired, expired
        self._next_check_at = seconds + EXPIRY_SECONDS
        # a pair with a lease and a request ends only if both had expired on the last check
        ending = list(_pairs(expired & before) - _pairs(expired - before))
        count = 0
        for start in range(0, len(ending), BATCH):
            pairs = ending[start : start + BATCH]
            work = partial(upkeep.end_expired, pairs=pairs, now=self._now())
            count += await self._store.run(work)
        return count


def _pairs(expired: Iterable[tuple[Pair, int]]) -> set[Pair]:
    return {pair for pair, _ in expired}
