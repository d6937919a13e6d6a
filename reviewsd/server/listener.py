"""Public listeners, which accept connections.

An endpoint makes a plain ``tcp.Port``, also around an inherited socket; :func:`as_public_port` turns it into a
:class:`PublicPort`, in place, so that ``tcp:``, ``systemd:``, ``ssl:`` and ``haproxy:`` listen alike. Its connections
send directly (``transport``) and share an epoll (``poller``).

With TCP_DEFER_ACCEPT the kernel keeps a connection until its first bytes have come, and they are read when it is
accepted. Otherwise a connection with an unread request would look idle and be closed for a new one (S4).

Without descriptors or memory, connections wait in the kernel's backlog, and accepting is retried after a moment.
Twisted would close them, and retry in each turn of the reactor.
"""

import errno
import socket
from typing import Any, cast

from twisted.internet.interfaces import (
    IDelayedCall,
    IListeningPort,
    IProtocolFactory,
    IReactorFDSet,
    IReactorTime,
)
from twisted.internet.protocol import Factory
from twisted.internet.tcp import Port
from twisted.logger import Logger
from twisted.python.failure import Failure

from reviewsd.server.connection import ClientConnection
from reviewsd.server.connections import Connections
from reviewsd.server.poller import Polling
from reviewsd.server.site import PublicSite
from reviewsd.server.transport import DirectServer, internet_address

RETRY_DELAY = 0.25
"""Seconds until accepting is retried after an error of this machine."""

ACCEPTS_PER_TURN = 32
"""Connections that are accepted in one turn of the reactor."""

UNSENT = 65_536
"""Bytes that the kernel buffers for a connection beyond those in flight. Without a limit it buffers 2 to
4 MB for each slow reader, which count for systemd's MemoryMax=."""

_LOG_INTERVAL = 60  # seconds; a further failure within them is not logged
_BACKLOG = 1_024  # connections that wait in the kernel; Twisted's 50 are too few for a burst
_SILENCE = 1  # seconds, roughly, that the kernel keeps a connection without bytes

_PEER_ERRORS = frozenset(
    (
        *(errno.ECONNABORTED, errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENETDOWN),
        *(errno.ENETUNREACH, errno.ENONET, errno.ENOPROTOOPT, errno.EOPNOTSUPP),
        *(errno.EPERM, errno.EPROTO),
    )
)
"""Errors of the accepted connection (accept(2)); all other errors are of this machine."""


class ConnectionFactory(Factory[ClientConnection]):
    """Makes the connections of listeners; on ``proxied`` ones a PROXY header comes first (S6)."""

    noisy = False

    def __init__(
        self, site: PublicSite, connections: Connections, *, proxied: bool = False
    ) -> None:
        self.site, self.connections, self._proxied = site, connections, proxied

    def buildProtocol(self, addr: object) -> ClientConnection:  # noqa: ARG002
        """Return a new connection."""
        return ClientConnection(self.site, self.connections, proxied=self._proxied)


class PublicPort(Port):
    """A port that accepts while there is room, made by :func:`as_public_port`."""

    _log = Logger()
    polling: Polling
    """Watches its connections."""
    _shouldShutdown = False  # a shutdown would end the socket for other processes as well
    _retry: IDelayedCall | None = None  # while nothing is accepted
    _failed_at = float("-inf")  # the last failure, in the reactor's seconds

    def doRead(self) -> None:
        """Accept the connections that wait, up to a limit."""
        for _ in range(ACCEPTS_PER_TURN):
            if not self._is_accepting:
                return
            try:
                connection, address = self.socket.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno not in _PEER_ERRORS:
                    self._back_off(error)
                return
            self._accepted(connection, address)

    def _accepted(self, connection: socket.socket, address: tuple[Any, ...]) -> None:
        transport = None
        try:
            peer = internet_address(address)
            protocol = cast("IProtocolFactory", self.factory).buildProtocol(peer)
            if protocol is None:
                connection.close()
                return
            transport = DirectServer(
                connection, protocol, peer, cast("IReactorFDSet", self.polling)
            )
            protocol.makeConnection(transport)
            transport.begin()
        except Exception:  # noqa: BLE001 - a bug, logged with its traceback; accepting goes on
            self._log.failure("a new connection failed")
            if transport is None:
                connection.close()
            else:
                transport.abortConnection()

    def _back_off(self, error: OSError) -> None:
        """Stop accepting for a moment."""
        clock = cast("IReactorTime", self.reactor)
        if clock.seconds() - self._failed_at > _LOG_INTERVAL:
            self._log.warn("new connections have to wait: {reason}", reason=error.strerror)
        self._failed_at = clock.seconds()
        self.stopReading()
        self._retry = clock.callLater(RETRY_DELAY, self._resume)

    def _resume(self) -> None:
        self._retry = None
        if self._is_accepting:
            self.startReading()

    @property
    def _is_accepting(self) -> bool:
        return not (self._retry or self.disconnecting) and bool(self.connected)

    def connectionLost(self, reason: Failure) -> None:
        """Stop listening."""
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        self.polling.retire()
        super().connectionLost(reason)


def as_public_port(port: IListeningPort) -> PublicPort:
    """Turn a TCP port that listens into a public one, and return it.

    Options of an inherited socket are shared with other processes that have it, which are daemons like this one.
    """
    assert type(port) is Port  # noqa: S101  a port of a UNIX socket differs
    port.__class__ = PublicPort
    public = cast("PublicPort", port)
    public.polling = Polling(public.reactor)
    if port.backlog is not None:  # the socket is not inherited
        port.socket.listen(max(port.backlog, _BACKLOG))
    port.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, _SILENCE)
    # Connections inherit these: the second of two short responses would wait for the client's ACK
    port.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    port.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
    return public
