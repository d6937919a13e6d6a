from collections.abc import Awaitable, Callable, Sequence

import pytest
from twisted.internet.defer import CancelledError, Deferred, succeed
from twisted.internet.task import Clock
from twisted.logger import LogEvent, capturedLogs, formatEvent
from twisted.python.failure import Failure

from reviewsd.runtime.tasks import TaskSet, wait_at_most


def texts(events: Sequence[LogEvent]) -> list[str]:
    return [formatEvent(event) for event in events]


def errors(events: Sequence[LogEvent]) -> list[type[BaseException] | None]:
    return [event["log_failure"].type for event in events]


def stop(tasks: TaskSet) -> Deferred[None]:
    return Deferred.fromCoroutine(tasks.stop())


async def wait_for(signal: Deferred[None]) -> None:
    await signal


async def fail(error: Exception) -> None:
    await succeed(None)
    raise error


def test_failed_task_is_logged_with_its_name() -> None:
    with capturedLogs() as events:
        TaskSet().start("verify intent", fail(ValueError("broken")))
    assert texts(events) == ["verify intent failed"]
    assert errors(events) == [ValueError]


def test_stop_logs_failures_other_than_cancellation() -> None:
    tasks = TaskSet()

    async def dies_of_cancelling() -> None:
        try:
            await Deferred[None]()
        finally:
            raise ValueError("broken")

    with capturedLogs() as events:
        tasks.start("wait", wait_for(Deferred()))
        tasks.start("clean up", dies_of_cancelling())
        assert stop(tasks).called
    assert texts(events) == ["clean up failed"]
    assert errors(events) == [ValueError]


def test_stop_waits_for_the_clean_up_of_every_task() -> None:
    tasks = TaskSet()
    cleaned: Deferred[None] = Deferred()

    async def clean_up_slowly() -> None:
        try:
            await Deferred[None]()
        finally:
            await cleaned

    tasks.start("work", clean_up_slowly())
    tasks.start("wait", wait_for(Deferred()))
    stopped = stop(tasks)
    assert not stopped.called
    cleaned.callback(None)
    assert stopped.called


def test_cancellation_without_stop_is_a_failure() -> None:
    signal: Deferred[None] = Deferred()
    with capturedLogs() as events:
        TaskSet().start("wait", wait_for(signal))
        signal.cancel()
    assert errors(events) == [CancelledError]


def test_no_task_starts_after_stop() -> None:
    tasks = TaskSet()
    assert stop(tasks).called
    ran: list[str] = []

    async def work() -> None:
        ran.append("work")
        await succeed(None)

    tasks.start("work", work())
    assert ran == []


def counting(clock: Clock, times: list[float]) -> Callable[[], Awaitable[None]]:
    async def action() -> None:
        times.append(clock.seconds())
        await succeed(None)

    return action


def test_periodic_work_runs_at_once_and_then_each_interval() -> None:
    clock, tasks, times = Clock(), TaskSet(), list[float]()
    tasks.every("expiry", clock, 10, counting(clock, times))
    clock.pump([5.0] * 4)
    assert times == [0, 10, 20]


@pytest.mark.parametrize("error", [ValueError, CancelledError])
def test_periodic_work_survives_exceptions(error: type[Exception]) -> None:
    """A bare LoopingCall stops for good at its first one; a timeout cancels what is waited for."""
    clock, tasks, times = Clock(), TaskSet(), list[float]()

    async def action() -> None:
        await counting(clock, times)()
        raise error("broken")

    with capturedLogs() as events:
        tasks.every("expiry", clock, 10, action)
        clock.pump([10, 10])
    assert times == [0, 10, 20]
    assert errors(events) == [error] * 3


def test_periodic_work_never_overlaps() -> None:
    clock, tasks = Clock(), TaskSet()
    started: list[Deferred[None]] = []

    async def action() -> None:
        started.append(Deferred())
        await started[-1]

    tasks.every("expiry", clock, 10, action)
    clock.pump([10.0] * 5)
    assert len(started) == 1
    started[0].callback(None)
    clock.advance(10)
    assert len(started) == 2


@pytest.mark.parametrize("busy", [True, False], ids=["while it acts", "while it waits"])
def test_periodic_work_ends_with_its_owner(*, busy: bool) -> None:
    clock, tasks = Clock(), TaskSet()
    acting: Deferred[None] = Deferred()

    async def action() -> None:
        await (acting if busy else succeed(None))

    with capturedLogs() as events:
        tasks.every("expiry", clock, 10, action)
        assert stop(tasks).called
    assert events == []
    assert clock.getDelayedCalls() == []


@pytest.mark.parametrize("fails", [False, True])
def test_work_goes_on_when_its_caller_is_cancelled(*, fails: bool) -> None:
    tasks, gate, done = TaskSet(), Deferred[None](), list[str]()

    async def work() -> None:
        await gate
        done.append("done")
        if fails:
            raise ValueError("too late")

    with capturedLogs() as events:
        waiting = tasks.run_detached("answer", work())
        waiting.addErrback(lambda failure: failure.trap(CancelledError))
        waiting.cancel()
        gate.callback(None)
    assert ["done"] == done
    assert ["answer failed"] * fails == [formatEvent(event) for event in events]


def test_failure_is_raised_to_the_caller_without_a_log_line() -> None:
    async def work() -> None:
        raise ValueError("no")

    failures: list[Failure] = []
    with capturedLogs() as events:
        TaskSet().run_detached("answer", work()).addErrback(failures.append)
    assert [ValueError] == [failure.type for failure in failures]
    assert [] == events


def test_no_outcome_starts_after_stop() -> None:
    """The caller must not wait for ever."""
    tasks, begun, failures = TaskSet(), list[str](), list[Failure]()

    async def work() -> None:
        begun.append("begun")

    assert stop(tasks).called
    tasks.run_detached("answer", work()).addErrback(failures.append)
    assert [CancelledError] == [failure.type for failure in failures]
    assert [] == begun


@pytest.mark.parametrize("by_stop", [True, False])
def test_cancellation_of_the_work_reaches_the_caller(*, by_stop: bool) -> None:
    tasks, signal, failures = TaskSet(), Deferred[None](), list[Failure]()
    with capturedLogs() as events:
        tasks.run_detached("answer", wait_for(signal)).addErrback(failures.append)
        if by_stop:
            stop(tasks)
        else:
            signal.cancel()
    assert [CancelledError] == [failure.type for failure in failures]
    assert [] == events


# Waiting, but not for ever -------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", [None, "result", ValueError("bug")])
def test_wait_ends_with_the_result_or_the_timeout(outcome: "str | Exception | None") -> None:
    clock = Clock()
    done: Deferred[str] = Deferred()
    waiting = Deferred.fromCoroutine(wait_at_most(clock, 5, done))
    clock.advance(4)
    assert not waiting.called
    if isinstance(outcome, Exception):
        done.errback(outcome)
    elif outcome is not None:
        done.callback(outcome)
    else:
        clock.advance(1)
    assert waiting.called
    assert [] == clock.getDelayedCalls()
    if outcome is None:
        done.callback("later")
    results: list[object] = []
    done.addBoth(results.append)
    (end,) = results
    assert (outcome or "later") == (end.value if isinstance(end, Failure) else end)


def test_cancelled_wait_does_not_cancel_the_awaited_work() -> None:
    clock = Clock()
    done: Deferred[str] = Deferred()
    waiting = Deferred.fromCoroutine(wait_at_most(clock, 5, done))
    waiting.cancel()
    failures: list[Failure] = []
    waiting.addErrback(failures.append)
    assert [CancelledError] == [failure.type for failure in failures]
    assert ([], False) == (clock.getDelayedCalls(), done.called)
    done.callback("result")
