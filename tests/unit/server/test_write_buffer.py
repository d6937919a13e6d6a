"""The write buffer through TLS and wrappers, and the pace of clients."""

import functools
import hashlib
import socket
import time
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet import reactor
from twisted.internet.abstract import FileDescriptor
from twisted.internet.address import IPv4Address
from twisted.internet.defer import maybeDeferred
from twisted.internet.endpoints import serverFromString
from twisted.internet.interfaces import (
    IHalfCloseableDescriptor,
    IListeningPort,
    IPushProducer,
    ISSLTransport,
    ITransport,
)
from twisted.internet.posixbase import PosixReactorBase
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.internet.threads import deferToThread
from twisted.protocols.policies import ProtocolWrapper, WrappingFactory
from zope.interface import directlyProvides, implementer

from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response
from reviewsd.server.connection import ClientConnection
from reviewsd.server.listener import as_public_port
from reviewsd.server.pace import DRAIN_WINDOW
from reviewsd.server.transport import DirectServer
from reviewsd.server.write_buffer import PIECE, ChunkedWriter, unacknowledged, write_buffer_for
from tests.support.authority import authority, client_context
from tests.support.connections import REPLIES, FakeRoutes, open_connections, public_server

REACTOR = cast("PosixReactorBase", reactor)
SIZE = 30_000_000
MEMORY = 2_000_000
"""Bytes of memory that a response of 30 MB may take."""


@functools.cache
def large_body() -> bytes:
    """Return the 30 MB; only the worker that runs these tests makes them."""
    return hashlib.shake_128(b"reviews").digest(SIZE)


@implementer(IPushProducer)
class RecordingProducer:
    """Records how it is called, in place of a connection."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def pauseProducing(self) -> None:
        self.calls.append("pause")

    def resumeProducing(self) -> None:
        self.calls.append("resume")

    def stopProducing(self) -> None:
        self.calls.append("stop")


class Transport(StringTransport):
    """A transport that is full after a number of bytes, and records its pieces."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.pieces: list[bytes] = []
        self.half_closed = False
        self._room = self._free = room

    def write(self, data: bytes) -> None:
        super().write(data)
        self.pieces.append(data)
        self._free -= len(data)
        if self._free <= 0 and self.producer is not None:
            self.producer.pauseProducing()

    def drain(self) -> None:
        """Send all bytes."""
        self._free = self._room
        assert self.producer is not None
        self.producer.resumeProducing()

    def loseWriteConnection(self) -> None:
        self.half_closed = True


def pieces(room: int = 10**9) -> tuple[ChunkedWriter, Transport, list[str]]:
    transport, producer = Transport(room), RecordingProducer()
    out = write_buffer_for(cast("ITransport", transport), producer)
    assert isinstance(out, ChunkedWriter)
    return out, transport, producer.calls


def test_large_body_is_written_in_pieces() -> None:
    out, transport, calls = pieces()
    body = bytes(range(256)) * 1_000
    out.send(b"head", memoryview(body), b"tail")
    assert b"head" + body + b"tail" == transport.value()
    assert all(len(piece) < 2 * PIECE for piece in transport.pieces)
    assert [] == calls


def test_connection_is_paused_once_while_bytes_are_unsent() -> None:
    out, transport, calls = pieces(room=1)
    out.send(b"a")
    transport.drain()
    assert [] == calls, "all bytes are written"
    out.send(b"b")
    out.send(b"c")
    out.send(b"d", b"e")
    assert (["pause"], b"ab", 3) == (calls, transport.value(), out.pending)
    transport.drain()

    assert (["pause", "resume"], b"abcde") == (calls, transport.value())


def test_writer_closes_when_all_is_sent() -> None:
    out, transport, calls = pieces(room=PIECE)
    out.send(bytes(3 * PIECE))
    out.end(lingering=False)
    assert not transport.disconnecting
    transport.drain()
    transport.drain()

    assert transport.disconnecting
    assert 3 * PIECE == len(transport.value())
    assert transport.producer is None
    assert ["pause"] == calls


@pytest.mark.parametrize(
    ("provided", "half"),
    [
        ((), False),
        ((IHalfCloseableDescriptor,), True),
        ((IHalfCloseableDescriptor, ISSLTransport), False),
    ],
)
def test_lingering_end_half_closes_if_it_can(provided: tuple[type, ...], *, half: bool) -> None:
    """TLS ends with an alert of its own, and waits for that of the client."""
    out, transport, _ = pieces()
    directlyProvides(transport, *provided)
    out.send(b"a")
    out.end(lingering=True)
    assert (half, not half) == (transport.half_closed, transport.disconnecting)


def test_lost_connection_drops_its_bytes() -> None:
    out, transport, calls = pieces(room=1)
    out.send(b"a")
    out.send(bytes(9))
    out.stopProducing()
    out.send(b"b")
    out.end(lingering=False)
    assert b"a" == transport.value()
    assert ["pause"] == calls


def test_bytes_below_a_wrapper_are_pending() -> None:
    class Below(Transport):
        pending = 7

    wrapper = ProtocolWrapper(WrappingFactory(Factory()), Protocol())
    wrapper.makeConnection(Below(room=1))
    out = ChunkedWriter(cast("FileDescriptor", wrapper), RecordingProducer())
    out.send(b"a")
    out.send(b"bc")

    assert 7 + 2 == out.pending


@given(
    sends=st.lists(st.lists(st.binary(max_size=9).map(lambda part: part * 9_000), max_size=3)),
    room=st.integers(1, 100_000),
)
def test_all_bytes_are_written_once_and_in_order(sends: list[list[bytes]], room: int) -> None:
    out, transport, calls = pieces(room)
    for parts in sends:
        out.send(*parts)
    out.end(lingering=False)
    while not transport.disconnecting:
        transport.drain()
    assert b"".join(b"".join(parts) for parts in sends) == transport.value()
    assert calls in ([], ["pause"])


# Real sockets -------------------------------------------------------------------------------------


class Large(FakeRoutes):
    """Answers each request with the same large body."""

    def respond_by_path(self, request: Request) -> Response:
        self.requests.append(request)
        return Response(200, b"Content-Length: %d\r\n" % SIZE, (memoryview(large_body()),))


class Harness:
    """A server with a fake clock and real ports."""

    def __init__(self) -> None:
        self.clock = Clock()
        routes = Large()
        self.server = public_server(routes, REPLIES, self.clock)
        self.ports: list[IListeningPort] = []

    async def listen(self, endpoint: str) -> int:
        port = await serverFromString(reactor, endpoint).listen(self.server)
        self.ports.append(as_public_port(port))
        return cast("IPv4Address", port.getHost()).port

    async def close(self) -> None:
        for port in self.ports:
            await maybeDeferred(port.stopListening)
        await self.server.connections.drain()


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def harness() -> AsyncIterator[Harness]:
    harness = Harness()
    yield harness
    await harness.close()
    assert [] == harness.clock.getDelayedCalls()


ASK = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


def connected(port: int) -> socket.socket:
    """Return a client with a small receive buffer."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    client.settimeout(20)
    client.connect(("127.0.0.1", port))
    return client


def begun(port: int, *, tls: bool = False) -> socket.socket:
    """Return a client that has got the begin of a response; blocks."""
    client = connected(port)
    if tls:
        client = client_context().wrap_socket(client, server_hostname="localhost")
    client.sendall(ASK)
    client.recv(1_000)
    return client


# Twisted 26.10 gives pyOpenSSL its own kind of certificates when an endpoint's string names them
TLS = pytest.mark.filterwarnings("ignore:Passing pyOpenSSL (X509|PKey) objects:DeprecationWarning")


@TLS
async def test_large_tls_response_takes_little_memory(harness: Harness, tmp_path: Path) -> None:
    pem = authority().issue("localhost").write_with_key(tmp_path / "server.pem")
    port = await harness.listen(f"ssl:0:interface=127.0.0.1:privateKey={pem}:certKey={pem}")

    def read() -> tuple[bytes, int, str]:
        """Return the head, and the size and digest of the body, which must end with an alert of TLS."""
        digest, size, head = hashlib.sha256(), 0, b""
        context = client_context()
        with context.wrap_socket(
            connected(port), server_hostname="localhost", suppress_ragged_eofs=False
        ) as client:
            client.sendall(ASK)
            while not head.endswith(b"\r\n\r\n"):
                head += client.recv(1)
            while piece := client.recv(65_536):
                if size < SIZE // 10:
                    time.sleep(0.005)  # far slower than it could be sent
                size += len(piece)
                digest.update(piece)
        return head, size, digest.hexdigest()

    large_body()  # not counted
    tracemalloc.start()
    try:
        head, size, digest = await deferToThread(read)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert (SIZE, hashlib.sha256(large_body()).hexdigest()) == (size, digest)
    assert peak < MEMORY


@TLS
@pytest.mark.parametrize("tls", [False, True], ids=["TCP", "TLS"])
async def test_steady_slow_reader_is_kept_while_the_kernel_takes_nothing(
    harness: Harness, tmp_path: Path, *, tls: bool
) -> None:
    """The kernel has megabytes, and takes more only when a third of them is sent."""
    pem = authority().issue("localhost").write_with_key(tmp_path / "server.pem")
    endpoint = f"ssl:0:interface=127.0.0.1:privateKey={pem}:certKey={pem}"
    port = await harness.listen(endpoint if tls else "tcp:0:interface=127.0.0.1")

    client: socket.socket = await deferToThread(begun, port, tls=tls)
    with client:
        (connection,) = open_connections(harness.server)
        for _ in range(8):
            await deferToThread(_read, client, 200_000)  # in 10 s
            await settled(connection)
            harness.clock.advance(DRAIN_WINDOW)
            await deferToThread(time.sleep, 0.01)
            assert {connection} == harness.server.connections.open
        assert isinstance(connection.transport, DirectServer) is not tls
        assert unacknowledged(cast("ITransport", connection.transport)) > 0
        for _ in range(5):  # the kernel may still take something in the first of these windows
            harness.clock.advance(DRAIN_WINDOW)
            await deferToThread(time.sleep, 0.05)
        assert set() == harness.server.connections.open


async def settled(connection: ClientConnection) -> None:
    """Wait until the kernel has sent what it can."""
    before = -1
    while before != (now := unacknowledged(cast("ITransport", connection.transport))):
        before = now
        await deferToThread(time.sleep, 0.1)


def _read(client: socket.socket, size: int) -> None:
    while size > 0:
        size -= len(client.recv(min(size, 65_536)))


def test_transport_without_a_socket_has_no_unacknowledged_bytes() -> None:
    assert 0 == unacknowledged(cast("ITransport", StringTransport()))
