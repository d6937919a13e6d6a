"""``GET /v1/events``: a JSON line for each event as it happens, until either side closes (A3).

A listener that reads too slowly costs a bounded amount of memory: it loses the oldest waiting events, and
gets a line with their number.
"""

from collections import deque
from collections.abc import Mapping

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IPushProducer
from twisted.python.failure import Failure
from twisted.web.server import Request
from zope.interface import implementer

from reviewsd.admin.app import route
from reviewsd.admin.responses import Lines, ProblemError, begin_lines
from reviewsd.api.jobs import EventLine
from reviewsd.http1.problems import Problem
from reviewsd.monitoring.events import Events

MAX_LISTENERS = 16
MAX_WAITING = 1_000
"""Events that wait for one listener while its socket buffer is full."""

_TOO_MANY = Problem(
    503, "too-many", "Too Many Listeners", f"{MAX_LISTENERS} others listen to the events already."
)


class EventRoutes:
    """The route for events.

    Args:
        events: Publishes the events.
    """

    def __init__(self, events: Events) -> None:
        self._events = events
        self._listeners: set[_Listener] = set()

    def stop(self) -> None:
        """End all responses."""
        for listener in tuple(self._listeners):
            listener.end()

    @route("GET", "/v1/events")
    def events(self, request: Request) -> Deferred[bytes]:
        """Send all events from now on, after the line ``{"type": "listening"}``."""
        if len(self._listeners) >= MAX_LISTENERS:
            raise ProblemError(_TOO_MANY)
        lines = begin_lines(request)
        listener = _Listener(request, lines)
        remove = self._events.listen(listener.send)
        self._listeners.add(listener)

        def forget(result: bytes | Failure) -> bytes | Failure:
            remove()
            self._listeners.discard(listener)
            return result

        listener.ended.addBoth(forget)
        lines.write(EventLine(type="listening"))
        return listener.ended


@implementer(IPushProducer)
class _Listener:
    """Writes events to one client, as fast as the client reads them."""

    def __init__(self, request: Request, lines: Lines) -> None:
        self._request = request
        self._lines = lines
        self._waiting: deque[Mapping[str, object]] = deque(maxlen=MAX_WAITING)
        self._paused = False
        self._dropped = 0
        self.ended: Deferred[bytes] = Deferred()
        """Called at the end of the response; cancelled when the client has left."""
        request.registerProducer(self, True)  # noqa: FBT003  Twisted's

    def send(self, event: Mapping[str, object]) -> None:
        """Write an event, or queue it."""
        if not self._paused:
            self._lines.write(event)
            return
        self._dropped += len(self._waiting) == MAX_WAITING
        self._waiting.append(event)

    def end(self) -> None:
        """End the response after the queued events."""
        self._request.unregisterProducer()
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
            self._lines.write(EventLine(type="lost", lost=dropped))
        while self._waiting and not self._paused:
            self._lines.write(self._waiting.popleft())

    def stopProducing(self) -> None:
        """Do nothing: ``ended`` is cancelled when the client leaves (``IPushProducer``)."""
