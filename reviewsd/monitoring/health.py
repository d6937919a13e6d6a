"""Whether the daemon is alive: how late its reactor is, and whether its store answers (O3, O10).

Both are looked at all the time, so that whoever asks is told at once, however often he asks.
"""

from collections import deque
from collections.abc import Awaitable, Callable

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from reviewsd.runtime.tasks import TaskSet, every
from reviewsd.store.transactions import StoreError

TICK_SECONDS = 0.5
"""Between two looks at the reactor."""

PROBE_SECONDS = 2.0
"""Between an answer of the store and the next question."""

LATE_SECONDS = 2.0
"""So late the reactor is taken for stuck (O3)."""

SILENT_SECONDS = 10.0
"""A store that owes an answer for so long is taken for stuck (O3)."""

PATIENCE_SECONDS = 5.0
"""A store that owes one for so long does not work."""

_REMEMBERED = 120  # ticks: a minute


class Health:
    """Of one process.

    Args:
        clock: The reactor that is looked at.
        probe: Asks something of the store; a StoreError is an answer too.
    """

    _log = Logger()

    def __init__(self, clock: IReactorTime, probe: Callable[[], Awaitable[object]]) -> None:
        self._clock = clock
        self._probe = probe
        self._lags: deque[float] = deque((0.0,), _REMEMBERED)
        self._next_tick: float | None = None
        self._probed_at: float | None = None
        self._fault: str | None = None
        self._tasks = TaskSet()

    def start(self) -> None:
        """Begin to look."""
        self._tasks.start("look at the reactor", every(self._clock, TICK_SECONDS, self._tick))
        self._tasks.start("look at the store", every(self._clock, PROBE_SECONDS, self._ask))

    async def stop(self) -> None:
        """Look no more."""
        await self._tasks.stop()

    @property
    def lag(self) -> float:
        """Seconds by which the reactor was late in the last minute, at the worst."""
        return max(self._overdue(), *self._lags)

    @property
    def store_works(self) -> bool:
        """Whether the store has done what it was asked last, and in time."""
        return self._fault is None and self._silence() < PATIENCE_SECONDS

    @property
    def stuck(self) -> str | None:
        """What hangs so that only a restart may help; None while nothing does."""
        late = max(self._overdue(), self._lags[-1])
        if late >= LATE_SECONDS:
            return f"the reactor is {late:.1f} s late"
        if self._silence() >= SILENT_SECONDS:
            return f"the store has not answered for {self._silence():.0f} s"
        return None

    async def beat(self, alive: Callable[[], None]) -> None:
        """Give a sign of life, unless something is stuck; then systemd comes to end it (O3)."""
        stuck = self.stuck
        if stuck is None:
            alive()
        else:
            self._log.warn("no sign of life for systemd: {stuck}", stuck=stuck)

    def _overdue(self) -> float:
        return 0.0 if self._next_tick is None else max(self._clock.seconds() - self._next_tick, 0.0)

    def _silence(self) -> float:
        return 0.0 if self._probed_at is None else self._clock.seconds() - self._probed_at

    async def _tick(self) -> None:
        self._lags.append(self._overdue())
        self._next_tick = self._clock.seconds() + TICK_SECONDS

    async def _ask(self) -> None:
        self._probed_at = self._clock.seconds()
        try:
            await self._probe()
        except StoreError as error:
            self._fault = str(error)
        else:
            self._fault = None
        finally:
            self._probed_at = None
