"""What others need of a store, whichever it is, and a store of the process."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from twisted.internet.defer import Deferred

from reviewsd.store.thread import Purpose
from reviewsd.store.transactions import SqlCursor

T = TypeVar("T")


class Store(Protocol):
    """Where transactions run: a ``Database``, a ``Postgres``, or a ``MeteredStore`` around one."""

    async def run(self, work: Callable[[SqlCursor], T], purpose: Purpose = Purpose.WORK) -> T:
        """Run a transaction: all that ``work`` does, or nothing of it.

        Raises:
            StoreError: The store cannot be used now.
        """

    async def changed(self) -> bool:
        """Whether other nodes may have changed something since the last time.

        Raises:
            StoreError: The store cannot say.
        """


class InThread(Protocol):
    """Runs what takes long beside the reactor: ``twisted.internet.threads.deferToThread``."""

    def __call__(self, work: Callable[[], T], /) -> Deferred[T]:
        """Call it in a thread."""
