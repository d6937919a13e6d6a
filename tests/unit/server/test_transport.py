"""Connections that send at once, over real sockets: order, ends, producers, moving house.

Clients are plain sockets that block in a thread, so that the kernel is between both sides.
"""

import random
import socket
from collections.abc import AsyncIterator, Callable
from typing import cast

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionAborted, ConnectionDone, ConnectionLost
from twisted.internet.interfaces import IHalfCloseableProtocol, IProtocolFactory, IPullProducer
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.internet.task import deferLater
from twisted.internet.tcp import Server
from twisted.internet.threads import deferToThread
from twisted.python.failure import Failure
from zope.interface import implementer

from reviewsd.server.listener import UNSENT, PublicPort, as_public_port
from reviewsd.server.transport import MAX_SEND_BYTES, DirectServer, connect, internet_address
from reviewsd.server.write_buffer import unacknowledged
from tests.support.outbound import reactor
from tests.support.waiting import until

BIG = random.Random(6).randbytes(30_000_000)


class Side(Protocol):
    """The server's end: notes what happens."""

    def __init__(self) -> None:
        self.came = b""
        self.heard: Callable[[bytes], None] = lambda _data: None
        self.first: Deferred[None] | None = Deferred()
        self.lost: Deferred[type | None] = Deferred()

    @property
    def wire(self) -> DirectServer:
        assert isinstance(self.transport, DirectServer)
        return self.transport

    def dataReceived(self, data: bytes) -> None:
        self.came += data
        self.heard(data)
        if self.first is not None:
            first, self.first = self.first, None
            first.callback(None)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.lost.callback(reason.type)


class Ends(Factory):
    """Keeps the server's ends in the order of their coming."""

    noisy = False

    def __init__(self) -> None:
        self.sides: list[Side] = []
        self.make: Callable[[], Side] = Side
        self.wanted = True

    def buildProtocol(self, _addr: object) -> Side | None:
        if not self.wanted:
            return None
        side = self.make()
        self.sides.append(side)
        return side

    def abort(self) -> None:
        for side in self.sides:
            if isinstance(side.transport, DirectServer):
                side.transport.abortConnection()


class Harness:
    """A house with a door, and the clients that have come to it."""

    def __init__(self, interface: str) -> None:
        self.ends = Ends()
        listening = reactor.listenTCP(0, self.ends, interface=interface)
        self.port: PublicPort = as_public_port(listening)
        self.clients: list[socket.socket] = []

    async def meet(self) -> tuple[Side, socket.socket]:
        """A new connection, both ends; the client has said a question mark."""
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
    """Let the reactor go round."""
    await deferLater(reactor, 0)
    await deferLater(reactor, 0.01)


def drained(client: socket.socket) -> bytes:
    """All that comes until the end; blocks."""
    got = bytearray()
    while data := client.recv(262_144):
        got += data
    return bytes(got)


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def harness() -> AsyncIterator[Harness]:
    made = Harness("127.0.0.1")
    yield made
    await made.close()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_small_bytes_are_with_the_kernel_when_send_returns(harness: Harness) -> None:
    side, client = await harness.meet()
    side.wire.send(b"head", memoryview(b"body"))
    side.wire.send(b"alone")
    side.wire.send(b"", b"")
    assert (0, b"headbodyalone") == (side.wire.pending, client.recv(100))
    assert side.wire not in reactor.getWriters()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_slow_reader_gets_30_megabytes_byte_for_byte(harness: Harness) -> None:
    side, client = await harness.meet()
    side.wire.send(b"head", memoryview(BIG), b"", b"tail")
    assert side.wire.pending > len(BIG) - 8 * MAX_SEND_BYTES
    side.wire.loseConnection()
    assert b"head" + BIG + b"tail" == await deferToThread(drained, client)
    assert ConnectionDone is await side.lost


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_waits_is_a_view_and_is_let_go_when_the_connection_ends(
    harness: Harness,
) -> None:
    side, _ = await harness.meet()
    kept = bytearray(BIG)
    side.wire.send(memoryview(kept))
    with pytest.raises(BufferError):
        kept.append(0)
    side.wire.abortConnection()
    await side.lost
    kept.append(0)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_send_and_write_keep_their_order_in_any_mixture(harness: Harness) -> None:
    side, client = await harness.meet()
    dice = random.Random(7)
    expected = b""
    for _ in range(60):
        begin, size = dice.randrange(10**6), dice.choice([0, 1, 100, 70_000, 400_000])
        parts = [BIG[begin : begin + size], BIG[begin : begin + 10]]
        dice.choice(
            [
                lambda parts=parts: side.wire.send(*[memoryview(part) for part in parts]),
                lambda parts=parts: side.wire.writeSequence(parts),
                lambda parts=parts: [side.wire.write(part) for part in parts],
            ]
        )()
        expected += b"".join(parts)
        if dice.random() < 0.3:
            await turn()
    side.wire.loseConnection()
    assert expected == await deferToThread(drained, client)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_more_parts_than_one_call_may_have_are_sent(harness: Harness) -> None:
    side, client = await harness.meet()
    parts = [b"%05d" % number for number in range(3_000)]
    side.wire.send(*parts)
    assert 15_000 == side.wire.pending
    side.wire.loseConnection()
    assert b"".join(parts) == await deferToThread(drained, client)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_pending_counts_what_was_sent_and_what_was_written(harness: Harness) -> None:
    side, _ = await harness.meet()
    side.wire.write(b"12345")
    assert 5 == side.wire.pending
    side.wire.send(memoryview(b"678"))
    side.wire.write(b"9")
    assert 9 == side.wire.pending
    await until(lambda: not side.wire.pending)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_peer_that_has_reset_is_reported_later(harness: Harness) -> None:
    side, client = await harness.meet()
    side.wire.pauseProducing()
    reset(client)
    await turn()
    side.wire.send(b"a")
    side.wire.send(b"b")
    assert not side.lost.called
    assert ConnectionLost is await side.lost
    side.wire.send(b"c")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_reset_while_bytes_wait_ends_the_connection(harness: Harness) -> None:
    side, client = await harness.meet()
    side.wire.pauseProducing()
    side.wire.send(memoryview(BIG))
    reset(client)
    assert ConnectionLost is await side.lost


def reset(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    client.close()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_connection_that_is_answered_and_closed_ends_at_once(harness: Harness) -> None:
    """Without a turn of the reactor, but after the protocol has returned."""
    side, client = await harness.meet()
    states = []

    def answer(_data: bytes) -> None:
        side.wire.send(b"bye")
        side.wire.loseConnection()
        side.wire.send(b"!")  # which Twisted's write may also do
        states.append(side.lost.called)

    side.heard = answer
    client.send(b"?")
    side.wire.doRead()
    assert [False, True] == [*states, side.lost.called]
    assert b"bye!" == drained(client)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_connection_with_bytes_to_send_closes_after_them(harness: Harness) -> None:
    side, client = await harness.meet()

    def answer(_data: bytes) -> None:
        side.wire.loseConnection()
        side.wire.send(memoryview(BIG))

    side.heard = answer
    client.send(b"?")
    assert BIG == await deferToThread(drained, client)
    assert ConnectionDone is await side.lost


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("inside", [True, False])
async def test_abort_drops_what_waits(harness: Harness, *, inside: bool) -> None:
    side, client = await harness.meet()

    def answer(_data: bytes) -> None:
        side.wire.send(memoryview(BIG))
        side.wire.loseConnection()
        side.wire.abortConnection()

    if inside:
        side.heard = answer
        client.send(b"?")
    else:
        answer(b"")
    assert ConnectionAborted is await side.lost
    with pytest.raises(ConnectionResetError):
        await deferToThread(drained, client)


@implementer(IHalfCloseableProtocol)
class HalfSide(Side):
    """A server's end that goes on listening when it has said all."""

    ends = ""

    def readConnectionLost(self) -> None:
        self.ends += "r"
        self.wire.loseConnection()

    def writeConnectionLost(self) -> None:
        self.ends += "w"


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_half_a_close_comes_after_what_waits_and_leaves_the_other_half(
    harness: Harness,
) -> None:
    harness.ends.make = HalfSide
    side, client = await harness.meet()
    side.wire.send(memoryview(BIG))
    side.wire.loseWriteConnection()
    assert BIG == await deferToThread(drained, client)
    client.send(b"more")
    await until(lambda: side.came == b"?more")
    side.wire.send(b"too late")
    client.close()
    await side.lost
    assert "wr" == cast("HalfSide", side).ends


@implementer(IPullProducer)
class Pulled:
    """Gives its pieces when asked, one at a time."""

    def __init__(self, wire: DirectServer, pieces: list[bytes], say: str) -> None:
        self.pieces, self.wire, self.say = pieces, wire, say
        self.stopped = False
        wire.registerProducer(self, False)  # noqa: FBT003  pulled, not streaming

    def resumeProducing(self) -> None:
        if self.pieces:
            getattr(self.wire, self.say)(self.pieces.pop(0))
        else:
            self.wire.unregisterProducer()
            self.wire.loseConnection()

    def stopProducing(self) -> None:
        self.stopped = True


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("say", ["send", "write"])
async def test_a_pull_producer_is_asked_until_it_has_no_more(harness: Harness, say: str) -> None:
    side, client = await harness.meet()
    Pulled(side.wire, [BIG[at : at + 65_536] for at in range(0, 3_000_000, 65_536)], say)
    assert BIG[: 46 * 65_536] == await deferToThread(drained, client)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_the_kernel_takes_little_for_a_client_that_does_not_read(harness: Harness) -> None:
    """It would take megabytes, of memory that counts as the service's."""
    side, _ = await harness.meet()
    side.wire.send(memoryview(BIG))
    await turn()
    assert 0 < unacknowledged(side.wire) < 2 * UNSENT


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("size", [1_000, len(BIG)], ids=["a little", "much"])
async def test_a_push_producer_is_paused_while_anything_waits(harness: Harness, size: int) -> None:
    """So nothing is put behind what a client has not taken."""
    side, client = await harness.meet()
    calls = []

    class Pushing(Protocol):
        def pauseProducing(self) -> None:
            calls.append("pause")

        def resumeProducing(self) -> None:
            calls.append("resume")

        def stopProducing(self) -> None:
            calls.append("stop")

    side.wire.registerProducer(Pushing(), True)  # noqa: FBT003  pushes
    sent = 0
    while not side.wire.pending:
        assert [] == calls
        side.wire.send(memoryview(BIG)[sent : sent + size])
        sent += size
    assert ["pause"] == calls
    reading = deferToThread(drained, client)
    await until(lambda: calls == ["pause", "resume"])
    side.wire.unregisterProducer()
    side.wire.loseConnection()
    assert BIG[:sent] == await reading


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_connection_that_the_factory_does_not_want_is_closed(harness: Harness) -> None:
    ends = Ends()
    ends.wanted = False
    near, far = socket.socketpair()
    with far:
        made = connect(reactor, cast("IProtocolFactory", ends), near, IPv4Address("TCP", "a", 1))
        assert (None, b"") == (made, far.recv(1))


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_connection_whose_protocol_fails_is_closed() -> None:
    class Failing(Side):
        def connectionMade(self) -> None:
            raise ValueError

    ends = Ends()
    ends.make = Failing
    near, far = socket.socketpair()
    with far:
        with pytest.raises(ValueError, match=r"^$"):
            connect(reactor, ends, near, IPv4Address("TCP", "a", 1))
        await ends.sides[0].lost
        assert b"" == far.recv(1)


def test_a_connection_for_which_no_protocol_can_be_made_is_closed() -> None:
    def fail() -> Side:
        raise ValueError

    ends = Ends()
    ends.make = fail
    near, far = socket.socketpair()
    with far:
        with pytest.raises(ValueError, match=r"^$"):
            connect(reactor, ends, near, IPv4Address("TCP", "a", 1))
        assert b"" == far.recv(1)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_ipv6_peers_and_hosts_are_told_as_such() -> None:
    harness = Harness("::1")
    side, client = await harness.meet()
    host, port, *_ = client.getsockname()
    assert IPv6Address("TCP", host, port) == side.wire.getPeer()
    assert IPv6Address("TCP", *client.getpeername()) == side.wire.getHost()
    await harness.close()


def test_a_zone_is_part_of_the_text_of_an_ipv6_address() -> None:
    scope = socket.if_nametoindex("lo")
    assert IPv6Address("TCP", "fe80::1%lo", 1, 0, scope) == internet_address(
        ("fe80::1", 1, 0, scope)
    )


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_the_names_of_twisted_that_this_relies_on_are_there(harness: Harness) -> None:
    side, _ = await harness.meet()
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
