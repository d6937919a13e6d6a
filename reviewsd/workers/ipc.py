"""Messages between the processes of one daemon, each with at most one descriptor.

The two ends are a pair of UNIX sockets of the kind ``SOCK_SEQPACKET``: the kernel keeps packets apart
and in order, takes a packet whole or not at all, and carries its descriptor with it. So a message
can never come without its descriptor, or with that of another, and there is no state but the packets
that wait until the other end has read. A message that is larger than a packet goes in several.

The end of one process is the end of the link, however it ends: nobody outlives the other unnoticed.
"""

import errno
import os
import socket
from array import array
from collections import deque
from typing import Protocol

from twisted.internet.interfaces import IReadWriteDescriptor
from twisted.internet.posixbase import PosixReactorBase
from twisted.python.failure import Failure
from zope.interface import implementer

PIECE = 32_768
"""Bytes of a message in one packet."""

_TURN = 64
"""Packets that are read before others have their turn."""

_PAUSE = 0.05
"""Seconds until the kernel is asked again that has no room for descriptors on their way."""

_MORE, _LAST = b"+", b"."
_CROWDED = {errno.ETOOMANYREFS, errno.ENOBUFS, errno.ENOMEM}
_ANCILLARY = socket.CMSG_SPACE(array("i", [0]).itemsize)


class MessageReceiver(Protocol):
    """Who hears what comes over a link."""

    def received(self, message: bytes, descriptor: int | None) -> None:
        """A message has come; the descriptor, where it has one, belongs to who hears this.

        None although the message says otherwise: this process has no room for another descriptor,
        and the kernel has closed it.
        """

    def lost(self) -> None:
        """The other end is gone, or this one was closed; nothing comes any more."""


def socketpair() -> tuple[socket.socket, socket.socket]:
    """Both ends of a new link, for this process and another."""
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    mine.settimeout(0)
    theirs.settimeout(0)
    return mine, theirs


@implementer(IReadWriteDescriptor)
class MessageSocket:
    """One end.

    Args:
        reactor: Watches it.
        end: The socket, one of a pair; it belongs to the link from now on.
        ends: Hears what comes.
    """

    def __init__(
        self, reactor: PosixReactorBase, end: socket.socket, ends: MessageReceiver
    ) -> None:
        self._reactor = reactor
        self._end = end
        self._ends = ends
        self._open = True
        self._waiting: deque[tuple[bytes, int | None]] = deque()
        self._pieces: list[bytes] = []
        self._descriptor: int | None = None
        reactor.addReader(self)

    @property
    def waiting(self) -> int:
        """Packets that the kernel has not taken yet."""
        return len(self._waiting)

    def send(self, message: bytes, descriptor: int | None = None) -> None:
        """Send a message, at once or when there is room; over a link that is lost, nothing.

        Args:
            message: Bytes, of any number.
            descriptor: Belongs to the link from now on, and is closed when it has been sent.
        """
        if not self._open:
            _close(descriptor)
            return
        at_once = not self._waiting
        for begin in range(0, len(message) or 1, PIECE):
            piece = message[begin : begin + PIECE]
            mark = _LAST if begin + PIECE >= len(message) else _MORE
            self._waiting.append((mark + piece, descriptor))
            descriptor = None
        if at_once:
            self.doWrite()

    def close(self) -> None:
        """End the link; what waits to be sent is not sent any more."""
        if self._open:
            self._reactor.removeReader(self)
            self._reactor.removeWriter(self)
            self._lose()

    def doRead(self) -> None:
        """Read packets; the reactor calls it."""
        for _ in range(_TURN):
            if not self._open:
                return
            try:
                packet, ancillary, _, _ = self._end.recvmsg(
                    PIECE + 1, _ANCILLARY, socket.MSG_CMSG_CLOEXEC
                )
            except BlockingIOError:
                return
            except OSError:
                packet = b""
            if not packet:
                self.close()
                return
            self._receive(packet, _descriptor_of(ancillary))

    def _receive(self, packet: bytes, descriptor: int | None) -> None:
        if descriptor is not None:
            self._descriptor = descriptor
        self._pieces.append(packet[1:])
        if packet[:1] == _LAST:
            message, self._pieces = b"".join(self._pieces), []
            descriptor, self._descriptor = self._descriptor, None
            self._ends.received(message, descriptor)

    def doWrite(self) -> None:
        """Send packets that wait; the reactor calls it."""
        while self._waiting:
            packet, descriptor = self._waiting[0]
            try:
                if descriptor is None:
                    self._end.send(packet)
                else:
                    socket.send_fds(self._end, [packet], [descriptor])
            except BlockingIOError:
                self._reactor.addWriter(self)
                return
            except OSError as error:
                # the link is lost: reading will say so, after all that the other end has said
                self._reactor.removeWriter(self)
                if error.errno in _CROWDED:
                    self._reactor.callLater(_PAUSE, self._again)
                return
            self._waiting.popleft()
            _close(descriptor)
        self._reactor.removeWriter(self)

    def _again(self) -> None:
        if self._open:
            self.doWrite()

    def connectionLost(self, _reason: Failure) -> None:
        """The other end is gone; the reactor calls it."""
        if self._open:
            self._lose()

    def _lose(self) -> None:
        self._open = False
        self._end.close()
        for _, descriptor in self._waiting:
            _close(descriptor)
        self._waiting.clear()
        _close(self._descriptor)
        self._ends.lost()

    def fileno(self) -> int:
        """The socket's descriptor, -1 when it is closed."""
        return self._end.fileno()

    def logPrefix(self) -> str:
        """For Twisted's log."""
        return "link"


def _descriptor_of(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            return array("i", data)[0]
    return None


def _close(descriptor: int | None) -> None:
    if descriptor is not None:
        os.close(descriptor)
