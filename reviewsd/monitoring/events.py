"""The outcomes in the log, as events for admin listeners (A3).

A log line of an outcome has a ``type``. Listeners receive the fields of that line, as the journal does,
so no other component publishes events.
"""

from collections.abc import Callable, Mapping

from twisted.logger import ILogObserver, LogEvent
from zope.interface import implementer

from reviewsd.runtime.logs import fields

TYPES = frozenset({"load", "change", "subscribe", "verify", "deliver", "drop"})
"""Data was loaded or refused; topics changed; a subscription was requested, verified or not,
delivered to or not, or removed."""

Listener = Callable[[Mapping[str, object]], None]


@implementer(ILogObserver)
class Events:
    """Passes outcomes from the log to listeners, in the reactor's thread."""

    def __init__(self) -> None:
        self._listeners: dict[object, Listener] = {}

    def __call__(self, event: LogEvent) -> None:
        """Call the listeners if a log event is an outcome (``ILogObserver``)."""
        kind = event.get("type")
        if self._listeners and kind in TYPES:
            outcome = {"type": kind, **fields(event)}
            for listener in tuple(self._listeners.values()):
                listener(outcome)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Add a listener; returns a function that removes it."""
        key = object()
        self._listeners[key] = listener
        return lambda: self._listeners.pop(key, None) and None
