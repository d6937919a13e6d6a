"""The one thread of a store: blocking drivers run there, one call after the other."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from twisted.enterprise.adbapi import ConnectionPool
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorFromThreads
from twisted.internet.threads import deferToThreadPool

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


class StoreThread:
    """The thread, and the pool of at most one connection that is used in it.

    Args:
        pool: With one thread, started.
        reactor: Where results come back to.
    """

    def __init__(self, pool: ConnectionPool, reactor: IReactorFromThreads) -> None:
        self._pool = pool
        self._reactor = reactor

    def call(
        self,
        action: Callable[Concatenate[ConnectionPool, Arguments], Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Deferred[Result]:
        """Call with the pool, behind all that was asked for before."""
        return deferToThreadPool(
            self._reactor, self._pool.threadpool, action, self._pool, *args, **kwargs
        )

    async def close(self) -> None:
        """End what was asked for, then the connection and the thread."""
        # Behind all others in the only thread; closing the pool at once would block the reactor.
        await self.call(disconnect)
        self._pool.close()


def disconnect(pool: ConnectionPool) -> None:
    """End the connection, should there be one; in the thread."""
    for connection in tuple(pool.connections.values()):
        pool.disconnect(connection)
