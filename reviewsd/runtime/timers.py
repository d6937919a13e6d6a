"""Timers that no change of the wall clock moves (D13).

``ReactorBase.seconds`` of Twisted is ``time.time``. All timers of Twisted use this one method:
``callLater`` and its DelayedCalls, the sleep of the reactor, ``LoopingCall``, ``deferLater`` and
``addTimeout``. So a wall clock that was set back by an hour stopped everything for an hour.

Only the access log of ``twisted.web`` needs the seconds since 1970, and it is switched off.
"""

import time
from typing import TypeVar

from twisted.internet.base import ReactorBase

R = TypeVar("R", bound=ReactorBase)


def steady(reactor: R) -> R:
    """Make a reactor without timers use the monotonic clock, and return it."""
    reactor.seconds = time.monotonic  # as a subclass would
    return reactor
