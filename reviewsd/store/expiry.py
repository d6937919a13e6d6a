"""Ends leases and requests that have expired, by a wall clock that may be wrong (W13, D13).

The clock may be set by an operator, by NTP after a start without a battery, or on a virtual machine that
was moved. So nothing ends the first time it is found expired, but when it is still expired ten minutes of
monotonic time later. Nothing ends in the first ten minutes after a start, in which a wrong clock is
usually set. Meanwhile nothing is sent for it: what is due is a comparison with the time.
"""

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from functools import partial

from twisted.internet.interfaces import IReactorTime

from reviewsd.store import upkeep
from reviewsd.store.interface import Store
from reviewsd.store.rows import Pair

EXPIRY_SECONDS = 600.0
"""Between two looks for what has expired."""

BATCH = 1_000
"""Pairs that end in one transaction, which must not hold the store for long."""


class Expiry:
    """Leases and requests that had expired on the last look.

    Args:
        store: Holds them.
        clock: The monotonic clock.
        now: The store's clock, milliseconds since 1970 UTC.
    """

    def __init__(self, store: Store, clock: IReactorTime, now: Callable[[], int]) -> None:
        self._store = store
        self._clock = clock
        self._now = now
        self._expired: AbstractSet[tuple[Pair, int]] = frozenset()
        self._next_look_at: float | None = None

    async def end(self) -> int:
        """End what had expired on the last look and still is; does nothing between two looks.

        Returns:
            How many subscriptions and requests ended.

        Raises:
            StoreError: The store cannot be used now.
        """
        seconds = self._clock.seconds()
        if self._next_look_at is not None and seconds < self._next_look_at:
            return 0
        expired = await self._store.run(lambda cursor: upkeep.expired(cursor, self._now()))
        before, self._expired = self._expired, expired
        self._next_look_at = seconds + EXPIRY_SECONDS
        # a pair with a lease and a request ends when both of them were expired before
        ending = list(_pairs(expired & before) - _pairs(expired - before))
        count = 0
        for start in range(0, len(ending), BATCH):
            pairs = ending[start : start + BATCH]
            work = partial(upkeep.end_expired, pairs=pairs, now=self._now())
            count += await self._store.run(work)
        return count


def _pairs(expired: Iterable[tuple[Pair, int]]) -> set[Pair]:
    return {pair for pair, _ in expired}
