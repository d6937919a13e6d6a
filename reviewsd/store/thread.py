"""The one thread of a store, in which the blocking database driver runs.

Each purpose has a queue, and the queues take turns. However many requests of clients wait, the hub's own
work, the operator and the probe wait for one of each. The calls of a queue run in their order.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from twisted.enterprise.adbapi import ConnectionPool
from twisted.internet import defer
from twisted.internet.base import ReactorBase
from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThreadPool
from twisted.logger import Logger
from twisted.python.failure import Failure

from reviewsd.runtime.counters import Counters
from reviewsd.store.transactions import SqlCursor, StoreError

ANSWER_SECONDS = 15.0
"""Longest wait of a client for an acknowledgement: a store that hangs raises no error (D9)."""

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


class Purpose(Enum):
    """The purpose of a transaction."""

    WORK = "work of the hub and its operator"
    REQUEST = "a request to the hub, acknowledged once it is stored"
    SESSIONS = "the end of MCP sessions, acknowledged once it is stored"
    PROBE = "a check whether the store works"

    @property
    def acknowledged(self) -> bool:
        """Whether a client waits for the acknowledgement."""
        return self in {Purpose.REQUEST, Purpose.SESSIONS}


class StoreThread:
    """The thread, and the pool of at most one connection that is used in it.

    Args:
        pool: Has one thread and is started.
        reactor: Receives the results in its thread.
        counters: Count transactions, their failures and durations (O9).
    """

    def __init__(self, pool: ConnectionPool, reactor: ReactorBase, counters: Counters) -> None:
        self._pool = pool
        self._reactor = reactor
        self._counters = counters
        self._queues: dict[Purpose, deque[Callable[[], None]]] = {
            purpose: deque() for purpose in Purpose
        }
        self._turns = deque(Purpose)  # the queue of the first purpose is next

    async def transact(
        self,
        purpose: Purpose,
        action: Callable[Concatenate[ConnectionPool, Arguments], Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Call a function that is a transaction; count and time it, with its time in the queue.

        Raises:
            StoreError: ``action`` raised it, or a client has waited too long for an acknowledgement.
                Then the transaction may still be carried out.
        """
        started_at = self._reactor.seconds()
        running = self.call(purpose, action, *args, **kwargs)
        if purpose.acknowledged:
            running.addTimeout(ANSWER_SECONDS, self._reactor)
        try:
            return await running
        except defer.TimeoutError:
            self._counters.count("store_errors_total")
            raise StoreError(f"it has not answered for {ANSWER_SECONDS:g} s") from None
        except StoreError:
            self._counters.count("store_errors_total")
            raise
        finally:
            duration = self._reactor.seconds() - started_at
            self._counters.measure("store_latency_seconds", duration)

    def call(
        self,
        purpose: Purpose,
        action: Callable[Concatenate[ConnectionPool, Arguments], Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Deferred[Result]:
        """Call a function with the pool, at the end of its purpose's queue."""
        result: Deferred[Result] = Deferred()
        work = partial(action, self._pool, *args, **kwargs)
        self._queues[purpose].append(partial(self._run, work, result))
        self._pool.threadpool.callInThread(self._run_next)
        return result

    async def close(self) -> None:
        """Finish the queued calls, then close the connection and end the thread."""
        # Closing the pool at once would block the reactor until the queued calls have run.
        await deferToThreadPool(self._reactor, self._pool.threadpool, disconnect, self._pool)
        self._pool.close()

    # Both methods below run in the thread. ``_run_next`` is called once for each queued call.

    def _run_next(self) -> None:
        while not self._queues[self._turns[0]]:
            self._turns.rotate(-1)
        run = self._queues[self._turns[0]].popleft()
        self._turns.rotate(-1)
        run()

    def _run(self, work: Callable[[], Result], result: Deferred[Result]) -> None:
        try:
            value = work()
        except BaseException:  # noqa: BLE001 - it is raised where the result is awaited
            self._reactor.callFromThread(result.errback, Failure())
        else:
            self._reactor.callFromThread(result.callback, value)


def disconnect(pool: ConnectionPool) -> None:
    """Close the connection if it is open; call it in the thread."""
    for connection in tuple(pool.connections.values()):
        pool.disconnect(connection)


class ThreadedStore(ABC):
    """A store in its thread, and whether it works.

    A store that fails does not stop the daemon: reads are served from memory. ``run`` raises StoreError
    until the store works again, and each call tries (D9). A failed commit has an unknown outcome, as
    after a crash: it was not acknowledged, but may be there.

    Args:
        name: Names the store in the log.
        reactor: Receives the results in its thread; it must be running.
        counters: Count transactions.
    """

    _log = Logger()

    def __init__(self, name: object, reactor: ReactorBase, counters: Counters | None) -> None:
        self._name = name
        self._reactor = reactor
        self._counters = counters or Counters()
        self._thread: StoreThread | None = None
        self._healthy = False
        self._failure: StoreError | None = None  # the one that is in the log

    @property
    def healthy(self) -> bool:
        """Whether the last use of the store succeeded; False until ``open``."""
        return self._healthy

    async def run(
        self, work: Callable[[SqlCursor], Result], purpose: Purpose = Purpose.WORK
    ) -> Result:
        """Run a transaction (``Store.run``)."""
        return await self._opened().transact(purpose, self._transact, work, purpose)

    async def close(self) -> None:
        """Finish the queued transactions, then close the connection and end the thread."""
        thread, self._thread = self._thread, None
        if thread is not None:
            await thread.close()
        self._healthy = False

    def _start(self, pool: ConnectionPool) -> StoreThread:
        self._thread = StoreThread(pool, self._reactor, self._counters)
        return self._thread

    def _opened(self) -> StoreThread:
        if self._thread is None:
            raise StoreError("the store is not open")
        return self._thread

    # The methods below run in the store's thread.

    @abstractmethod
    def _transact(
        self, pool: ConnectionPool, work: Callable[[SqlCursor], Result], purpose: Purpose
    ) -> Result:
        """Run a transaction."""

    def _succeeded(self) -> None:
        if self._failure is not None:
            self._log.info("the store {name} works again", name=self._name)
        self._healthy, self._failure = True, None

    def _failed(self, error: Exception) -> StoreError:
        """Record and log that the store failed; return the error to raise."""
        failure = error if isinstance(error, StoreError) else StoreError(str(error))
        self._healthy = False
        if str(failure) != str(self._failure):
            self._log.warn(
                "the store {name} cannot be used: {reason}", name=self._name, reason=str(failure)
            )
        self._failure = failure
        return failure
