"""TCP connections that give the kernel at once what it takes (performance.md 2.4 and 2.7).

Twisted joins what is written, waits until the socket is writable, which it mostly is, and sends
128 KiB in each turn of the reactor. :meth:`DirectServer.send` tries first. What the kernel did not
take stays where it is, maybe in a mapped file of hundreds of megabytes: only views of it are kept.
"""

import socket
from collections.abc import Iterable
from itertools import islice
from typing import Any, cast

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.internet.interfaces import IProtocol, IProtocolFactory, IReactorFDSet
from twisted.internet.main import CONNECTION_DONE, CONNECTION_LOST
from twisted.internet.tcp import Connection, Server
from twisted.python.failure import Failure

from reviewsd.http1.representation import Buffer

AT_ONCE = 1_048_576
"""Bytes that are offered to the kernel in one call: a fast reader would take more without end,
while everybody else waits."""

_DONE = Failure(CONNECTION_DONE)

_Views = list["memoryview[int]"]

_PARTS = 1_024  # that one sendmsg may have (IOV_MAX of Linux)


class DirectServer(Server):
    """A connection that sends buffers without joining or copying them.

    Order is kept: what :meth:`send` is given goes out after all that was written before it, and
    before all that is written after it. Producers and closing work as in Twisted.
    """

    logstr = "public"  # the same for all: making one for each takes time
    bufferSize = 16_384  # bytes read at once: what is not taken at once is kept
    _asks = True  # whether what comes is wanted; the reactor may not know yet
    _reading = False  # whether the protocol is being told what came

    def __init__(
        self,
        sock: socket.socket,
        protocol: IProtocol,
        peer: IPv4Address | IPv6Address,
        reactor: IReactorFDSet,
    ) -> None:
        Connection.__init__(self, sock, protocol, reactor)
        self._peer = peer
        self._rest: _Views = []  # goes out before what Twisted keeps
        self.connected = 1

    def __repr__(self) -> str:
        return f"<{type(self).__name__} from {self._peer.host}:{self._peer.port}>"

    def getPeer(self) -> IPv4Address | IPv6Address:
        """The address of the client."""
        return self._peer

    def getHost(self) -> IPv4Address | IPv6Address:
        """The address that the client has connected to; the kernel is asked each time."""
        return internet_address(self.socket.getsockname())

    def begin(self) -> None:
        """Read what has come already, then have the reactor tell when more comes.

        A connection that is answered and closed thus never gets to epoll.
        """
        if self._asks and self.connected:
            self.doRead()  # an end or an error is reported again
        self.watch()

    def watch(self) -> None:
        """Have the reactor tell when something comes, unless the protocol wants none of it."""
        if self._asks and self.connected:
            self.reactor.addReader(self)

    def startReading(self) -> None:
        """Have the reactor read, now and after changes of the protocol."""
        self._asks = True
        self.reactor.addReader(self)

    def stopReading(self) -> None:
        """Have the reactor stop reading."""
        self._asks = False
        self.reactor.removeReader(self)

    def doRead(self) -> ConnectionDone | ConnectionLost | None:  # type: ignore[override]
        """Tell the protocol what came, and close at once if it wants that and all is sent."""
        try:
            data = self.socket.recv(self.bufferSize)
        except BlockingIOError:
            return None
        except OSError:
            return CONNECTION_LOST
        if not data:
            return CONNECTION_DONE
        self._reading = True
        self.protocol.dataReceived(data)
        self._has_read()
        return None

    def readConnectionLost(self, reason: Failure) -> None:
        """Tell the protocol that nothing more comes; a connection that nobody wants ends here."""
        self._reading = True
        super().readConnectionLost(reason)
        self._has_read()

    def _has_read(self) -> None:
        """Close at once if the protocol wants that and all is sent."""
        self._reading = False
        if self.disconnecting and self.connected and not self._aborting:
            if self.producer is None and not self.pending:
                self.connectionLost(_DONE)
            else:
                self.stopReading()
                self.startWriting()

    def loseConnection(self) -> None:
        """Close when all is sent; while the protocol is told something, ``_has_read`` does it."""
        if self._reading and self.connected and not self._writeDisconnected:
            self.disconnecting = 1
        else:
            super().loseConnection()

    def end(self, *, lingering: bool) -> None:
        """Close when all is sent; only our side of it where the client may still be sending."""
        self.unregisterProducer()
        if lingering:
            self.loseWriteConnection()
        else:
            self.loseConnection()

    def pause_reading(self) -> None:
        """Stop reading, until :meth:`resume_reading`."""
        self.stopReading()

    def resume_reading(self) -> None:
        """Read again."""
        self.startReading()

    @property
    def pending(self) -> int:
        """Bytes that the kernel has not taken yet, whoever wrote them."""
        twisted = len(self.dataBuffer) - self.offset + self._tempDataLen
        return sum(map(len, self._rest)) + twisted

    def send(self, *parts: Buffer) -> None:
        """Send bytes; those that the kernel cannot take now are kept as views and sent later.

        A broken connection is reported to the protocol in a later turn of the reactor.

        Args:
            parts: In order; some may be empty. They must not change until they are sent.
        """
        if not self.connected or self._writeDisconnected:
            return
        size = sum(map(len, parts))
        sent = 0
        if (
            size <= AT_ONCE
            and len(parts) <= _PARTS
            and not (self._rest or self._tempDataBuffer or self.dataBuffer)
        ):
            try:
                out = self.socket
                sent = out.send(parts[0]) if len(parts) == 1 else out.sendmsg(parts)
            except BlockingIOError:
                pass
            except OSError:
                self.stopReading()  # the error comes again when writing
            if sent == size:
                if self.producer is not None and not self.streamingProducer:
                    self.startWriting()  # which asks it for more
                return
        self._keep(parts, sent)

    def _keep(self, parts: Iterable[Buffer], sent: int) -> None:
        """Keep what is left of some parts for when the socket is writable."""
        if self.dataBuffer or self._tempDataBuffer:
            written = [memoryview(self.dataBuffer)[self.offset :]]
            written += map(memoryview, self._tempDataBuffer)
            self.dataBuffer, self.offset = b"", 0
            self._tempDataBuffer, self._tempDataLen = [], 0
            self._rest += filter(len, written)
        fresh = [memoryview(part) for part in parts if part]
        _advance(fresh, sent)
        self._rest += fresh
        self._maybePauseProducer()
        self.startWriting()

    def doWrite(self) -> ConnectionDone | ConnectionLost | None:  # type: ignore[override]
        """Send what is kept, then what Twisted keeps."""
        if not self.connected:
            return None  # it was closed while what came with the same event was read
        if self._rest:
            try:
                sent = self.socket.sendmsg(_batch(self._rest))
            except BlockingIOError:
                return None
            except OSError:
                return CONNECTION_LOST
            _advance(self._rest, sent)
            if self._rest:
                return None
        return cast("ConnectionDone | ConnectionLost | None", super().doWrite())

    def writeSomeData(self, data: bytes) -> int | ConnectionLost:
        """Nothing needs no call to the kernel."""
        return super().writeSomeData(data) if data else 0

    def _isSendBufferFull(self) -> bool:
        return self.pending > 0  # no second answer waits behind one that is not taken

    def connectionLost(self, reason: Failure) -> None:
        """Let go of the views, too: they keep files mapped."""
        self._rest.clear()
        super().connectionLost(reason)

    def detach(self) -> socket.socket:
        """Forget the connection without ending it; the caller has the socket from now on.

        The protocol hears nothing of it, and nothing more from the client.

        Raises:
            RuntimeError: There are bytes that the kernel has not taken yet.
        """
        if self.pending:
            raise RuntimeError("a connection with bytes to send cannot go elsewhere")
        self.stopReading()
        self.stopWriting()
        taken = self.socket
        self.connected, self.disconnected = 0, 1
        self.producer = None
        del self.protocol, self.socket, self.fileno  # as when it is lost
        return taken


def connect(
    reactor: IReactorFDSet,
    factory: IProtocolFactory,
    sock: socket.socket,
    peer: IPv4Address | IPv6Address,
) -> DirectServer | None:
    """Make a connection of a connected socket, not read as yet; it is closed if that fails.

    Returns:
        None: The factory does not want it; it is closed.
    """
    try:
        protocol = factory.buildProtocol(peer)
    except Exception:
        sock.close()
        raise
    if protocol is None:
        sock.close()
        return None
    transport = DirectServer(sock, protocol, peer, reactor)
    try:
        protocol.makeConnection(transport)
    except Exception:
        transport.abortConnection()
        raise
    return transport


def adopt(
    reactor: IReactorFDSet,
    factory: IProtocolFactory,
    sock: socket.socket,
    peer: IPv4Address | IPv6Address,
) -> DirectServer | None:
    """Make a connection of a socket that was connected elsewhere, in another process maybe.

    What comes is read in a later turn of the reactor: the protocol may first be told what others
    have read already.

    Args:
        reactor: What it lives on.
        factory: Makes its protocol.
        sock: The connection, which from now on is closed from here.
        peer: The client's address.

    Returns:
        None: The factory does not want it; it is closed.
    """
    transport = connect(reactor, factory, sock, peer)
    if transport is not None:
        transport.watch()
    return transport


def internet_address(name: tuple[Any, ...]) -> IPv4Address | IPv6Address:
    """What Twisted has for an address of the socket module, with the zone of IPv6 as its text."""
    if len(name) == 2:  # noqa: PLR2004  host and port
        return IPv4Address("TCP", *name)
    host, port, flow, scope = name
    if scope:
        host, _ = socket.getnameinfo(name, socket.NI_NUMERICHOST | socket.NI_NUMERICSERV)
    return IPv6Address("TCP", host, port, flow, scope)


def _batch(parts: _Views) -> _Views:
    """The beginning of some parts, as much as one call may offer to the kernel."""
    batch, room = [], AT_ONCE
    for part in islice(parts, _PARTS):
        batch.append(part[:room])
        room -= len(part)
        if room <= 0:
            break
    return batch


def _advance(parts: _Views, sent: int) -> None:
    """Remove the bytes that were sent from the beginning of some parts."""
    whole = 0
    for part in parts:
        if sent < len(part):
            break
        sent -= len(part)
        whole += 1
    del parts[:whole]
    if sent:
        parts[0] = parts[0][sent:]
