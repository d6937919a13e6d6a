"""A TLS server with callbacks that logs every request and responds in a mode that the test selects.

The first segment of a callback's path names a mode of ``MODES`` (``/drip``, ``/status/503``,
``/slow/0.2/anything``). Every other path confirms verifications and accepts deliveries. Faults below
HTTP are arguments of ``Server``.
"""

import gzip
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import parse_qs

from OpenSSL import SSL
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone
from twisted.internet.interfaces import (
    IDelayedCall,
    IListeningPort,
    IOpenSSLContextFactory,
    IPullProducer,
    IReactorTCP,
    IReactorTime,
)
from twisted.internet.protocol import Protocol, ServerFactory, connectionDone
from twisted.internet.tcp import Server as Transport
from twisted.protocols.tls import TLSMemoryBIOFactory
from twisted.python.failure import Failure
from zope.interface import implementer

from tests.support.authority import Identity, authority

HOST = "127.0.0.1"
NAMES = ("localhost", "*.localhost.example", HOST, "::1")

tcp = cast("IReactorTCP", reactor)
clock = cast("IReactorTime", reactor)


@dataclass(frozen=True, slots=True)
class Received:
    """The bytes of a request."""

    head: bytes
    """The head of the response, with the empty line at its end."""
    body: bytes

    @property
    def method(self) -> str:
        return self.head.partition(b" ")[0].decode()

    @property
    def target(self) -> str:
        return self.head.split(b" ", 2)[1].decode()

    @property
    def fields(self) -> list[tuple[str, str]]:
        """The header fields in their order, with names as they were sent."""
        lines = self.head.decode("latin-1").split("\r\n")[1:-2]
        return [(name, value) for name, _, value in (line.partition(": ") for line in lines)]

    def field(self, name: str) -> str | None:
        return next((value for key, value in self.fields if key.lower() == name.lower()), None)

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the query; the last of a name counts."""
        query = self.target.partition("?")[2]
        return {key: values[-1] for key, values in parse_qs(query).items()}


@implementer(IOpenSSLContextFactory)
class _Contexts:
    """One context for all connections, so that sessions can be resumed."""

    def __init__(self, identity: Identity, max_version: int | None) -> None:
        self._context = SSL.Context(SSL.TLS_SERVER_METHOD)
        if max_version is not None:
            self._context.set_min_proto_version(max_version)
            self._context.set_max_proto_version(max_version)
            self._context.set_cipher_list(b"ALL:@SECLEVEL=0")
        self._context.use_certificate(identity.certificate)
        self._context.use_privatekey(identity.key)
        for certificate in identity.chain:
            self._context.add_extra_chain_cert(certificate)
        self._context.set_session_id(b"callbacks")

    def getContext(self) -> SSL.Context:
        return self._context


class Server:
    """A server of callbacks.

    Attributes:
        received: All requests, in the order in which they were complete.
        connections: The number of connections so far.
        open: The connections that are open now.
        cut_off: The number of connections that ended without a notice of TLS.
        bytes_received: Bytes of requests, complete or not.

    Args:
        identity: Its certificate; by default a valid one for ``NAMES``.
        tls_version: The one version of TLS that it accepts; by default any.
        mute: Accepts connections and sends nothing, not even TLS.
    """

    def __init__(
        self,
        identity: Identity | None = None,
        *,
        tls_version: int | None = None,
        mute: bool = False,
    ) -> None:
        self.received: list[Received] = []
        self.connections = 0
        self.open: set[Conversation] = set()
        self.cut_off = 0
        self.bytes_received = 0
        self._mute = mute
        self._contexts = _Contexts(identity or authority().issue(*NAMES), tls_version)
        self._port: IListeningPort | None = None
        self._waiting: list[tuple[int, Deferred[None]]] = []
        self._emptied: Deferred[None] | None = None

    @property
    def port(self) -> int:
        assert self._port is not None
        return int(self._port.getHost().port)  # type: ignore[attr-defined]

    def url(self, path: str = "/", host: str = HOST) -> str:
        return f"https://{host}:{self.port}{path}"

    def listen(self, interface: str = HOST, port: int = 0) -> None:
        factory: Any = _Conversations(self)
        if not self._mute:
            factory = TLSMemoryBIOFactory(self._contexts, isClient=False, wrappedFactory=factory)
            factory.noisy = False
        self._port = tcp.listenTCP(port, factory, backlog=512, interface=interface)

    async def until_received(self, count: int) -> None:
        """Wait for a number of requests."""
        if len(self.received) < count:
            waiting: Deferred[None] = Deferred()
            self._waiting.append((count, waiting))
            await waiting

    async def until_closed_by_client(self) -> None:
        """Wait until no connection is open."""
        if self.open:
            self._emptied = Deferred()
            await self._emptied

    async def stop(self) -> None:
        if self._port is not None:
            await cast("Deferred[None]", self._port.stopListening())
        for conversation in tuple(self.open):
            conversation.hang_up()
        await self.until_closed_by_client()

    def resume(self) -> None:
        """Read again on connections that a mode has paused."""
        for conversation in self.open:
            conversation.transport.resumeProducing()

    def request_received(self, request: Received) -> None:
        self.received.append(request)
        due = [entry for entry in self._waiting if entry[0] <= len(self.received)]
        for entry in due:
            self._waiting.remove(entry)
            entry[1].callback(None)

    def connection_lost(self, conversation: "Conversation") -> None:
        self.open.discard(conversation)
        if self._emptied is not None and not self.open:
            emptied, self._emptied = self._emptied, None
            emptied.callback(None)


class Conversation(Protocol):
    """One connection of a client."""

    transport: Transport

    def __init__(self, server: Server) -> None:
        self.server = server

    def connectionMade(self) -> None:
        self.server.connections += 1
        self.server.open.add(self)
        self.later: list[IDelayedCall] = []
        self.served = 0
        self.listens = True
        self._buffer = bytearray()

    def dataReceived(self, data: bytes) -> None:
        self.server.bytes_received += len(data)
        if self.listens:
            self._buffer += data
            self._answer()

    def _answer(self) -> None:
        while True:
            end = self._buffer.find(b"\r\n\r\n") + 4
            if end < 4:
                return
            head = bytes(self._buffer[:end])
            length = _content_length(head)
            if len(self._buffer) < end + length and _mode(head)[0] not in _EARLY:
                return
            body = bytes(self._buffer[end : end + length])
            del self._buffer[: end + length]
            request = Received(head, body)
            self.server.request_received(request)
            name, arguments = _mode(head)
            MODES.get(name, good)(self, request, *arguments)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.server.cut_off += reason.check(ConnectionDone) is None
        for call in self.later:
            if call.active():
                call.cancel()
        self.server.connection_lost(self)

    def reply(
        self, status: int = 200, body: bytes = b"", *fields: bytes, length: bool = True
    ) -> None:
        """Send a whole response in one write."""
        lines = [b"HTTP/1.1 %d Whatever" % status, *fields]
        if length and status != 204:
            lines.append(b"Content-Length: %d" % len(body))
        self.transport.write(b"\r\n".join(lines) + b"\r\n\r\n" + body)

    def wait(self, seconds: float, call: Callable[[], None]) -> None:
        """Call it later, if the connection is still open."""
        self.later.append(clock.callLater(seconds, call))

    def hang_up(self) -> None:
        self.transport.abortConnection()


class _Conversations(ServerFactory[Conversation]):
    noisy = False

    def __init__(self, server: Server) -> None:
        self._server = server

    def buildProtocol(self, _addr: object) -> Conversation:
        return Conversation(self._server)


@implementer(IPullProducer)
class _Endless:
    """Sends the same bytes as long as the client reads."""

    def __init__(self, conversation: Conversation, piece: bytes) -> None:
        self._conversation = conversation
        self._piece = piece * (65_536 // len(piece) + 1)
        conversation.transport.registerProducer(self, streaming=False)

    def resumeProducing(self) -> None:
        tls: Any = self._conversation.transport
        if tls.transport.disconnecting:  # waits for the end of this producer
            tls.unregisterProducer()
        else:
            tls.write(self._piece)

    def stopProducing(self) -> None:
        pass


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            return int(line[15:])
    return 0


def _mode(head: bytes) -> tuple[str, list[str]]:
    """Return the mode that a target names, and its arguments."""
    path = head.split(b" ", 2)[1].partition(b"?")[0].decode()
    name, *arguments = path.strip("/").split("/")
    return name, arguments


# The modes of callbacks -----------------------------------------------------------------------------


Mode = Callable[..., None]


def _sending(response: bytes, end: Callable[[Conversation], None] = lambda _: None) -> Mode:
    """Return a mode that sends bytes, with the challenge and its length, and ends in some way."""

    def respond(to: Conversation, request: Received, *_: str) -> None:
        is_verified = request.method == "GET"
        challenge = request.parameters.get("hub.challenge", "").encode() if is_verified else b""
        length = b"%d" % len(challenge)
        to.transport.write(response.replace(b"LENGTH", length).replace(b"CHALLENGE", challenge))
        end(to)

    return respond


def _leave(to: Conversation) -> None:
    to.transport.loseConnection()


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
CHALLENGE = b"Content-Length: LENGTH\r\n\r\nCHALLENGE"

good = _sending(OK + CHALLENGE)
"""Confirms verifications, and accepts deliveries."""


def status(to: Conversation, request: Received, code: str, *rest: str) -> None:
    """``/status/503/120``: respond with a status and Retry-After; a 3xx leads to ``/hit``."""
    fields = [b"Retry-After: " + rest[0].encode()] if rest else []
    if code.startswith("3"):
        fields.append(b"Location: " + to.server.url("/hit").encode())
    to.reply(int(code), request.parameters.get("hub.challenge", "").encode(), *fields)


def slow(to: Conversation, request: Received, seconds: str, *_: str) -> None:
    """``/slow/0.5``: respond as a good callback, after these seconds."""
    to.wait(float(seconds), lambda: good(to, request))


def chunked(to: Conversation, request: Received, *_: str) -> None:
    challenge = request.parameters.get("hub.challenge", "").encode()
    chunks = b"".join(b"1;x=y\r\n%c\r\n" % byte for byte in challenge)
    to.transport.write(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\nA: b\r\n\r\n"
    )


def wordy(to: Conversation, _request: Received, *_: str) -> None:
    """Accept, and send a body in a second write."""
    to.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n")
    to.wait(0.01, lambda: to.transport.write(b"thank you :)"))


def wordier(to: Conversation, request: Received, *_: str) -> None:
    """Respond as a good callback, byte by byte."""
    challenge = request.parameters.get("hub.challenge", "").encode()
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(challenge), challenge)
    for byte in answer:
        to.transport.write(bytes([byte]))


def worsening(to: Conversation, request: Received, then: str, *_: str) -> None:
    """``/worsening/reset``: a good callback at first, from the second request on the mode given."""
    to.served += 1
    (good if to.served == 1 else MODES[then])(to, request)


def long(to: Conversation, _request: Received, length: str, *_: str) -> None:
    """``/long/1025``: respond with a body of that length."""
    to.reply(200, b"x" * int(length))


def early(to: Conversation, _request: Received, code: str, *_: str) -> None:
    """``/early/413``: respond to the head, and read the body only after ``Server.resume``."""
    to.listens = False
    to.transport.pauseProducing()
    to.reply(int(code))


def garbage(to: Conversation, _request: Received, *_: str) -> None:
    """Send plain text within TLS."""
    to.transport.transport.write(b"HTTP/1.1 200 OK\r\n\r\n")  # type: ignore[attr-defined]


def drip(to: Conversation, _request: Received, *_: str) -> None:
    """Send a byte every 10 ms, and never a whole response."""

    def more() -> None:
        to.transport.write(b"x")
        to.wait(0.01, more)

    to.transport.write(b"HTTP/1.1 200 OK\r\nX-Drip: ")
    more()


def gzip_bomb(to: Conversation, _request: Received, *_: str) -> None:
    to.reply(200, _bomb(), b"Content-Encoding: gzip")


def _bomb() -> bytes:
    return gzip.compress(bytes(1 << 20)) * 64  # members, 67 MB in all


def _endless(begin: bytes, piece: bytes) -> Mode:
    """Return a mode that begins a response, and goes on with the same bytes without end."""

    def respond(to: Conversation, _request: Received, *_: str) -> None:
        to.transport.write(begin)
        _Endless(to, piece)

    return respond


MODES: dict[str, Mode] = {
    **{
        mode.__name__.replace("_", "-"): mode
        for mode in (
            *(status, slow, chunked, wordy, wordier, worsening, long, early, garbage, drip),
            gzip_bomb,
        )
    },
    # Those of usual servers: an end that is announced, or is not; cookies; interim responses
    "closing": _sending(OK + b"Connection: close\r\nContent-Length: 0\r\n\r\n"),
    "forgetful": _sending(OK + CHALLENGE, _leave),
    "until-closed": _sending(b"HTTP/1.0 200 OK\r\n\r\nCHALLENGE", _leave),
    "cookie": _sending(
        OK + b"Set-Cookie: a=b; Domain=localhost; Path=/\r\nSet-Cookie: c=d\r\n" + CHALLENGE
    ),
    "interim": _sending(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 3 + OK + CHALLENGE),
    # Those of broken ones, or of attackers
    "broken": _sending(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"),
    "reset": _sending(b"", Conversation.hang_up),
    "leave": _sending(b"", _leave),
    "silence": _sending(b""),
    "deaf": _sending(OK + CHALLENGE, lambda to: to.transport.pauseProducing()),
    "gzip-silence": _sending(OK + b"Content-Encoding: gzip\r\nContent-Length: 10000\r\n\r\n"),
    "headers": _endless(OK, b"X-Header: value\r\n"),
    "long-header": _endless(OK + b"X-Header: ", b"x"),
    "fold": _endless(OK + b"X-Header: a\r\n", b" folded\r\n"),
    "interims": _endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "body": _endless(OK + b"Connection: close\r\n\r\n", b"x"),
    "chunks": _endless(CHUNKED, b"1\r\nx\r\n"),
    "trailers": _endless(CHUNKED + b"0\r\n", b"X-Trailer: value\r\n"),
}
_EARLY = ("early",)


@asynccontextmanager
async def serving(
    identity: Identity | None = None, *, tls_version: int | None = None, mute: bool = False
) -> AsyncIterator[Server]:
    """Run a Server on a free port; close it with all its connections at the end."""
    server = Server(identity, tls_version=tls_version, mute=mute)
    server.listen()
    try:
        yield server
    finally:
        await server.stop()
