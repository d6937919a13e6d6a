"""Public ports: all kinds of endpoints, many connections, no descriptors left."""

import os
import selectors
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet.endpoints import AdoptedStreamServerEndpoint, serverFromString
from twisted.internet.interfaces import IAddress
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.internet.task import deferLater
from twisted.internet.tcp import Port
from twisted.internet.threads import deferToThread
from twisted.logger import capturedLogs
from twisted.python.failure import Failure

from reviewsd.server.listener import PublicPort, as_public_port
from reviewsd.server.transport import DirectServer
from tests.support.authority import authority
from tests.support.outbound import reactor
from tests.support.waiting import until


class Echo(Protocol):
    """Says again what it is told, and how often somebody has come."""

    factory: "Hall"

    def connectionMade(self) -> None:
        self.factory.present.append(self)

    def dataReceived(self, data: bytes) -> None:
        if data == b"fail":
            raise ValueError
        wire = self.transport
        assert wire is not None
        if isinstance(wire, DirectServer):
            wire.send(data)
        else:  # TLS, or a proxy's
            wire.write(data)
        if data == b"bye":
            wire.loseConnection()

    def connectionLost(self, _reason: Failure = connectionDone) -> None:
        self.factory.present.remove(self)


class Hall(Factory):
    noisy = False

    def __init__(self) -> None:
        self.present: list[Echo] = []
        self.peers: list[IAddress | None] = []
        self.wanted = True

    def buildProtocol(self, addr: IAddress | None) -> Echo | None:  # type: ignore[override]
        self.peers.append(addr)
        if not self.wanted:
            return None
        echo = Echo()
        echo.factory = self
        return echo


@pytest.fixture
def hall() -> Hall:
    return Hall()


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def port(hall: Hall) -> AsyncIterator[PublicPort]:
    made = as_public_port(reactor.listenTCP(0, hall, interface="127.0.0.1"))
    yield made
    if made.connected:
        await made.stopListening()
    await leave(hall)


async def leave(hall: Hall) -> None:
    for guest in hall.present:
        assert guest.transport is not None
        guest.transport.loseConnection()
    await until(lambda: not hall.present)


def come(port: PublicPort, say: bytes = b"hello") -> socket.socket:
    """A client that has said something."""
    client = socket.create_connection(port.socket.getsockname()[:2], timeout=60)
    client.sendall(say)
    return client


def visit(port: PublicPort, say: bytes = b"bye") -> bytes:
    """What a client hears until the end; blocks."""
    with come(port, say) as client:
        return b"".join(iter(lambda: client.recv(100), b""))


def ended(client: socket.socket) -> bool:
    """Whether the server has closed; with a reset if there was more to read."""
    try:
        return client.recv(10) == b""
    except ConnectionResetError:
        return True


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_connection_that_is_closed_at_once_is_never_watched(
    hall: Hall, port: PublicPort
) -> None:
    with come(port, b"bye") as client:
        before = reactor.getReaders()
        port.doRead()
        assert (before, []) == (reactor.getReaders(), hall.present)
        assert b"bye" == await deferToThread(client.recv, 10)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_connection_that_stays_is_watched(hall: Hall, port: PublicPort) -> None:
    with come(port) as client:
        assert b"hello" == await deferToThread(client.recv, 10)
        client.sendall(b"again")
        assert b"again" == await deferToThread(client.recv, 10)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_short_answers_do_not_wait_for_each_other(hall: Hall, port: PublicPort) -> None:
    with come(port):
        port.doRead()
        wire = hall.present[0].transport
        assert isinstance(wire, DirectServer)
        assert wire.getTcpNoDelay()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_silent_connection_is_accepted_after_a_second_or_two(
    hall: Hall, port: PublicPort
) -> None:
    """Then the deadlines begin: the kernel keeps it no longer."""
    with come(port, b""):
        for _ in range(300):
            await deferLater(reactor, 0.01)
            if hall.present:
                return
    raise AssertionError("it never came")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_many_connections_at_once_are_taken_a_few_in_each_turn(
    hall: Hall, port: PublicPort
) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(come(port)) for _ in range(200)]
        came = []
        while len(hall.peers) < 200:
            before = len(hall.peers)
            port.doRead()
            came.append(len(hall.peers) - before)
        assert 32 == max(came)
        for client in clients:
            assert b"hello" == await deferToThread(client.recv, 10)


@pytest.mark.filterwarnings("ignore:.*pyOpenSSL.*:DeprecationWarning")  # Twisted's own use of it
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_tls_works_as_ever(hall: Hall, tmp_path: Path) -> None:
    pem = authority().issue("localhost").write_with_key(tmp_path / "server.pem")
    string = f"ssl:0:interface=127.0.0.1:privateKey={pem}:certKey={pem}"
    port = as_public_port(await serverFromString(reactor, string).listen(hall))
    trusting = ssl.create_default_context()
    trusting.load_verify_locations(cadata=authority().identity.pem.decode())

    def ask() -> bytes:
        plain = socket.create_connection(port.socket.getsockname(), timeout=60)
        with trusting.wrap_socket(plain, server_hostname="localhost") as client:
            client.sendall(b"x" * 300_000)
            got = b""
            while len(got) < 300_000:
                got += client.recv(65_536)
            client.sendall(b"bye")
            return got[:1] + client.recv(10) + client.recv(10)

    assert b"xbye" == await deferToThread(ask)
    await port.stopListening()
    await leave(hall)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_an_inherited_socket_stays_open_for_whoever_else_has_it(hall: Hall) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mine:
        os.set_blocking(mine.fileno(), False)
        endpoint = AdoptedStreamServerEndpoint(reactor, os.dup(mine.fileno()), socket.AF_INET)
        descriptor = mine.fileno()
        port = as_public_port(await endpoint.listen(hall))
        assert b"bye" == await deferToThread(visit, port)
        await port.stopListening()
        with socket.create_connection(mine.getsockname(), timeout=60) as client:
            client.sendall(b"x")
            assert [descriptor] == readable([descriptor])


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_who_is_not_wanted_is_closed(hall: Hall, port: PublicPort) -> None:
    hall.wanted = False
    with come(port) as client:
        port.doRead()
        assert ended(client)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_connection_that_fails_harms_no_other(hall: Hall, port: PublicPort) -> None:
    with capturedLogs() as logs, come(port, b"fail") as bad, come(port, b"bye") as good:
        assert b"bye" == await deferToThread(good.recv, 10)
        assert await deferToThread(ended, bad)
    assert [ValueError] == [event["log_failure"].type for event in logs]


_Source = TypeVar("_Source", int, socket.socket)

CHILD = """
import os, resource, sys
from twisted.internet import reactor
from twisted.logger import globalLogPublisher, formatEvent
from reviewsd.server.listener import as_public_port
from tests.unit.server.test_listener import Hall

def show(event):
    if event["log_namespace"].startswith("reviewsd"):
        print(formatEvent(event), flush=True)

globalLogPublisher.addObserver(show)
port = as_public_port(reactor.listenTCP(0, Hall(), interface="127.0.0.1"))
print(port.getHost().port, flush=True)
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
room = len(os.listdir("/proc/self/fd")) + 10
resource.setrlimit(resource.RLIMIT_NOFILE, (room, most))
reactor.run()
os.write(1, b"stopped")
"""


@pytest.mark.processes
def test_without_descriptors_connections_wait_until_there_are_some() -> None:
    """Calmly: no busy loop, no line for each try, nobody cut off; and it can still be stopped."""
    root = Path(__file__).parents[3]
    with (
        subprocess.Popen([sys.executable, "-c", CHILD], cwd=root, stdout=-1, text=True) as child,
        ExitStack() as stack,
    ):
        stack.callback(child.kill)  # or a failure would wait for it
        assert child.stdout is not None
        port = int(child.stdout.readline())
        clients = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            for _ in range(30)
        ]
        for client in clients:
            client.sendall(b"hello")
        assert "new connections have to wait: Too many open files\n" == child.stdout.readline()
        before = cpu(child.pid)
        waiting = clients
        served = 0
        while waiting:
            taken = readable(waiting)
            assert taken
            for client in taken:
                assert b"hello" == client.recv(10)
                client.close()
            served += len(taken)
            waiting = [client for client in waiting if client not in taken]
        assert 30 == served
        assert cpu(child.pid) - before < 0.3
        more = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(30)]
        for client in more:
            client.sendall(b"hello")
        readable(more)
        child.terminate()  # while it rests
        out, _ = child.communicate(timeout=60)
        assert ("stopped", 0) == (out, child.returncode)
        for client in more:
            client.close()


def readable(sources: Sequence[_Source]) -> list[_Source]:
    """Those that have something to read, of any number of descriptors."""
    with selectors.DefaultSelector() as selector:
        for source in sources:
            selector.register(source, selectors.EVENT_READ, source)
        return [key.data for key, _ in selector.select(60)]


def cpu(process: int) -> float:
    """Seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_the_pause_for_want_of_descriptors_ends_with_the_port(
    hall: Hall, port: PublicPort
) -> None:
    port._back_off(OSError(24, "Too many open files"))
    (rest,) = [call for call in reactor.getDelayedCalls() if call.func == port._resume]
    await port.stopListening()
    assert not rest.active()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_the_names_of_twisted_that_this_relies_on_are_there(
    hall: Hall, port: PublicPort
) -> None:
    """A class may take the place of another only while both have the same layout."""
    assert isinstance(port, Port)
    fresh = reactor.listenTCP(0, hall, interface="127.0.0.1")
    names = {"socket", "factory", "reactor", "disconnecting", "connected"}
    names |= {"_shouldShutdown"}
    assert names <= {name for name in dir(fresh) if hasattr(fresh, name)}
    await fresh.stopListening()
