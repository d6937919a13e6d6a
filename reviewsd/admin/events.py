"""``GET /v1/events``: a JSON line for each outcome as it happens, until somebody ends it (A3).

A listener that reads too slowly costs a fixed amount: it loses the oldest of what waits for it, and
is told how many that were.
"""

import re
from collections import deque
from collections.abc import Mapping

from klein import Klein
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IPushProducer
from twisted.python.failure import Failure
from twisted.web.resource import IResource
from twisted.web.server import Request
from zope.interface import implementer

from reviewsd.admin.responses import AdminReplies, Lines, ProblemError
from reviewsd.api.jobs import Happening
from reviewsd.http1.problems import Problem
from reviewsd.monitoring.events import Events

PATHS = re.compile(rb"/v1/events")
"""What is answered here."""

MAX_LISTENERS = 16
MAX_WAITING = 1_000
"""Events that wait for one listener, when the kernel takes no more for it."""

_TOO_MANY = Problem(
    503, "too-many", "Too Many Listeners", f"{MAX_LISTENERS} others listen to the events already."
)


class EventRoutes:
    """Klein's route for events.

    Args:
        events: Where they come from.
        version: Of the program.
    """

    _app = Klein()

    def __init__(self, events: Events, version: str) -> None:
        self._events = events
        self._replies = AdminReplies(version)
        self._listeners: set[_Listener] = set()

    def resource(self) -> IResource:
        """The route."""
        return self._app.resource()

    def stop(self) -> None:
        """End all answers; nobody listens any more."""
        for listener in tuple(self._listeners):
            listener.end()

    @_app.route("/v1/events", methods=["GET"])
    def events(self, request: Request) -> Deferred[bytes]:
        """Everything from now on; ``{"type": "listening"}`` says when that begins."""
        if len(self._listeners) >= MAX_LISTENERS:
            raise ProblemError(_TOO_MANY)
        lines = self._replies.lines(request)
        listener = _Listener(request, lines)
        leave = self._events.listen(listener.hear)
        self._listeners.add(listener)

        def left(result: bytes | Failure) -> bytes | Failure:
            leave()
            self._listeners.discard(listener)
            return result

        listener.ended.addBoth(left)
        lines.tell(Happening(type="listening"))
        return listener.ended

    @_app.handle_errors(Exception)  # type: ignore[arg-type]  # Klein declares IRequest
    def problem(self, request: Request, failure: Failure) -> bytes:
        """Every error of a route, as the status it means."""
        return self._replies.failed(request, failure)


@implementer(IPushProducer)
class _Listener:
    """Writes events to one client, as fast as it takes them."""

    def __init__(self, request: Request, lines: Lines) -> None:
        self._request = request
        self._lines = lines
        self._waiting: deque[Mapping[str, object]] = deque(maxlen=MAX_WAITING)
        self._paused = False
        self._lost = 0
        self.ended: Deferred[bytes] = Deferred()
        """Fires when the answer is to end; is cancelled when the client has left."""
        request.registerProducer(self, True)  # noqa: FBT003  Twisted's

    def hear(self, event: Mapping[str, object]) -> None:
        """Something has happened."""
        if not self._paused:
            self._lines.tell(event)
            return
        self._lost += len(self._waiting) == MAX_WAITING
        self._waiting.append(event)

    def end(self) -> None:
        """End the answer, after all that waits."""
        self._request.unregisterProducer()
        self.resumeProducing()
        self.ended.callback(b"")

    def pauseProducing(self) -> None:
        """The kernel takes no more (``IPushProducer``)."""
        self._paused = True

    def resumeProducing(self) -> None:
        """The kernel takes more (``IPushProducer``)."""
        self._paused = False
        if self._lost:
            lost, self._lost = self._lost, 0
            self._lines.tell(Happening(type="lost", lost=lost))
        while self._waiting and not self._paused:
            self._lines.tell(self._waiting.popleft())

    def stopProducing(self) -> None:
        """The client has left (``IPushProducer``); ``ended`` is cancelled then."""
