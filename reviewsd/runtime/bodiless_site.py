"""Twisted's HTTP for clients that close their half of the connection when they have asked.

``nc`` and ``socat`` do (RFC 9112 9.6). Twisted takes it for the end of the connection and
drops what was asked for. (The public server has connections of its own.)
"""

from twisted.internet.interfaces import IHalfCloseableProtocol
from twisted.web.http import HTTPChannel, Request
from zope.interface import implementer


@implementer(IHalfCloseableProtocol)
class HalfClosedChannel(HTTPChannel):
    """Gives the answers that are owed, and then closes the other half."""

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

    def requestDone(self, request: Request) -> None:
        """Its answer is given."""
        self._owed -= 1
        super().requestDone(request)  # may go on with the next one
        self._close_if_done()

    def _close_if_done(self) -> None:
        if self._half_closed and not self._owed:
            self.loseConnection()
