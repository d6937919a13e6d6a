"""The pace at which a client takes the bytes of its responses (S5)."""

from twisted.internet.interfaces import ITransport

from reviewsd.server.write_buffer import WriteBuffer, unacknowledged

DRAIN_WINDOW = 10.0
"""Seconds over which the minimum rate of a client is measured (S5)."""


class Pace:
    """Measures whether a client takes enough bytes in each window.

    Args:
        out: The write buffer of the connection.
        transport: Its transport.
        drain_rate: Bytes a second that the client must take.
    """

    def __init__(self, out: WriteBuffer, transport: ITransport, drain_rate: int) -> None:
        self._out, self._transport = out, transport
        self._least = drain_rate * DRAIN_WINDOW
        self._before = 0  # bytes at the begin of the window; 0 if none were measured

    @property
    def untaken(self) -> int:
        """Bytes of responses that the client does not have yet."""
        return self._out.pending + unacknowledged(self._transport)

    def begin(self) -> None:
        """Begin a window."""
        self._before = self.untaken

    def end(self) -> None:
        """Forget the window: the client has all bytes."""
        self._before = 0

    def next_window(self) -> bool:
        """Return whether the client has taken enough in the window, if any, and begin the next."""
        before, self._before = self._before, self.untaken
        return not before or before - self._before >= self._least
