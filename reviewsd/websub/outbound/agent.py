"""The one way out: every request to a callback goes through this agent (E4).

A request resolves the host, finds a place in the address's network, connects, and makes one exchange. The
checks are those of the resolver and the dialer, the limits below TLS those of the connection; here is
their order. A request whose response has no body to read, which is a delivery, may use a connection that
an earlier one has left, and leaves its own.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import AsyncExitStack
from functools import partial
from importlib.metadata import version
from pathlib import Path

from msgspec.structs import replace
from twisted.internet.defer import CancelledError, Deferred, fail
from twisted.internet.interfaces import IProtocol, IReactorTime
from twisted.internet.posixbase import PosixReactorBase
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.client import ResponseDone
from twisted.web.http_headers import Headers
from twisted.web.iweb import IAgent, IBodyProducer, IClientRequest, IResponse
from zope.interface import implementer

from reviewsd.config.schema import Callbacks, Config
from reviewsd.domain.addresses import Addresses, AddressRefusedError
from reviewsd.domain.callback import Callback, stored
from reviewsd.runtime.state_dir import EX_CONFIG, StartError
from reviewsd.websub.outbound.client import Payload
from reviewsd.websub.outbound.connection import Connection
from reviewsd.websub.outbound.dialer import Dialer
from reviewsd.websub.outbound.errors import NetworkFullError, NoResponseError
from reviewsd.websub.outbound.pool import Pool
from reviewsd.websub.outbound.resolver import Resolver, SystemNames
from reviewsd.websub.outbound.response_parser import ResponseParser
from reviewsd.websub.outbound.tls import Tls
from reviewsd.websub.outbound.turn_queue import TurnQueue

MAX_CHALLENGE_BODY = 1024  # bytes of the response to a GET; E12
STOPPING = "this service is stopping"
IDLE_SECONDS = 5.0
"""Seconds for which a connection is kept for its next delivery."""


@implementer(IAgent)
class CallbackAgent:
    """Sends requests to callbacks.

    Args:
        clock: For lifetimes.
        resolver: Resolves hosts to addresses.
        dialer: Connects to addresses.
        tls: Makes and checks the TLS side.
        limits: ``hub.callbacks``.
        user_agent: Names this service (H6): ``reviewsd/<version> (+<base_url>/; WebSub hub)``.
        idle_seconds: Seconds for which a connection is kept.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        resolver: Resolver,
        dialer: Dialer,
        tls: Tls,
        limits: Callbacks,
        user_agent: bytes,
        *,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._clock = clock
        self._resolver = resolver
        self._dialer = dialer
        self._tls = tls
        self._limits = limits
        self._headers = b"User-Agent: %b\r\nAccept-Encoding: identity\r\n" % user_agent
        self._turns = TurnQueue(clock)
        self._pool = Pool(clock, idle_seconds)
        self._requests: set[Deferred[IResponse]] = set()
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
        """Build the agent of a daemon.

        Args:
            config: The configuration.
            reactor: Runs everything.
            addresses: Decides which addresses may be dialed.
            own_listeners: (address, port) of listeners of this service; may grow.
            stack: Closes its sockets and threads.

        Raises:
            StartError: ``hub.callbacks.ca_file`` cannot be used.
        """
        limits = config.hub.callbacks
        if limits.allow_networks or limits.ca_file:
            cls._log.warn(
                "callbacks are opened beyond public addresses and the platform's authorities:"
                " hub.callbacks.allow_networks {networks}, ca_file {ca_file}",
                networks=list(limits.allow_networks),
                ca_file=limits.ca_file,
            )
        try:
            tls = Tls(reactor, None if limits.ca_file is None else Path(limits.ca_file))
        except ValueError as error:
            raise StartError(f"hub.callbacks.ca_file: {error}", EX_CONFIG) from error
        names = SystemNames(reactor)
        stack.callback(names.stop)
        timeouts = config.hub.delivery.timeout, config.hub.verification.timeout
        agent = cls(
            reactor,
            Resolver(reactor, names.look_up, addresses, limits.dns_timeout),
            Dialer(reactor, addresses, own_listeners),
            tls,
            replace(limits, max_lifetime=max(limits.max_lifetime, *timeouts)),
            f"reviewsd/{version('reviewsd')} (+{config.base_url}/; WebSub hub)".encode(),
        )
        stack.push_async_callback(agent.close)
        return agent

    def request(
        self,
        method: bytes,
        uri: bytes,
        headers: Headers | None = None,  # noqa: ARG002 - the payload's are sent
        bodyProducer: IBodyProducer | None = None,  # noqa: N803 - IAgent's name
    ) -> Deferred[IResponse]:
        """Send a request.

        Args:
            method: GET or POST.
            uri: ``Callback.url``.
            headers: Ignored: treq would add its own.
            bodyProducer: A Payload.

        Returns:
            The response, or NoResponseError or NetworkFullError.
        """
        assert isinstance(bodyProducer, Payload)  # noqa: S101  CallbackClient sends nothing else
        payload, reads_body = bodyProducer, method == b"GET"
        callback = stored(uri.decode("ascii"))
        head = b"%b %b HTTP/1.1\r\nHost: %b\r\n%b%b%b\r\n" % (
            method,
            callback.target.encode("ascii"),
            callback.authority.encode("ascii"),
            payload.headers,
            self._headers,
            b"Connection: close\r\n" if reads_body else b"",
        )
        connection = None if reads_body else self._pool.acquire(callback)
        if connection is None:
            return self._start(callback, head, payload, reads_body=reads_body)
        if not payload.slot.try_dial(connection.address):
            self._pool.keep(connection)
            return fail(NetworkFullError())
        response = self._exchange(connection, head, payload)
        return response.addErrback(self._try_again, callback, head, payload)

    async def close(self) -> None:
        """End all requests and connections; return when no socket is left."""
        self._closed = True
        self._pool.close()
        for request in tuple(self._requests):
            request.cancel()
        for connection in tuple(self._connections):
            connection.fail(STOPPING)
        if self._connections:
            self._emptied = Deferred()
            await self._emptied

    def _try_again(
        self, failure: Failure, callback: Callback, head: bytes, payload: Payload
    ) -> Deferred[IResponse] | Failure:
        """Repeat a request whose connection died while it was kept: that is no failure (E7)."""
        error = failure.value
        if not isinstance(error, NoResponseError) or error.begun or self._closed:
            return failure
        return self._start(callback, head, payload, reads_body=False)

    def _start(
        self, callback: Callback, head: bytes, payload: Payload, *, reads_body: bool
    ) -> Deferred[IResponse]:
        """Send a request on a new connection, in a Deferred that ``close`` can cancel."""
        if self._closed:
            return fail(NoResponseError(STOPPING))
        request = Deferred.fromCoroutine(self._send(callback, head, payload, reads_body=reads_body))
        self._requests.add(request)
        return request.addBoth(self._ended, request)

    def _ended(
        self, result: IResponse | Failure, request: Deferred[IResponse]
    ) -> IResponse | Failure:
        self._requests.discard(request)
        if self._closed and isinstance(result, Failure) and result.check(CancelledError):
            raise NoResponseError(STOPPING)
        return result

    async def _send(
        self, callback: Callback, head: bytes, payload: Payload, *, reads_body: bool
    ) -> IResponse:
        try:
            addresses = await self._resolver.resolve(callback, payload.slot.due.requester)
        except AddressRefusedError as error:
            raise NoResponseError(str(error)) from error
        connection = await self._connect(callback, addresses, payload)
        return await self._exchange(connection, head, payload, reads_body=reads_body)

    async def _connect(
        self, callback: Callback, addresses: Sequence[str], payload: Payload
    ) -> Connection:
        """Try one address after the other until a connection is open."""
        if any(self._dialer.is_own(address, callback.port) for address in addresses):
            raise NoResponseError("the callback leads to this service itself")
        deadline = self._clock.seconds() + self._limits.connect_timeout
        failure = NoResponseError("no connection")
        full = False
        for index, address in enumerate(addresses):
            if not payload.slot.try_dial(address):
                full = True
                continue
            seconds = (deadline - self._clock.seconds()) / (len(addresses) - index)
            make = partial(self._make_connection, callback, address)
            try:
                return await self._dialer.dial(address, callback.port, seconds, make)
            except NoResponseError as error:
                failure = error
        raise NetworkFullError if full else failure

    def _exchange(
        self, connection: Connection, head: bytes, payload: Payload, *, reads_body: bool = False
    ) -> Deferred[IResponse]:
        payload.slot.watch(connection, self._clock.seconds())
        max_body = MAX_CHALLENGE_BODY if reads_body else None
        parsed = connection.exchange(payload.pieces(head), max_body)
        return parsed.addCallback(self._receive, connection, reads_body)

    def _receive(
        self,
        parser: ResponseParser,
        connection: Connection,
        reads_body: bool,  # noqa: FBT001
    ) -> IResponse:
        """Return a response, and keep or close its connection."""
        if reads_body or self._closed or not connection.is_reusable:
            connection.close()
        else:
            self._pool.keep(connection)
        return CallbackResponse(parser, reads_body=reads_body)

    def _make_connection(self, callback: Callback, address: str) -> Connection:
        connection = Connection(
            self._clock,
            self._turns,
            self._tls,
            callback,
            address,
            byte_budget=self._limits.byte_budget,
            max_lifetime=self._limits.max_lifetime,
            ended=self._connection_ended,
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
    """A response that was read already, as far as it is wanted.

    Its body has at most 1,025 bytes, where more than 1,024 mean that it is too long. It is empty for a
    delivery (W16), and if it came in a Content-Encoding. Only Retry-After is left of the headers.
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
        """Give the whole body to a protocol."""
        protocol.dataReceived(self._body)
        protocol.connectionLost(Failure(ResponseDone()))

    def setPreviousResponse(self, response: IResponse) -> None:
        """Set the response before this one, as IResponse has it."""
        self.previousResponse = response
