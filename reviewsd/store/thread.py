"""The one thread of a store: blocking drivers run there, one call after the other.

What waits is kept apart by its purpose, and the purposes take turns: however many requests of
strangers wait, the hub's own work, the operator and the watchdog's question wait for one of each. Within
a purpose the order is that of asking.
"""

from collections import deque
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from twisted.enterprise.adbapi import ConnectionPool
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorFromThreads
from twisted.internet.threads import deferToThreadPool
from twisted.python.failure import Failure

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


class Purpose(Enum):
    """What a transaction is for."""

    WORK = "what the hub and its operator do"
    REQUEST = "a request to the hub, which is acknowledged once it is stored"
    SESSIONS = "MCP sessions that end, which is acknowledged too"
    PROBE = "whether the store works"

    @property
    def acknowledged(self) -> bool:
        """Whether a client waits, and is told that what it has asked for is kept."""
        return self in {Purpose.REQUEST, Purpose.SESSIONS}


class StoreThread:
    """The thread, and the pool of at most one connection that is used in it.

    Args:
        pool: With one thread, started.
        reactor: Where results come back to.
    """

    def __init__(self, pool: ConnectionPool, reactor: IReactorFromThreads) -> None:
        self._pool = pool
        self._reactor = reactor
        self._waiting: dict[Purpose, deque[Callable[[], None]]] = {
            each: deque() for each in Purpose
        }
        self._turns = deque(Purpose)  # whose turn comes first

    def call(
        self,
        purpose: Purpose,
        action: Callable[Concatenate[ConnectionPool, Arguments], Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Deferred[Result]:
        """Call with the pool, behind all that was asked for the same purpose before."""
        result: Deferred[Result] = Deferred()
        work = partial(action, self._pool, *args, **kwargs)
        self._waiting[purpose].append(partial(self._run, work, result))
        self._pool.threadpool.callInThread(self._next)
        return result

    async def close(self) -> None:
        """End what was asked for, then the connection and the thread."""
        # Behind all others in the only thread; closing the pool at once would block the reactor.
        await deferToThreadPool(self._reactor, self._pool.threadpool, disconnect, self._pool)
        self._pool.close()

    # Both below run in the thread. There is one _next for each call that waits.

    def _next(self) -> None:
        while not self._waiting[self._turns[0]]:
            self._turns.rotate(-1)
        work = self._waiting[self._turns[0]].popleft()
        self._turns.rotate(-1)
        work()

    def _run(self, work: Callable[[], Result], result: Deferred[Result]) -> None:
        try:
            found = work()
        except BaseException:  # noqa: BLE001 - it belongs to who waits
            self._reactor.callFromThread(result.errback, Failure())
        else:
            self._reactor.callFromThread(result.callback, found)


def disconnect(pool: ConnectionPool) -> None:
    """End the connection, should there be one; in the thread."""
    for connection in tuple(pool.connections.values()):
        pool.disconnect(connection)
