"""Twisted's HTTP for sites whose requests have no bodies: the operator's, and that of the metrics.

(The public server has connections of its own.)
"""

from twisted.internet.interfaces import IHalfCloseableProtocol
from twisted.web import http, server
from zope.interface import implementer


@implementer(IHalfCloseableProtocol)
class _HalfClosedChannel(http.HTTPChannel):
    """Gives the answers that are owed to a client that has closed its half of the connection.

    ``nc`` and ``socat`` do when they have asked (RFC 9112 9.6). Twisted takes it for the end of the
    connection and drops what was asked for.
    """

    def __init__(self) -> None:
        super().__init__()
        self._owed = 0
        self._half_closed = False

    def readConnectionLost(self) -> None:
        """The client says no more."""
        self._half_closed = True
        self._close_if_done()

    def writeConnectionLost(self) -> None:
        """Nothing: this half is not closed before the whole is."""

    def allContentReceived(self) -> None:
        """A request has come, to its end."""
        self._owed += 1
        super().allContentReceived()

    def requestDone(self, request: http.Request) -> None:
        """Its answer is given."""
        self._owed -= 1
        super().requestDone(request)  # may go on with the next one
        self._close_if_done()

    def _close_if_done(self) -> None:
        if self._half_closed and not self._owed:
            self.loseConnection()


class _BodilessRequest(server.Request):
    """One whose body is not kept.

    Twisted would keep it whole, however long it is, and read a form in the reactor: 1.7 s for 10 MB.
    """

    has_body = False

    def handleContentChunk(self, data: bytes) -> None:
        """Drop it."""
        self.has_body = self.has_body or bool(data)


class BodilessSite(server.Site):
    """No bodies of requests, no tracebacks in answers, no access log."""

    displayTracebacks = False
    protocol = _HalfClosedChannel  # type: ignore[assignment]  # declared for the wrapper that knows HTTP/2
    requestFactory = _BodilessRequest

    def log(self, request: object) -> None:
        """Nothing: changes have their audit line."""
