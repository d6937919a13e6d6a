"""Watching the public connections: an epoll of their own, which the reactor watches as one.

The reactor's way to an event costs more than answering it: a logging context and two wrappers for
each. Here all connections that have something to say are read in one go, and the reactor only
hears that there are some. To them this is the reactor; they use no more of it than is here.
"""

import select
import time
from typing import Any, cast

from twisted.internet.interfaces import IDelayedCall, IReactorFDSet, IReactorTime
from twisted.internet.main import CONNECTION_DONE, CONNECTION_LOST
from twisted.internet.tcp import Connection
from twisted.logger import Logger
from twisted.python.failure import Failure

_BATCH = 16
"""Connections that are asked for at once."""

_MANY = 4
"""Where so many had something to say at once, more will have meanwhile."""

_TURN = 0.002
"""Seconds, roughly, before others in the process have their turn."""

_IN, _OUT = select.EPOLLIN, select.EPOLLOUT
_OTHERS = ~(_IN | _OUT)


class Polling:
    """Watches connections, in the place of a reactor.

    Args:
        reactor: Watches this.
    """

    _log = Logger()

    def __init__(self, reactor: IReactorFDSet) -> None:
        self._reactor = reactor
        self._epoll: select.epoll | None = None  # as long as there is something to watch
        self._connections: dict[int, Connection] = {}
        self._events: dict[Connection, tuple[int, int]] = {}  # descriptor, and what is watched for
        self._retired = False

    def retire(self) -> None:
        """Keep nothing open any more while there is nothing to watch: the port is gone."""
        self._retired = True
        self._close_if_idle()

    def _opened(self) -> select.epoll:
        if self._epoll is None:
            self._epoll = select.epoll()
            self._reactor.addReader(cast("Any", self))
        return self._epoll

    def _close_if_idle(self) -> None:
        if self._retired and not self._events and self._epoll is not None:
            self._reactor.removeReader(cast("Any", self))
            self._epoll.close()
            self._epoll = None

    # What the reactor asks ------------------------------------------------------------------------

    def logPrefix(self) -> str:
        """The name under which the reactor logs."""
        return "public"

    def fileno(self) -> int:
        """The descriptor of the epoll, -1 while there is none."""
        return -1 if self._epoll is None else self._epoll.fileno()

    def doRead(self) -> None:
        """See to those that have something to say, or room for what they are told."""
        end = time.perf_counter() + _TURN
        while self._epoll is not None and (batch := self._epoll.poll(0, _BATCH)):
            for descriptor, events in batch:
                connection = self._connections.get(descriptor)
                if connection is not None:  # None: one that was served before it has ended it
                    self._serve(connection, events)
            if len(batch) < _MANY or time.perf_counter() > end:
                break

    def _serve(self, connection: Connection, events: int) -> None:
        lost: Exception | None = None
        reads = False
        try:
            if events & _IN:
                lost, reads = connection.doRead(), True
            elif events & _OTHERS:  # hung up, or an error
                reads = bool(self._events[connection][1] & _IN)
                lost = CONNECTION_DONE if reads else CONNECTION_LOST
            if lost is None and events & _OUT and connection.connected:
                lost, reads = connection.doWrite(), False
        except Exception as error:  # noqa: BLE001 - logged with its traceback; it ends the connection
            self._log.failure("a connection failed")
            lost = error
        if lost is None:
            return
        self.removeReader(connection)
        if reads and lost is CONNECTION_DONE:
            connection.readConnectionLost(Failure(lost))  # the client may still listen
        else:
            self.removeWriter(connection)
            connection.connectionLost(Failure(lost))

    def connectionLost(self, reason: Failure) -> None:
        """The reactor stops, and its connections with it."""
        for connection in tuple(self._events):
            self._watch(connection, 0)
            connection.connectionLost(reason)

    # What connections ask of a reactor ------------------------------------------------------------

    def addReader(self, reader: Connection) -> None:
        """Watch for what a connection says."""
        self._watch(reader, self._watched(reader) | _IN)

    def addWriter(self, writer: Connection) -> None:
        """Watch for room to tell it something."""
        self._watch(writer, self._watched(writer) | _OUT)

    def removeReader(self, reader: Connection) -> None:
        """Watch no longer for what it says."""
        self._watch(reader, self._watched(reader) & ~_IN)

    def removeWriter(self, writer: Connection) -> None:
        """Watch no longer for room."""
        self._watch(writer, self._watched(writer) & ~_OUT)

    def callLater(self, delay: float, call: Any, *args: Any, **kwargs: Any) -> IDelayedCall:  # noqa: ANN401  as the reactor's
        """Do something later, which is the reactor's business."""
        return cast("IReactorTime", self._reactor).callLater(delay, call, *args, **kwargs)

    def _watched(self, connection: Connection) -> int:
        known = self._events.get(connection)
        return 0 if known is None else known[1]

    def _watch(self, connection: Connection, events: int) -> None:
        """Watch a connection for these events only."""
        known = self._events.get(connection)
        if known is None:
            if events:
                descriptor = connection.fileno()
                self._opened().register(descriptor, events)
                self._connections[descriptor] = connection
                self._events[connection] = descriptor, events
            return
        descriptor, before = known
        if events == before:
            return
        if events:
            self._opened().modify(descriptor, events)
            self._events[connection] = descriptor, events
        else:
            self._opened().unregister(descriptor)
            del self._connections[descriptor], self._events[connection]
            self._close_if_idle()
