"""A server with connections in memory, and a public port with real ones."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs

from reviewsd.server.listener import PublicPort, as_public_port
from tests.support.connections import MemoryListener
from tests.support.echo import EchoFactory, close_connections
from tests.support.outbound import reactor


@pytest.fixture
def listener() -> Iterator[MemoryListener]:
    listener = MemoryListener()
    yield listener
    listener.close()


@pytest.fixture
def factory() -> EchoFactory:
    return EchoFactory()


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def port(factory: EchoFactory) -> AsyncIterator[PublicPort]:
    port = as_public_port(reactor.listenTCP(0, factory, interface="127.0.0.1"))
    yield port
    if port.connected:
        await port.stopListening()
    await close_connections(factory)
