"""A store whose transactions are counted and timed (security-and-operations.md O9)."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from twisted.internet.interfaces import IReactorTime

from reviewsd.store.sqlite import Cursor, StoreError
from reviewsd.runtime.counters import Tally

T = TypeVar("T")


class Store(Protocol):
    """Where transactions run: a ``Database`` or a ``Postgres``."""

    async def run(self, work: Callable[[Cursor], T]) -> T:
        """Run a transaction."""


class MeteredStore:
    """Hands transactions on.

    Args:
        store: Runs them.
        clock: Measures them, with the time for which they wait in line.
        tally: Is told.
    """

    def __init__(self, store: Store, clock: IReactorTime, tally: Tally) -> None:
        self._store = store
        self._clock = clock
        self._tally = tally

    async def run(self, work: Callable[[Cursor], T]) -> T:
        """Run a transaction: see ``Database.run``."""
        began = self._clock.seconds()
        try:
            return await self._store.run(work)
        except StoreError:
            self._tally.count("store_errors_total")
            raise
        finally:
            self._tally.measure("store_latency_seconds", self._clock.seconds() - began)
