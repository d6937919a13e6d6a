"""Public ports: all kinds of endpoints, many connections, no descriptors left."""

import os
import selectors
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

import pytest
from twisted.internet.endpoints import AdoptedStreamServerEndpoint
from twisted.internet.task import deferLater
from twisted.internet.tcp import Port
from twisted.internet.threads import deferToThread
from twisted.logger import capturedLogs

from reviewsd.server.listener import PublicPort, as_public_port
from reviewsd.server.transport import DirectServer
from tests.support.echo import Echo, EchoFactory, connect
from tests.support.outbound import reactor


class Failing(Echo):
    """Fails as soon as it is connected."""

    def connectionMade(self) -> None:
        super().connectionMade()
        raise ZeroDivisionError


def exchange(port: PublicPort, data: bytes = b"bye") -> bytes:
    """Return the bytes that a client gets until the end; blocks."""
    with connect(port, data) as client:
        return b"".join(iter(lambda: client.recv(100), b""))


def ended(client: socket.socket) -> bool:
    """Return whether the server has closed, with a reset if there was more to read."""
    try:
        return client.recv(10) == b""
    except ConnectionResetError:
        return True


async def test_closed_connection_is_never_watched(factory: EchoFactory, port: PublicPort) -> None:
    with connect(port, b"bye") as client:
        before = reactor.getReaders()
        port.doRead()
        assert (before, []) == (reactor.getReaders(), factory.open)
        assert b"bye" == await deferToThread(client.recv, 10)


async def test_connection_has_tcp_nodelay(factory: EchoFactory, port: PublicPort) -> None:
    with connect(port):
        port.doRead()
        wire = factory.open[0].transport
        assert isinstance(wire, DirectServer)
        assert wire.getTcpNoDelay()


async def test_silent_connection_is_accepted_soon(factory: EchoFactory, port: PublicPort) -> None:
    """Then its deadlines begin: the kernel keeps it no longer."""
    with connect(port, b""):
        for _ in range(300):
            await deferLater(reactor, 0.01)
            if factory.open:
                return
    raise AssertionError("the connection was not accepted")


async def test_turn_accepts_at_most_32_connections(factory: EchoFactory, port: PublicPort) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(connect(port)) for _ in range(200)]
        accepted = []
        while len(factory.peers) < 200:
            before = len(factory.peers)
            port.doRead()
            accepted.append(len(factory.peers) - before)
        assert 32 == max(accepted)
        for client in clients:
            assert b"hello" == await deferToThread(client.recv, 10)


async def test_inherited_socket_stays_open_for_other_processes(factory: EchoFactory) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mine:
        os.set_blocking(mine.fileno(), False)
        endpoint = AdoptedStreamServerEndpoint(reactor, os.dup(mine.fileno()), socket.AF_INET)
        descriptor = mine.fileno()
        port = as_public_port(await endpoint.listen(factory))
        assert b"bye" == await deferToThread(exchange, port)
        await port.stopListening()
        with socket.create_connection(mine.getsockname(), timeout=60) as client:
            client.sendall(b"x")
            assert [descriptor] == readable([descriptor])


async def test_connection_without_protocol_ends(factory: EchoFactory, port: PublicPort) -> None:
    factory.refuses = True
    with connect(port) as client:
        port.doRead()
        assert ended(client)


@pytest.mark.parametrize("error", [ValueError("no protocol"), OSError("no memory")])
async def test_connection_is_closed_if_its_factory_fails(
    factory: EchoFactory, port: PublicPort, error: Exception
) -> None:
    factory.error = error
    with capturedLogs() as logs, connect(port) as client:
        port.doRead()
        assert ended(client)
    assert [error] == [event["log_failure"].value for event in logs]


async def test_connection_of_failed_protocol_closes(factory: EchoFactory, port: PublicPort) -> None:
    factory.protocol_class = Failing
    with capturedLogs() as logs, connect(port) as client:
        port.doRead()
        assert await deferToThread(ended, client)
    assert [ZeroDivisionError] == [event["log_failure"].type for event in logs]


async def test_failing_connection_leaves_others_alone(
    factory: EchoFactory, port: PublicPort
) -> None:
    with capturedLogs() as logs, connect(port, b"fail") as bad, connect(port, b"bye") as good:
        assert b"bye" == await deferToThread(good.recv, 10)
        assert await deferToThread(ended, bad)
    assert [ValueError] == [event["log_failure"].type for event in logs]


_Source = TypeVar("_Source", int, socket.socket)

CHILD = """
import os, resource, sys
from twisted.internet import reactor
from twisted.logger import globalLogPublisher, formatEvent
from reviewsd.server.listener import as_public_port
from tests.support.echo import EchoFactory

def show(event):
    if event["log_namespace"].startswith("reviewsd"):
        print(formatEvent(event), flush=True)

globalLogPublisher.addObserver(show)
port = as_public_port(reactor.listenTCP(0, EchoFactory(), interface="127.0.0.1"))
print(port.getHost().port, flush=True)
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
room = len(os.listdir("/proc/self/fd")) + 10
resource.setrlimit(resource.RLIMIT_NOFILE, (room, most))
reactor.run()
os.write(1, b"stopped")
"""


@pytest.mark.processes
def test_connections_wait_while_no_descriptors_are_left() -> None:
    """There is no busy loop, no log line for each attempt and no lost connection, and SIGTERM works."""
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
            answered = readable(waiting)
            assert answered
            for client in answered:
                assert b"hello" == client.recv(10)
                client.close()
            served += len(answered)
            waiting = [client for client in waiting if client not in answered]
        assert 30 == served
        assert cpu(child.pid) - before < 0.3
        more = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(30)]
        for client in more:
            client.sendall(b"hello")
        readable(more)
        child.terminate()  # while nothing is accepted
        out, _ = child.communicate(timeout=60)
        assert ("stopped", 0) == (out, child.returncode)
        for client in more:
            client.close()


def readable(sources: Sequence[_Source]) -> list[_Source]:
    """Return the sources that have something to read."""
    with selectors.DefaultSelector() as selector:
        for source in sources:
            selector.register(source, selectors.EVENT_READ, source)
        return [key.data for key, _ in selector.select(60)]


def cpu(process: int) -> float:
    """Return the CPU time of a process, in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def test_retry_is_cancelled_when_port_closes(factory: EchoFactory, port: PublicPort) -> None:
    port._back_off(OSError(24, "Too many open files"))
    (rest,) = [call for call in reactor.getDelayedCalls() if call.func == port._resume]
    await port.stopListening()
    assert not rest.active()


async def test_attributes_of_twisted_are_there(factory: EchoFactory, port: PublicPort) -> None:
    """A class may take the place of another only while both have the same layout."""
    assert isinstance(port, Port)
    fresh = reactor.listenTCP(0, factory, interface="127.0.0.1")
    names = {"socket", "factory", "reactor", "disconnecting", "connected"}
    names |= {"_shouldShutdown"}
    assert names <= {name for name in dir(fresh) if hasattr(fresh, name)}
    await fresh.stopListening()
