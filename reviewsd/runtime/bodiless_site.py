"""Twisted's HTTP server for the admin site and the metrics site, whose requests have no bodies."""

from twisted.internet.interfaces import IHalfCloseableProtocol
from twisted.web import http, server
from zope.interface import implementer


@implementer(IHalfCloseableProtocol)
class _HalfClosedChannel(http.HTTPChannel):
    """Sends all responses to a client that has closed its half of the connection (RFC 9112 9.6).

    ``nc`` and ``socat`` close it after the request. Twisted would drop the requests under way.
    """

    def __init__(self) -> None:
        super().__init__()
        self._requests_under_way = 0
        self._half_closed = False

    def readConnectionLost(self) -> None:
        """Close after the last response: the client has closed its half."""
        self._half_closed = True
        self._close_if_done()

    def writeConnectionLost(self) -> None:
        """Do nothing: this side never closes only its half."""

    def allContentReceived(self) -> None:
        """Count a request that was received."""
        self._requests_under_way += 1
        super().allContentReceived()

    def requestDone(self, request: http.Request) -> None:
        """Count a request that was answered."""
        self._requests_under_way -= 1
        super().requestDone(request)  # may start the next one
        self._close_if_done()

    def _close_if_done(self) -> None:
        if self._half_closed and not self._requests_under_way:
            self.loseConnection()


class _BodilessRequest(server.Request):
    """A request whose body is dropped.

    Twisted would store a body of any length, and parse a form in the reactor: 1.7 s for 10 MB.
    """

    has_body = False

    def handleContentChunk(self, data: bytes) -> None:
        """Drop a part of the body."""
        self.has_body = self.has_body or bool(data)


class BodilessSite(server.Site):
    """A site without request bodies, tracebacks in responses, and access log."""

    displayTracebacks = False
    protocol = _HalfClosedChannel  # type: ignore[assignment]  # declared for the wrapper that knows HTTP/2
    requestFactory = _BodilessRequest

    def log(self, request: object) -> None:
        """Log nothing: changes have an audit line."""
