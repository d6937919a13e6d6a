"""Runs the transactions of a store in one thread and in their order, because the driver of its database blocks."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import Any, Protocol, Self, TypeVar

from twisted.internet import defer
from twisted.internet.base import ReactorBase
from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThreadPool
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.python.threadpool import ThreadPool

from reviewsd.runtime.counters import Counters

MANY = "(SELECT value FROM json_each(?))"
"""The placeholder of a list after ``IN``, in SQLite's words, which ``postgres`` translates.

The statement has the same text for any number of values, so it is parsed and planned once.
"""

SqlValue = str | int | float | bytes | list[int] | list[str] | None


class StoreError(Exception):
    """The store cannot be used now; the message is the reason, for the operator."""


class NewerSchemaError(StoreError):
    """A newer version of reviewsd has migrated the store, so this one must not touch it (D11)."""


class WrongKeysError(StoreError):
    """The keys of this node cannot decrypt the secrets in the store, so it must not deliver (H11)."""


class SqlCursor(Protocol):
    """A cursor of a database; placeholders are ``?``."""

    @property
    def rowcount(self) -> int:
        """Number of rows that the last statement changed."""

    def execute(self, sql: str, parameters: Sequence[SqlValue] = ..., /) -> Self:
        """Run one statement."""

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row of the result; None after the last."""

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return the remaining rows of the result."""


ACKNOWLEDGE_SECONDS = 15.0
"""Longest wait of a client for an acknowledgement, because a store that hangs raises no error (D9)."""

Result = TypeVar("Result")


class Purpose(Enum):
    """The purpose of a transaction."""

    WORK = "work of the hub and its operator"
    REQUEST = "a request to the hub, acknowledged once it is stored"
    SESSION_END = "the end of an MCP session, acknowledged once it is stored"
    PROBE = "a check whether the store works"

    @property
    def acknowledged(self) -> bool:
        """Whether a client waits for the acknowledgement."""
        return self in {Purpose.REQUEST, Purpose.SESSION_END}


class InThread(Protocol):
    """Calls a slow function in a thread: ``twisted.internet.threads.deferToThread``."""

    def __call__(self, work: Callable[[], Result], /) -> Deferred[Result]:
        """Call a function in a thread."""


class Store(ABC):
    """The state that outlives the process, in SQLite (``Database``) or PostgreSQL (``Postgres``).

    A store that fails does not stop the daemon: reads are served from memory. Each call of ``run`` tries to
    use the store, and raises StoreError until it works again (D9). A failed commit has an unknown outcome, as
    after a crash: it was not acknowledged, but may have been stored.

    Args:
        name: Names the store in the log.
        reactor: The running reactor; its thread receives the results.
        counters: Count transactions, their failures and durations (O9).
    """

    _log = Logger()

    def __init__(self, name: object, reactor: ReactorBase, counters: Counters | None) -> None:
        self._name = name
        self._reactor = reactor
        self._counters = counters or Counters()
        self._threads: ThreadPool | None = None
        self._failure: StoreError | None = None  # was logged; None while the store works

    @abstractmethod
    def now(self) -> int:
        """Return the store's clock, milliseconds since 1970 UTC."""

    @property
    def healthy(self) -> bool:
        """Whether the last transaction succeeded; True during the first, False before ``open``."""
        return self._threads is not None and self._failure is None

    async def open(self) -> None:
        """Start the thread; connect, check and migrate the store.

        Raises:
            NewerSchemaError: The store belongs to a newer version of reviewsd.
            WrongKeysError: Other nodes encrypt with keys that this one does not have.
            StoreError: The store does not work now. ``run`` may still be called, and tries again.
        """
        self._threads = ThreadPool(1, 1, "store")
        self._threads.start()
        await self.run(lambda _: None)

    async def run(
        self, work: Callable[[SqlCursor], Result], purpose: Purpose = Purpose.WORK
    ) -> Result:
        """Run a transaction: all of ``work``, or nothing of it.

        ``work`` reads and writes rows in the store's thread, so it must not touch objects of the reactor's
        thread. Once begun it is never aborted: cancelling only stops the wait for the result. One that a
        client waits for does not begin after the wait, because the client has been answered 503 by then.

        Returns:
            The result of ``work``, after the commit is on the disk.

        Raises:
            StoreError: The store cannot be used now, or a client has waited too long. If the commit
                itself failed, or ``work`` had begun, the outcome is unknown.
            Exception: ``work`` raised it; the transaction is rolled back.
        """
        started_at = self._reactor.seconds()
        running = self._call(partial(self._transact, work, purpose), purpose)
        if purpose.acknowledged:
            running.addTimeout(ACKNOWLEDGE_SECONDS, self._reactor)
        try:
            return await running
        except defer.TimeoutError:
            self._counters.count("store_errors_total")
            raise StoreError(f"the store has not answered for {ACKNOWLEDGE_SECONDS:g} s") from None
        except StoreError:
            self._counters.count("store_errors_total")
            raise
        finally:
            duration = self._reactor.seconds() - started_at
            self._counters.measure("store_latency_seconds", duration)

    async def changed(self) -> bool:
        """Return whether any node may have changed something since the last call; takes no lock."""
        return False  # only this node uses the store

    async def close(self) -> None:
        """Finish the queued transactions, then close the connection and end the thread."""
        threads, self._threads = self._threads, None
        if threads is not None:
            try:
                await deferToThreadPool(self._reactor, threads, self._disconnect)
            finally:
                threads.stop()  # else the thread keeps the process alive

    def _call(
        self, work: Callable[[], Result], purpose: Purpose = Purpose.WORK
    ) -> Deferred[Result]:
        """Call a function in the thread, after those that wait."""
        if self._threads is None:
            raise StoreError("the store is not open")
        result: Deferred[Result] = Deferred()
        self._threads.callInThread(partial(self._settle, work, purpose, result))
        return result

    # The methods below run in the thread.

    def _settle(
        self, work: Callable[[], Result], purpose: Purpose, result: Deferred[Result]
    ) -> None:
        if purpose.acknowledged and result.called:
            return  # its client no longer waits
        try:
            value = work()
        except BaseException:  # noqa: BLE001 - it is raised where the result is awaited
            self._reactor.callFromThread(result.errback, Failure())
        else:
            self._reactor.callFromThread(result.callback, value)

    @abstractmethod
    def _transact(self, work: Callable[[SqlCursor], Result], purpose: Purpose) -> Result: ...

    @abstractmethod
    def _disconnect(self) -> None: ...

    def _succeeded(self) -> None:
        if self._failure is not None:
            self._log.info("the store {name} works again", name=self._name)
        self._failure = None

    def _failed(self, error: Exception) -> StoreError:
        """Record and log that the store failed; return the error to raise."""
        failure = error if isinstance(error, StoreError) else StoreError(str(error))
        if str(failure) != str(self._failure):
            self._log.warn(
                "the store {name} cannot be used: {reason}", name=self._name, reason=str(failure)
            )
        self._failure = failure
        return failure


def wall_clock() -> int:
    """Return the time of this machine, milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000
