"""Opens connections to checked addresses, and to those only (E5, E7).

HostnameEndpoint is not used, because it resolves names itself. The endpoints here connect to the address
that was checked, and the peer of the socket is checked once more before a byte is written.
"""

import os
import socket
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextlib import closing

from twisted.internet.defer import CancelledError
from twisted.internet.endpoints import TCP4ClientEndpoint, TCP6ClientEndpoint
from twisted.internet.error import (
    ConnectError,
    ConnectingCancelledError,
    NoProtocol,
    TimeoutError,  # noqa: A004 - Twisted's
)
from twisted.internet.interfaces import IAddress, IReactorTCP
from twisted.internet.protocol import ClientFactory

from reviewsd.domain.addresses import Addresses, plain_address
from reviewsd.websub.outbound.connection import Connection
from reviewsd.websub.outbound.errors import NoResponseError

_WILDCARDS = ("0.0.0.0", "::")  # noqa: S104 - compared with, not bound


class Dialer:
    """Opens connections.

    Args:
        reactor: Opens the sockets.
        addresses: Decides which addresses may be dialed, and checks the peer.
        own_listeners: (address, port) of the service's own listeners, with ``0.0.0.0`` or ``::``
            for all addresses of this host; added as they open.
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
        """Return whether this service listens there (E5)."""
        host = str(plain_address(address))
        if (host, port) in self._own_listeners:
            return True
        wildcard = any((name, port) in self._own_listeners for name in _WILDCARDS)
        return wildcard and _is_local(host)

    async def dial(
        self, address: str, port: int, seconds: float, make: Callable[[], Connection]
    ) -> Connection:
        """Connect to an address.

        Args:
            address: A checked address.
            port: The callback's.
            seconds: Timeout.
            make: Returns the Connection for the open socket.

        Raises:
            NoResponseError: There is no connection.
        """
        host = str(plain_address(address))
        kind = TCP6ClientEndpoint if ":" in host else TCP4ClientEndpoint
        factory = _Factory(host, make, self._addresses)
        try:
            connection = await kind(self._reactor, host, port, seconds).connect(factory)
        except ConnectingCancelledError:
            raise CancelledError from None
        except NoProtocol:
            raise NoResponseError("connected to another address than dialed") from None
        except TimeoutError:
            raise NoResponseError(f"no connection within {seconds:.3g} s") from None
        except ConnectError as error:
            text = f": {os.strerror(error.osError)}" if isinstance(error.osError, int) else ""
            raise NoResponseError(f"no connection{text}") from None
        assert isinstance(connection, Connection)  # noqa: S101  the factory makes no other
        return connection


class _Factory(ClientFactory[Connection]):
    """Makes a Connection if the real peer is the one that was dialed."""

    noisy = False

    def __init__(self, host: str, make: Callable[[], Connection], addresses: Addresses) -> None:
        self._host = host
        self._make = make
        self._addresses = addresses

    def buildProtocol(self, addr: IAddress | None) -> Connection | None:
        """Return None for another peer, which makes Twisted close the socket."""
        peer = str(getattr(addr, "host", ""))
        if self._addresses.refusal(peer) is not None or str(plain_address(peer)) != self._host:
            return None
        return self._make()


def _is_local(address: str) -> bool:
    """Return whether a socket can be bound to an address, which is then this host's."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with closing(socket.socket(family, socket.SOCK_DGRAM)) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True
