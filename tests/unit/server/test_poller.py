"""Public connections that share an epoll, over real sockets."""

import socket
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet import reactor
from twisted.internet.protocol import Protocol, ServerFactory, connectionDone
from twisted.internet.threads import deferToThread
from twisted.logger import capturedLogs
from twisted.python.failure import Failure

from reviewsd.server.listener import PublicPort, as_public_port
from tests.support.waiting import until


class Echo(Protocol):
    """Echoes bytes; ``bug`` raises an error, ``bye`` closes."""

    def __init__(self, ends: list[str]) -> None:
        self._ends = ends

    def dataReceived(self, data: bytes) -> None:
        if data == b"bug":
            raise ValueError("bug")
        assert self.transport is not None
        self.transport.write(data)
        if data == b"bye":
            self.transport.loseConnection()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self._ends.append(reason.type.__name__ if reason.type else "")


class Harness:
    """A port and its clients."""

    def __init__(self) -> None:
        self.ends: list[str] = []
        factory = cast("ServerFactory[Any]", ServerFactory.forProtocol(lambda: Echo(self.ends)))
        self.port: PublicPort = as_public_port(reactor.listenTCP(0, factory, interface="127.0.0.1"))
        self.clients: list[socket.socket] = []

    async def connect(self) -> socket.socket:
        client = socket.create_connection(self.port.socket.getsockname(), timeout=60)
        self.clients.append(client)
        assert b"hello" == await self.echo(client, b"hello")
        return client

    async def echo(self, client: socket.socket, text: bytes) -> bytes:
        client.sendall(text)
        received: bytes = await deferToThread(client.recv, 100)
        return received


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def harness() -> AsyncIterator[Harness]:
    harness = Harness()
    yield harness
    stopped = harness.port.stopListening()
    if stopped is not None:
        await stopped
    for client in harness.clients:
        client.close()
    await until(lambda: len(harness.ends) == len(harness.clients))


async def test_bug_ends_only_its_connection(harness: Harness) -> None:
    broken, intact = await harness.connect(), await harness.connect()
    with capturedLogs() as events:
        assert b"" == await harness.echo(broken, b"bug")
    assert ["ValueError"] == harness.ends
    assert [ValueError] == [event["log_failure"].type for event in events if "log_failure" in event]
    assert b"still there" == await harness.echo(intact, b"still there")


async def test_closed_client_is_detected(harness: Harness) -> None:
    client = await harness.connect()
    client.close()
    await until(lambda: harness.ends)
    assert ["ConnectionDone"] == harness.ends


@pytest.mark.parametrize("last", [b"bye", b"more"])
async def test_connection_outlives_its_port(harness: Harness, last: bytes) -> None:
    client = await harness.connect()
    await harness.port.stopListening()
    assert last == await harness.echo(client, last)


async def test_more_connections_than_a_batch_are_all_served(harness: Harness) -> None:
    clients = [await harness.connect() for _ in range(40)]
    for number, client in enumerate(clients):
        client.sendall(b"%d" % number)
    for number, client in enumerate(clients):
        received: bytes = await deferToThread(client.recv, 100)
        assert b"%d" % number == received


async def test_reactor_watches_nothing_after_the_last_connection(harness: Harness) -> None:
    before = reactor.getReaders()
    second = Harness()
    client = await second.connect()
    await second.port.stopListening()
    client.close()
    await until(lambda: second.ends)
    assert set(before) == set(reactor.getReaders())
