"""Whether the daemon is alive (O3), and whether load balancers should send it clients (O10, R6).

The reactor and the store are measured all the time, so a probe is answered from memory, however often it
comes.
"""

import math
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import msgspec
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from reviewsd.publish.publisher import Publisher
from reviewsd.runtime.counters import Counts
from reviewsd.runtime.tasks import TaskSet
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.store.transactions import StoreError

TICK_SECONDS = 0.5  # between two measurements of the reactor
PROBE_SECONDS = 2.0  # between a response of the store and its next probe
LATE_SECONDS = 2.0  # a reactor that is this late counts as stuck (O3)
SILENT_SECONDS = 10.0  # a store that has not answered a probe for this time counts as stuck (O3)
PATIENCE_SECONDS = 5.0  # a store that has not answered for this time counts as failed
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
        self._next_tick = self._probed_at = math.inf
        self._fault: str | None = None
        self._tasks = TaskSet()

    def start(self) -> None:
        """Start to measure the reactor and to probe the store."""
        self._tasks.every("measuring the reactor", self._clock, TICK_SECONDS, self._tick)
        self._tasks.every("probing the store", self._clock, PROBE_SECONDS, self._probe_store)

    def start_watchdog(self, interval: float, alive: Callable[[], None]) -> None:
        """Start to notify systemd's watchdog every ``interval`` seconds (O3).

        Without notifications, while something is stuck, systemd ends the daemon.
        """

        async def notify() -> None:
            if (stuck := self.stuck) is None:
                alive()
            else:
                self._log.warn("no sign of life for systemd: {stuck}", stuck=stuck)

        self._tasks.every("notifying the watchdog", self._clock, interval, notify)

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
        return max(self._clock.seconds() - self._next_tick, 0.0)

    def _silence(self) -> float:
        return self._clock.seconds() - self._probed_at

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
            self._probed_at = math.inf


@dataclass(slots=True, eq=False)
class Readiness:
    """Whether the service should be sent clients, without reasons: it may be public."""

    snapshots: Snapshots
    publisher: Publisher
    health: Health
    _stopping: bool = field(default=False, init=False)

    def stop(self) -> None:
        """Report from now on that the daemon is stopping."""
        self._stopping = True

    def answer(self) -> tuple[int, bytes]:
        """Return the status, 200 or 503, and a JSON document; old data that is served is 200."""
        degraded = self.publisher.failing_since is not None
        checks = {
            "snapshot": "failing" if self.snapshots.empty else "ok",
            "data": "degraded" if degraded else "ok",
            "store": "ok" if self.health.store_works else "failing",
            "running": "stopping" if self._stopping else "ok",
        }
        ready = {"ok", "degraded"}.issuperset(checks.values())
        status = ("degraded" if degraded else "ready") if ready else "unready"
        return 200 if ready else 503, msgspec.json.encode({"status": status, "checks": checks})
