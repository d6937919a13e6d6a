"""Connections that move to another process in the middle of their life.

Only the main process can answer the hub's address, end an MCP session, and say whether the service
is ready. A worker that has read the head of such a request gives it the whole connection: the
client's socket, and the bytes from the beginning of that request on. There the connection lives on
as if it had been accepted there, so a client sees nothing of it, and nothing has to be carried back.
"""

import socket
from collections.abc import Callable
from typing import cast

from msgspec import Struct
from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IReactorFDSet, ITransport
from twisted.internet.posixbase import PosixReactorBase
from twisted.internet.protocol import Factory, Protocol
from twisted.logger import Logger

from reviewsd.http1.routes import route_of
from reviewsd.server.transport import DirectServer, adopt


class HandedConnection(Struct, tag=True, frozen=True, kw_only=True):
    """A connection on its way, without its descriptor."""

    peer: tuple[str, int]
    """Address and port; of the client also where a proxy has told them (S6)."""
    data: bytes
    """From the first byte of the request that the worker does not answer."""


class ConnectionSender:
    """The worker's side: which connections go, and how.

    Args:
        send: Sends a connection with its descriptor, which is the sender's from then on.
    """

    def __init__(self, send: Callable[[HandedConnection, int], None]) -> None:
        self._send = send
        self.given = 0
        """Connections, so far."""

    def wants(self, method: bytes, path: bytes) -> bool:
        """Whether a request is for the main process.

        Args:
            method: Of the request.
            path: As it was sent, without a query.
        """
        route = route_of(path)
        if route is None:
            return False
        return route.main_only is None or method.decode("latin-1") in route.main_only

    def give(self, transport: ITransport, peer: tuple[str, int], data: bytes) -> None:
        """Give a connection away, all of whose answers have been sent.

        Args:
            transport: Of the connection, which is forgotten without being closed.
            peer: The client's address and port.
            data: From the first byte of the request on.
        """
        descriptor = cast("DirectServer", transport).detach().detach()  # workers have no others
        self.given += 1
        self._send(HandedConnection(peer=peer, data=data), descriptor)


class ConnectionReceiver:
    """The main process's side.

    Args:
        reactor: What connections live on.
        factory: Of the public connections.
    """

    _log = Logger()

    def __init__(self, reactor: PosixReactorBase, factory: Factory) -> None:
        self._reactor = reactor
        self._factory = factory

    def adopt(self, handed: HandedConnection, descriptor: int | None) -> None:
        """Go on with a connection.

        Args:
            handed: The connection.
            descriptor: Of its socket; None where this process has no room for one more, which has
                closed the connection.
        """
        if descriptor is None:
            self._log.warn("too many open files: a connection from a worker was closed")
            return
        host, port = handed.peer
        kind = IPv6Address if ":" in host else IPv4Address
        client = socket.socket(fileno=descriptor)
        reactor = cast("IReactorFDSet", self._reactor)
        transport = adopt(reactor, self._factory, client, kind("TCP", host, port))
        if transport is None:
            return
        try:
            cast("Protocol", transport.protocol).dataReceived(handed.data)
        except Exception:  # noqa: BLE001 - a bug, logged with its traceback; the client must not wait
            self._log.failure("a connection from a worker failed")
            transport.abortConnection()
