"""Public connections that are watched together, over real sockets."""

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
    """Says what it hears; ``bug`` breaks it, ``bye`` ends it."""

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
    """A port, and those who call."""

    def __init__(self) -> None:
        self.ends: list[str] = []
        factory = cast("ServerFactory[Any]", ServerFactory.forProtocol(lambda: Echo(self.ends)))
        self.port: PublicPort = as_public_port(reactor.listenTCP(0, factory, interface="127.0.0.1"))
        self.clients: list[socket.socket] = []

    async def meet(self) -> socket.socket:
        client = socket.create_connection(self.port.socket.getsockname(), timeout=60)
        self.clients.append(client)
        assert b"hello" == await self.say(client, b"hello")
        return client

    async def say(self, client: socket.socket, text: bytes) -> bytes:
        client.sendall(text)
        heard: bytes = await deferToThread(client.recv, 100)
        return heard


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def harness() -> AsyncIterator[Harness]:
    one = Harness()
    yield one
    stopped = one.port.stopListening()
    if stopped is not None:
        await stopped
    for client in one.clients:
        client.close()
    await until(lambda: len(one.ends) == len(one.clients))


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_bug_ends_its_connection_and_no_other(harness: Harness) -> None:
    broken, other = await harness.meet(), await harness.meet()
    with capturedLogs() as events:
        assert b"" == await harness.say(broken, b"bug")
    assert ["ValueError"] == harness.ends
    assert [ValueError] == [event["log_failure"].type for event in events if "log_failure" in event]
    assert b"still there" == await harness.say(other, b"still there")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_client_that_leaves_is_noticed(harness: Harness) -> None:
    client = await harness.meet()
    client.close()
    await until(lambda: harness.ends)
    assert ["ConnectionDone"] == harness.ends


@pytest.mark.parametrize("last", [b"bye", b"more"])
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_connections_outlive_their_port(harness: Harness, last: bytes) -> None:
    client = await harness.meet()
    await harness.port.stopListening()
    assert last == await harness.say(client, last)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_more_than_a_batch_are_all_heard(harness: Harness) -> None:
    clients = [await harness.meet() for _ in range(40)]
    for number, client in enumerate(clients):
        client.sendall(b"%d" % number)
    for number, client in enumerate(clients):
        heard: bytes = await deferToThread(client.recv, 100)
        assert b"%d" % number == heard


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_nothing_is_left_with_the_reactor(harness: Harness) -> None:
    before = reactor.getReaders()
    other = Harness()
    client = await other.meet()
    await other.port.stopListening()
    client.close()
    await until(lambda: other.ends)
    assert set(before) == set(reactor.getReaders())
