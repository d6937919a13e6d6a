"""Watches the public connections by an epoll of their own, which the reactor watches as one descriptor.

The reactor calls each event through a logging context and two wrappers, which takes longer than answering it. Here
all connections with an event are served in one call. They use a ``Polling`` in place of the reactor.
"""

import select
import time
from typing import Any, cast

from twisted.internet.interfaces import IDelayedCall, IReactorFDSet, IReactorTime
from twisted.internet.main import CONNECTION_DONE, CONNECTION_LOST
from twisted.internet.tcp import Connection
from twisted.logger import Logger
from twisted.python.failure import Failure

_BATCH = 16  # events of one call to epoll
_MANY = 4  # events in one call after which further ones are likely
_TURN_SECONDS = 0.002  # for which connections are served before the reactor continues

_IN, _OUT = select.EPOLLIN, select.EPOLLOUT
_ERROR_EVENTS = ~(_IN | _OUT)


class Polling:
    """Watches connections, in place of a reactor, which watches this."""

    _log = Logger()

    def __init__(self, reactor: IReactorFDSet) -> None:
        self._reactor = reactor
        self._epoll: select.epoll | None = None  # while there is a connection to watch
        self._connections: dict[int, Connection] = {}
        self._events: dict[Connection, tuple[int, int]] = {}  # descriptor, and watched events
        self._retired = False

    def retire(self) -> None:
        """Close the epoll as soon as no connection is watched: the port is closed."""
        self._retired = True
        self._close_if_idle()

    def _opened(self) -> select.epoll:
        """Return the epoll; a connection may be watched again after its port was closed."""
        if self._epoll is None:
            self._epoll = select.epoll()
            self._reactor.addReader(cast("Any", self))
        return self._epoll

    def _close_if_idle(self) -> None:
        if self._retired and not self._events and self._epoll is not None:
            self._reactor.removeReader(cast("Any", self))
            self._epoll.close()
            self._epoll = None

    # Called by the reactor ------------------------------------------------------------------------

    def logPrefix(self) -> str:
        """Return the name under which the reactor logs."""
        return "public"

    def fileno(self) -> int:
        """Return the descriptor of the epoll; -1 if there is none."""
        return -1 if self._epoll is None else self._epoll.fileno()

    def doRead(self) -> None:
        """Serve the connections that have an event."""
        end = time.perf_counter() + _TURN_SECONDS
        while self._epoll is not None and (batch := self._epoll.poll(0, _BATCH)):
            for descriptor, events in batch:
                connection = self._connections.get(descriptor)
                if connection is not None:  # None: an earlier connection of the batch has ended it
                    self._serve(connection, events)
            if len(batch) < _MANY or time.perf_counter() > end:
                break

    def _serve(self, connection: Connection, events: int) -> None:
        reason: Exception | None = None
        is_read = False
        try:
            if events & _IN:
                reason, is_read = connection.doRead(), True
            elif events & _ERROR_EVENTS:  # hung up, or an error
                is_read = bool(self._events[connection][1] & _IN)
                reason = CONNECTION_DONE if is_read else CONNECTION_LOST
            if reason is None and events & _OUT and connection.connected:
                reason, is_read = connection.doWrite(), False
        except Exception as error:  # noqa: BLE001 - logged with its traceback; it ends the connection
            self._log.failure("a connection failed")
            reason = error
        if reason is None:
            return
        self.removeReader(connection)
        if is_read and reason is CONNECTION_DONE:
            connection.readConnectionLost(Failure(reason))  # the client may still read
        else:
            self.removeWriter(connection)
            connection.connectionLost(Failure(reason))

    def connectionLost(self, reason: Failure) -> None:
        """End all connections: the reactor stops."""
        for connection in tuple(self._events):
            self._watch(connection, 0)
            connection.connectionLost(reason)

    # Called by connections ------------------------------------------------------------

    def addReader(self, reader: Connection) -> None:
        """Watch for bytes from a client."""
        self._watch(reader, self._watched(reader) | _IN)

    def addWriter(self, writer: Connection) -> None:
        """Watch for room in the socket's buffer."""
        self._watch(writer, self._watched(writer) | _OUT)

    def removeReader(self, reader: Connection) -> None:
        """Stop watching for bytes."""
        self._watch(reader, self._watched(reader) & ~_IN)

    def removeWriter(self, writer: Connection) -> None:
        """Stop watching for room."""
        self._watch(writer, self._watched(writer) & ~_OUT)

    def callLater(self, delay: float, call: Any, *args: Any, **kwargs: Any) -> IDelayedCall:  # noqa: ANN401  as the reactor's
        """Call a function later, by the reactor."""
        return cast("IReactorTime", self._reactor).callLater(delay, call, *args, **kwargs)

    def _watched(self, connection: Connection) -> int:
        entry = self._events.get(connection)
        return 0 if entry is None else entry[1]

    def _watch(self, connection: Connection, events: int) -> None:
        """Watch a connection for these events only."""
        entry = self._events.get(connection)
        if entry is None:
            if events:
                descriptor = connection.fileno()
                self._opened().register(descriptor, events)
                self._connections[descriptor] = connection
                self._events[connection] = descriptor, events
            return
        descriptor, watched = entry
        if events == watched:
            return
        if events:
            self._opened().modify(descriptor, events)
            self._events[connection] = descriptor, events
        else:
            self._opened().unregister(descriptor)
            del self._connections[descriptor], self._events[connection]
            self._close_if_idle()
