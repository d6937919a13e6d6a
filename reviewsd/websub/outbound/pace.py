"""Whether a peer takes what it is sent at a pace that is worth a place (``places``).

Where our own line is slow, more deliveries at a time would only make all of them slower. Where a peer is
slow, it must not keep others waiting. From here the two look the same: a stranger can read slowly, or
have its network lose what it likes. So a place has its price: what each of 64 deliveries has of a line of
8 Mbit/s. Whose line is slower has fewer deliveries at a time (``hub.delivery.concurrency``).
"""

from socket import IPPROTO_TCP, TCP_INFO, socket
from struct import Struct

PACE = 16_384
"""Bytes a second that a peer takes at least, to be taking what it is sent."""

PACE_SECONDS = 1.0
"""Between two judgements."""

_TCP_INFO = Struct("=120xQ")  # tcpi_bytes_acked of linux/tcp.h


class AcceptedPace:
    """What a peer has taken of late."""

    def __init__(self) -> None:
        self._kept = True
        self._taken = 0  # bytes, when that was judged
        self._since = 0.0  # when that was

    def begin(self, sent: int, now: float) -> None:
        """It will be sent something from now on.

        Args:
            sent: Bytes that the socket has been given before.
            now: Monotonic seconds.
        """
        self._kept, self._taken, self._since = True, sent, now

    def is_kept(self, handle: socket, sent: int, now: float) -> bool:
        """Whether it is taking what it is sent.

        Args:
            handle: Of the connection.
            sent: Bytes that the socket was given, or will be.
            now: Monotonic seconds.
        """
        taken = _taken(handle)
        if taken >= sent:
            return False
        seconds = now - self._since
        if seconds >= PACE_SECONDS:
            self._kept = taken - self._taken >= PACE * seconds
            self._taken, self._since = taken, now
        return self._kept


def _taken(handle: socket) -> int:
    """Bytes that the peer's kernel has (``struct tcp_info``); 0 where this one does not say."""
    try:
        denied = handle.getsockopt(IPPROTO_TCP, TCP_INFO, _TCP_INFO.size)
    except OSError:
        return 0
    return int(_TCP_INFO.unpack(denied)[0]) if len(denied) == _TCP_INFO.size else 0
