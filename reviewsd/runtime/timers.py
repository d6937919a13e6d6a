"""Timers that no change of the wall clock moves (D13).

``ReactorBase.seconds`` of Twisted is ``time.time``. All that waits in Twisted goes by that one method:
``callLater`` and the DelayedCalls it makes, how long the reactor sleeps, what it runs when it wakes;
``LoopingCall``, ``deferLater`` and ``addTimeout`` ask the clock that they are given, which is the
reactor. So a wall clock that was set back by an hour stopped everything for an hour.

Only the access log of ``twisted.web`` takes the seconds for those since 1970, and there is none here.
"""

import time
from typing import TypeVar

from twisted.internet.base import ReactorBase

R = TypeVar("R", bound=ReactorBase)


def steady(reactor: R) -> R:
    """Have a reactor go by the monotonic clock; call it as soon as there is one.

    Args:
        reactor: Nothing waits on it yet.

    Returns:
        The same.
    """
    reactor.seconds = time.monotonic  # as a subclass would have it
    return reactor
