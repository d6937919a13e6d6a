"""The way out of a channel whose transport is no plain socket: TLS, or a wrapper for a proxy.

A plain one is a :class:`DirectServer`, which is its own way out. Others keep copies of what they are
given, so here they are given pieces, and no more while they ask to wait.
"""

from collections import deque
from fcntl import ioctl
from struct import Struct
from termios import TIOCOUTQ
from typing import Protocol, cast

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
"""Bytes given to a transport at once."""

_COUNT = Struct("i")


class WriteBuffer(Protocol):
    """Sends what a channel says, and tells it while its client takes nothing."""

    @property
    def pending(self) -> int:
        """Bytes that nobody below has taken yet."""

    def send(self, *parts: Buffer) -> None:
        """Send bytes, in order; they must not change until they are sent."""

    def end(self, *, lingering: bool) -> None:
        """Close when all is sent; a second call may close what the first has left open.

        Args:
            lingering: Only our side, so that who is still sending meets no reset connection before
                he has read the answer. The channel closes the rest.
        """

    def pause_reading(self) -> None:
        """Stop reading what the client sends, until :meth:`resume_reading`."""

    def resume_reading(self) -> None:
        """Read again."""

    def abortConnection(self) -> None:
        """Close without more ado."""


def write_buffer_for(transport: ITransport, channel: IPushProducer) -> WriteBuffer:
    """The way out through a transport; it tells the channel to pause and to resume."""
    if isinstance(transport, DirectServer):
        transport.registerProducer(channel, True)  # noqa: FBT003  it pushes
        return transport
    # those of TLS and of proxies have all that a FileDescriptor has
    return ChunkedWriter(cast("FileDescriptor", transport), channel)


def unacknowledged(transport: ITransport) -> int:
    """Bytes that the kernel has sent, or has still to send, and the other side does not have.

    They may be millions, and the kernel takes more when a third of them has gone: who looks at
    what waits here alone sees no progress of a slow reader for minutes. None without a socket.
    """
    fileno = getattr(transport, "fileno", None)
    descriptor = -1 if fileno is None else fileno()
    if descriptor < 0:
        return 0
    count: int = _COUNT.unpack(ioctl(descriptor, TIOCOUTQ, bytes(_COUNT.size)))[0]
    return count


class ReadingPace:
    """How fast a client takes what it is sent (S5).

    Args:
        out: What it is sent through.
        transport: Of the connection.
    """

    def __init__(self, out: WriteBuffer, transport: ITransport) -> None:
        self._out = out
        self._transport = transport
        self._before = 0  # bytes that were left at the last look; 0 where there was none

    @property
    def left(self) -> int:
        """Bytes that the client does not have."""
        return self._out.pending + unacknowledged(self._transport)

    def begin(self) -> None:
        """Look from now on."""
        self._before = self.left

    def end(self) -> None:
        """Look no longer: the client has it all."""
        self._before = 0

    def kept(self, least: float) -> bool:
        """Whether so many bytes were taken since the last look, if there was one; looks again."""
        before = self._before
        self.begin()
        return not before or before - self._before >= least


@implementer(IPushProducer)
class ChunkedWriter:
    """Gives a transport pieces of what is to be sent.

    Args:
        transport: Of the connection.
        channel: Is told to pause and to resume.
    """

    def __init__(self, transport: FileDescriptor, channel: IPushProducer) -> None:
        self._transport = transport
        self._channel = channel
        self._rest: deque[memoryview[int]] = deque()
        self._waits = False  # whether the transport has enough
        self._write_blocked = False  # whether the channel was told to pause
        self._ends = False
        self._lingers = False
        self._produces = True  # as far as the transport knows
        transport.registerProducer(self, True)  # noqa: FBT003  it pushes
        self.pause_reading = transport.pauseProducing
        self.resume_reading = transport.resumeProducing
        self.abortConnection = cast("ITCPTransport", transport).abortConnection

    @property
    def pending(self) -> int:
        """Bytes that nobody below has taken yet, as far as the one at the bottom tells."""
        below: int = getattr(self._transport, "pending", 0)  # wrappers ask what they wrap
        return sum(map(len, self._rest)) + below

    def send(self, *parts: Buffer) -> None:
        """Send bytes, in order; they must not change until they are sent."""
        self._rest.extend(memoryview(part) for part in parts if part)
        self._push()
        if self._rest and not self._write_blocked:
            self._write_blocked = True
            self._channel.pauseProducing()

    def _push(self) -> None:
        small: list[memoryview[int]] = []  # a head goes out with what follows it
        size = 0
        while self._rest and not self._waits:
            part = self._rest.popleft()
            piece, rest = part[:PIECE], part[PIECE:]
            if rest:
                self._rest.appendleft(rest)
            small.append(piece)
            size += len(piece)
            if size >= PIECE or not self._rest:
                self._transport.write(b"".join(small))
                small, size = [], 0
        if self._ends and not self._rest:
            self._close()

    def end(self, *, lingering: bool) -> None:
        """Close when all is sent."""
        self._ends, self._lingers = True, lingering
        self._push()

    def _close(self) -> None:
        transport = self._transport
        if self._produces:
            self._produces = False
            transport.unregisterProducer()
        # TLS ends with a farewell, and reads on until the client has taken its leave, too
        if (
            self._lingers
            and IHalfCloseableDescriptor.providedBy(transport)
            and not ISSLTransport.providedBy(transport)
        ):
            transport.loseWriteConnection()
        else:
            transport.loseConnection()

    def pauseProducing(self) -> None:
        """The transport has enough."""
        self._waits = True

    def resumeProducing(self) -> None:
        """The transport takes more."""
        self._waits = False
        self._push()
        if self._write_blocked and not (self._rest or self._ends):
            self._write_blocked = False
            self._channel.resumeProducing()

    def stopProducing(self) -> None:
        """The connection is lost."""
        self._rest.clear()
        self._waits = True
