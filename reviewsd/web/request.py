"""What Klein works on: Twisted's request, made of what our own channel has read.

It brings the request to a route and takes the route's answer; the channel sends it. All that Twisted
would do besides, arguments, cookies, the writing of headers and bodies, no route here wants.
"""

from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.resource import IResource
from twisted.web.server import Request

from reviewsd.http1.request import Asked
from reviewsd.http1.responses import Reply

if TYPE_CHECKING:
    from reviewsd.server.connection import Channel


class PublicRequest(Request):
    """A request of the public site.

    Args:
        channel: Its connection.
        asked: What is asked.
    """

    channel: "Channel"  # type: ignore[assignment]  # it has what is asked of an HTTPChannel
    reply: Reply | None = None
    """What is answered, once a route has said so."""
    _log = Logger()

    def __init__(self, channel: "Channel", asked: Asked) -> None:
        super().__init__(channel, parsePOSTFormSubmission=False)
        self.asked = asked

    def render_on(self, root: IResource) -> None:
        """Have a resource answer."""
        asked = self.asked
        self.method, self.path = asked.method, asked.path
        self.uri = asked.path + (b"?" + asked.query if asked.query else b"")
        self.clientproto = b"HTTP/1.1"
        self.prepath: list[bytes] = []
        self.postpath = [unquote_to_bytes(part) for part in asked.path[1:].split(b"/")]  # for Klein
        try:
            self.render(root)
        except Exception:  # noqa: BLE001 - logged there, with its traceback
            self.processingFailed(Failure())

    def getRequestHostname(self) -> bytes:
        """A name for Klein, which asks for one and fails on some: no route depends on it."""
        return b"localhost"

    def put(self, reply: Reply) -> bytes:
        """Say what is answered; returns what a route returns to Klein."""
        self.reply = reply
        return b""

    def write(self, data: bytes) -> None:
        """Nothing: the channel sends the reply when the request is finished."""

    def processingFailed(self, reason: Failure) -> None:
        """A bug, or a resource that says nothing; the channel answers 500."""
        self._log.failure("answering {path} failed", reason, path=self.asked.path)
        self.finish()
