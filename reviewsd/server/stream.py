"""A response with events, which goes on until one side ends it (mcp.md 2b-13).

Events are taken from their source only when the client has all earlier ones, so a stream holds no more than those.
"""

from typing import Protocol

from reviewsd.http1.events import EventSource
from reviewsd.server.connections import Connections
from reviewsd.server.pace import DRAIN_WINDOW, Pace
from reviewsd.server.write_buffer import WriteBuffer

HEARTBEAT_SECONDS = 20.0
"""A stream gets a comment this often: proxies close connections that are silent for a minute."""

STREAM_SECONDS = 3_600.0
"""A stream is ended after this time, so that forgotten clients do not add up; others open another one."""

_HEARTBEAT = b":\n\n"


class StreamConnection(Protocol):
    """The connection of a stream."""

    out: WriteBuffer
    pace: Pace

    def expire_in(self, seconds: float) -> None:
        """Call ``expire`` after some seconds."""

    def abort(self) -> None:
        """Close at once."""

    def end(self) -> None:
        """Close when all is sent."""


class Stream:
    """The events that one connection sends.

    Args:
        connection: The connection.
        events: Their source.
        connections: Their turns share the time of the reactor when there are events for many.
        paused: Whether the client has not taken the begin of the response yet.
    """

    __slots__ = ("_closed", "_connection", "_ends_at", "_events", "_paused", "_turns")

    def __init__(
        self,
        connection: StreamConnection,
        events: EventSource,
        connections: Connections,
        *,
        paused: bool,
    ) -> None:
        self._connection, self._events, self._turns = connection, events, connections.turns
        self._ends_at = connections.clock.seconds() + STREAM_SECONDS
        self._paused = paused
        self._closed = False
        connection.expire_in(HEARTBEAT_SECONDS)
        events.open(self._wake)

    def _wake(self) -> None:
        self._turns.add(self._send)

    def _send(self) -> None:
        if not (self._paused or self._closed) and (events := self._events.take()):
            self._connection.out.send(events)

    def pause(self) -> None:
        """Wait until the client takes the events that were sent; it has 10 s."""
        self._paused = True
        self._connection.expire_in(DRAIN_WINDOW)

    def resume(self) -> None:
        """Continue: the transport has sent all bytes."""
        self._paused = False
        self._connection.expire_in(HEARTBEAT_SECONDS)
        self._send()

    def expire(self, now: float) -> None:
        """Send a comment; cut off a client that has not taken the last one, and end an old stream."""
        if self._connection.pace.untaken:
            self._connection.abort()
        elif now >= self._ends_at:
            self.end()
        else:
            self._connection.out.send(_HEARTBEAT)
            self._connection.expire_in(HEARTBEAT_SECONDS)

    def end(self) -> None:
        """Send the last events, and close the connection."""
        self._connection.out.send(self._events.finish())
        self.close()
        self._connection.end()

    def close(self) -> None:
        """Send no more events; a second call does nothing."""
        if not self._closed:
            self._closed = True
            self._turns.remove(self._send)
            self._events.close()
