"""The bytes that go over the wire, and which part of a response counts (W6, W14 to W16, E12, H6, H12)."""

import hashlib
import mmap
import random
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from OpenSSL import SSL
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.internet.task import Clock, deferLater
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure

from reviewsd.domain.callback import parse_stored
from reviewsd.http1.representation import Buffer
from reviewsd.runtime.turns import TurnQueue
from reviewsd.websub.outbound.client import PIECE
from reviewsd.websub.outbound.connection import Connection
from reviewsd.websub.outbound.response_parser import NoResponseError, ResponseParser
from reviewsd.websub.outbound.tls import Tls
from tests.support.authority import authority
from tests.support.callback_process import sink
from tests.support.callbacks import HOST, Server, serving
from tests.support.hostile import cost
from tests.support.outbound import Missing, Outcome, Received, free_slot, reactor, sending

CHALLENGE = "hub.challenge=Zm9v-_"
CONFIRMED = Received(200, b"Zm9v-_", None, HOST)
ACCEPTED = Received(200, b"", None, HOST)


@pytest.fixture
def ca_file(tmp_path: Path) -> Path:
    return authority().identity.write(tmp_path / "ca.pem")


async def verify(ca_file: Path, url: str) -> Outcome:
    async with sending(ca_file) as sender:
        return await sender.verify(parse_stored(url).with_parameters(CHALLENGE).url)


async def deliver(
    ca_file: Path, url: str, body: Buffer = b"{}", headers: bytes = b"", seconds: float = 5
) -> Outcome:
    async with sending(ca_file) as sender:
        return await sender.deliver(url, body, headers=headers, seconds=seconds)


# Requests -----------------------------------------------------------------------------------------


async def test_verification_has_these_bytes(ca_file: Path) -> None:
    async with serving() as server:
        assert CONFIRMED == await verify(ca_file, server.url("/cb?a=b"))

        [request] = server.received
        assert (
            b"GET /cb?a=b&hub.challenge=Zm9v-_ HTTP/1.1\r\n"
            b"Host: 127.0.0.1:%d\r\n"
            b"User-Agent: reviewsd/0 (+https://reviews.example/; WebSub hub)\r\n"
            b"Accept-Encoding: identity\r\n"
            b"Connection: close\r\n\r\n" % server.port
        ) == request.head


async def test_delivery_has_these_bytes(ca_file: Path) -> None:
    headers = (
        b"Content-Type: application/feed+json\r\n"
        b"Content-Length: 6\r\n"
        b'Link: <https://r.example/f>; rel="self", <https://r.example/hub>; rel="hub"\r\n'
        b'ETag: "abc"\r\n'
        b"X-Hub-Signature: sha256=00ff\r\n"
    )
    async with serving() as server:
        body = memoryview(b"xfoobarx")[1:7]
        url = server.url("/cb?a=b", "localhost")
        assert ACCEPTED == await deliver(ca_file, url, body, headers)

        [request] = server.received
        assert b"foobar" == request.body
        assert (
            b"POST /cb?a=b HTTP/1.1\r\n"
            b"Host: localhost:%d\r\n"
            b"%b"
            b"User-Agent: reviewsd/0 (+https://reviews.example/; WebSub hub)\r\n"
            b"Accept-Encoding: identity\r\n"
            b"\r\n" % (server.port, headers)
        ) == request.head


@pytest.mark.parametrize(
    "target",
    ["/", "/cb?", "/cb??", "/cb?&", "//a/../b/./c;d", "/%2F%2f%C3%A4?%20+&x=1&x=2&a&=b&hub.mode=x"],
)
async def test_path_and_query_arrive_byte_for_byte(ca_file: Path, target: str) -> None:
    """hyperlink, inside of treq, would change four of these (W6, W7)."""
    async with serving() as server:
        await deliver(ca_file, server.url(target))
        await verify(ca_file, server.url(target))
        joint = "" if target.endswith("?") and target.count("?") == 1 else "?&"["?" in target]
        assert [target, f"{target}{joint}{CHALLENGE}"] == [
            request.target for request in server.received
        ]


async def test_ipv6_literal_is_called(ca_file: Path) -> None:
    """hyperlink refuses it (F4)."""
    if not socket.has_ipv6:
        pytest.skip("no IPv6")
    server = Server()
    server.listen("::1")
    try:
        outcome = await verify(ca_file, server.url("/", "[::1]"))
        assert Received(200, b"Zm9v-_", None, "::1") == outcome
        assert f"[::1]:{server.port}" == server.received[0].field("Host")
    finally:
        await server.stop()


# Large bodies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [0, 1, PIECE - 1, PIECE, PIECE + 1, 5 * PIECE + 1])
async def test_body_of_any_length_arrives_whole(ca_file: Path, length: int) -> None:
    body = hashlib.shake_128(b"seed").digest(length)
    async with serving() as server:
        assert ACCEPTED == await deliver(ca_file, server.url(), body)
        assert body == server.received[0].body


async def test_mapped_file_is_sent_in_little_memory(ca_file: Path) -> None:
    length = 50_000_000
    with tempfile.TemporaryFile() as file:
        file.truncate(length)
        body = memoryview(mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ))
        with sink(ca_file.parent) as port:
            url = f"https://{HOST}:{port}/"
            result = await cost(ca_file, lambda sender: sender.deliver(url, body, seconds=30))
    assert ACCEPTED == result.outcome
    assert result.megabytes - length / 1_000_000 < 10  # pages of the file count as memory


# Responses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/", "/chunked", "/until-closed", "/interim", "/cookie", "/wordier"]
)
async def test_challenge_may_come_in_any_framing(ca_file: Path, path: str) -> None:
    async with serving() as server:
        assert CONFIRMED == await verify(ca_file, server.url(path))


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/leave", "the connection was closed before it answered"),
        ("/reset", "the connection was lost before it answered"),
        ("/garbage", "TLS: record layer failure"),
    ],
)
async def test_missing_response_has_a_reason(ca_file: Path, path: str, reason: str) -> None:
    async with serving() as server:
        for outcome in (
            await verify(ca_file, server.url(path)),
            await deliver(ca_file, server.url(path)),
        ):
            assert Missing(reason, HOST) == outcome


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (lambda transport: transport.loseConnection(), "closed during the TLS handshake"),
        (lambda transport: transport.abortConnection(), "lost during the TLS handshake"),
        (lambda transport: transport.write(b"SSH-2.0\r\n"), "TLS: wrong version number"),
    ],
)
async def test_failed_handshake_has_a_reason(
    ca_file: Path, end: Callable[[Any], None], reason: str
) -> None:
    async with serving(mute=True) as server:

        def end_all() -> None:
            for conversation in server.open:
                end(conversation.transport)
            if not server.connections:  # yet
                reactor.callLater(0.01, end_all)

        end_all()
        outcome = await verify(ca_file, server.url())
        assert isinstance(outcome, Missing)
        assert outcome.reason.endswith(reason)


class Wire(StringTransport):
    """A transport in memory, with the methods that a socket has besides."""

    lost = False

    def setTcpNoDelay(self, *, enabled: bool) -> None:
        pass

    def writeSomeData(self, data: bytes) -> int:
        assert not self.lost, "a lost transport has no socket any more"
        self.write(data)
        return len(data)


def connecting(clock: Clock, ca_file: Path) -> Connection:
    return Connection(
        clock,
        TurnQueue(clock),
        Tls(clock, ca_file),
        parse_stored("https://127.0.0.1/"),
        HOST,
        131_072,
        45.0,
        lambda _: None,
    )


Result = ResponseParser | Failure


def send(connection: Connection, results: list[Result]) -> None:
    """Send a request, and read the head of the response."""
    connection.exchange(iter([b"x"]), None).addBoth(results.append)


def reasons(results: Sequence[Result]) -> list[tuple[str, bool]]:
    """Return the errors among the results."""
    errors = [result.value for result in results if isinstance(result, Failure)]
    return [(error.reason, error.begun) for error in errors if isinstance(error, NoResponseError)]


@pytest.mark.parametrize("pieces", [1, 7])
def test_alert_is_read_when_the_connection_ends_with_it(ca_file: Path, pieces: int) -> None:
    """Both may arrive in one turn of the reactor, before the handshake has its own."""
    clock = Clock()
    results: list[Result] = []
    connection = connecting(clock, ca_file)
    send(connection, results)
    connection.makeConnection(Wire())
    clock.advance(0)

    alert = b"\x15\x03\x03\x00\x02\x02\x70"  # fatal, unrecognized_name
    length = len(alert) // pieces
    for start in range(0, len(alert), length):
        connection.dataReceived(alert[start : start + length])
    connection.connectionLost(Failure(ConnectionDone()))
    clock.advance(0)

    [(reason, _)] = reasons(results)
    assert "unrecognized name" in reason
    assert [] == clock.getDelayedCalls()


def test_handshake_on_a_lost_connection_writes_no_more(ca_file: Path) -> None:
    clock = Clock()
    results: list[Result] = []
    connection, wire = connecting(clock, ca_file), Wire()
    send(connection, results)
    connection.makeConnection(wire)
    clock.advance(0)

    connection.dataReceived(flight(wire.value()))
    wire.lost = True
    connection.connectionLost(Failure(ConnectionLost()))
    clock.advance(0)

    assert [("the connection was lost before it answered", False)] == reasons(results)
    assert [] == clock.getDelayedCalls()


def flight(hello: bytes) -> bytes:
    """Return all that a server sends before the client must send more (RFC 8446 2)."""
    server = server_side(SSL.TLS1_3_VERSION)
    server.bio_write(hello)
    with suppress(SSL.WantReadError):
        server.do_handshake()
    return server.bio_read(65_536)


def server_side(version: int) -> SSL.Connection:
    identity = authority().issue(HOST)
    context = SSL.Context(SSL.TLS_SERVER_METHOD)
    context.use_certificate(identity.certificate)
    context.use_privatekey(identity.key)
    context.set_max_proto_version(version)
    server = SSL.Connection(context, None)
    server.set_accept_state()
    return server


RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nnot asked"
VERSIONS = {"TLS 1.2": SSL.TLS1_2_VERSION, "TLS 1.3": SSL.TLS1_3_VERSION}


class Session:
    """A connection after its handshake, and its server, both in memory."""

    def __init__(self, ca_file: Path, version: int) -> None:
        self.clock = Clock()
        self.client, self.wire = connecting(self.clock, ca_file), Wire()
        self.server = server_side(version)
        self.results: list[Result] = []
        send(self.client, self.results)
        self.client.makeConnection(self.wire)
        for _ in range(3):
            self.clock.advance(0)
            self._read()
            with suppress(SSL.WantReadError):
                self.server.do_handshake()
            with suppress(SSL.WantReadError):
                self.client.dataReceived(self.server.bio_read(65_536))
        self.respond([RESPONSE], [])

    def _read(self) -> None:
        if self.wire.value():
            self.server.bio_write(self.wire.value())
            self.wire.clear()

    def send(self) -> None:
        """Send another request on the same connection."""
        send(self.client, self.results)
        self.clock.advance(0)
        self._read()

    def respond(self, records: list[bytes], cuts: list[int]) -> None:
        """Send a response in several records, and have the network cut it."""
        for record in records:
            self.server.sendall(record)
        data = self.server.bio_read(65_536)
        places = sorted({0, *(cut % len(data) for cut in cuts), len(data)})
        for begin, end in pairwise(places):
            self.client.dataReceived(data[begin:end])
            self.clock.advance(0)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("seed", range(20))
def test_response_is_read_whole_in_any_pieces(ca_file: Path, version: str, seed: int) -> None:
    """TLS records, and those of the network: OpenSSL is asked for as long as it may hold more."""
    draw = random.Random(seed)
    session = Session(ca_file, VERSIONS[version])
    for _ in range(3):
        splits = draw.sample(range(1, len(RESPONSE)), draw.randrange(4))
        places = sorted({0, *splits, len(RESPONSE)})
        session.send()
        records = [RESPONSE[begin:end] for begin, end in pairwise(places)]
        session.respond(records, draw.sample(range(999), draw.randrange(5)))

    heads = [result.head for result in session.results if isinstance(result, ResponseParser)]
    assert [200] * 4 == [head.status for head in heads if head is not None]
    assert session.client.is_ready
    session.client.abort()


def test_close_notify_with_the_response_is_read(ca_file: Path) -> None:
    session = Session(ca_file, SSL.TLS1_3_VERSION)
    session.send()
    session.server.sendall(RESPONSE)
    session.server.shutdown()
    session.client.dataReceived(session.server.bio_read(65_536))
    assert 2 == len(session.results)
    assert not session.client.is_reusable


def test_closed_connection_has_accepted_all_bytes(ca_file: Path) -> None:
    """Its slot may be checked while the host is resolved for another connection."""
    session = Session(ca_file, SSL.TLS1_3_VERSION)
    assert 0 < session.client.bytes_written
    session.client.connectionLost(Failure(ConnectionLost()))
    assert not session.client.has_work
    assert session.client.bytes_written == session.client.bytes_accepted()


# Before all is sent -------------------------------------------------------------------------------

LARGE = bytes(30_000_000)  # more than the kernel accepts


async def test_success_counts_only_once_all_is_sent(ca_file: Path) -> None:
    """A subscriber that has not read the content does not have it (E12)."""
    async with serving() as server:
        outcome = await deliver(ca_file, server.url("/early/200"), LARGE, seconds=0.5)
        assert Missing("no answer within 0.5 s", HOST) == outcome


async def test_success_counts_when_the_rest_is_read_later(ca_file: Path) -> None:
    async with serving() as server, sending(ca_file) as sender:
        url = server.url("/early/200")
        delivery = Deferred.fromCoroutine(sender.deliver(url, LARGE, seconds=20))
        await server.until_received(1)
        await deferLater(reactor, 0.1)
        server.resume()
        assert ACCEPTED == await delivery


async def test_refusal_counts_at_once_and_ends_the_request(ca_file: Path) -> None:
    async with serving() as server:
        outcome = await deliver(ca_file, server.url("/early/413"), LARGE)
        assert isinstance(outcome, Received)
        assert 413 == outcome.status
        await deferLater(reactor, 0)
        assert server.bytes_received < 30_000_000


# The pace of peers --------------------------------------------------------------------------------

SMALL_WINDOW = 16_384
PACED = 47  # SO_MAX_PACING_RATE


class Reader(threading.Thread):
    """A TLS server for one connection, which pauses between reads."""

    def __init__(self, directory: Path, pause: float) -> None:
        super().__init__()
        self._pause = pause
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(authority().issue(HOST).write_with_key(directory / "server"))
        self._listener = socket.socket()
        self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 1_400)  # as on a line
        if pause:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_WINDOW)
        self._listener.bind((HOST, 0))
        self._listener.listen()
        self.url = f"https://{HOST}:{self._listener.getsockname()[1]}/"
        self.enough = threading.Event()

    def run(self) -> None:
        connection, _ = self._listener.accept()
        with self._listener, self._context.wrap_socket(connection, server_side=True) as tls:
            while not self.enough.wait(self._pause):
                tls.recv(SMALL_WINDOW)


@pytest.mark.parametrize(
    ("pause", "line", "busy"),
    [(2.0, None, False), (0, 5_000, False), (0, 800_000, True)],
    ids=["reader", "loss", "line"],
)
async def test_slot_is_busy_while_its_peer_accepts_bytes(
    tmp_path: Path,
    ca_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    pause: float,
    line: int | None,
    *,
    busy: bool,
) -> None:
    """A stranger that reads slowly, or has packets dropped, would keep its place for long (H8)."""
    monkeypatch.setattr("reviewsd.websub.slots.PACE_SECONDS", 0.2)
    connection_made = Connection.connectionMade

    def behind_line(connection: Connection) -> None:
        if line:
            connection.transport.getHandle().setsockopt(socket.SOL_SOCKET, PACED, line)
        connection_made(connection)

    monkeypatch.setattr(Connection, "connectionMade", behind_line)
    reader, slot = Reader(tmp_path, pause), free_slot()
    reader.start()
    async with sending(ca_file) as sender:
        attempt = Deferred.fromCoroutine(
            sender.deliver(reader.url, bytes(8_000_000), seconds=30, slot=slot)
        )
        states = []
        for _ in range(16):
            await deferLater(reactor, 0.05)
            states.append(slot.has_progress(reactor.seconds()))
        reader.enough.set()
        await attempt
    reader.join()
    assert [busy] * 4 == states[-4:]
