"""Turns of connections that have their next request here already.

A client that pipelines may have thousands of requests here on 250 connections. All such connections together
get a few milliseconds in each turn of the reactor, one request of each at a time, so that a client that waits for
its response before the next request is answered in between.
"""

from collections.abc import Callable
from time import perf_counter

from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from reviewsd.runtime.cooperative import TURN_SECONDS

Abort = Callable[[], object]


class Pipelines:
    """Gives connections their turns.

    Args:
        clock: Its ``callLater(0)`` is the next turn of the reactor.
        timer: Returns seconds, to measure a turn.
    """

    _log = Logger()

    def __init__(self, clock: IReactorTime, timer: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._timer = timer
        self._waiting: dict[Callable[[], object], Abort] = {}
        self._next_turn: IDelayedCall | None = None
        self._running = False

    def put_off(self, resume: Callable[[], object], abort: Abort) -> None:
        """Queue a connection behind all others that wait.

        Args:
            resume: Answers its next request.
            abort: Ends the connection if that fails.
        """
        self._waiting[resume] = abort
        self._wake()

    def forget(self, resume: Callable[[], object]) -> None:
        """Remove a connection from the queue."""
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
            except Exception:  # noqa: BLE001 - logged with its traceback; others have their turn as well
                self._log.failure("answering a pipelined request failed")
                abort()
        self._running = False
        self._wake()
