"""What goes over the wire, and what of the answer counts (W6, W14 to W16, E12, H6, H12)."""

import hashlib
import mmap
import random
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from OpenSSL import SSL
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.internet.task import Clock, deferLater
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure

from reviewsd.websub.outbound.connection import Connection
from reviewsd.websub.outbound.exchange import PIECE, Lost, OutboundRequest, OutboundResponse, Peer
from reviewsd.websub.outbound.fair_queue import FairQueue
from reviewsd.websub.outbound.outcomes import Answered, AttemptOutcome, Push, Unanswered
from reviewsd.websub.outbound.tls import Tls
from tests.support.authority import authority
from tests.support.callback_process import sink
from tests.support.callbacks import HOST, Server, serving
from tests.support.hostile import cost
from tests.support.outbound import callback, calling, free_slot, push, reactor

CHALLENGE = "hub.challenge=Zm9v-_"
CONFIRMED = Answered(status=200, headers={}, body=b"Zm9v-_", address=HOST)
ACCEPTED = Answered(status=200, headers={}, body=b"", address=HOST)


@pytest.fixture
def ca_file(tmp_path: Path) -> Path:
    return authority().identity.write(tmp_path / "ca.pem")


async def verify(ca_file: Path, url: str, seconds: float = 5) -> AttemptOutcome:
    async with calling(ca_file) as client:
        to = callback(url).adding(CHALLENGE)
        return await client.verify(to, timeout=seconds, slot=free_slot())


async def deliver(ca_file: Path, url: str, content: Push, seconds: float = 5) -> AttemptOutcome:
    async with calling(ca_file) as client:
        return await client.deliver(callback(url), content, timeout=seconds, slot=free_slot())


# Requests -----------------------------------------------------------------------------------------


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_verification_is_these_bytes(ca_file: Path) -> None:
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


@pytest.mark.parametrize("signature", [None, b"sha256=00ff"])
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_delivery_is_these_bytes(ca_file: Path, signature: bytes | None) -> None:
    headers = (
        b"Content-Type: application/feed+json\r\n"
        b"Content-Length: 6\r\n"
        b'Link: <https://r.example/f>; rel="self", <https://r.example/hub>; rel="hub"\r\n'
        b'ETag: "abc"\r\n'
    )
    async with serving() as server:
        content = Push(headers, (b"foo", memoryview(b"xbarx")[1:4]), signature)
        assert ACCEPTED == await deliver(ca_file, server.url("/cb?a=b", "localhost"), content)

        [request] = server.received
        assert b"foobar" == request.body
        assert (
            b"POST /cb?a=b HTTP/1.1\r\n"
            b"Host: localhost:%d\r\n"
            b"%b"
            b"User-Agent: reviewsd/0 (+https://reviews.example/; WebSub hub)\r\n"
            b"Accept-Encoding: identity\r\n"
            b"%b\r\n"
            % (
                server.port,
                headers,
                b"" if signature is None else b"X-Hub-Signature: sha256=00ff\r\n",
            )
        ) == request.head


@pytest.mark.parametrize(
    "target",
    ["/", "/cb?", "/cb??", "/cb?&", "//a/../b/./c;d", "/%2F%2f%C3%A4?%20+&x=1&x=2&a&=b&hub.mode=x"],
)
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_path_and_query_arrive_byte_for_byte(ca_file: Path, target: str) -> None:
    """W6, W7: hyperlink, inside of treq, would change four of these."""
    async with serving() as server:
        await deliver(ca_file, server.url(target), push())
        await verify(ca_file, server.url(target))
        joint = "" if target.endswith("?") and target.count("?") == 1 else "?&"["?" in target]
        assert [target, f"{target}{joint}{CHALLENGE}"] == [each.target for each in server.received]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_an_ipv6_literal_is_called(ca_file: Path) -> None:
    """Which treq by itself cannot (F4)."""
    if not socket.has_ipv6:
        pytest.skip("no IPv6")
    server = Server()
    server.listen("::1")
    try:
        answered = await verify(ca_file, server.url("/", "[::1]"))
        assert isinstance(answered, Answered)
        assert (b"Zm9v-_", "::1") == (answered.body, answered.address)
        assert f"[::1]:{server.port}" == server.received[0].field("Host")
    finally:
        await server.stop()


# Large bodies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [0, 1, PIECE - 1, PIECE, PIECE + 1, 5 * PIECE + 1])
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_body_of_any_length_arrives_whole(ca_file: Path, length: int) -> None:
    body = hashlib.shake_128(b"seed").digest(length)
    async with serving() as server:
        assert ACCEPTED == await deliver(ca_file, server.url(), push(body))
        assert body == server.received[0].body


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_mapped_file_is_sent_in_little_memory(ca_file: Path) -> None:
    length = 50_000_000
    with tempfile.TemporaryFile() as file:
        file.truncate(length)
        mapped = memoryview(mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ))
        headers = b"Content-Type: text/plain\r\nContent-Length: %d\r\n" % length
        content = Push(headers, (mapped[:10], mapped[10:]), None)
        with sink(ca_file.parent) as port:
            to = callback(f"https://{HOST}:{port}/")
            found = await cost(
                ca_file,
                lambda client: client.deliver(to, content, timeout=30, slot=free_slot()),
            )
    assert ACCEPTED == found.outcome
    assert found.megabytes - length / 1_000_000 < 10  # pages of the file count as memory


# Answers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/", "/chunked", "/until-closed", "/interim", "/cookie", "/wordier"]
)
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_challenge_may_come_in_any_framing(ca_file: Path, path: str) -> None:
    async with serving() as server:
        assert CONFIRMED == await verify(ca_file, server.url(path))


@pytest.mark.parametrize(
    ("length", "read"), [(1023, 1023), (1024, 1024), (1025, 1025), (99_999, 1025)]
)
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_body_is_read_up_to_one_byte_too_many(
    ca_file: Path, length: int, read: int
) -> None:
    """It is an answer, which ends the verification for good (H4), and no challenge."""
    async with serving() as server:
        answered = await verify(ca_file, server.url(f"/long/{length}"))
        assert isinstance(answered, Answered)
        assert b"x" * read == answered.body


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_comes_encoded_is_not_read(ca_file: Path) -> None:
    async with serving() as server:
        answered = await verify(ca_file, server.url("/gzip-bomb"))
        assert Answered(status=200, headers={}, body=b"", address=HOST) == answered


@pytest.mark.parametrize("status", [201, 204, 299, 304, 400, 404, 410, 500, 599])
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_every_status_is_an_answer(ca_file: Path, status: int) -> None:
    async with serving() as server:
        for outcome in (
            await verify(ca_file, server.url(f"/status/{status}")),
            await deliver(ca_file, server.url(f"/status/{status}"), push()),
        ):
            assert isinstance(outcome, Answered)
            assert status == outcome.status


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_retry_after_is_passed_on(ca_file: Path) -> None:
    async with serving() as server:
        for outcome in (
            await verify(ca_file, server.url("/status/503/120")),
            await deliver(ca_file, server.url("/status/503/120"), push()),
        ):
            assert isinstance(outcome, Answered)
            assert {b"retry-after": b"120"} == outcome.headers


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/leave", "the connection was closed before it answered"),
        ("/reset", "the connection was lost before it answered"),
        ("/garbage", "TLS: record layer failure"),
    ],
)
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_no_answer_has_a_reason(ca_file: Path, path: str, reason: str) -> None:
    async with serving() as server:
        for outcome in (
            await verify(ca_file, server.url(path)),
            await deliver(ca_file, server.url(path), push()),
        ):
            assert Unanswered(reason, HOST) == outcome


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (lambda transport: transport.loseConnection(), "closed during the TLS handshake"),
        (lambda transport: transport.abortConnection(), "lost during the TLS handshake"),
        (lambda transport: transport.write(b"SSH-2.0\r\n"), "TLS: wrong version number"),
    ],
)
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_who_speaks_no_tls_is_told_apart(
    ca_file: Path, end: Callable[[Any], None], reason: str
) -> None:
    async with serving(mute=True) as server:

        def end_all() -> None:
            for each in server.open:
                end(each.transport)
            if not server.connections:  # yet
                reactor.callLater(0.01, end_all)

        end_all()
        outcome = await verify(ca_file, server.url())
        assert isinstance(outcome, Unanswered)
        assert outcome.reason.endswith(reason)


class Wire(StringTransport):
    """A transport in memory, with what a socket has beside."""

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
        FairQueue(clock),
        Tls(clock, ca_file),
        Peer(callback=callback("https://127.0.0.1/"), address=HOST),
        byte_budget=10_000,
        max_lifetime=45.0,
        ended=lambda _: None,
    )


@pytest.mark.parametrize("pieces", [1, 7])
def test_an_alert_is_heard_although_the_peer_leaves_with_it(ca_file: Path, pieces: int) -> None:
    """Both may come in one turn of the reactor, before the handshake has its own."""
    clock = Clock()
    outcomes: list[OutboundResponse | Lost] = []
    connection = connecting(clock, ca_file)
    connection.exchange(OutboundRequest(b"")).addCallback(outcomes.append)
    connection.makeConnection(Wire())
    clock.advance(0)

    alert = b"\x15\x03\x03\x00\x02\x02\x70"  # fatal, unrecognized_name
    length = len(alert) // pieces
    for start in range(0, len(alert), length):
        connection.dataReceived(alert[start : start + length])
    connection.connectionLost(Failure(ConnectionDone()))
    clock.advance(0)

    [lost] = outcomes
    assert isinstance(lost, Lost)
    assert "unrecognized name" in lost.reason
    assert [] == clock.getDelayedCalls()


def test_a_handshake_that_ends_as_the_peer_leaves_writes_no_more(ca_file: Path) -> None:
    clock = Clock()
    outcomes: list[OutboundResponse | Lost] = []
    connection, wire = connecting(clock, ca_file), Wire()
    connection.exchange(OutboundRequest(b"x")).addCallback(outcomes.append)
    connection.makeConnection(wire)
    clock.advance(0)

    connection.dataReceived(flight(wire.value()))
    wire.lost = True
    connection.connectionLost(Failure(ConnectionLost()))
    clock.advance(0)

    assert [Lost("the connection was lost before it answered", begun=False)] == outcomes
    assert [] == clock.getDelayedCalls()


def flight(hello: bytes) -> bytes:
    """All that a server says before the client must say more (RFC 8446 2)."""
    identity = authority().issue(HOST)
    context = SSL.Context(SSL.TLS_SERVER_METHOD)
    context.use_certificate(identity.certificate)
    context.use_privatekey(identity.key)
    server = SSL.Connection(context, None)
    server.set_accept_state()
    server.bio_write(hello)
    with suppress(SSL.WantReadError):
        server.do_handshake()
    return server.bio_read(65_536)


ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nnot asked"
VERSIONS = {"TLS 1.2": SSL.TLS1_2_VERSION, "TLS 1.3": SSL.TLS1_3_VERSION}


class Spoken:
    """A connection whose handshake is over, and the server it speaks to, both in memory."""

    def __init__(self, ca_file: Path, version: int) -> None:
        self.clock = Clock()
        self.client, self.wire = connecting(self.clock, ca_file), Wire()
        identity = authority().issue(HOST)
        context = SSL.Context(SSL.TLS_SERVER_METHOD)
        context.use_certificate(identity.certificate)
        context.use_privatekey(identity.key)
        context.set_max_proto_version(version)
        self.server = SSL.Connection(context, None)
        self.server.set_accept_state()
        self.outcomes: list[OutboundResponse | Lost] = []
        self._ask()
        self.client.makeConnection(self.wire)
        for _ in range(3):
            self.clock.advance(0)
            self._hear()
            with suppress(SSL.WantReadError):
                self.server.do_handshake()
            with suppress(SSL.WantReadError):
                self.client.dataReceived(self.server.bio_read(65_536))
        self.answer([ANSWER], [])

    def _ask(self) -> None:
        self.client.exchange(OutboundRequest(b"x")).addCallback(self.outcomes.append)

    def _hear(self) -> None:
        if self.wire.value():
            self.server.bio_write(self.wire.value())
            self.wire.clear()

    def again(self) -> None:
        """Ask once more, on the same connection."""
        self._ask()
        self.clock.advance(0)
        self._hear()

    def answer(self, records: list[bytes], cuts: list[int]) -> None:
        """The server says this in so many records, and the network cuts it there."""
        for each in records:
            self.server.sendall(each)
        data = self.server.bio_read(65_536)
        places = sorted({0, *(cut % len(data) for cut in cuts), len(data)})
        for begin, end in pairwise(places):
            self.client.dataReceived(data[begin:end])
            self.clock.advance(0)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("seed", range(20))
def test_an_answer_is_read_whole_however_it_is_cut(ca_file: Path, version: str, seed: int) -> None:
    """Into TLS records, and by the network: OpenSSL is asked for as long as it may have one."""
    draw = random.Random(seed)
    spoken = Spoken(ca_file, VERSIONS[version])
    for _ in range(3):
        splits = draw.sample(range(1, len(ANSWER)), draw.randrange(4))
        places = sorted({0, *splits, len(ANSWER)})
        spoken.again()
        records = [ANSWER[begin:end] for begin, end in pairwise(places)]
        spoken.answer(records, draw.sample(range(999), draw.randrange(5)))

    assert [200] * 4 == [
        each.head.status for each in spoken.outcomes if isinstance(each, OutboundResponse)
    ]
    assert spoken.client.ready
    spoken.client.abort()


def test_a_farewell_that_comes_with_the_answer_is_heard(ca_file: Path) -> None:
    spoken = Spoken(ca_file, SSL.TLS1_3_VERSION)
    spoken.again()
    spoken.server.sendall(ANSWER)
    spoken.server.shutdown()
    spoken.client.dataReceived(spoken.server.bio_read(65_536))

    assert 2 == len(spoken.outcomes)
    assert not spoken.client.keepable


# Before all is sent -------------------------------------------------------------------------------

LARGE = push(bytes(30_000_000))  # more than the kernel takes off our hands


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_success_counts_only_once_all_is_sent(ca_file: Path) -> None:
    """E12: who has not read it has not got it."""
    async with serving() as server:
        outcome = await deliver(ca_file, server.url("/early/200"), LARGE, 0.5)
        assert Unanswered("no answer within 0.5 s", HOST) == outcome


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_success_counts_when_the_rest_is_read_later(ca_file: Path) -> None:
    async with serving() as server, calling(ca_file) as client:
        to = callback(server.url("/early/200"))
        reactor.callLater(0.1, server.go_on)
        assert ACCEPTED == await client.deliver(to, LARGE, timeout=20, slot=free_slot())


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_refusal_counts_at_once_and_the_rest_is_not_sent(ca_file: Path) -> None:
    async with serving() as server:
        outcome = await deliver(ca_file, server.url("/early/413"), LARGE)
        assert isinstance(outcome, Answered)
        assert 413 == outcome.status
        await deferLater(reactor, 0)
        assert server.bytes_received < 30_000_000


# Who takes what he is sent ------------------------------------------------------------------------

SMALL_WINDOW = 16_384
PACED = 47  # SO_MAX_PACING_RATE


class Reader(threading.Thread):
    """A TLS server for one connection, which reads so many bytes and then pauses, until it is told."""

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
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_place_is_kept_by_who_takes_what_he_is_sent(
    tmp_path: Path,
    ca_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    pause: float,
    line: int | None,
    *,
    busy: bool,
) -> None:
    """H8: reading slowly or losing packets, a stranger would keep it for as long as he likes."""
    monkeypatch.setattr("reviewsd.websub.slots.PACE_SECONDS", 0.2)
    made = Connection.connectionMade

    def behind_line(connection: Connection) -> None:
        if line:
            connection.transport.getHandle().setsockopt(socket.SOL_SOCKET, PACED, line)
        made(connection)

    monkeypatch.setattr(Connection, "connectionMade", behind_line)
    reader, slot = Reader(tmp_path, pause), free_slot()
    reader.start()
    async with calling(ca_file) as client:
        attempt = Deferred.fromCoroutine(
            client.deliver(
                callback(reader.url),
                push(bytes(8_000_000)),
                timeout=30,
                slot=slot,
            )
        )
        found = []
        for _ in range(16):
            await deferLater(reactor, 0.05)
            found.append(slot.has_progress(reactor.seconds()))
        reader.enough.set()
        await attempt
    reader.join()
    assert [busy] * 4 == found[-4:]
