"""Work in small portions, one a turn of the reactor, so that readers never wait for a fan-out.

A handshake costs a third of a millisecond, half a megabyte to be encrypted another. When sixty-four
connections are ready at once, Twisted would do all of it between two looks at the other sockets: 25
ms, in which nobody's GET is answered. Here it is put in a queue, of which each turn takes a
millisecond's worth.
"""

from collections import deque
from collections.abc import Callable

from twisted.internet.interfaces import IReactorTime

PORTION_SECONDS = 0.001


class FairQueue:
    """Runs what is added, in order, as soon as that is fair.

    Args:
        clock: Whose turns; also says how long a portion has taken.
    """

    def __init__(self, clock: IReactorTime) -> None:
        self._clock = clock
        self._waiting: deque[Callable[[], None]] = deque()
        self._scheduled = False

    def add(self, work: Callable[[], None]) -> None:
        """Run it in one of the next turns."""
        self._waiting.append(work)
        self._schedule()

    def _schedule(self) -> None:
        if self._waiting and not self._scheduled:
            self._scheduled = True
            self._clock.callLater(0, self._run)

    def _run(self) -> None:
        end = self._clock.seconds() + PORTION_SECONDS
        try:
            while self._waiting:
                self._waiting.popleft()()
                if self._clock.seconds() >= end:
                    return
        finally:
            self._scheduled = False
            self._schedule()
