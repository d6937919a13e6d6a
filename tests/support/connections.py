"""Public connections in memory, with a fake clock, and routes that answer when a test says so."""

from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_network
from typing import Any, cast

from twisted.internet.abstract import FileDescriptor
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.error import ConnectionAborted, ConnectionDone, ConnectionLost
from twisted.internet.interfaces import IAddress, IHalfCloseableDescriptor, IReactorTime
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from zope.interface import implementer

from reviewsd.http1.hosts import Hosts
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.server.connection import ClientConnection
from reviewsd.server.connections import SWEEP_SECONDS, ConnectionLimits, Connections
from reviewsd.server.listener import ConnectionFactory
from reviewsd.server.site import Answer, PublicSite, Routes
from reviewsd.web.app import Answerer
from reviewsd.web.index import RouteIndex
from tests.support import routes
from tests.support.raw import ReceivedResponse, responses

BASE_URL = "https://reviews.example"
REPLIES = Responses(BASE_URL, "public", lambda: 0.0)
PROXY = "198.51.100.1"
LARGE = 300_000  # bytes that /large has

_FULL = 65_536  # bytes that wait in a transport of Twisted when it asks for no more


def ask(path: str = "/now", *fields: str, method: str = "GET", version: str = "1.1") -> bytes:
    """The bytes of a request without a body."""
    lines = (f"{method} {path} HTTP/{version}", "Host: a", *fields, "", "")
    return "\r\n".join(lines).encode()


@implementer(IHalfCloseableDescriptor)
class Line(StringTransport):
    """A transport to a client that takes all bytes at once, unless it is slow.

    Like a transport of TCP it can be closed in one direction, and pauses its producer when it is full.
    """

    def __init__(self, peer: str = "192.0.2.1", *, slow: bool = False) -> None:
        kind = IPv6Address if ":" in peer else IPv4Address
        super().__init__(peerAddress=kind("TCP", peer, 1))
        self.protocol: ClientConnection | None = None
        self.slow = slow
        self.pending = 0
        self.closed = False
        self.half_closed = False
        self.aborted = False

    @property
    def reading(self) -> bool:
        """Whether what the client sends is read."""
        return self.producerState == "producing"

    def write(self, data: bytes) -> None:
        super().write(data)
        if self.slow:
            self.pending += len(data)
            if self.pending > _FULL and self.producer is not None:
                self.producer.pauseProducing()

    def take(self, size: int) -> None:
        """Let the client take a number of the bytes that wait for it."""
        waited, self.pending = self.pending, max(0, self.pending - size)
        if waited and not self.pending:
            if self.producer is not None:
                self.producer.resumeProducing()
            elif self.disconnecting:
                self._lose(ConnectionDone())

    def loseConnection(self) -> None:
        super().loseConnection()
        if not self.pending:
            self._lose(ConnectionDone())

    def loseWriteConnection(self) -> None:
        self.half_closed = True

    def abortConnection(self) -> None:
        self.aborted = True
        self._lose(ConnectionAborted())

    def leave(self) -> None:
        """Close the connection from the client's side."""
        self._lose(ConnectionLost())

    def _lose(self, reason: Exception) -> None:
        if not self.closed:
            self.closed = True
            assert self.protocol is not None
            self.protocol.connectionLost(Failure(reason))

    def writeConnectionLost(self, reason: Failure) -> None:
        raise NotImplementedError

    def readConnectionLost(self, reason: Failure) -> None:
        raise NotImplementedError


class Client:
    """One connection, and the bytes that came back on it."""

    def __init__(self, connection: ClientConnection, line: Line, clock: Clock) -> None:
        self.connection = connection
        self.line = line
        self._clock = clock

    def send(self, *pieces: bytes) -> None:
        """Send bytes, each piece in a read of its own."""
        for piece in pieces:
            assert not self.line.closed, "the connection is closed"
            self.connection.dataReceived(piece)
            self.settle()

    def finish(self) -> None:
        """Half-close the connection."""
        self.connection.readConnectionLost()
        self.settle()

    def settle(self) -> None:
        """Run the calls that the server has left for the next turns of the reactor."""
        now = self._clock.seconds()
        while any(call.getTime() <= now for call in self._clock.getDelayedCalls()):
            self._clock.advance(0)

    def take_all(self) -> None:
        """Take all bytes that wait for the client."""
        self.settle()
        while self.line.pending:
            self.line.take(self.line.pending)
            self.settle()

    @property
    def received(self) -> bytes:
        return bytes(self.line.value())

    def answers(self, heads: tuple[int, ...] = ()) -> list[ReceivedResponse]:
        """Return all responses, parsed strictly."""
        self.settle()
        return responses(self.received, heads)

    @property
    def texts(self) -> list[str]:
        """The bodies of the responses."""
        return [answer.body.decode().strip() for answer in self.answers()]

    @property
    def statuses(self) -> list[int]:
        return [answer.status for answer in self.answers()]


class Later:
    """A request that is not answered yet."""

    def __init__(
        self, request: Request, send: Callable[[Response], None], fail: Callable[[], None]
    ) -> None:
        self.cancelled = False
        self._request = request
        self._send = send
        self.fail = fail

    def answer(self) -> None:
        self._send(echo(self._request))


def echo(request: Request) -> Response:
    """Return a response with the body of a request, or else its path."""
    if request.path == b"/large":
        return Response(200, b"Content-Length: %d\r\n" % LARGE, (bytes(LARGE),))
    text = "truncated" if request.truncated else request.body.decode() or request.path.decode()
    return REPLIES.plain(200, text)


def public_server(
    routes: Routes,
    responses: Responses,
    clock: IReactorTime,
    limits: ConnectionLimits | None = None,
    hosts: Hosts | None = None,
) -> ConnectionFactory:
    """Return a server of some routes; connections of ``PROXY`` are not counted by client."""
    connections = Connections(clock, limits or ConnectionLimits(), [ip_network(PROXY)])
    site = PublicSite(routes, responses, hosts or Hosts(BASE_URL, ["*"]))
    return ConnectionFactory(site, connections)


def serving(
    clock: IReactorTime, *answerers: Answerer, responses: Responses = REPLIES
) -> ConnectionFactory:
    """Return a server of the routes that some objects answer."""
    return public_server(RouteIndex(answerers, responses), responses, clock)


def exchanged(server: ConnectionFactory, data: bytes, peer: IAddress | None = None) -> bytes:
    """Send bytes on a new connection of a server, and return all bytes that come back."""
    connection, transport = server.buildProtocol(None), StringTransport(peerAddress=peer)
    connection.makeConnection(cast("FileDescriptor", transport))
    connection.dataReceived(data)
    return bytes(transport.value())


class MemorySite:
    """A site without sockets; ``server`` makes its connections."""

    def __init__(self, server: ConnectionFactory) -> None:
        self.connections = server.connections
        self._server = server

    def send(self, data: bytes, peer: str = "127.0.0.1") -> Line:
        """Send bytes on a new connection of a client."""
        line = Line(peer)
        connection = line.protocol = self._server.buildProtocol(None)
        connection.makeConnection(cast("FileDescriptor", line))
        connection.dataReceived(data)
        return line

    def request(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str | Sequence[str]],
        body: bytes | None = None,
    ) -> ReceivedResponse:
        """Send a request; a header with several values has a line for each, a chunked body one chunk."""
        fields = {"Host": "localhost", **headers}
        data = body or b""
        if "Transfer-Encoding" in fields:
            data = b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data)
        elif body is not None:
            fields["Content-Length"] = str(len(body))
        lines = [f"{method} {path} HTTP/1.1"]
        for name, value in fields.items():
            lines += [f"{name}: {text}" for text in ([value] if isinstance(value, str) else value)]
        received = self.send("\r\n".join((*lines, "", "")).encode("latin-1") + data).value()
        (response,) = responses(received, (0,) if method == "HEAD" else ())
        return response


def open_connections(server: ConnectionFactory) -> set[ClientConnection]:
    """Return the connections of a server that are open now."""
    return cast("set[ClientConnection]", set(server.connections.open))


class FakeRoutes:
    """Echoes all requests: ``/later`` when a test says so; ``/bug`` fails."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.waiting: list[Later] = []
        self.find = routes.find
        self.respond: Callable[[Request], Answer] = self.respond_by_path

    def respond_by_path(self, request: Request) -> Answer:
        """Answer a request."""
        self.requests.append(request)
        if request.path == b"/soon":
            return succeed(echo(request))
        if request.path == b"/bug":
            return fail(ValueError("bug"))
        if request.path != b"/later":
            return echo(request)
        answer: Deferred[Response] = Deferred(lambda _: setattr(later, "cancelled", True))
        later = Later(request, answer.callback, lambda: answer.errback(ValueError("bug")))
        self.waiting.append(later)
        return answer


class MemoryListener:
    """A server with connections in memory."""

    def __init__(self, *, hosts: Hosts | None = None, **limits: Any) -> None:
        self.clock = Clock()
        self.routes = FakeRoutes()
        self.server = public_server(
            self.routes, REPLIES, self.clock, ConnectionLimits(**limits), hosts
        )
        self.connections = self.server.connections

    def connect(
        self, peer: str = "192.0.2.1", *, slow: bool = False, proxied: bool = False
    ) -> Client:
        """Open a connection."""
        site = self.server.site
        connection = ClientConnection(site, self.connections, proxied=proxied)
        line = Line(peer, slow=slow)
        line.protocol = connection
        connection.makeConnection(cast("FileDescriptor", line))
        return Client(connection, line, self.clock)

    def sent(self, *pieces: bytes, slow: bool = False) -> Client:
        """Open a connection, and send bytes, each piece in a read of its own."""
        client = self.connect(slow=slow)
        client.send(*pieces)
        return client

    def wait(self, seconds: float) -> None:
        """Let time pass, with the sweeps of the server."""
        for _ in range(round(seconds / SWEEP_SECONDS)):
            self.clock.advance(SWEEP_SECONDS)

    def drain(self) -> list[str]:
        """Begin the drain; the list gets an entry when it has ended."""
        ended: list[str] = []
        Deferred.fromCoroutine(self.server.connections.drain()).addCallback(
            lambda _: ended.append("ended")
        )
        return ended

    def close(self) -> None:
        """Close all connections, and check that no delayed call is left."""
        for connection in open_connections(self.server):
            connection.connectionLost(Failure(ConnectionDone()))
        assert [] == self.clock.getDelayedCalls()
