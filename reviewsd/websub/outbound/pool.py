"""Idle connections, kept for another delivery to the same host and port (E7).

The address of a kept connection was checked when it was dialed, so its host is not resolved again. It is
kept for a few seconds within its hard lifetime, which is enough for one fan-out.
"""

from collections import defaultdict

from twisted.internet.interfaces import IDelayedCall, IReactorTime

from reviewsd.domain.callback import Callback
from reviewsd.websub.outbound.connection import Connection

MAX_IDLE = 256
MAX_IDLE_PER_HOST = 16  # the deliveries to one host (H8)


class Pool:
    """Keeps idle connections.

    Args:
        clock: For their ages.
        idle_seconds: Seconds for which a connection is kept.
    """

    def __init__(self, clock: IReactorTime, idle_seconds: float) -> None:
        self._clock = clock
        self._idle_seconds = idle_seconds
        self._timers: dict[Connection, IDelayedCall] = {}
        self._by_host: defaultdict[tuple[str, int], list[Connection]] = defaultdict(list)

    def acquire(self, callback: Callback) -> Connection | None:
        """Return an idle connection to a callback's host and port, or None."""
        for connection in reversed(self._by_host.get((callback.host, callback.port), ())):
            if connection.is_ready:
                self.discard(connection)
                return connection
        return None

    def keep(self, connection: Connection) -> None:
        """Keep a connection, or close it if there is no room."""
        key = _key(connection)
        same_host = len(self._by_host.get(key, ()))
        if len(self._timers) >= MAX_IDLE or same_host >= MAX_IDLE_PER_HOST:
            connection.close()
            return
        self._by_host[key].append(connection)
        self._timers[connection] = self._clock.callLater(
            self._idle_seconds, self._close, connection
        )

    def discard(self, connection: Connection) -> None:
        """Remove a connection that is used again, or closed."""
        timer = self._timers.pop(connection, None)
        if timer is None:
            return
        if timer.active():
            timer.cancel()
        key = _key(connection)
        self._by_host[key].remove(connection)
        if not self._by_host[key]:
            del self._by_host[key]

    def close(self) -> None:
        """Close all connections."""
        for connection in tuple(self._timers):
            self._close(connection)

    def _close(self, connection: Connection) -> None:
        self.discard(connection)
        connection.close()


def _key(connection: Connection) -> tuple[str, int]:
    return connection.callback.host, connection.callback.port
