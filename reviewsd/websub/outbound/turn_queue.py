"""Work in small portions, one per turn of the reactor, so that reads do not wait for a fan-out.

A handshake takes a third of a millisecond, as does the encryption of half a megabyte. When 64 connections
are ready at the same time, Twisted would serve all of them before other sockets, which would delay each GET
by 25 ms. Here they have a millisecond of each turn.
"""

from collections import deque
from collections.abc import Callable

from twisted.internet.interfaces import IReactorTime

PORTION_SECONDS = 0.001


class TurnQueue:
    """Calls functions in order, a portion in each turn of the reactor.

    Args:
        clock: Schedules the turns, and measures them.
    """

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._queue: deque[Callable[[], None]] = deque()
        self._scheduled = False

    def add(self, function: Callable[[], None]) -> None:
        """Call a function in one of the next turns."""
        self._queue.append(function)
        self._schedule()

    def _schedule(self) -> None:
        if self._queue and not self._scheduled:
            self._scheduled = True
            self._clock.callLater(0, self._run)

    def _run(self) -> None:
        end = self._clock.seconds() + PORTION_SECONDS
        try:
            while self._queue:
                self._queue.popleft()()
                if self._clock.seconds() >= end:
                    return
        finally:
            self._scheduled = False
            self._schedule()
