"""Connections that send at once, over real sockets: order, ends, producers.

Clients are plain sockets that block in a thread, so that the kernel is between both sides.
"""

import functools
import random
import socket
from collections.abc import AsyncIterator, Callable
from typing import cast

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet.address import IPv6Address
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionAborted, ConnectionDone, ConnectionLost
from twisted.internet.interfaces import IHalfCloseableProtocol
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.internet.task import deferLater
from twisted.internet.tcp import Server
from twisted.internet.threads import deferToThread
from twisted.python.failure import Failure
from zope.interface import implementer

from reviewsd.server.listener import UNSENT, PublicPort, as_public_port
from reviewsd.server.transport import MAX_SEND_BYTES, DirectServer, internet_address
from reviewsd.server.write_buffer import unacknowledged
from tests.support.outbound import reactor
from tests.support.raw import reset
from tests.support.waiting import until

SIZE = 30_000_000


@functools.cache
def big() -> bytes:
    """Return 30 MB; only the worker that runs these tests makes them."""
    return random.Random(6).randbytes(SIZE)


class Side(Protocol):
    """The server's end, which records what happens."""

    def __init__(self) -> None:
        self.received = b""
        self.on_data: Callable[[bytes], None] = lambda _data: None
        self.first: Deferred[None] | None = Deferred()
        self.closed: Deferred[type | None] = Deferred()

    @property
    def wire(self) -> DirectServer:
        assert isinstance(self.transport, DirectServer)
        return self.transport

    def dataReceived(self, data: bytes) -> None:
        self.received += data
        self.on_data(data)
        if self.first is not None:
            first, self.first = self.first, None
            first.callback(None)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.closed.callback(reason.type)


class Ends(Factory):
    """Has the server's ends in the order in which they were accepted."""

    noisy = False

    def __init__(self) -> None:
        self.sides: list[Side] = []
        self.make: Callable[[], Side] = Side

    def buildProtocol(self, _addr: object) -> Side:
        side = self.make()
        self.sides.append(side)
        return side

    def abort(self) -> None:
        for side in self.sides:
            if isinstance(side.transport, DirectServer):
                side.transport.abortConnection()


class Harness:
    """A listening port and its clients."""

    def __init__(self, interface: str) -> None:
        self.ends = Ends()
        listening = reactor.listenTCP(0, self.ends, interface=interface)
        self.port: PublicPort = as_public_port(listening)
        self.clients: list[socket.socket] = []

    async def connect(self) -> tuple[Side, socket.socket]:
        """Return both ends of a new connection, on which the client has sent a question mark."""
        name = self.port.socket.getsockname()
        client = socket.socket(self.port.addressFamily)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        client.settimeout(10)
        self.clients.append(client)
        client.connect(name)
        client.send(b"?")
        await until(lambda: len(self.ends.sides) == len(self.clients))
        side = self.ends.sides[-1]
        if side.first is not None:
            await side.first
        return side, client

    async def close(self) -> None:
        await self.port.stopListening()
        self.ends.abort()
        for client in self.clients:
            client.close()
        await turn()


async def turn() -> None:
    """Wait for a turn of the reactor."""
    await deferLater(reactor, 0)
    await deferLater(reactor, 0.01)


def drained(client: socket.socket) -> bytes:
    """Return all bytes until the end; blocks."""
    received = bytearray()
    while data := client.recv(262_144):
        received += data
    return bytes(received)


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def harness() -> AsyncIterator[Harness]:
    harness = Harness("127.0.0.1")
    yield harness
    await harness.close()


async def test_send_passes_small_bytes_to_the_kernel_at_once(harness: Harness) -> None:
    side, client = await harness.connect()
    side.wire.send(b"head", memoryview(b"body"))
    side.wire.send(b"alone")
    side.wire.send(b"", b"")
    assert (0, b"headbodyalone") == (side.wire.pending, client.recv(100))
    assert side.wire not in reactor.getWriters()


async def test_slow_reader_gets_30_megabytes_unchanged(harness: Harness) -> None:
    side, client = await harness.connect()
    side.wire.send(b"head", memoryview(big()), b"", b"tail")
    assert side.wire.pending > SIZE - 8 * MAX_SEND_BYTES
    side.wire.loseConnection()
    assert b"head" + big() + b"tail" == await deferToThread(drained, client)
    assert ConnectionDone is await side.closed


async def test_unsent_bytes_are_views_until_the_connection_ends(harness: Harness) -> None:
    side, _ = await harness.connect()
    body = bytearray(big())
    side.wire.send(memoryview(body))
    with pytest.raises(BufferError):
        body.append(0)
    side.wire.abortConnection()
    await side.closed
    body.append(0)


async def test_more_parts_than_one_call_takes_are_sent(harness: Harness) -> None:
    side, client = await harness.connect()
    parts = [b"%05d" % number for number in range(3_000)]
    side.wire.send(*parts)
    assert 15_000 == side.wire.pending
    side.wire.loseConnection()
    assert b"".join(parts) == await deferToThread(drained, client)


async def test_reset_is_reported_in_a_later_turn(harness: Harness) -> None:
    side, client = await harness.connect()
    side.wire.pauseProducing()
    reset(client)
    await turn()
    side.wire.send(b"a")
    side.wire.send(b"b")
    assert not side.closed.called
    assert ConnectionLost is await side.closed
    side.wire.send(b"c")


async def test_reset_with_unsent_bytes_ends_the_connection(harness: Harness) -> None:
    side, client = await harness.connect()
    side.wire.pauseProducing()
    side.wire.send(memoryview(big()))
    reset(client)
    assert ConnectionLost is await side.closed


async def test_connection_closed_with_its_response_ends_at_once(harness: Harness) -> None:
    """It ends without a turn of the reactor, when the protocol has returned."""
    side, client = await harness.connect()
    states = []

    def answer(_data: bytes) -> None:
        side.wire.send(b"bye")
        side.wire.loseConnection()
        side.wire.send(b"!")  # which Twisted's write may also do
        states.append(side.closed.called)

    side.on_data = answer
    client.send(b"?")
    side.wire.doRead()
    assert [False, True] == [*states, side.closed.called]
    assert b"bye!" == drained(client)


async def test_connection_closes_after_its_unsent_bytes(harness: Harness) -> None:
    side, client = await harness.connect()

    def answer(_data: bytes) -> None:
        side.wire.loseConnection()
        side.wire.send(memoryview(big()))

    side.on_data = answer
    client.send(b"?")
    assert big() == await deferToThread(drained, client)
    assert ConnectionDone is await side.closed


@pytest.mark.parametrize("inside", [True, False])
async def test_abort_drops_unsent_bytes(harness: Harness, *, inside: bool) -> None:
    side, client = await harness.connect()

    def answer(_data: bytes) -> None:
        side.wire.send(memoryview(big()))
        side.wire.loseConnection()
        side.wire.abortConnection()

    if inside:
        side.on_data = answer
        client.send(b"?")
    else:
        answer(b"")
    assert ConnectionAborted is await side.closed
    with pytest.raises(ConnectionResetError):
        await deferToThread(drained, client)


@implementer(IHalfCloseableProtocol)
class HalfSide(Side):
    """A server's end that still reads when it has closed its side."""

    ends = ""

    def readConnectionLost(self) -> None:
        self.ends += "r"
        self.wire.loseConnection()

    def writeConnectionLost(self) -> None:
        self.ends += "w"


async def test_half_close_follows_unsent_bytes_and_reading_continues(harness: Harness) -> None:
    harness.ends.make = HalfSide
    side, client = await harness.connect()
    side.wire.send(memoryview(big()))
    side.wire.loseWriteConnection()
    assert big() == await deferToThread(drained, client)
    client.send(b"more")
    await until(lambda: side.received == b"?more")
    side.wire.send(b"too late")
    client.close()
    await side.closed
    assert "wr" == cast("HalfSide", side).ends


async def test_kernel_buffers_little_for_a_client_that_does_not_read(harness: Harness) -> None:
    """By default it would take megabytes, which count as memory of the service."""
    side, _ = await harness.connect()
    side.wire.send(memoryview(big()))
    await turn()
    assert 0 < unacknowledged(side.wire) < 2 * UNSENT


@pytest.mark.parametrize("size", [1_000, SIZE], ids=["a little", "much"])
async def test_push_producer_is_paused_while_bytes_are_unsent(harness: Harness, size: int) -> None:
    """No response is queued behind one that the client has not taken."""
    side, client = await harness.connect()
    calls = []

    class Pushing(Protocol):
        def pauseProducing(self) -> None:
            calls.append("pause")

        def resumeProducing(self) -> None:
            calls.append("resume")

        def stopProducing(self) -> None:
            calls.append("stop")

    side.wire.registerProducer(Pushing(), True)
    sent = 0
    while not side.wire.pending:
        assert [] == calls
        side.wire.send(memoryview(big())[sent : sent + size])
        sent += size
    assert ["pause"] == calls
    reading = deferToThread(drained, client)
    await until(lambda: calls == ["pause", "resume"])
    side.wire.unregisterProducer()
    side.wire.loseConnection()
    assert big()[:sent] == await reading


async def test_addresses_of_ipv6_have_their_type() -> None:
    harness = Harness("::1")
    side, client = await harness.connect()
    host, port, *_ = client.getsockname()
    assert IPv6Address("TCP", host, port) == side.wire.getPeer()
    assert IPv6Address("TCP", *client.getpeername()) == side.wire.getHost()
    await harness.close()


def test_zone_is_part_of_the_text_of_an_ipv6_address() -> None:
    scope = socket.if_nametoindex("lo")
    assert IPv6Address("TCP", "fe80::1%lo", 1, 0, scope) == internet_address(
        ("fe80::1", 1, 0, scope)
    )


async def test_attributes_of_twisted_that_are_relied_on_exist(harness: Harness) -> None:
    side, _ = await harness.connect()
    wire = side.wire
    plain = {"dataBuffer", "offset", "_tempDataBuffer", "_tempDataLen", "_aborting"}
    plain |= {"_writeDisconnected", "_isSendBufferFull", "_maybePauseProducer", "producer"}
    assert set() == plain - set(dir(Server)) - {"_tempDataBuffer", "_tempDataLen"}
    wire.write(b"abc")
    assert ([b"abc"], 3, b"", 0) == (
        wire._tempDataBuffer,
        wire._tempDataLen,
        wire.dataBuffer,
        wire.offset,
    )
    made_by_server = {"server", "client", "sessionno", "hostname", "logstr", "repstr"}
    near, far = socket.socketpair()
    with far, near:
        ordinary = Server(near, Side(), ("a", 1), harness.port, 0, reactor)
        ordinary.stopReading()
        assert made_by_server | {"_peer", "_unsent", "_wants_data", "_in_protocol"} >= (
            vars(ordinary).keys() ^ vars(wire).keys()
        )
