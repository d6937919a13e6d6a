"""A connection that moves to another process loses nothing, and nobody keeps a piece of it."""

import socket
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import cast

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet.address import IPv4Address
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress, IListeningPort, ITCPTransport
from twisted.internet.protocol import ClientCreator, Factory, Protocol, connectionDone
from twisted.internet.task import deferLater
from twisted.logger import ILogObserver, LogEvent, globalLogPublisher
from twisted.python.failure import Failure

from reviewsd.server.acceptor import batch_accept
from reviewsd.workers.handoff import ConnectionReceiver, ConnectionSender, HandedConnection
from reviewsd.workers.ipc import MessageSocket, socketpair
from reviewsd.workers.messages import encode, read_message
from tests.support.descriptors import open_descriptors
from tests.support.outbound import reactor


class Reading(Protocol):
    """Gives its connection away when a whole line has come."""

    def __init__(self, sender: ConnectionSender) -> None:
        self._sender = sender
        self._come = b""

    def dataReceived(self, data: bytes) -> None:
        self._come += data
        if b"\n" in self._come:
            assert self.transport is not None
            self._sender.give(self.transport, ("127.0.0.1", 1), self._come)


class Speaking(Protocol):
    """Says what it hears, and to whom; ends when it hears "end"."""

    def dataReceived(self, data: bytes) -> None:
        assert self.transport is not None
        if data == b"fail\n":
            raise ZeroDivisionError
        peer = self.transport.getPeer().host  # type: ignore[attr-defined]
        self.transport.write(peer.encode() + b" " + data)
        if data.endswith(b"end\n"):
            self.transport.loseConnection()


class Speakers(Factory):
    protocol = Speaking
    full = False

    def buildProtocol(self, addr: IAddress | None) -> Protocol | None:  # noqa: ARG002  Twisted's
        return None if self.full else Speaking()


class Workers(Factory):
    def __init__(self, sender: ConnectionSender) -> None:
        self.protocol = partial(Reading, sender)


class Bridge:
    """Both sides, and a link between them."""

    def __init__(self) -> None:
        mine, theirs = socketpair()
        self.speakers = Speakers()
        self._taker = ConnectionReceiver(reactor, self.speakers)
        self.main = MessageSocket(reactor, mine, self)
        self.reader = MessageSocket(reactor, theirs, self)
        self.sender = ConnectionSender(
            lambda handed, number: self.reader.send(encode(handed), number)
        )
        self.workers = Workers(self.sender)
        self.port = batch_port(self.workers)

    @property
    def address(self) -> tuple[str, int]:
        where = self.port.getHost()
        assert isinstance(where, IPv4Address)
        return where.host, where.port

    def received(self, message: bytes, descriptor: int | None) -> None:
        told = read_message(message)
        assert isinstance(told, HandedConnection)
        self._taker.adopt(told, descriptor)

    def lost(self) -> None:
        pass

    async def stop(self) -> None:
        self.main.close()
        self.reader.close()
        await self.port.stopListening()  # type: ignore[misc]  # it is a Deferred for TCP


def batch_port(factory: Factory) -> IListeningPort:
    port: IListeningPort = reactor.listenTCP(0, factory, backlog=1024, interface="127.0.0.1")
    return batch_accept(port)


class Client(Protocol):
    """Collects all that it hears until the end."""

    def __init__(self) -> None:
        self.heard = b""
        self.ended: Deferred[bytes] = Deferred()

    def dataReceived(self, data: bytes) -> None:
        self.heard += data

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: ARG002  Twisted's
        self.ended.callback(self.heard)


async def connect(bridge: Bridge) -> Client:
    client: Client = await ClientCreator(reactor, Client).connectTCP(*bridge.address)
    return client


async def ask(bridge: Bridge, data: bytes) -> bytes:
    client = await connect(bridge)
    assert client.transport is not None
    client.transport.write(data)
    client.ended.addTimeout(20, reactor)
    return await client.ended


async def until_end(client: socket.socket) -> bytes:
    """All that a client hears; quicker than a Client."""
    heard = b""
    with client:
        client.setblocking(False)  # noqa: FBT003
        while True:
            try:
                piece = client.recv(1024)
            except BlockingIOError:
                await deferLater(reactor, 0.001)
                continue
            if not piece:
                return heard
            heard += piece


def open_sockets() -> list[str]:
    return sorted(name for name in open_descriptors().values() if name.startswith("socket:"))


@pytest.fixture
def descriptors() -> Iterator[None]:
    """The same connections are open in the end as at the beginning."""
    before = open_sockets()
    yield
    assert before == open_sockets()


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def bridge() -> AsyncIterator[Bridge]:
    bridge = Bridge()
    yield bridge
    await bridge.stop()


@pytest.fixture
def logged() -> Iterator[list[LogEvent]]:
    events: list[LogEvent] = []
    observer = cast("ILogObserver", events.append)
    globalLogPublisher.addObserver(observer)
    yield events
    globalLogPublisher.removeObserver(observer)


@pytest.mark.parametrize(
    ("request_line", "wanted"),
    [
        (b"GET /api/websub/hub", True),
        (b"POST /api/websub/hub", True),
        (b"OPTIONS /api/websub/hub", True),
        (b"POST /api/websub/%68ub", True),
        (b"POST /api/websub/hub/", False),
        (b"POST /api/websub/hu", False),
        (b"DELETE /mcp", True),
        (b"DELETE /%6Dcp", True),
        (b"POST /mcp", False),
        (b"GET /mcp", False),
        (b"GET /reviews.json", False),
        (b"DELETE /reviews.json", False),
        (b"GET /%", False),
        (b"OPTIONS /*", False),
    ],
)
def test_what_only_the_main_process_answers_is_given_to_it(
    request_line: bytes, *, wanted: bool
) -> None:
    """However its path is spelt: who finds the route decodes it, too."""
    method, path = request_line.split()
    assert wanted == ConnectionSender(lambda *_: None).wants(method, path)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_connection_goes_on_where_it_is_given_to(descriptors: None, bridge: Bridge) -> None:
    """With what the reader has read, and then what comes later."""
    client = await connect(bridge)
    assert client.transport is not None
    client.transport.write(b"one ")
    client.transport.write(b"line\nand the rest")
    while not client.heard:
        await deferLater(reactor, 0.005)
    assert b"127.0.0.1 one line\nand the rest" == client.heard
    client.transport.write(b"more\n")
    client.transport.write(b"end\n")
    heard = await client.ended
    assert b"one line\nand the restmore\nend\n" == heard.replace(b"127.0.0.1 ", b"")
    assert 1 == bridge.sender.given


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_many_connections_keep_their_words_apart(descriptors: None, bridge: Bridge) -> None:
    """Also when there are more than the link takes at once."""
    count, at_once = 2_000, 500
    for begin in range(0, count, at_once):
        words = [b"%d end\n" % number for number in range(begin, begin + at_once)]
        clients = [socket.create_connection(bridge.address) for _ in words]
        for client, word in zip(clients, words, strict=True):
            client.sendall(word)
        heard = [await until_end(client) for client in clients]
        assert [b"127.0.0.1 " + word for word in words] == heard
    assert count == bridge.sender.given


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_client_that_has_left_meanwhile_leaves_nothing(
    descriptors: None, bridge: Bridge
) -> None:
    for _ in range(20):
        client = await connect(bridge)
        assert client.transport is not None
        client.transport.write(b"line\n")
        cast("ITCPTransport", client.transport).abortConnection()
        await client.ended
    for _ in range(20):
        await deferLater(reactor, 0.005)
    assert b"127.0.0.1 the end\n" == await ask(bridge, b"the end\n")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_connection_that_is_not_wanted_is_closed(descriptors: None, bridge: Bridge) -> None:
    bridge.speakers.full = True
    assert b"" == await ask(bridge, b"line\n")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_connections_given_to_a_process_that_is_gone_are_closed(
    descriptors: None, bridge: Bridge
) -> None:
    bridge.main.close()
    assert b"" == await ask(bridge, b"line\n")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_bug_ends_the_connection_and_is_logged(
    descriptors: None, bridge: Bridge, logged: list[LogEvent]
) -> None:
    assert b"" == await ask(bridge, b"fail\n")
    (failure,) = (event["log_failure"] for event in logged if "log_failure" in event)
    assert failure.check(ZeroDivisionError)


def test_a_descriptor_that_did_not_arrive_is_logged(logged: list[LogEvent]) -> None:
    """The kernel has closed it for want of room."""
    ConnectionReceiver(reactor, Speakers()).adopt(
        HandedConnection(peer=("192.0.2.1", 1), data=b""), None
    )
    (event,) = logged
    assert "too many open files" in str(event["log_format"])
