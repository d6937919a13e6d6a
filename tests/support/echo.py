"""A factory of echoing connections for tests of public ports, and its clients."""

import socket

from twisted.internet.interfaces import IAddress
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.python.failure import Failure

from reviewsd.server.listener import PublicPort
from reviewsd.server.transport import DirectServer
from tests.support.waiting import until


class Echo(Protocol):
    """Echoes bytes, and joins the connections of its factory."""

    factory: "EchoFactory"

    def connectionMade(self) -> None:
        self.factory.open.append(self)

    def dataReceived(self, data: bytes) -> None:
        if data == b"fail":
            raise ValueError
        wire = self.transport
        assert isinstance(wire, DirectServer)
        wire.send(data)
        if data == b"bye":
            wire.loseConnection()

    def connectionLost(self, _reason: Failure = connectionDone) -> None:
        self.factory.open.remove(self)


class EchoFactory(Factory):
    """Has the connections that are open, and the addresses of all that came."""

    noisy = False

    def __init__(self) -> None:
        self.open: list[Echo] = []
        self.peers: list[IAddress | None] = []
        self.refuses = False
        self.error: Exception | None = None
        self.protocol_class: type[Echo] = Echo

    def buildProtocol(self, addr: IAddress | None) -> Echo | None:  # type: ignore[override]
        self.peers.append(addr)
        if self.refuses:
            return None
        if self.error is not None:
            raise self.error
        echo = self.protocol_class()
        echo.factory = self
        return echo


async def close_connections(factory: EchoFactory) -> None:
    """Close all connections."""
    for connection in factory.open:
        assert connection.transport is not None
        connection.transport.loseConnection()
    await until(lambda: not factory.open)


def connect(port: PublicPort, data: bytes = b"hello") -> socket.socket:
    """Return a client that has sent some bytes."""
    client = socket.create_connection(port.socket.getsockname()[:2], timeout=60)
    client.sendall(data)
    return client
