"""Moments that move: a connection's deadline is put off with every byte that comes."""

from collections.abc import Callable

from twisted.internet.interfaces import IDelayedCall, IReactorTime


class Deadline:
    """A moment at which something is done, unless it has been moved meanwhile.

    To make a delayed call and to cancel it for every request, as Twisted does, costs more than most
    answers. Here one waits, and looks when it comes whether the moment has been put off.

    Args:
        clock: Tells the time.
        passed: What is done then.
    """

    def __init__(self, clock: IReactorTime, passed: Callable[[], None]) -> None:
        self._clock = clock
        self._passed = passed
        self._moment: float | None = None
        self._call: IDelayedCall | None = None

    def move(self, seconds: float | None) -> None:
        """Let it be so many seconds from now, or never."""
        if seconds is None:
            self._moment = None
            return
        self._moment = self._clock.seconds() + seconds
        if self._call is None:
            self._call = self._clock.callLater(seconds, self._look)
        elif self._moment < self._call.getTime():
            self._call.reset(seconds)

    def cancel(self) -> None:
        """Let it be never, and leave nothing with the clock."""
        self._moment = None
        if self._call is not None:
            self._call.cancel()
            self._call = None

    def _look(self) -> None:
        self._call = None
        if self._moment is None:
            return
        left = self._moment - self._clock.seconds()
        if left > 0:
            self._call = self._clock.callLater(left, self._look)
        else:
            self._moment = None
            self._passed()
