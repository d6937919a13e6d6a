"""One connection to a callback: TLS, one exchange after the other, and the limits below both.

It speaks TLS itself, through OpenSSL's two buffers in memory. So all limits are enforced in one place and on
the bytes of the socket: what a peer sends is counted before it is decrypted (E12), and the socket is closed
without waiting for a TLS alert.

Received bytes are passed to OpenSSL in slices, each in a turn of its own (``runtime.turns``), because a peer
may send messages that cost more than data, such as certificates or key updates. Such messages have a limit
of their own. A short response is read at once.

A request is written piece by piece as the socket accepts it, so that a body of 400 MB is neither joined
nor copied. The connection is a pull producer, which is called when the kernel has accepted everything; only
then does a 2xx count (E12).
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from socket import IPPROTO_TCP, TCP_INFO
from struct import Struct

from OpenSSL import SSL
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone
from twisted.internet.interfaces import IDelayedCall, IPullProducer, IReactorTime
from twisted.internet.protocol import Protocol, connectionDone
from twisted.internet.tcp import Client
from twisted.python.failure import Failure
from zope.interface import implementer

from reviewsd.domain.callback import Callback
from reviewsd.http1.representation import Buffer
from reviewsd.runtime.turns import TurnQueue
from reviewsd.websub.outbound import tls
from reviewsd.websub.outbound.response_parser import (
    MalformedResponseError,
    NoResponseError,
    ResponseParser,
)
from reviewsd.websub.outbound.tls import READ_SIZE, CertificateRefusedError, Tls

SUCCESS = range(200, 300)
MAX_UNREAD = 16_384  # bytes left of a body up to which the connection is reused
MAX_PROLOGUE = 32_768  # bytes received up to which the TLS session is remembered
SLICE = 4_096  # bytes passed to OpenSSL at once: 150 key updates, which take 3 ms
SHORT = 1_024  # bytes of a response that is read as it arrives
MAX_OVERHEAD = 20_480  # bytes of TLS that carry no data; handshakes have 3,000 to 10,000
RECORD = 21  # bytes around the data of a TLS record, at least (ChaCha20 in TLS 1.2)
_TCP_INFO = Struct("=120xQ")  # tcpi_bytes_acked of linux/tcp.h


@implementer(IPullProducer)
class Connection(Protocol):
    """A connection that is open, or is being opened.

    Args:
        clock: For the lifetime.
        turns: Runs the slices of all connections.
        secure: Makes and checks the TLS side.
        callback: The callback that it is opened for; others at the same host and port may use it.
        address: The checked address that it leads to.
        byte_budget: Bytes that may be received below TLS in one exchange (E12).
        max_lifetime: Seconds until it is closed; half of them if it is idle then.
        ended: Called once when the connection is gone.
    """

    transport: Client

    def __init__(
        self,
        clock: IReactorTime,
        turns: TurnQueue,
        secure: Tls,
        callback: Callback,
        address: str,
        byte_budget: int,
        max_lifetime: float,
        ended: Callable[["Connection"], None],
    ) -> None:
        self.callback = callback
        self.address = address
        self.bytes_written = 0
        self._clock = clock
        self._turns = turns
        self._secure = secure
        self._byte_budget = byte_budget
        self._max_lifetime = max_lifetime
        self._ended = ended

        self._tls = secure.connection(callback)
        self._checked = False  # the handshake is complete and the name is correct
        self._inbox = bytearray()  # received, and not yet passed to OpenSSL
        self._working = False  # the next slice waits for its turn
        self._open = True  # not closed, aborted or lost
        self._loss: Failure | None = None  # the inbox may still hold a response
        self._received = 0
        self._overhead = 0  # bytes received without data
        self._unread = 0  # bytes that OpenSSL may still hold, at most
        self._remembered = False  # the TLS session is remembered
        self._registered = False  # as a producer
        self._queued = False  # the transport holds bytes that the kernel has not accepted
        self._lifetime: IDelayedCall | None = None  # ends its first half, then its second
        self._retired = False  # in the second half

        self._response: Deferred[ResponseParser] | None = None
        self._pieces: Iterator[Buffer] = iter(())
        self._sent = True
        self._reads_body = False
        self._parser = ResponseParser(0)

    # Called by the pool, the agent and the slot

    @property
    def is_ready(self) -> bool:
        """Whether another exchange may begin."""
        return self._is_alive and self._parser.complete

    @property
    def is_reusable(self) -> bool:
        """Whether it is ready, or soon will be."""
        parser, ready = self._parser, self._is_alive and self._sent
        return ready and parser.keeps_alive and parser.remaining <= MAX_UNREAD

    @property
    def _is_alive(self) -> bool:
        """Whether it is open and in the first half of its lifetime."""
        return self._open and self._loss is None and not self._retired

    @property
    def has_work(self) -> bool:
        """Whether part of an exchange waits for its turn."""
        return self._working or (self._checked and not (self._sent or self._queued))

    def bytes_accepted(self) -> int:
        """Return the bytes that the peer has acknowledged; once it is closed, all of them."""
        if not self._open:
            return self.bytes_written
        info = self.transport.getHandle().getsockopt(IPPROTO_TCP, TCP_INFO, _TCP_INFO.size)
        return int(_TCP_INFO.unpack(info)[0]) if len(info) == _TCP_INFO.size else 0

    def exchange(self, request: Iterator[Buffer], max_body: int | None) -> Deferred[ResponseParser]:
        """Send a request; cancelling aborts the connection.

        Args:
            request: Head and body, in pieces that are encrypted at once.
            max_body: Bytes of the response's body to read; None to read the head only.

        Returns:
            The response as far as it was read, or NoResponseError.
        """
        response: Deferred[ResponseParser] = Deferred(lambda _: self.abort())
        if self._checked:  # else the exchange includes the handshake, and begins after it
            self._received = self._overhead = self._unread = 0
            self._turns.add(self._send)
        self._response = response
        self._pieces = request
        self._sent = False
        self._reads_body = max_body is not None
        self._parser = ResponseParser(max_body or 0)
        return response

    def close(self) -> None:
        """Send close_notify and close, without waiting for the peer's."""
        if not self._open:
            return
        self._open = False
        if not self._sent:
            self.transport.abortConnection()  # queued bytes would keep the socket open
            return
        with suppress(SSL.Error):
            self._tls.shutdown()
        self._flush()
        self.transport.loseConnection()

    def abort(self) -> None:
        """Close the socket at once."""
        self._open = False
        self._response = None
        self.transport.abortConnection()

    def fail(self, reason: str, *, abort: bool = True) -> None:
        """Close the socket and fail the exchange under way."""
        self._open = False
        if abort:
            self.transport.abortConnection()
        else:
            self.transport.loseConnection()
        self._fail_with(reason)

    # Called by the transport

    def connectionMade(self) -> None:
        """Begin the handshake."""
        self.transport.setTcpNoDelay(enabled=True)
        self._lifetime = self._clock.callLater(self._max_lifetime / 2, self._retire)
        self._work_in_turn()

    def _retire(self) -> None:
        """Begin no exchange in the second half of the lifetime, whose end would cut it off."""
        self._retired = True
        reason = f"the connection took longer than {self._max_lifetime:g} s"
        self._lifetime = self._clock.callLater(self._max_lifetime / 2, self.fail, reason)
        if self._response is None:
            self.close()

    def dataReceived(self, data: bytes) -> None:
        """Count the bytes, and decrypt them in a turn of their own unless they are few."""
        self._received += len(data)
        if self._received > self._byte_budget:
            self.fail(f"sent more than {self._byte_budget} bytes")
            return
        if self._checked and not self._working and self._overhead + len(data) <= SHORT:
            self._decrypt(data)
            return
        self._inbox += data
        self._work_in_turn()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Read the bytes that were received before the end, which may be the response."""
        if self._lifetime is not None and self._lifetime.active():
            self._lifetime.cancel()
        self._loss = reason
        if not self._working:
            self._end(reason)

    def _end(self, reason: Failure) -> None:
        """Fail the exchange, unless its response ends with the connection."""
        self._open = False
        in_order = reason.check(ConnectionDone) is not None
        if in_order:
            self._tls.set_shutdown(SSL.SENT_SHUTDOWN)  # else OpenSSL invalidates the session
            self._parser.end()
            self._conclude()
        manner = "closed" if in_order else "lost"
        moment = "before it answered" if self._checked else "during the TLS handshake"
        self._fail_with(f"the connection was {manner} {moment}")
        self._ended(self)

    def resumeProducing(self) -> None:
        """Write the next piece: the kernel has accepted all bytes so far."""
        if not self._registered:  # called by registerProducer, before that
            self._registered = True
            return
        self._queued = False
        if self._push():
            self.transport.unregisterProducer()
            self._conclude()

    def stopProducing(self) -> None:
        """Drop the request: the transport is gone."""
        self._pieces = iter(())

    def _work_in_turn(self) -> None:
        if not self._working:
            self._working = True
            self._turns.add(self._work)

    def _work(self) -> None:
        """Decrypt the next slice; the first call, without one, begins the handshake."""
        self._working = False
        data = bytes(self._inbox[:SLICE])
        del self._inbox[:SLICE]
        if self._open:
            self._decrypt(data)
        if self._open and self._inbox:
            self._work_in_turn()
        elif self._loss is not None:
            self._end(self._loss)

    def _decrypt(self, data: bytes) -> None:
        self._overhead += len(data)
        if data:
            self._unread += len(data)
            self._tls.bio_write(data)
        if self._checked or self._shake_hands():
            self._read()
        if self._overhead > MAX_OVERHEAD:
            self.fail(f"TLS: sent more than {MAX_OVERHEAD} bytes that brought no data")

    def _shake_hands(self) -> bool:
        """Take a step of the handshake; return whether it is complete."""
        try:
            self._tls.do_handshake()
            self._secure.check(self._tls, self.callback)
        except SSL.WantReadError:
            self._flush()
            return False
        except SSL.Error as error:
            self._flush()  # sends the alert, which the subscriber can log
            self.fail(f"TLS: {tls.reason(error)}", abort=False)
            return False
        except CertificateRefusedError as error:
            self.fail(f"TLS: {error}")
            return False
        self._checked = True
        self._send()
        return True

    def _send(self) -> None:
        """Begin the request; the producer writes what the kernel does not accept at once."""
        if not self._open or self._response is None:
            return
        if not self._queued and self._push():
            self._conclude()
        elif self._open:
            self._registered = False
            self.transport.registerProducer(self, streaming=False)

    def _push(self) -> bool:
        """Write pieces until the kernel accepts no more; return whether all were written."""
        while self._open:
            piece = next(self._pieces, None)
            if piece is None:
                self._sent = True
                return True
            try:
                self._tls.sendall(piece)
            except SSL.Error as error:
                self.fail(f"TLS: {tls.reason(error)}")
                return False
            if not self._flush():
                return False
        return False

    def _read(self) -> None:
        """Read the data that OpenSSL has decrypted.

        OpenSSL is not called while it holds less than a record, because a call that returns nothing costs
        as much as a short response.
        """
        while self._open:
            try:
                data = self._tls.recv(READ_SIZE)
            except SSL.WantReadError:
                return
            except SSL.ZeroReturnError:
                self._parser.end()
                self._conclude()
                self.fail("the connection was closed before it answered", abort=not self._sent)
                return
            except SSL.Error as error:
                self.fail(f"TLS: {tls.reason(error)}")
                return
            self._unread -= len(data) + RECORD
            self._receive(data)
            if self._unread < RECORD:
                return

    def _receive(self, data: bytes) -> None:
        self._overhead -= len(data)
        try:
            self._parser.feed(data)
        except MalformedResponseError as error:
            self.fail(f"broken HTTP: {error}")
            return
        self._conclude()
        if self._parser.excess:
            self.close()  # the excess could pass for the response to the next request

    def _flush(self) -> bool:
        """Write what OpenSSL has encrypted; return whether the kernel accepted all of it.

        Writing to the kernel at once saves a round trip through epoll.
        """
        size = READ_SIZE
        while size == READ_SIZE:  # fewer bytes are the last
            try:
                data = self._tls.bio_read(READ_SIZE)
            except SSL.WantReadError:
                break
            size = len(data)
            if self._loss is not None:
                return False
            self.bytes_written += size
            accepted = 0 if self._queued else self.transport.writeSomeData(data)
            if not isinstance(accepted, int):
                return False  # the connection is lost; the inbox is read first
            if accepted < size:
                self._queued = True
                self.transport.write(data[accepted:])
        return not self._queued

    def _conclude(self) -> None:
        """Return the response once all of it that is read has arrived."""
        parser, response = self._parser, self._response
        if response is None or parser.head is None:
            return
        if not self._sent and parser.head.status in SUCCESS:
            return  # it counts once the request is sent
        if self._reads_body and not (parser.complete or parser.overlong):
            return
        self._response = None
        if self._received <= MAX_PROLOGUE and not self._remembered:
            self._remembered = True
            self._secure.remember(self._tls, self.callback)
        response.callback(parser)

    def _fail_with(self, reason: str) -> None:
        response, self._response = self._response, None
        if response is not None:
            response.errback(NoResponseError(reason, begun=self._parser.begun))
