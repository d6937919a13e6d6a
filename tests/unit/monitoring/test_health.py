"""Whether the daemon is alive (O3), on a clock that the tests advance."""

from collections.abc import Awaitable, Callable

import pytest
from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock
from twisted.logger import capturedLogs

from reviewsd.monitoring.health import (
    LATE_SECONDS,
    PATIENCE_SECONDS,
    PROBE_SECONDS,
    SILENT_SECONDS,
    TICK_SECONDS,
    Health,
)
from reviewsd.store.transactions import StoreError
from tests.support.admin_socket import told


class Harness:
    """A ``Health``, its clock, and a store with a response of the test's choice."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.answer: Callable[[], Awaitable[object]] = lambda: succeed(None)
        self.health = Health(self.clock, self._probe)
        self.notifications = 0
        self.health.start()

    async def _probe(self) -> None:
        await self.answer()

    def advance(self, seconds: float, step: float = TICK_SECONDS / 2) -> None:
        """Advance the clock in small steps, as a reactor that is not late does."""
        for _ in range(round(seconds / step)):
            self.clock.advance(step)

    def notify(self) -> int:
        """Return the notifications of the watchdog so far, after one more was due."""

        def alive() -> None:
            self.notifications += 1

        self.health.start_watchdog(3600, alive)
        return self.notifications


@pytest.fixture
def harness() -> Harness:
    return Harness()


def test_healthy_daemon_notifies_the_watchdog(harness: Harness) -> None:
    assert (0.0, None, True) == (
        harness.health.lag,
        harness.health.stuck,
        harness.health.store_works,
    )
    harness.advance(30)
    assert (0.0, None, True) == (
        harness.health.lag,
        harness.health.stuck,
        harness.health.store_works,
    )
    assert 1 == harness.notify()


@pytest.mark.parametrize("late", [LATE_SECONDS - 0.1, LATE_SECONDS, 60.0])
def test_late_reactor_does_not_notify_the_watchdog(harness: Harness, late: float) -> None:
    """O3: before the next tick as well as after it."""
    harness.advance(5)
    stuck = late >= LATE_SECONDS
    harness.clock.rightNow += TICK_SECONDS + late  # nothing runs meanwhile
    with capturedLogs() as events:
        assert int(not stuck) == harness.notify()
    assert [f"no sign of life for systemd: the reactor is {late:.1f} s late"] * stuck == told(
        events
    )
    harness.clock.advance(0)
    assert stuck == (harness.health.stuck is not None)
    assert pytest.approx(late) == harness.health.lag

    harness.advance(1)
    assert harness.health.stuck is None
    assert harness.notify() > 0
    assert pytest.approx(late) == harness.health.lag  # for a minute


def test_lag_is_the_longest_of_the_last_minute(harness: Harness) -> None:
    harness.clock.advance(TICK_SECONDS + 0.8)
    assert pytest.approx(0.8) == harness.health.lag
    harness.advance(50)
    assert pytest.approx(0.8) == harness.health.lag
    harness.advance(20)
    assert 0.0 == harness.health.lag


def test_silent_store_does_not_notify_the_watchdog(harness: Harness) -> None:
    """O3: a store that is only busy does."""
    waiting: Deferred[None] = Deferred()
    harness.answer = lambda: waiting
    harness.advance(PROBE_SECONDS)
    assert harness.health.store_works
    harness.advance(PATIENCE_SECONDS)
    assert not harness.health.store_works
    assert 1 == harness.notify()
    harness.advance(SILENT_SECONDS - PATIENCE_SECONDS)
    assert "the store has not answered for 10 s" == harness.health.stuck
    assert 1 == harness.notify()

    harness.answer = lambda: succeed(None)
    waiting.callback(None)
    assert harness.health.store_works
    assert 2 == harness.notify()


def test_failing_store_notifies_the_watchdog(harness: Harness) -> None:
    """D9: a restart would not help it, and reads are still answered."""

    async def fail() -> None:
        raise StoreError("the disk is full")

    harness.answer = fail
    harness.advance(60)
    assert (False, None) == (harness.health.store_works, harness.health.stuck)
    assert 1 == harness.notify()
    harness.answer = lambda: succeed(None)
    harness.advance(PROBE_SECONDS)
    assert harness.health.store_works


def test_stop_cancels_all_timers(harness: Harness) -> None:
    harness.answer = Deferred
    harness.advance(PROBE_SECONDS)
    Deferred.fromCoroutine(harness.health.stop())
    assert [] == harness.clock.getDelayedCalls()
