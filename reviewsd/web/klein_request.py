"""What Klein works on: Twisted's request, made of what our own channel has read.

It brings the request to a route and takes the route's answer; the channel sends it. All that Twisted
would do besides, arguments, cookies, the writing of headers and bodies, no route here wants.
"""

from urllib.parse import unquote_to_bytes

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.error import ConnectionLost
from twisted.internet.interfaces import IAddress
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.resource import IResource
from twisted.web.server import Request as TwistedRequest

from reviewsd.http1 import problems
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses


class PublicRequest(TwistedRequest):
    """A request of the public site.

    Args:
        exchange: Is told when a route has answered.
        parsed: What was read from the connection.
    """

    channel: "KleinExchange"  # type: ignore[assignment]  # it has what is asked of an HTTPChannel
    reply: Response | None = None
    """What is answered, once a route has said so."""
    _log = Logger()

    def __init__(self, exchange: "KleinExchange", parsed: Request) -> None:
        super().__init__(exchange, parsePOSTFormSubmission=False)
        self.parsed = parsed

    def render_on(self, root: IResource) -> None:
        """Have a resource answer."""
        parsed = self.parsed
        self.method, self.path = parsed.method, parsed.path
        self.uri = parsed.path + (b"?" + parsed.query if parsed.query else b"")
        self.clientproto = b"HTTP/1.1"
        self.prepath: list[bytes] = []
        self.postpath = [
            unquote_to_bytes(part) for part in parsed.path[1:].split(b"/")
        ]  # for Klein
        try:
            self.render(root)
        except Exception:  # noqa: BLE001 - logged there, with its traceback
            self.processingFailed(Failure())

    def getRequestHostname(self) -> bytes:
        """A name for Klein, which asks for one and fails on some: no route depends on it."""
        return b"localhost"

    def put(self, reply: Response) -> bytes:
        """Say what is answered; returns what a route returns to Klein."""
        self.reply = reply
        return b""

    def write(self, data: bytes) -> None:
        """Nothing: the channel sends the reply when the request is finished."""

    def processingFailed(self, reason: Failure) -> None:
        """A bug, or a resource that says nothing; the channel answers 500."""
        self._log.failure("answering {path} failed", reason, path=self.parsed.path)
        self.finish()


class KleinExchange:
    """To Twisted's request this is its ``HTTPChannel``: told when a route has answered."""

    transport = None  # which Twisted's request looks for

    def __init__(self, parsed: Request, replies: Responses) -> None:
        self._replies = replies
        self._request = PublicRequest(self, parsed)
        self._reply: Deferred[Response] = Deferred(self._cancelled)

    def render(self, site: IResource) -> Deferred[Response]:
        """Have Klein find the route."""
        self._request.render_on(site)
        return self._reply

    def _cancelled(self, reply: Deferred[Response]) -> None:
        reply.errback(CancelledError())
        self._request.connectionLost(Failure(ConnectionLost()))

    def requestDone(self, request: PublicRequest) -> None:
        """Klein's route has answered."""
        if not self._reply.called:
            self._reply.callback(request.reply or self._replies.refusal(problems.INTERNAL))

    def getPeer(self) -> IAddress | None:
        """The address of the client, which routes have from the parsed request."""
        return None

    getHost = getPeer

    def isSecure(self) -> bool:
        """No route asks: addresses come from ``base_url``."""
        return False
