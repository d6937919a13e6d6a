"""TCP connections that send without joining or copying (performance.md 2.4 and 2.7).

Twisted joins the bytes that are written, waits until the socket is writable, and sends 128 KiB in each turn of
the reactor. :meth:`DirectServer.send` tries to send at once. Bytes that the kernel does not take are kept as
views: they may be in a mapped file of hundreds of megabytes.
"""

import socket
from collections.abc import Iterable
from itertools import islice
from typing import Any, cast

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.internet.interfaces import IProtocol, IReactorFDSet
from twisted.internet.main import CONNECTION_DONE, CONNECTION_LOST
from twisted.internet.tcp import Connection, Server
from twisted.python.failure import Failure

from reviewsd.http1.representation import Buffer

MAX_SEND_BYTES = 1_048_576
"""Most bytes that are offered to the kernel in one call, so that a fast reader does not delay other clients."""

_DONE = Failure(CONNECTION_DONE)

_Views = list["memoryview[int]"]

_MAX_PARTS = 1_024  # of one sendmsg (IOV_MAX of Linux)


class DirectServer(Server):
    """A connection that sends buffers without joining or copying them.

    A protocol uses either :meth:`send` or ``write`` (TLS uses ``write``). Push producers and closing work as in Twisted.
    """

    logstr = "public"  # one for all, as making one takes time
    bufferSize = 16_384  # bytes that are read at once
    _wants_data = True  # whether the protocol reads; the reactor may not know yet
    _in_protocol = False  # during a call of the protocol

    def __init__(
        self,
        sock: socket.socket,
        protocol: IProtocol,
        peer: IPv4Address | IPv6Address,
        reactor: IReactorFDSet,
    ) -> None:
        Connection.__init__(self, sock, protocol, reactor)
        self._peer = peer
        self._unsent: _Views = []
        self.connected = 1

    def __repr__(self) -> str:
        return f"<{type(self).__name__} from {self._peer.host}:{self._peer.port}>"

    def getPeer(self) -> IPv4Address | IPv6Address:
        """Return the address of the client."""
        return self._peer

    def getHost(self) -> IPv4Address | IPv6Address:
        """Return the address that the client has connected to, as the kernel knows it."""
        return internet_address(self.socket.getsockname())

    def begin(self) -> None:
        """Read the bytes that are here, then watch for more."""
        if self._wants_data and self.connected:
            self.doRead()  # its result is not needed: epoll reports an end or an error again
        if self._wants_data and self.connected:
            self.reactor.addReader(self)

    def startReading(self) -> None:
        """Read from now on."""
        self._wants_data = True
        self.reactor.addReader(self)

    def stopReading(self) -> None:
        """Stop reading."""
        self._wants_data = False
        self.reactor.removeReader(self)

    def doRead(self) -> ConnectionDone | ConnectionLost | None:  # type: ignore[override]
        """Pass the bytes that came to the protocol, and close once all is sent if the protocol has asked for it."""
        try:
            data = self.socket.recv(self.bufferSize)
        except BlockingIOError:
            return None
        except OSError:
            return CONNECTION_LOST
        if not data:
            return CONNECTION_DONE
        self._in_protocol = True
        self.protocol.dataReceived(data)
        self._in_protocol = False
        if self.disconnecting:
            self._close_when_sent()
        return None

    def readConnectionLost(self, reason: Failure) -> None:
        """Report to the protocol that the client has closed its side."""
        self._in_protocol = True
        super().readConnectionLost(reason)
        self._in_protocol = False
        if self.disconnecting:
            self._close_when_sent()

    def _close_when_sent(self) -> None:
        """Close for the protocol: now if all is sent, else later."""
        if self.connected and not self._aborting:
            if self.producer is None and not self.pending:
                self.connectionLost(_DONE)
            else:
                self.stopReading()
                self.startWriting()

    def loseConnection(self) -> None:
        """Close when all is sent; during a call of the protocol, when it returns."""
        if self._in_protocol and self.connected and not self._writeDisconnected:
            self.disconnecting = 1
        else:
            super().loseConnection()

    def end(self, *, lingering: bool) -> None:
        """Close when all is sent; a second call may close the side that the first has left open.

        A lingering end closes this side only, so that a client that is still sending can read the response.
        """
        self.unregisterProducer()
        if lingering:
            self.loseWriteConnection()
        else:
            self.loseConnection()

    @property
    def pending(self) -> int:
        """Bytes that the kernel has not taken yet."""
        twisted = len(self.dataBuffer) - self.offset + self._tempDataLen
        return sum(map(len, self._unsent)) + twisted

    def send(self, *parts: Buffer) -> None:
        """Send bytes; those that the kernel does not take now are kept as views, and must not change until then.

        A broken connection is reported to the protocol in a later turn of the reactor.
        """
        if not self.connected or self._writeDisconnected:
            return
        size = sum(map(len, parts))
        sent = 0
        if size <= MAX_SEND_BYTES and len(parts) <= _MAX_PARTS and not self._unsent:
            try:
                out = self.socket
                sent = out.send(parts[0]) if len(parts) == 1 else out.sendmsg(parts)
            except BlockingIOError:
                pass
            except OSError:
                self.stopReading()  # writing reports the error again
            if sent == size:
                return
        self._keep(parts, sent)

    def _keep(self, parts: Iterable[Buffer], sent: int) -> None:
        """Keep the unsent bytes of some parts until the socket is writable."""
        views = [memoryview(part) for part in parts if part]
        _advance(views, sent)
        self._unsent += views
        self._maybePauseProducer()
        self.startWriting()

    def doWrite(self) -> ConnectionDone | ConnectionLost | None:  # type: ignore[override]
        """Send the views that are kept, or the bytes that Twisted keeps."""
        if not self.connected:
            return None  # closed while bytes of the same event were read
        if self._unsent:
            try:
                sent = self.socket.sendmsg(_batch(self._unsent))
            except BlockingIOError:
                return None
            except OSError:
                return CONNECTION_LOST
            _advance(self._unsent, sent)
            if self._unsent:
                return None
        return cast("ConnectionDone | ConnectionLost | None", super().doWrite())

    def writeSomeData(self, data: bytes) -> int | ConnectionLost:
        """Send bytes, without a call to the kernel if there are none."""
        return super().writeSomeData(data) if data else 0

    def _isSendBufferFull(self) -> bool:
        return self.pending > 0  # no second response waits behind one that is not taken

    def connectionLost(self, reason: Failure) -> None:
        """Drop the views as well: they keep files mapped."""
        self._unsent.clear()
        super().connectionLost(reason)


def internet_address(name: tuple[Any, ...]) -> IPv4Address | IPv6Address:
    """Return an address of the socket module as one of Twisted, with the zone of IPv6 as text."""
    if len(name) == 2:  # noqa: PLR2004  host and port
        return IPv4Address("TCP", *name)
    host, port, flow, scope = name
    if scope:
        host, _ = socket.getnameinfo(name, socket.NI_NUMERICHOST | socket.NI_NUMERICSERV)
    return IPv6Address("TCP", host, port, flow, scope)


def _batch(parts: _Views) -> _Views:
    """Return the begin of some parts, as much as one call may offer to the kernel."""
    batch, room = [], MAX_SEND_BYTES
    for part in islice(parts, _MAX_PARTS):
        batch.append(part[:room])
        room -= len(part)
        if room <= 0:
            break
    return batch


def _advance(parts: _Views, sent: int) -> None:
    """Remove the sent bytes from some parts."""
    sent_parts = 0
    for part in parts:
        if sent < len(part):
            break
        sent -= len(part)
        sent_parts += 1
    del parts[:sent_parts]
    if sent:
        parts[0] = parts[0][sent:]
