"""Sends all requests to callbacks (E4).

A request makes one exchange, on a connection of the pool or a new one. The dialer checks addresses; the
connection limits bytes and time. Of the response to a delivery only the head is needed, and a short rest is
skipped, so that its connection can be kept for another delivery to the same host and port (E7). Its address
was checked when it was dialed, so the name is not resolved again.
"""

from collections import defaultdict
from collections.abc import Set as AbstractSet
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from twisted.internet.defer import Deferred, fail
from twisted.internet.interfaces import IProtocol, IReactorTime
from twisted.internet.posixbase import PosixReactorBase
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.client import ResponseDone
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent, IBodyProducer, IClientRequest, IResponse
from zope.interface import implementer

from reviewsd.config.schema import Config
from reviewsd.domain.addresses import Addresses
from reviewsd.domain.callback import Callback
from reviewsd.runtime.state_dir import EX_CONFIG, StartError
from reviewsd.runtime.turns import TurnQueue
from reviewsd.websub.outbound.client import CallbackRequest
from reviewsd.websub.outbound.connection import Connection
from reviewsd.websub.outbound.dialer import Dialer, Resolver, SystemNames
from reviewsd.websub.outbound.response_parser import (
    NetworkFullError,
    NoResponseError,
    ResponseParser,
)
from reviewsd.websub.outbound.tls import Tls

MAX_CHALLENGE_BODY = 1024  # bytes of the response to a GET; E12
MAX_IDLE = 256  # kept connections
MAX_IDLE_PER_HOST = 16  # the deliveries to one host (H8)
STOPPING = "this service is stopping"


class Pool:
    """Keeps idle connections for further deliveries, until they or their peers close them."""

    def __init__(self) -> None:
        self._idle: dict[Connection, None] = {}  # the longest idle first
        self._by_host: defaultdict[tuple[str, int], list[Connection]] = defaultdict(list)

    def acquire(self, callback: Callback) -> Connection | None:
        """Return an idle connection to a callback's host and port, or None."""
        for connection in reversed(self._by_host.get((callback.host, callback.port), ())):
            if connection.is_ready:
                self.discard(connection)
                return connection
        return None

    def keep(self, connection: Connection) -> None:
        """Keep a connection, and close the one that was idle longest if there are too many."""
        key = _key(connection)
        if len(self._by_host.get(key, ())) >= MAX_IDLE_PER_HOST:
            connection.close()
            return
        if len(self._idle) >= MAX_IDLE:
            self._close(next(iter(self._idle)))
        self._by_host[key].append(connection)
        self._idle[connection] = None

    def discard(self, connection: Connection) -> None:
        """Remove a connection that is used again, or closed."""
        if connection not in self._idle:
            return
        del self._idle[connection]
        key = _key(connection)
        self._by_host[key].remove(connection)
        if not self._by_host[key]:
            del self._by_host[key]

    def close(self) -> None:
        """Close all connections."""
        for connection in tuple(self._idle):
            self._close(connection)

    def _close(self, connection: Connection) -> None:
        self.discard(connection)
        connection.close()


def _key(connection: Connection) -> tuple[str, int]:
    return connection.callback.host, connection.callback.port


@implementer(IAgent)
@dataclass(eq=False)
class CallbackAgent:
    """Sends requests to callbacks."""

    _log = Logger()

    clock: IReactorTime
    dialer: Dialer
    tls: Tls
    user_agent: bytes
    """Names this service (H6): ``reviewsd/<version> (+<base_url>/; WebSub hub)``."""
    byte_budget: int = 131_072
    """The most bytes that may be received below TLS in one exchange (E12)."""
    max_lifetime: float = 45.0
    """Seconds after which a connection is closed; below the 90 s for which a delivery is claimed (D5)."""

    def __post_init__(self) -> None:
        self._headers = b"User-Agent: %b\r\nAccept-Encoding: identity\r\n" % self.user_agent
        self._turns = TurnQueue(self.clock)
        self._pool = Pool()
        self._connections: set[Connection] = set()
        self._closed = False
        self._emptied: Deferred[None] | None = None

    @classmethod
    def from_config(
        cls,
        config: Config,
        reactor: PosixReactorBase,
        addresses: Addresses,
        own_listeners: AbstractSet[tuple[str, int]],
        stack: AsyncExitStack,
    ) -> "CallbackAgent":
        """Build the agent of a daemon; the stack closes its sockets and threads.

        Raises:
            StartError: ``hub.callbacks.ca_file`` cannot be used.
        """
        callbacks = config.hub.callbacks
        if callbacks.allow_networks or callbacks.ca_file:
            cls._log.warn(
                "callbacks may use other than public addresses or the system's certificate authorities:"
                " hub.callbacks.allow_networks {networks}, ca_file {ca_file}",
                networks=list(callbacks.allow_networks),
                ca_file=callbacks.ca_file,
            )
        try:
            tls = Tls(reactor, None if callbacks.ca_file is None else Path(callbacks.ca_file))
        except ValueError as error:
            raise StartError(f"hub.callbacks.ca_file: {error}", EX_CONFIG) from error
        names = SystemNames(reactor)
        stack.callback(names.stop)
        agent = cls(
            reactor,
            Dialer(reactor, Resolver(reactor, names.look_up, addresses), addresses, own_listeners),
            tls,
            f"reviewsd/{version('reviewsd')} (+{config.base_url}/; WebSub hub)".encode(),
        )
        stack.push_async_callback(agent.close)
        return agent

    def request(
        self,
        method: bytes,  # noqa: ARG002 - the request has it
        uri: bytes,  # noqa: ARG002
        headers: Headers | None = None,  # noqa: ARG002
        bodyProducer: IBodyProducer | None = None,  # noqa: N803 - IAgent's name
    ) -> Deferred[IResponse]:
        """Send the CallbackRequest that treq passes on as the producer of a body.

        Returns:
            The response, or NoResponseError or NetworkFullError.
        """
        assert isinstance(bodyProducer, CallbackRequest)  # noqa: S101  CallbackClient sends no other
        request = bodyProducer
        if self._closed:
            return fail(NoResponseError(STOPPING))
        connection = None if request.reads_body else self._pool.acquire(request.callback)
        if connection is None:
            return Deferred.fromCoroutine(self._send(request))
        if not request.slot.try_enter_network(connection.address):
            self._pool.keep(connection)
            return fail(NetworkFullError())
        return self._exchange(connection, request).addErrback(self._retry, request)

    async def close(self) -> None:
        """Close all connections; return when no socket is left. Exchanges under way fail."""
        self._closed = True
        self._pool.close()
        for connection in tuple(self._connections):
            connection.fail(STOPPING)
        if self._connections:
            self._emptied = Deferred()
            await self._emptied

    def _retry(self, failure: Failure, request: CallbackRequest) -> Deferred[IResponse] | Failure:
        """Send a request again on a new connection if the kept one was closed before its response.

        Servers close idle connections at any time, so this is no failed attempt (E7).
        """
        error = failure.value
        if not isinstance(error, NoResponseError) or error.begun or self._closed:
            return failure
        return Deferred.fromCoroutine(self._send(request))

    async def _send(self, request: CallbackRequest) -> IResponse:
        """Send a request on a new connection."""
        callback = request.callback
        make = partial(self._make_connection, callback)
        connection = await self.dialer.dial(callback, request.slot, make)
        return await self._exchange(connection, request)

    def _exchange(self, connection: Connection, request: CallbackRequest) -> Deferred[IResponse]:
        callback = request.callback
        head = b"%b %b HTTP/1.1\r\nHost: %b\r\n%b%b%b\r\n" % (
            request.method.encode("ascii"),
            callback.target.encode("ascii"),
            callback.authority.encode("ascii"),
            request.headers,
            self._headers,
            b"Connection: close\r\n" if request.reads_body else b"",
        )
        request.slot.watch(connection, self.clock.seconds())
        max_body = MAX_CHALLENGE_BODY if request.reads_body else None
        parsed = connection.exchange(request.pieces(head), max_body)
        return parsed.addCallback(self._receive, connection, request)

    def _receive(
        self, parser: ResponseParser, connection: Connection, request: CallbackRequest
    ) -> IResponse:
        """Return a response, and keep or close its connection."""
        if request.reads_body or self._closed or not connection.is_reusable:
            connection.close()
        else:
            self._pool.keep(connection)
        return CallbackResponse(parser, reads_body=request.reads_body)

    def _make_connection(self, callback: Callback, address: str) -> Connection:
        connection = Connection(
            self.clock,
            self._turns,
            self.tls,
            callback,
            address,
            self.byte_budget,
            self.max_lifetime,
            self._connection_ended,
        )
        self._connections.add(connection)
        return connection

    def _connection_ended(self, connection: Connection) -> None:
        self._connections.discard(connection)
        self._pool.discard(connection)
        if self._emptied is not None and not self._connections:
            emptied, self._emptied = self._emptied, None
            emptied.callback(None)


_NO_HEADERS = Headers()


@implementer(IResponse)
class CallbackResponse:
    """A response that was read already.

    Its body is cut after 1,025 bytes, one more than a challenge may have. It is empty for a delivery (W16),
    and if it has a Content-Encoding. Retry-After is the only header.
    """

    version = (b"HTTP", 1, 1)
    phrase = b""
    request: IClientRequest | None = None
    previousResponse: IResponse | None = None

    def __init__(self, parser: ResponseParser, *, reads_body: bool = True) -> None:
        assert parser.head is not None  # noqa: S101  a response has a head
        fields = parser.head.fields
        self.code = parser.head.status
        self.headers = _NO_HEADERS
        if (retry_after := fields.get(b"retry-after")) is not None:
            self.headers = Headers({b"Retry-After": [retry_after]})
        encoded = fields.get(b"content-encoding", b"identity").lower() != b"identity"
        self._body = bytes(parser.body) if reads_body and not encoded else b""
        self.length = len(self._body)

    def deliverBody(self, protocol: IProtocol) -> None:
        """Pass the whole body to a protocol."""
        protocol.dataReceived(self._body)
        protocol.connectionLost(Failure(ResponseDone()))

    def setPreviousResponse(self, response: IResponse) -> None:
        """Set the response before this one, as IResponse requires."""
        self.previousResponse = response
