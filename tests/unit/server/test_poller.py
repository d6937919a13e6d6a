"""Public connections that share an epoll, over real sockets."""

import socket
from contextlib import ExitStack

import pytest
from twisted.internet.threads import deferToThread
from twisted.logger import capturedLogs

from reviewsd.server.listener import PublicPort
from tests.support.echo import EchoFactory, connect
from tests.support.outbound import reactor
from tests.support.waiting import until


async def echo(client: socket.socket, data: bytes) -> bytes:
    """Send bytes, and return those that come back."""
    client.sendall(data)
    received: bytes = await deferToThread(client.recv, 100)
    return received


async def connected(port: PublicPort) -> socket.socket:
    """Return a client with a watched connection: its first bytes have been answered."""
    client = connect(port)
    assert b"hello" == await deferToThread(client.recv, 100)
    return client


async def test_bug_ends_only_its_connection(factory: EchoFactory, port: PublicPort) -> None:
    with await connected(port) as broken, await connected(port) as intact:
        with capturedLogs() as events:
            assert b"" == await echo(broken, b"fail")
        assert 1 == len(factory.open)
        failures = [event["log_failure"].type for event in events if "log_failure" in event]
        assert [ValueError] == failures
        assert b"still there" == await echo(intact, b"still there")


@pytest.mark.parametrize("last", [b"bye", b"more"])
async def test_connection_outlives_its_port(port: PublicPort, last: bytes) -> None:
    with await connected(port) as client:
        await port.stopListening()
        assert last == await echo(client, last)


async def test_more_connections_than_a_batch_are_all_served(port: PublicPort) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(await connected(port)) for _ in range(40)]
        for number, client in enumerate(clients):
            client.sendall(b"%d" % number)
        for number, client in enumerate(clients):
            assert b"%d" % number == await deferToThread(client.recv, 100)


async def test_reactor_watches_nothing_at_the_end(factory: EchoFactory, port: PublicPort) -> None:
    before = reactor.getReaders()
    client = await connected(port)
    await port.stopListening()
    client.close()
    await until(lambda: not factory.open)
    assert set(before) - {port} == set(reactor.getReaders())
