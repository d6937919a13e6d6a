"""Between the socket and Klein: connections that are counted, bounded and ended in order.

Twisted's channel closes in silence what it will not read, and lets a request bring any body along.
Here what is refused is answered first, with the same problems as everywhere (S2, contract 2), a body
is counted while it arrives, and a stopping daemon lets every answer that is under way be finished
(O4). Deadlines, strict parsing and the fast lane come here too; Klein need not know.
"""

import re
from collections.abc import Callable, Iterable
from typing import cast
from urllib.parse import unquote_to_bytes

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress, IReactorTime, ITCPTransport, ITransport
from twisted.internet.protocol import connectionDone
from twisted.internet.tcp import Connection
from twisted.python.failure import Failure
from twisted.web.http import HTTPChannel
from twisted.web.http import Request as HTTPRequest
from twisted.web.http_headers import Headers
from twisted.web.resource import IResource
from twisted.web.server import Request, Site

from reviewsd.formats import paths, problems
from reviewsd.formats.problems import HUB_MAX_BODY, Problem
from reviewsd.web.deadline import Deadline
from reviewsd.web.request import BoundedRequest

IDLE_SECONDS = 60
"""A connection that says nothing for so long is closed."""

DRAIN_SECONDS = 20
"""What answers under way may take to end when the daemon stops; systemd waits longer."""

FRESH_SECONDS = 1
"""What a connection that has asked for nothing yet may take to do so when the daemon stops (O4)."""

LINGER_SECONDS = 5
"""How long a body that is too large is read past, so that its sender comes to read why."""

ASTERISK = b"/*"
"""The path that stands for the whole server, ``OPTIONS *``: Twisted would answer that by itself."""

_ABOUT_BODIES = frozenset({b"Content-Length", b"Transfer-Encoding"})
_BODILESS = frozenset({b"GET", b"HEAD"})

_IGNORED_BODY = 65_536
"""Bytes; a smaller body is read past, so that a POST is answered for what it is, a larger refused."""

_HUB = paths.HUB.encode()
_MCP = paths.MCP.encode()

_LENGTH_DIGITS = 16  # of a Content-Length (S3); Twisted fails on more than 4,300

_SCHEME_AND_AUTHORITY = re.compile(rb"https?://[^/?]*", re.IGNORECASE)


class Channel(HTTPChannel):
    """One connection of the public site."""

    site: "PublicServer"
    _fresh = True
    _refused = False
    _mcp = False  # whether the request is for the MCP endpoint
    _lingers = False  # whether what still comes is read past at the end
    _room = 0  # bytes of the body that may still come
    _too_large = problems.CONTENT_TOO_LARGE  # what it is told that brings more
    _head = b""  # of the answer, as long as there is nothing to send with it

    def connectionMade(self) -> None:
        self.site.channels.add(self)
        self._here: IAddress = super().getHost()
        self._there: IAddress = super().getPeer()
        self._deadline = Deadline(self.site.reactor, self._overdue)
        super().connectionMade()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        super().connectionLost(reason)
        self._deadline.cancel()
        self.site.lost(self)

    def getHost(self) -> IAddress:
        return self._here  # each request asks, and the kernel would be asked

    def getPeer(self) -> IAddress:
        return self._there

    def setTimeout(self, period: int | None) -> int | None:
        before, self.timeOut = self.timeOut, period
        self._deadline.move(period)
        return before

    def resetTimeout(self) -> None:
        if self.timeOut is not None:
            self._deadline.move(self.timeOut)

    def _overdue(self) -> None:
        self.timeOut = None  # what still comes puts nothing off
        self.timeoutConnection()

    def writeHeaders(self, version: bytes, code: bytes, reason: bytes, headers: Headers) -> None:
        lines = [b"%b %b %b" % (version, code, reason)]
        for name, values in headers.getAllRawHeaders():
            lines += [b"%b: %b" % (name, value) for value in values]
        head = b"\r\n".join(lines)
        if head.count(b"\r") + head.count(b"\n") != 2 * (len(lines) - 1):  # a value has one, too
            head = b"\r\n".join(b" ".join(line.splitlines()) for line in lines)
        self._head = head + b"\r\n\r\n"  # goes out with the body

    def write(self, data: bytes) -> None:
        if self._head:
            data, self._head = self._head + data, b""
        cast("ITransport", self.transport).write(self._sent(data))

    def writeSequence(self, iovec: Iterable[bytes]) -> None:
        self.write(b"".join(iovec))

    def _sent(self, data: bytes) -> bytes:
        """What is left of some bytes once the kernel has taken what it can at once.

        Twisted waits until the socket is writable, which it mostly is: two calls to epoll and one
        more turn of the reactor for every answer.
        """
        transport = self.transport
        if (
            not isinstance(transport, Connection)
            or not transport.connected
            or transport.dataBuffer
            or transport._tempDataBuffer  # noqa: SLF001  pinned by a test
        ):
            return data
        sent = transport.writeSomeData(data)
        return data[sent:] if isinstance(sent, int) else data  # an error will come again

    def requestDone(self, request: Request) -> None:
        if self._head:
            self.write(b"")
        super().requestDone(request)

    def dataReceived(self, data: bytes) -> None:
        if not self._refused:  # what follows a refused request is not a request
            super().dataReceived(data)

    def rawDataReceived(self, data: bytes) -> None:
        if not self._refused:  # the rest of what came together with the head
            super().rawDataReceived(data)

    def lineLengthExceeded(self, _line: bytes) -> None:
        if self._HTTPChannel__first_line:  # type: ignore[attr-defined]  # pinned by a test
            self._refuse(problems.URI_TOO_LONG)
        else:
            self._refuse(problems.FIELD_TOO_LARGE)

    def _respondToBadRequestAndDisconnect(self) -> None:
        size, count = self._receivedHeaderSize, self._receivedHeaderCount
        if size > self.totalHeadersSize or count > self.maxHeaders:
            self._refuse(problems.FIELDS_TOO_LARGE)
        else:
            self._refuse(problems.NOT_HTTP)

    def _maybeChooseTransferDecoder(self, header: bytes, data: bytes) -> bool:
        if header not in _ABOUT_BODIES:
            return True
        if header == b"Content-Length" and len(data) > _LENGTH_DIGITS:
            return bool(self._failChooseTransferDecoder())
        return bool(super()._maybeChooseTransferDecoder(header, data))

    def allHeadersReceived(self) -> None:
        self._fresh = False
        path = _origin_form(self._path)
        if path is None or self._command == b"CONNECT":
            self._refuse(problems.NOT_A_PATH)
            return
        self._path = path
        if self.length == 0 or self._wants_body():
            super().allHeadersReceived()
        elif self._mcp:
            self.requests[-1].requestHeaders.removeHeader(b"Expect")
            super().allHeadersReceived()
            self._truncate()
        else:
            self._refuse(self._too_large)  # before a client that waits for leave to send it has it

    def _wants_body(self) -> bool:
        """Whether the body that was announced may come; a length of None means chunks (S2)."""
        path = unquote_to_bytes(self._path.partition(b"?")[0])
        hub, self._mcp = path == _HUB, path == _MCP
        self._too_large = problems.HUB_CONTENT_TOO_LARGE if hub else problems.CONTENT_TOO_LARGE
        self._room = HUB_MAX_BODY if hub else _IGNORED_BODY
        if self._mcp:
            self._room = self.site.mcp_max_body
        elif self._command in _BODILESS:
            self._room = 0
        if self.length is None:
            return (hub or self._mcp) and self._room > 0  # counted as they come
        return bool(self.length <= self._room)

    def takes(self, size: int) -> bool:
        """Whether the next bytes of a body are taken; if not, the request is refused.

        Args:
            size: How many there are.
        """
        self._room -= size
        if self._room < 0 and not self._refused:
            if self._mcp:
                self._truncate()
            else:
                self._refuse(self._too_large)
        return not self._refused

    def _truncate(self) -> None:
        """Have the request answered without the rest of its body; its route refuses it.

        MCP has an order of refusals (mcp.md 2b-2), which only the route knows, and answers for the
        pages of some origins only.
        """
        self._refused = self._lingers = True
        self.persistent = False
        request = self.requests[-1]
        request.truncated = True
        request.responseHeaders.setRawHeaders(b"Connection", [b"close"])
        super().allContentReceived()

    def allContentReceived(self) -> None:
        if not self._refused:
            super().allContentReceived()

    def checkPersistence(self, request: Request, version: bytes) -> bool:
        if self.site.draining:
            request.responseHeaders.setRawHeaders(b"Connection", [b"close"])
            return False
        return bool(super().checkPersistence(request, version))

    def drain(self) -> None:
        """Close now, or after the answer under way, or when no first request comes."""
        if self.requests:
            self.persistent = False
            self.requests[0].responseHeaders.setRawHeaders(b"Connection", [b"close"])
        elif self._fresh:
            self.setTimeout(FRESH_SECONDS)
        else:
            self.loseConnection()

    def _refuse(self, problem: Problem) -> None:
        """Answer and close; for what never becomes a request."""
        if self._refused:
            return
        self._refused = True
        answer = self.site.refusal(problem)
        if getattr(self, "_command", None) == b"HEAD":
            head, end, _ = answer.partition(b"\r\n\r\n")
            answer = head + end
        self.write(answer)
        self._lingers = problem.status == problems.CONTENT_TOO_LARGE.status
        self.loseConnection()

    def loseConnection(self) -> None:
        if self._lingers:
            # who is still sending would meet a reset connection before the answer
            self._lingers = False
            cast("ITCPTransport", self.transport).loseWriteConnection()
            self.setTimeout(LINGER_SECONDS)
        else:
            super().loseConnection()


def _origin_form(target: bytes) -> bytes | None:
    """The path and query of a request target, None where it has none (RFC 9112 3.2)."""
    if not target.isascii():  # Twisted means to refuse that, but lets 0x80 to 0xb0 pass
        return None
    if target.startswith(b"/"):
        return target
    if target == b"*":
        return ASTERISK
    authority = _SCHEME_AND_AUTHORITY.match(target)
    if authority is None:
        return None
    rest = target[authority.end() :]
    return rest if rest.startswith(b"/") else b"/" + rest


class PublicServer(Site):
    """The factory of the public connections.

    Args:
        resource: What answers requests.
        refusal: Makes the whole response to what is not even a request.
        clock: For the deadline of the drain.
        mcp_max_body: Bytes that a body for the MCP endpoint may have.
    """

    # Without the proxy object that Twisted puts around a channel for HTTP/2
    protocol = Channel  # type: ignore[assignment]
    requestFactory = BoundedRequest  # type: ignore[assignment]

    def __init__(
        self,
        resource: IResource,
        refusal: Callable[[Problem], bytes],
        clock: IReactorTime,
        mcp_max_body: int = 65_536,
    ) -> None:
        super().__init__(
            resource, parsePOSTFormSubmission=False, timeout=IDLE_SECONDS, reactor=clock
        )
        self.refusal = refusal
        self.mcp_max_body = mcp_max_body
        self.channels: set[Channel] = set()
        self.draining = False
        self._clock = clock
        self._drained: Deferred[None] | None = None

    def log(self, request: HTTPRequest) -> None:
        """No access log: formatting it would take a tenth of a cheap request's time."""

    def lost(self, channel: Channel) -> None:
        """Forget a connection that has ended."""
        self.channels.discard(channel)
        if self._drained is not None and not self.channels:
            drained, self._drained = self._drained, None
            drained.callback(None)

    async def drain(self) -> None:
        """Let answers under way end, close all connections; returns when none is left."""
        self.draining = True
        for channel in tuple(self.channels):
            channel.drain()
        if not self.channels:
            return
        self._drained = Deferred()
        deadline = self._clock.callLater(DRAIN_SECONDS, self._abort)
        await self._drained
        if deadline.active():
            deadline.cancel()

    def _abort(self) -> None:
        for channel in tuple(self.channels):
            channel.forceAbortClient()
