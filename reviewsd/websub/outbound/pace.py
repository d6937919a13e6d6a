"""Whether a peer takes what it is sent, as far as our line lets it (``places``).

A peer that reads slowly takes nothing of our line: its receive window is what limits us, and that can
hold a delivery up for as long as it may last. Where the line is what limits us, others would only make
it slower for all. The kernel knows which of both it is.
"""

from socket import IPPROTO_TCP, TCP_INFO, socket
from struct import Struct

PACE = 1_024
"""Bytes that a peer takes at least, if it takes what it is sent,"""

PACE_SECONDS = 1.0
"""in so many seconds;"""

LIMITED = 0.5
"""and for how much of that time its window may be what limits us."""

_TCP_INFO = Struct("=120xQ48xQ")  # tcpi_bytes_acked and tcpi_rwnd_limited of linux/tcp.h


class Pace:
    """What a peer has taken of late."""

    def __init__(self) -> None:
        self._taken = 0  # bytes, when it had last kept pace
        self._limited = 0.0  # seconds, until then, in which its window had been the limit
        self._kept = 0.0  # when that was

    def begin(self, now: float) -> None:
        """It will be sent something from now on; monotonic seconds."""
        self._kept = now

    def is_kept(self, handle: socket, sent: int, now: float) -> bool:
        """Whether it is taking what it is sent.

        Args:
            handle: Of the connection.
            sent: Bytes that the socket was given, or will be.
            now: Monotonic seconds.
        """
        taken, limited = _progress(handle)
        if taken >= sent:
            return False
        if taken - self._taken >= PACE and limited - self._limited <= LIMITED * (now - self._kept):
            self._taken, self._limited, self._kept = taken, limited, now
        return now - self._kept < PACE_SECONDS


def _progress(handle: socket) -> tuple[int, float]:
    """What the kernel knows (``struct tcp_info``); zeros where this one does not say.

    Returns:
        Bytes that the peer's kernel has, and seconds in which its window was what limited us.
    """
    try:
        told = handle.getsockopt(IPPROTO_TCP, TCP_INFO, _TCP_INFO.size)
    except OSError:
        return 0, 0.0
    if len(told) < _TCP_INFO.size:
        return 0, 0.0
    taken, limited = _TCP_INFO.unpack(told)
    return taken, limited / 1_000_000
