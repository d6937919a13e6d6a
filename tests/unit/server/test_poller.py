"""Public connections that share an epoll, over real sockets."""

import socket
from collections.abc import AsyncIterator

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet.threads import deferToThread
from twisted.logger import capturedLogs

from reviewsd.server.listener import PublicPort, as_public_port
from tests.support.echo import EchoFactory, close_connections, connect
from tests.support.outbound import reactor
from tests.support.waiting import until


class Harness:
    """A port and its clients."""

    def __init__(self) -> None:
        self.factory = EchoFactory()
        self.port: PublicPort = as_public_port(
            reactor.listenTCP(0, self.factory, interface="127.0.0.1")
        )
        self.clients: list[socket.socket] = []

    async def connect(self) -> socket.socket:
        client = connect(self.port)
        self.clients.append(client)
        assert b"hello" == await deferToThread(client.recv, 100)
        return client

    async def close(self) -> None:
        if self.port.connected:
            await self.port.stopListening()
        for client in self.clients:
            client.close()
        await close_connections(self.factory)


async def echo(client: socket.socket, text: bytes) -> bytes:
    client.sendall(text)
    received: bytes = await deferToThread(client.recv, 100)
    return received


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def harness() -> AsyncIterator[Harness]:
    harness = Harness()
    yield harness
    await harness.close()


async def test_bug_ends_only_its_connection(harness: Harness) -> None:
    broken, intact = await harness.connect(), await harness.connect()
    with capturedLogs() as events:
        assert b"" == await echo(broken, b"fail")
    assert 1 == len(harness.factory.open)
    assert [ValueError] == [event["log_failure"].type for event in events if "log_failure" in event]
    assert b"still there" == await echo(intact, b"still there")


@pytest.mark.parametrize("last", [b"bye", b"more"])
async def test_connection_outlives_its_port(harness: Harness, last: bytes) -> None:
    client = await harness.connect()
    await harness.port.stopListening()
    assert last == await echo(client, last)


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
    await until(lambda: not second.factory.open)
    assert set(before) == set(reactor.getReaders())
