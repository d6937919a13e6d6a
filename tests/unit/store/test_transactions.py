"""Calls of a store wait in a queue for each purpose, and transactions are counted and timed (O9)."""

import errno
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from twisted.internet.base import ReactorBase
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.task import Clock
from twisted.python.threadpool import ThreadPool

from reviewsd.runtime.counters import Counters
from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import ACKNOWLEDGE_SECONDS, Purpose, SqlCursor, Store, StoreError
from tests.support.stores import opened, threads


async def test_crowd_of_one_purpose_delays_others_by_one_call_each(tmp_path: Path) -> None:
    """In one queue, a request to the hub waited for each end of a session before it."""
    started, go_on = threading.Event(), threading.Event()
    done: list[tuple[Purpose, int]] = []

    def work(purpose: Purpose, number: int) -> Callable[[SqlCursor], None]:
        return lambda _: done.append((purpose, number))

    def first(_: SqlCursor) -> None:
        started.set()
        assert go_on.wait(20)

    async with opened(tmp_path / "state.sqlite") as database:

        def run(purpose: Purpose, number: int) -> Deferred[None]:
            return Deferred.fromCoroutine(database.run(work(purpose, number), purpose))

        blocking = Deferred.fromCoroutine(database.run(first))
        assert started.wait(20)
        transactions = [run(Purpose.SESSION_END, number) for number in range(100)]
        transactions += [run(Purpose.REQUEST, number) for number in range(2)]
        transactions += [run(Purpose.WORK, 0), run(Purpose.PROBE, 0)]
        go_on.set()
        await gatherResults([blocking, *transactions])

    assert dict.fromkeys(Purpose, 1) == {purpose: 1 for purpose, _ in done[:4]}
    assert {Purpose.REQUEST, Purpose.SESSION_END} == {purpose for purpose, _ in done[4:6]}
    for purpose in Purpose:  # the calls of a queue run in their order
        numbers = [number for done_for, number in done if done_for is purpose]
        assert list(range(len(numbers))) == numbers


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
