"""Transactions of a store are counted and timed, and clients wait for them for a limited time (O9)."""

import errno
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from twisted.internet.base import ReactorBase
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.python.threadpool import ThreadPool

from reviewsd.runtime.counters import Counters
from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import ACKNOWLEDGE_SECONDS, Purpose, SqlCursor, Store, StoreError
from tests.support.stores import threads


class UnclosableDatabase(Database):
    """A database that fails to close, as on a disk with errors."""

    def _disconnect(self) -> None:
        super()._disconnect()
        raise OSError(errno.EIO, "broken disk")


async def test_thread_ends_when_the_connection_cannot_be_closed(tmp_path: Path) -> None:
    """Else the process does not end, not even by SIGTERM."""
    before = threading.active_count()
    database = UnclosableDatabase(tmp_path / "state.sqlite", threads)
    await database.open()
    with pytest.raises(OSError, match="broken disk"):
        await database.close()
    assert before == threading.active_count()


class ManualThread:
    """A reactor, and a thread that the test controls."""

    def __init__(self) -> None:
        self.clock = Clock()
        self._calls: list[Callable[[], None]] = []

    def callInThread(self, call: Callable[[], None]) -> None:
        self._calls.append(call)

    def callFromThread(self, call: Callable[[Any], None], value: Any) -> None:
        call(value)

    def seconds(self) -> float:
        return self.clock.seconds()

    def callLater(self, delay: float, call: Callable[[], Any]) -> Any:
        return self.clock.callLater(delay, call)

    def run(self) -> None:
        self._calls.pop(0)()


class ManualStore(Store):
    """A store with transactions that return a text."""

    def __init__(self, thread: ManualThread, counters: Counters, work: Callable[[], str]) -> None:
        super().__init__("of the test", cast("ReactorBase", thread), counters)
        self._threads = cast("ThreadPool", thread)
        self._work = work

    def _transact(self, _work: Callable[[SqlCursor], Any], _purpose: Purpose) -> Any:
        return self._work()

    def now(self) -> int:
        return 0

    def _disconnect(self) -> None: ...


def metered(
    purpose: Purpose, work: Callable[[], str]
) -> tuple[ManualThread, Counters, list[object]]:
    """Start a transaction; return its thread, the counters, and a list for its result or error."""
    thread, counters, results = ManualThread(), Counters(), []
    store = ManualStore(thread, counters, work)
    running = Deferred.fromCoroutine(store.run(lambda _: None, purpose))
    running.addCallbacks(results.append, lambda failure: results.append(failure.type))
    return thread, counters, results


@pytest.mark.parametrize(
    ("error", "failures"), [(None, 0), (StoreError("full"), 1), (ValueError("a bug"), 0)]
)
def test_transaction_is_timed_and_only_failures_of_the_store_are_errors(
    error: Exception | None, failures: int
) -> None:
    def work() -> str:
        if error is not None:
            raise error
        return "done"

    thread, counters, results = metered(Purpose.WORK, work)
    thread.clock.advance(0.2)
    thread.run()

    assert ["done" if error is None else type(error)] == results
    counts = counters.counts()
    assert failures == counts.get("store_errors_total", 0)
    assert pytest.approx(0.2) == counts["store_latency_seconds_sum"]
    assert (0, 1) == (
        counts["store_latency_seconds_bucket 0.1"],
        counts["store_latency_seconds_bucket 0.25"],
    )


@pytest.mark.parametrize("purpose", Purpose)
def test_only_clients_that_wait_for_an_acknowledgement_time_out(purpose: Purpose) -> None:
    """The hub must know how its own transactions ended (D9)."""
    thread, counters, results = metered(purpose, lambda: "done")
    thread.clock.advance(ACKNOWLEDGE_SECONDS + 1)
    expired = purpose in {Purpose.REQUEST, Purpose.SESSION_END}
    assert ([StoreError] if expired else []) == results
    assert expired == counters.counts().get("store_errors_total", 0)
    thread.run()  # a late result is no error
    assert [StoreError if expired else "done"] == results
    assert [] == thread.clock.getDelayedCalls()


@pytest.mark.parametrize("purpose", Purpose)
def test_queued_transaction_does_not_begin_after_its_client_timed_out(purpose: Purpose) -> None:
    """The client got an error, and may have sent another request since."""
    begun: list[Purpose] = []

    def work() -> str:
        begun.append(purpose)
        return "done"

    thread, _, _ = metered(purpose, work)
    thread.clock.advance(ACKNOWLEDGE_SECONDS + 1)
    thread.run()
    assert ([] if purpose.acknowledged else [purpose]) == begun


def test_transaction_that_ends_after_its_time_has_an_unknown_outcome() -> None:
    """It had begun in time, and is never aborted."""

    def work() -> str:
        thread.clock.advance(ACKNOWLEDGE_SECONDS + 1)
        return "done"

    thread, _, results = metered(Purpose.REQUEST, work)
    thread.run()
    assert [StoreError] == results
