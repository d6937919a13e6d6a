"""Connections that wait for another delivery to the same host and port (E7).

A kept connection leads to the address that was checked when it was dialled: nothing is resolved
anew, because nothing is dialled. It waits for a few seconds, within its hard lifetime, so that it
outlasts one fan-out and little more.
"""

from collections import OrderedDict

from twisted.internet.interfaces import IDelayedCall, IReactorTime

from reviewsd.domain.callback import Callback
from reviewsd.websub.outbound.connection import Connection

MAX_KEPT = 256
MAX_KEPT_PER_HOST = 16  # as many as are in flight to one host; H8


class Pool:
    """Keeps what is worth keeping.

    Args:
        clock: For the waiting.
        idle_seconds: How long a connection may wait.
    """

    def __init__(self, clock: IReactorTime, idle_seconds: float) -> None:
        self._clock = clock
        self._idle_seconds = idle_seconds
        self._since: OrderedDict[Connection, float] = OrderedDict()  # longest waiting first
        self._by_host: dict[tuple[str, int], list[Connection]] = {}
        self._sweep: IDelayedCall | None = None

    def acquire(self, callback: Callback) -> Connection | None:
        """A connection to that host and port whose last answer is complete."""
        for connection in reversed(self._by_host.get(_key(callback), ())):
            if connection.ready:
                self.forget(connection)
                return connection
        return None

    def keep(self, connection: Connection) -> None:
        """Keep it, or close it where there are enough."""
        key = _key(connection.peer.callback)
        if len(self._since) >= MAX_KEPT or len(self._by_host.get(key, ())) >= MAX_KEPT_PER_HOST:
            connection.close()
            return
        self._by_host.setdefault(key, []).append(connection)
        self._since[connection] = self._clock.seconds()
        if self._sweep is None:
            self._sweep = self._clock.callLater(self._idle_seconds, self._close_idle)

    def forget(self, connection: Connection) -> None:
        """Take out a connection that is in use again, or closed."""
        if self._since.pop(connection, None) is None:
            return
        key = _key(connection.peer.callback)
        peers = self._by_host[key]
        peers.remove(connection)
        if not peers:
            del self._by_host[key]

    def close(self) -> None:
        """Close them all."""
        for connection in tuple(self._since):
            self.forget(connection)
            connection.close()
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None

    def _close_idle(self) -> None:
        self._sweep = None
        now = self._clock.seconds()
        for connection, since in tuple(self._since.items()):
            left = since + self._idle_seconds - now
            if left > 0:
                self._sweep = self._clock.callLater(left, self._close_idle)
                return
            self.forget(connection)
            connection.close()


def _key(callback: Callback) -> tuple[str, int]:
    return callback.host, callback.port
