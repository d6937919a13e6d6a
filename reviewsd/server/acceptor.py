"""Taking new connections: many in a row, none that would not fit (performance.md 2.7).

What endpoints make is a plain ``tcp.Port``, also around an inherited socket; :func:`batch_accept` turns
it into a :class:`BatchPort`, in place, so that ``tcp:``, ``systemd:``, ``ssl:`` and ``haproxy:`` listen
alike. Two things are different then:

* A connection is read as soon as it is there, and watched (``poller``) only if it stays. With
  TCP_DEFER_ACCEPT the kernel keeps a connection until its first bytes have come, so that one which
  is answered and closed costs no call to epoll. One that says nothing is handed over after a second
  with the next SYN-ACK; until then it takes no memory here, and from then on all limits apply. More
  of these than the backlog holds are handed over at once (``net.ipv4.tcp_syncookies``, on as ever).
* When there are no descriptors or no memory left, connections wait in the kernel's backlog and
  accepting goes on after a moment. Twisted would close them through a descriptor that it reserves,
  so that a client sees a server that is broken where it could have seen one that is slow, or would
  ask again in each turn of the reactor.
"""

import socket
from errno import (
    ECONNABORTED,
    EHOSTDOWN,
    EHOSTUNREACH,
    ENETDOWN,
    ENETUNREACH,
    ENONET,
    ENOPROTOOPT,
    EOPNOTSUPP,
    EPERM,
    EPROTO,
)
from functools import partial
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

from reviewsd.runtime.counters import merged
from reviewsd.server.connection import ClientConnection
from reviewsd.server.connections import Connections
from reviewsd.server.poller import Polling
from reviewsd.server.site import PublicSite
from reviewsd.server.transport import connect, internet_address

RETRY_DELAY = 0.25
"""Seconds before accepting is tried again after it failed."""

AT_ONCE = 32
"""Connections in one turn of the reactor, which has others to see to."""

UNSENT = 65_536
"""Bytes that the kernel takes of a connection beyond those that are on their way. Without a bound it
takes 2 to 4 MB for each client that reads slowly, and systemd's MemoryMax= counts them."""

_EPISODE = 60  # seconds; a failure so soon after another is not logged again

_BACKLOG = 1_024  # connections that may wait in the kernel; Twisted's 50 are few for a burst

_SILENCE = 1  # seconds, roughly; what a connection may take in the kernel before it says something

_THEIRS = frozenset(
    {ECONNABORTED, EHOSTDOWN, EHOSTUNREACH, ENETDOWN, ENETUNREACH, ENONET, ENOPROTOOPT}
    | {EOPNOTSUPP, EPERM, EPROTO}
)
"""Errors of the connection that would have been the next (accept(2)); all others are ours."""


class ConnectionFactory(Factory[ClientConnection]):
    """Makes the connections of listeners.

    Args:
        site: Answers the requests.
        connections: All connections.
    """

    noisy = False

    def __init__(self, site: PublicSite, connections: Connections) -> None:
        self.site = site
        self.connections = connections

    def buildProtocol(self, addr: object) -> ClientConnection:  # noqa: ARG002
        """Return a new connection."""
        return ClientConnection(self.site, self.connections)

    def proxied(self) -> Factory[ClientConnection]:
        """Return the factory of listeners that expect PROXY headers (S6)."""
        factory: Factory[ClientConnection] = Factory.forProtocol(
            partial(ClientConnection, self.site, self.connections, proxied=True)
        )
        factory.noisy = False
        return factory

    def counts(self) -> dict[str, float]:
        """Return the counts of connections and responses (O9)."""
        return merged(self.connections.counts(), self.site.traffic.counts())


class BatchPort(Port):
    """A port that accepts as long as there is room, made by :func:`batch_accept`."""

    _log = Logger()
    at_once = AT_ONCE
    polling: Polling
    """Watches its connections."""
    _shouldShutdown = False  # which would end it for other processes, too, that listen on it
    _tired: IDelayedCall | None = None  # until then nothing is accepted
    _failed_at = float("-inf")  # when there was no room last, reactor's seconds

    def doRead(self) -> None:
        """Accept what is there, within limits.

        How many are tried follows how many there were, so that mostly no call is made in vain.
        """
        accepted = 0
        while accepted < self.numberAccepts and self._open:
            try:
                connection, address = self.socket.accept()
            except BlockingIOError:
                break
            except OSError as error:
                if error.errno not in _THEIRS:
                    self._tire(error)
                break
            accepted += 1
            self._welcome(connection, address)
        if accepted == self.numberAccepts:
            self.numberAccepts = min(self.at_once, accepted * 2)
        else:
            self.numberAccepts = max(1, accepted)

    def _welcome(self, connection: socket.socket, address: tuple[Any, ...]) -> None:
        transport = None
        try:
            peer = internet_address(address)
            factory = cast("IProtocolFactory", self.factory)
            watcher = cast("IReactorFDSet", self.polling)
            transport = connect(watcher, factory, connection, peer)
            if transport is not None:
                transport.begin()
        except Exception:  # noqa: BLE001 - a bug, logged with its traceback; others must be accepted
            self._log.failure("a new connection failed")
            if transport is not None:
                transport.abortConnection()

    def _tire(self, error: OSError) -> None:
        """Accept nothing for a moment."""
        clock = cast("IReactorTime", self.reactor)
        if clock.seconds() - self._failed_at > _EPISODE:
            self._log.warn("new connections have to wait: {reason}", reason=error.strerror)
        self._failed_at = clock.seconds()
        self.stopReading()
        self._tired = clock.callLater(RETRY_DELAY, self._rested)

    def _rested(self) -> None:
        self._tired = None
        self._listen()

    def _listen(self) -> None:
        if self._open:
            self.startReading()

    @property
    def _open(self) -> bool:
        return not (self._tired or self.disconnecting) and bool(self.connected)

    def connectionLost(self, reason: Failure) -> None:
        """The end of listening."""
        if self._tired is not None:
            self._tired.cancel()
            self._tired = None
        self.polling.retire()
        super().connectionLost(reason)


def batch_accept(port: IListeningPort, at_once: int = AT_ONCE) -> BatchPort:
    """Make a port that listens accept in batches from now on.

    Args:
        port: What an endpoint for TCP has made, also for an inherited socket. Options of such a
            socket are shared with whoever else has it, which are daemons like this one.
        at_once: Connections in one turn of the reactor: one where others accept from the same
            socket, and a greedy one would have all of a burst.

    Returns:
        The same object.
    """
    assert type(port) is Port  # noqa: S101  of UNIX sockets, and their class differs
    port.__class__ = BatchPort
    made = cast("BatchPort", port)
    made.numberAccepts = made.at_once = at_once
    made.polling = Polling(made.reactor)
    if port.backlog is not None:  # it is not inherited
        port.socket.listen(max(port.backlog, _BACKLOG))
    port.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, _SILENCE)
    # Connections inherit these: the second of two short answers would wait for the client's ACK
    port.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    port.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
    return made
