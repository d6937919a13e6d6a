"""Connections with requests that came at once: whose turn it is to be answered the next one.

A client that pipelines has its next request here already, and with 250 such connections thousands of
them. All connections together get a few milliseconds in each turn of the reactor, one request of each at a
time, so that those who send a request and wait for the answer are answered in between.
"""

from collections.abc import Callable
from time import perf_counter

from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from reviewsd.runtime.cooperative import TURN_SECONDS

Abort = Callable[[], object]


class Pipelines:
    """Has connections go on.

    Args:
        clock: Its ``callLater(0)`` is the next turn of the reactor.
        timer: Seconds, to measure a turn by.
    """

    _log = Logger()

    def __init__(self, clock: IReactorTime, timer: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._timer = timer
        self._waiting: dict[Callable[[], object], Abort] = {}
        self._next_turn: IDelayedCall | None = None
        self._running = False

    def put_off(self, resume: Callable[[], object], abort: Abort) -> None:
        """Have a connection go on when all others that wait have had their turn.

        Args:
            resume: Answers its next request.
            abort: Ends it, should that fail.
        """
        self._waiting[resume] = abort
        self._wake()

    def forget(self, resume: Callable[[], object]) -> None:
        """Have a connection not go on."""
        self._waiting.pop(resume, None)
        if not self._waiting and self._next_turn is not None:
            self._next_turn.cancel()
            self._next_turn = None

    def _wake(self) -> None:
        if self._waiting and self._next_turn is None and not self._running:
            self._next_turn = self._clock.callLater(0, self._turn)

    def _turn(self) -> None:
        self._next_turn, self._running = None, True
        end = self._timer() + TURN_SECONDS
        while self._waiting and self._timer() < end:
            resume = next(iter(self._waiting))
            abort = self._waiting.pop(resume)
            try:
                resume()
            except Exception:  # noqa: BLE001 - logged with its traceback; others have their turn, too
                self._log.failure("answering what came at once failed")
                abort()
        self._running = False
        self._wake()
