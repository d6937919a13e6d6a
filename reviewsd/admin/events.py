"""``GET /v1/events``: a JSON line for each outcome in the log, until either side closes (A3).

A log line that reports an outcome has a ``type``. Listeners receive the fields of that line, as the journal does;
other components only log, and need not publish events. A listener that reads too slowly costs a bounded amount
of memory: it loses the oldest waiting events, and gets a line that says how many.
"""

from collections import deque
from collections.abc import Callable

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IPushProducer
from twisted.logger import ILogObserver, LogEvent
from twisted.python.failure import Failure
from twisted.web.server import Request
from zope.interface import implementer

from reviewsd.admin.app import ProblemError, begin_lines, route
from reviewsd.api.jobs import EventLine
from reviewsd.http1.problems import Problem
from reviewsd.runtime.logs import fields

TYPES = frozenset({"load", "change", "subscribe", "verify", "deliver", "drop"})
"""``load``: data was loaded or refused; ``change``: topics have changed; ``subscribe``: a subscription or its end
was requested; ``verify``, ``deliver``: it succeeded or not; ``drop``: subscriptions have ended."""

MAX_LISTENERS = 16
MAX_WAITING = 1_000  # events that wait for one listener while its socket buffer is full

_TOO_MANY = Problem(
    503,
    "too-many",
    "Too Many Listeners",
    f"{MAX_LISTENERS} other clients are listening to the events.",
)


@implementer(ILogObserver)
class EventRoutes:
    """The route for events, which observes the log in the reactor's thread."""

    def __init__(self) -> None:
        self._listeners: set[_Listener] = set()

    def __call__(self, event: LogEvent) -> None:
        """Send a log event to the listeners if it is an outcome (``ILogObserver``)."""
        kind = event.get("type")
        if self._listeners and kind in TYPES:
            outcome = {"type": kind, **fields(event)}
            for listener in tuple(self._listeners):
                listener.send(outcome)

    def stop(self) -> None:
        """End all responses."""
        for listener in tuple(self._listeners):
            listener.end()

    @route("GET", "/v1/events")
    def events(self, request: Request) -> Deferred[bytes]:
        """Send all events from now on, after the line ``{"type": "listening"}``."""
        if len(self._listeners) >= MAX_LISTENERS:
            raise ProblemError(_TOO_MANY)
        listener = _Listener(request, begin_lines(request))
        listener.send(EventLine(type="listening"))
        self._listeners.add(listener)

        def remove(result: bytes | Failure) -> bytes | Failure:
            self._listeners.discard(listener)
            return result

        return listener.ended.addBoth(remove)


@implementer(IPushProducer)
class _Listener:
    """Writes events to one client, as fast as the client reads them."""

    def __init__(self, request: Request, write: Callable[[object], None]) -> None:
        self._request = request
        self._write = write
        self._waiting: deque[object] = deque(maxlen=MAX_WAITING)
        self._paused = False
        self._dropped = 0
        self.ended: Deferred[bytes] = Deferred()
        """Fires at the end of the response; the route is cancelled when the client has left."""
        request.registerProducer(self, True)  # noqa: FBT003  it pushes events

    def send(self, event: object) -> None:
        """Write an event, or queue it."""
        if not self._paused:
            self._write(event)
            return
        if len(self._waiting) == MAX_WAITING:
            self._dropped += 1  # ``append`` evicts the oldest
        self._waiting.append(event)

    def end(self) -> None:
        """End the response after the queued events."""
        self._request.unregisterProducer()  # so that the transport does not pause the next line
        self.resumeProducing()
        self.ended.callback(b"")

    def pauseProducing(self) -> None:
        """Queue events: the socket buffer is full (``IPushProducer``)."""
        self._paused = True

    def resumeProducing(self) -> None:
        """Write the queued events (``IPushProducer``)."""
        self._paused = False
        if self._dropped:
            dropped, self._dropped = self._dropped, 0
            self._write(EventLine(type="lost", lost=dropped))
        while self._waiting and not self._paused:
            self._write(self._waiting.popleft())

    def stopProducing(self) -> None:
        """Do nothing: ``ended`` is cancelled when the client leaves (``IPushProducer``)."""
