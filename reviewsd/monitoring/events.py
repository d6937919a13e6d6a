"""What happens, for who watches (A3): the outcomes that the log tells, at the moment it does.

A line of the log that is an outcome says so by its ``type``. So whoever watches is told the same as
the journal, in the same fields, no secret among them, and nothing else need know of him.
"""

from collections.abc import Callable, Mapping

from twisted.logger import ILogObserver, LogEvent
from zope.interface import implementer

from reviewsd.runtime.logs import fields

TYPES = frozenset({"load", "change", "subscribe", "verify", "deliver", "drop"})
"""Of outcomes: data was loaded or refused, topics changed, a subscription was asked for, confirmed
or not, was delivered to or not, or has ended."""

Hear = Callable[[Mapping[str, object]], None]


@implementer(ILogObserver)
class Events:
    """Hands outcomes to who listens; everything in the reactor's thread."""

    def __init__(self) -> None:
        self._listeners: dict[object, Hear] = {}

    def __call__(self, event: LogEvent) -> None:
        """The log tells something (``ILogObserver``)."""
        kind = event.get("type")
        if self._listeners and kind in TYPES:
            outcome = {"type": kind, **fields(event)}
            for hear in tuple(self._listeners.values()):
                hear(outcome)

    def listen(self, hear: Hear) -> Callable[[], None]:
        """Have all outcomes told from now on; returns what ends that."""
        key = object()
        self._listeners[key] = hear
        return lambda: self._listeners.pop(key, None) and None
