"""Work in small portions, one per turn of the reactor, so that reads do not wait for other work.

A TLS handshake takes a third of a millisecond, as does the encryption of half a megabyte. When 64 connections
are ready at the same time, Twisted would serve all of them before other sockets, which would delay each GET
by 25 ms. Likewise a client that pipelines may have thousands of requests on 250 connections. Searches
take longer still (``runtime.cooperative``). A queue gives such work a few milliseconds of each turn.
"""

from collections.abc import Callable

from twisted.internet.interfaces import IDelayedCall, IReactorTime

PORTION_SECONDS = 0.001


class TurnQueue:
    """Calls functions in order, a portion in each turn of the reactor.

    Args:
        clock: Schedules the turns, and measures them.
        portion: Seconds of each turn; the last call may exceed them.
    """

    def __init__(self, clock: IReactorTime, portion: float = PORTION_SECONDS) -> None:
        self._clock = clock
        self._portion = portion
        self._queue: dict[Callable[[], None], None] = {}
        self._next_turn: IDelayedCall | None = None
        self._running = False

    @property
    def busy(self) -> bool:
        """Whether a function waits or runs."""
        return self._running or bool(self._queue)

    def add(self, function: Callable[[], None]) -> None:
        """Call a function in one of the next turns; one that waits already keeps its place."""
        self._queue[function] = None
        self._schedule()

    def remove(self, function: Callable[[], None]) -> None:
        """Remove a function, if it waits; an empty queue has no next turn."""
        self._queue.pop(function, None)
        if not self._queue and self._next_turn is not None:
            self._next_turn.cancel()
            self._next_turn = None

    def _schedule(self) -> None:
        if self._queue and self._next_turn is None and not self._running:
            self._next_turn = self._clock.callLater(0, self._run)

    def _run(self) -> None:
        self._next_turn, self._running = None, True
        end = self._clock.seconds() + self._portion
        try:
            while self._queue:
                function = next(iter(self._queue))
                del self._queue[function]
                function()
                if self._clock.seconds() >= end:
                    return
        finally:
            self._running = False
            self._schedule()
