"""The write buffer of a connection.

A plain socket is a :class:`DirectServer`, which is its own write buffer. A transport of TLS copies all bytes that
are written to it, so :class:`ChunkedWriter` writes them in pieces, and only while the transport takes more.
"""

from collections import deque
from fcntl import ioctl
from struct import Struct
from termios import TIOCOUTQ
from typing import cast

from twisted.internet.abstract import FileDescriptor
from twisted.internet.interfaces import (
    IHalfCloseableDescriptor,
    IPushProducer,
    ISSLTransport,
    ITCPTransport,
    ITransport,
)
from zope.interface import implementer

from reviewsd.http1.representation import Buffer
from reviewsd.server.transport import DirectServer

PIECE = 65_536
"""Bytes that are written to a transport in one call."""

_COUNT = Struct("i")


def unacknowledged(transport: ITransport) -> int:
    """Return the bytes that the kernel has and the client has not acknowledged; 0 without a socket.

    There may be millions, and the kernel takes more only when a third is gone. So the bytes that wait in this
    process would, on their own, show no progress of a slow reader for minutes.
    """
    fileno = getattr(transport, "fileno", None)
    descriptor = -1 if fileno is None else fileno()
    if descriptor < 0:
        return 0
    count: int = _COUNT.unpack(ioctl(descriptor, TIOCOUTQ, bytes(_COUNT.size)))[0]
    return count


@implementer(IPushProducer)
class ChunkedWriter:
    """Writes bytes to a transport in pieces; pauses the connection while its client takes none."""

    def __init__(self, transport: FileDescriptor, connection: IPushProducer) -> None:
        self._transport = transport
        self._connection = connection
        self._unsent: deque[memoryview[int]] = deque()
        self._transport_is_full = self._connection_is_paused = False
        self._ends = self._lingers = False
        self._is_registered = True  # as the transport's producer
        transport.registerProducer(self, True)  # noqa: FBT003  it pushes
        self.stopReading = transport.pauseProducing
        self.startReading = transport.resumeProducing
        self.abortConnection = cast("ITCPTransport", transport).abortConnection

    @property
    def pending(self) -> int:
        """Bytes that are not sent yet, with those of the transport if it counts them."""
        below: int = getattr(self._transport, "pending", 0)
        return sum(map(len, self._unsent)) + below

    def send(self, *parts: Buffer) -> None:
        """Send bytes, in order; they must not change until they are sent."""
        self._unsent.extend(memoryview(part) for part in parts if part)
        self._push()
        if self._unsent and not self._connection_is_paused:
            self._connection_is_paused = True
            self._connection.pauseProducing()

    def _push(self) -> None:
        pieces: list[memoryview[int]] = []  # a head is sent with the begin of its body
        size = 0
        while self._unsent and not self._transport_is_full:
            part = self._unsent.popleft()
            piece, rest = part[:PIECE], part[PIECE:]
            if rest:
                self._unsent.appendleft(rest)
            pieces.append(piece)
            size += len(piece)
            if size >= PIECE or not self._unsent:
                self._transport.write(b"".join(pieces))
                pieces, size = [], 0
        if self._ends and not self._unsent:
            self._close()

    def end(self, *, lingering: bool) -> None:
        """Close when all is sent; if lingering only this side, as the client may still be sending."""
        self._ends, self._lingers = True, lingering
        self._push()

    def _close(self) -> None:
        transport = self._transport
        if self._is_registered:
            self._is_registered = False
            transport.unregisterProducer()
        # no half-close with TLS: it sends a close alert, and reads on until the client has sent its own
        if (
            self._lingers
            and IHalfCloseableDescriptor.providedBy(transport)
            and not ISSLTransport.providedBy(transport)
        ):
            transport.loseWriteConnection()
        else:
            transport.loseConnection()

    def pauseProducing(self) -> None:
        """Wait: the transport is full."""
        self._transport_is_full = True

    def resumeProducing(self) -> None:
        """Continue: the transport takes more."""
        self._transport_is_full = False
        self._push()
        if self._connection_is_paused and not (self._unsent or self._ends):
            self._connection_is_paused = False
            self._connection.resumeProducing()

    def stopProducing(self) -> None:
        """Drop the bytes: the connection is lost."""
        self._unsent.clear()
        self._transport_is_full = True


WriteBuffer = DirectServer | ChunkedWriter
"""Sends the bytes of a connection, and pauses it while its client takes none."""


def write_buffer_for(transport: ITransport, connection: IPushProducer) -> WriteBuffer:
    """Return the write buffer of a transport; it pauses and resumes the connection."""
    if isinstance(transport, DirectServer):
        transport.registerProducer(connection, True)  # noqa: FBT003  it pushes
        return transport
    # a transport of TLS has all that a FileDescriptor has
    return ChunkedWriter(cast("FileDescriptor", transport), connection)
