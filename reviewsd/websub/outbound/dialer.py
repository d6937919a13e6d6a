"""Dialling an address that was checked, and that one only (E5, E7).

There is no HostnameEndpoint, because it resolves by itself. What is handed to ``connectTCP`` is an
address, so nothing stands between the check and the dialling that could change its mind; and the
socket's real peer is looked at once more before a byte is written.
"""

import os
import socket
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextlib import closing

from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectError, TimeoutError  # noqa: A004 - Twisted's
from twisted.internet.interfaces import IAddress, IConnector, IReactorTCP
from twisted.internet.protocol import ClientFactory
from twisted.python.failure import Failure

from reviewsd.domain.addresses import Addresses, plain_address
from reviewsd.websub.outbound.connection import Connection
from reviewsd.websub.outbound.exchange import Lost

_WILDCARDS = ("0.0.0.0", "::")  # noqa: S104 - somebody else's listeners, not a bind


class Dialer:
    """Opens connections to addresses.

    Args:
        reactor: Where sockets are.
        addresses: Which may be dialled; asked again about the peer.
        own_listeners: (address, port) of the service's own listeners, with ``0.0.0.0`` or ``::``
            for all of a host's addresses; may be filled while the service starts.
    """

    def __init__(
        self,
        reactor: IReactorTCP,
        addresses: Addresses,
        own_listeners: AbstractSet[tuple[str, int]],
    ) -> None:
        self._reactor = reactor
        self._addresses = addresses
        self._own_listeners = own_listeners

    def is_own(self, address: str, port: int) -> bool:
        """Whether the service itself listens there (E5)."""
        host = str(plain_address(address))
        if (host, port) in self._own_listeners:
            return True
        everywhere = any((wildcard, port) in self._own_listeners for wildcard in _WILDCARDS)
        return everywhere and _is_local(host)

    def dial(
        self, address: str, port: int, seconds: float, make: Callable[[], Connection]
    ) -> Deferred[Connection | Lost]:
        """Connect, and check who is there.

        Args:
            address: Checked.
            port: Of the callback.
            seconds: How long it may take.
            make: Makes the connection, which from then on has a socket.

        Returns:
            The connection, or why there is none. Cancelling stops dialling.
        """
        host = str(plain_address(address))
        call = _Call(host, seconds, make, self._addresses)
        call.connector = self._reactor.connectTCP(host, port, call, timeout=seconds)
        return call.connected


class _Call(ClientFactory[Connection]):
    """One attempt to reach one address."""

    noisy = False
    connector: IConnector

    def __init__(
        self, host: str, seconds: float, make: Callable[[], Connection], addresses: Addresses
    ) -> None:
        self.connected: Deferred[Connection | Lost] = Deferred(self._cancel)
        self._host = host
        self._seconds = seconds
        self._make = make
        self._addresses = addresses
        self._cancelled = False

    def buildProtocol(self, addr: IAddress | None) -> Connection | None:
        """The backstop: the real peer is the one that was dialled, and may be."""
        peer = str(getattr(addr, "host", ""))
        if self._addresses.refusal(peer) is not None or str(plain_address(peer)) != self._host:
            self.connected.callback(Lost("connected to another address than dialled", begun=False))
            return None  # Twisted closes the socket
        connection = self._make()
        self.connected.callback(connection)
        return connection

    def clientConnectionFailed(self, _connector: IConnector, reason: Failure) -> None:
        """Say why; unless it was cancelled."""
        if not self._cancelled:
            self.connected.callback(Lost(self._words(reason.value), begun=False))

    def _words(self, error: BaseException | None) -> str:
        if isinstance(error, TimeoutError):
            return f"no connection within {self._seconds:.3g} s"
        if isinstance(error, ConnectError) and isinstance(error.osError, int):
            return f"no connection: {os.strerror(error.osError)}"
        return "no connection"

    def _cancel(self, _: object) -> None:
        self._cancelled = True  # or stopConnecting would give a result, and the attempt go on
        self.connector.stopConnecting()


def _is_local(address: str) -> bool:
    """Whether the address is one of this host's: then, and only then, a socket can be bound."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with closing(socket.socket(family, socket.SOCK_DGRAM)) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True
