"""Whether the daemon is alive: how late its reactor is, and whether its store answers (O3, O10).

Both are measured all the time, so a probe is answered at once, however often it comes.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from reviewsd.runtime.counters import Counts
from reviewsd.runtime.tasks import TaskSet, every
from reviewsd.store.transactions import StoreError

TICK_SECONDS = 0.5
"""Pause between two measurements of the reactor."""

PROBE_SECONDS = 2.0
"""Pause between a response of the store and its next probe."""

LATE_SECONDS = 2.0
"""A reactor that is this late counts as stuck (O3)."""

SILENT_SECONDS = 10.0
"""A store that has not answered a probe for this time counts as stuck (O3)."""

PATIENCE_SECONDS = 5.0
"""A store that has not answered a probe for this time counts as failed."""

_MAX_LAGS = 120  # ticks: a minute


class Health:
    """The health of one process.

    Args:
        clock: The reactor that is measured.
        probe: Runs a transaction of the store; a StoreError is an answer as well.
    """

    _log = Logger()

    def __init__(self, clock: IReactorTime, probe: Callable[[], Awaitable[object]]) -> None:
        self._clock = clock
        self._probe = probe
        self._lags: deque[float] = deque((0.0,), _MAX_LAGS)
        self._next_tick: float | None = None
        self._probed_at: float | None = None
        self._fault: str | None = None
        self._tasks = TaskSet()

    def start(self) -> None:
        """Start to measure the reactor and to probe the store."""
        self._tasks.start("measure the reactor", every(self._clock, TICK_SECONDS, self._tick))
        self._tasks.start("probe the store", every(self._clock, PROBE_SECONDS, self._probe_store))

    def start_watchdog(self, interval: float, alive: Callable[[], None]) -> None:
        """Start to notify systemd's watchdog every ``interval`` seconds (O3)."""
        self._tasks.start("watchdog", every(self._clock, interval, partial(self.notify, alive)))

    async def notify(self, alive: Callable[[], None]) -> None:
        """Call ``alive`` unless something is stuck; without notifications systemd ends the daemon."""
        if (stuck := self.stuck) is None:
            alive()
        else:
            self._log.warn("no sign of life for systemd: {stuck}", stuck=stuck)

    async def stop(self) -> None:
        """Stop everything that was started."""
        await self._tasks.stop()

    def gauges(self) -> Counts:
        """Return the lag of the reactor and the state of the store for the metrics (O9)."""
        return {"reactor_lag_seconds": self.lag, "store_up": float(self.store_works)}

    @property
    def lag(self) -> float:
        """The longest delay of the reactor in the last minute, in seconds."""
        return max(self._overdue(), *self._lags)

    @property
    def store_works(self) -> bool:
        """Whether the last probe of the store succeeded, and none waits for too long."""
        return self._fault is None and self._silence() < PATIENCE_SECONDS

    @property
    def stuck(self) -> str | None:
        """A fault that only a restart may end; None without one."""
        late = max(self._overdue(), self._lags[-1])
        if late >= LATE_SECONDS:
            return f"the reactor is {late:.1f} s late"
        if self._silence() >= SILENT_SECONDS:
            return f"the store has not answered for {self._silence():.0f} s"
        return None

    def _overdue(self) -> float:
        return 0.0 if self._next_tick is None else max(self._clock.seconds() - self._next_tick, 0.0)

    def _silence(self) -> float:
        return 0.0 if self._probed_at is None else self._clock.seconds() - self._probed_at

    async def _tick(self) -> None:
        self._lags.append(self._overdue())
        self._next_tick = self._clock.seconds() + TICK_SECONDS

    async def _probe_store(self) -> None:
        self._probed_at = self._clock.seconds()
        try:
            await self._probe()
        except StoreError as error:
            self._fault = str(error)
        else:
            self._fault = None
        finally:
            self._probed_at = None
