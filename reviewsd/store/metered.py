"""A store whose transactions are counted and timed, and not waited for without end (O9, D9)."""

from collections.abc import Callable
from typing import TypeVar

from twisted.internet import defer
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime

from reviewsd.runtime.counters import Counters
from reviewsd.store.interface import Store
from reviewsd.store.thread import Purpose
from reviewsd.store.transactions import SqlCursor, StoreError

ANSWER_SECONDS = 15.0
"""For which a client that waits for an acknowledgement waits for the store: what hangs does not fail."""

T = TypeVar("T")


class MeteredStore:
    """Hands transactions on.

    Args:
        store: Runs them.
        clock: Measures them, with the time for which they wait in line.
        counters: Is told.
    """

    def __init__(self, store: Store, clock: IReactorTime, counters: Counters) -> None:
        self._store = store
        self._clock = clock
        self._counters = counters

    async def run(self, work: Callable[[SqlCursor], T], purpose: Purpose = Purpose.WORK) -> T:
        """Run a transaction: see ``Database.run``.

        Raises:
            StoreError: Also when the store owes a client an answer for too long. It may still carry
                out what was asked.
        """
        began = self._clock.seconds()
        running = Deferred.fromCoroutine(self._store.run(work, purpose))
        if purpose.acknowledged:
            running.addTimeout(ANSWER_SECONDS, self._clock)
        try:
            return await running
        except defer.TimeoutError:
            self._counters.count("store_errors_total")
            raise StoreError(f"it has not answered for {ANSWER_SECONDS:g} s") from None
        except StoreError:
            self._counters.count("store_errors_total")
            raise
        finally:
            self._counters.measure("store_latency_seconds", self._clock.seconds() - began)

    async def changed(self) -> bool:
        """Whether anything was committed since the last time: see ``Postgres.changed``."""
        return await self._store.changed()
