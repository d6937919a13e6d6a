"""The interface of both stores."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from twisted.internet.defer import Deferred

from reviewsd.store.thread import Purpose
from reviewsd.store.transactions import SqlCursor

T = TypeVar("T")


class Store(Protocol):
    """A store: a ``Database`` or a ``Postgres``."""

    async def run(self, work: Callable[[SqlCursor], T], purpose: Purpose = Purpose.WORK) -> T:
        """Run a transaction: all of ``work``, or nothing of it.

        ``work`` runs in the store's thread, so it must not touch objects of the reactor's thread. It
        is never aborted: cancelling only stops the wait for the result.

        Args:
            work: Reads and writes rows.
            purpose: The queue in which the transaction waits.

        Returns:
            The result of ``work``, after the commit is on the disk.

        Raises:
            StoreError: The store cannot be used now. If the commit itself failed, the outcome is
                unknown.
            Exception: ``work`` raised it; the transaction is rolled back.
        """

    async def changed(self) -> bool:
        """Return whether any node may have changed something since the last call; takes no lock.

        Raises:
            StoreError: The store cannot be used now.
        """


class InThread(Protocol):
    """Calls a slow function in a thread: ``twisted.internet.threads.deferToThread``."""

    def __call__(self, work: Callable[[], T], /) -> Deferred[T]:
        """Call a function in a thread."""
