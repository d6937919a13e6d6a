"""The interface of both stores, and what callers pass to them."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from twisted.internet.defer import Deferred

from reviewsd.store.thread import Purpose
from reviewsd.store.transactions import SqlCursor

T = TypeVar("T")


class Store(Protocol):
    """A store: a ``Database`` or a ``Postgres``."""

    async def run(self, work: Callable[[SqlCursor], T], purpose: Purpose = Purpose.WORK) -> T:
        """Run a transaction: see ``Database.run``.

        Raises:
            StoreError: The store cannot be used now.
        """

    async def changed(self) -> bool:
        """Return whether other nodes may have changed something since the last call.

        Raises:
            StoreError: The store cannot be used now.
        """


class InThread(Protocol):
    """Calls a slow function in a thread: ``twisted.internet.threads.deferToThread``."""

    def __call__(self, work: Callable[[], T], /) -> Deferred[T]:
        """Call a function in a thread."""
