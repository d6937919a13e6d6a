"""One connection to a callback: TLS, one exchange after the other, and the limits below both.

It speaks TLS itself, through OpenSSL's two buffers in memory, where Twisted would stack a TLS
protocol, a policy wrapper and an HTTP parser. So every limit is enforced in one place, on the bytes
of the socket: what a peer sends is counted before it is decrypted (E12), the socket is aborted
without waiting for a TLS farewell, and nothing here is a private name of Twisted's.

What comes in is given to OpenSSL in slices, each in a turn of its own: a peer may fill its bytes with
messages that cost more than data, such as certificates or key updates. Of those it may send little. A
short answer waits for no turn.

The request is written piece by piece as the socket takes it, so that a body of 400 MB is neither
joined nor held twice. As a pull producer the connection is told when the kernel has taken
everything, and only then does a 2xx count (E12).
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

from reviewsd.websub.outbound import tls
from reviewsd.websub.outbound.exchange import (
    Lost,
    OutboundRequest,
    OutboundResponse,
    Peer,
    pieces_of,
)
from reviewsd.websub.outbound.fair_queue import FairQueue
from reviewsd.websub.outbound.outcomes import SUCCESS, BodyBuffer
from reviewsd.websub.outbound.response_parser import AnswerReader, BrokenAnswerError
from reviewsd.websub.outbound.tls import READ_SIZE, NotTrustedError, Tls

MAX_UNREAD = 16_384  # bytes of an answer's body worth waiting for to keep the connection
MAX_PROLOGUE = 32_768  # bytes received up to which the session is worth its memory
SLICE = 4_096  # bytes given to OpenSSL at once: 150 key updates, which take it 3 ms
SHORT = 1_024  # bytes of an answer and what comes with it that are read as they come
MAX_OVERHEAD = 20_480  # bytes of TLS that bring no data; handshakes have 3,000 to 10,000
_TCP_INFO = Struct("=120xQ")  # tcpi_bytes_acked of linux/tcp.h
RECORD = 21  # bytes around the data of a TLS record, at least (ChaCha20 in TLS 1.2)


@implementer(IPullProducer)
class Connection(Protocol):
    """Connected, or about to be.

    Attributes:
        peer: Whom it leads to.
        ready: Another exchange can begin.

    Args:
        clock: For the lifetime.
        turns: For what takes its time.
        secure: Makes and checks the TLS side.
        peer: Whom it leads to.
        byte_budget: Bytes that may be received in one exchange, below TLS.
        max_lifetime: Seconds after which the socket is aborted, whatever happens.
        ended: Called once when there is no connection any more.
    """

    transport: Client

    def __init__(
        self,
        clock: IReactorTime,
        turns: FairQueue,
        secure: Tls,
        peer: Peer,
        *,
        byte_budget: int,
        max_lifetime: float,
        ended: Callable[["Connection"], None],
    ) -> None:
        self.peer = peer
        self._clock = clock
        self._turns = turns
        self._secure = secure
        self._byte_budget = byte_budget
        self._max_lifetime = max_lifetime
        self._ended = ended

        self._tls = secure.connection(peer.callback)
        self._checked = False  # the handshake is over and the name is right
        self._inbox = bytearray()  # received, and not yet given to OpenSSL
        self._working = False  # the next slice is waiting for its turn
        self._open = True  # neither closed nor aborted by us, nor lost
        self._lost: Failure | None = None  # by the peer; there may be something in the inbox still
        self._received = 0
        self._overhead = 0  # of that, what has brought no data
        self._unread = 0  # bytes that OpenSSL may still have of what it was given, at most
        self._remembered = False  # its TLS session is kept
        self._registered = False  # as a producer, which the transport tells when it has room
        self._queued = False  # the transport has not got rid of everything yet
        self.bytes_written = 0  # bytes that the transport was given
        self._lifetime: IDelayedCall | None = None

        self._outcome: Deferred[OutboundResponse | Lost] | None = None
        self._pieces: Iterator[BodyBuffer] = iter(())
        self._sent = True
        self._max_answer: int | None = None
        self._answer = AnswerReader(0)

    # For the pool and the agent

    @property
    def ready(self) -> bool:
        """Open, and the last answer is complete."""
        return self._open and self._lost is None and self._answer.complete

    @property
    def keepable(self) -> bool:
        """Worth keeping, after an exchange: ready, or so soon."""
        answer, alive = self._answer, self._open and self._lost is None
        return alive and self._sent and answer.persistent and answer.left <= MAX_UNREAD

    def exchange(self, request: OutboundRequest) -> Deferred[OutboundResponse | Lost]:
        """Send a request and wait for its answer; cancelling aborts the connection."""
        outcome: Deferred[OutboundResponse | Lost] = Deferred(lambda _: self.abort())
        if self._checked:
            # the first exchange includes the handshake
            self._received = self._overhead = self._unread = 0
        self._outcome = outcome
        self._pieces = pieces_of(request)
        self._sent = False
        self._max_answer = request.max_answer
        self._answer = AnswerReader(request.max_answer or 0)
        if self._checked:
            self._turns.add(self._send)
        return outcome

    def close(self) -> None:
        """Close in order: all that was written arrives, but no farewell is waited for."""
        if not self._open:
            return
        self._open = False
        if not self._sent:
            self.transport.abortConnection()  # what is still queued would keep the socket
            return
        with suppress(SSL.Error):
            self._tls.shutdown()
        self._flush()
        self.transport.loseConnection()

    def abort(self) -> None:
        """Let the socket go at once."""
        self._open = False
        self._outcome = None
        self.transport.abortConnection()

    @property
    def has_work(self) -> bool:
        """See ``slots.Transfer``: something of it waits for its turn."""
        return self._working or (self._checked and not (self._sent or self._queued))

    def bytes_accepted(self) -> int:
        """See ``slots.Transfer``; all of them where the connection is closed."""
        if not self._open:
            return self.bytes_written
        info = self.transport.getHandle().getsockopt(IPPROTO_TCP, TCP_INFO, _TCP_INFO.size)
        return int(_TCP_INFO.unpack(info)[0]) if len(info) == _TCP_INFO.size else 0

    # For the transport

    def connectionMade(self) -> None:
        """Begin the handshake."""
        self.transport.setTcpNoDelay(enabled=True)
        self._lifetime = self._clock.callLater(self._max_lifetime, self._expire)
        self._work_in_turn()

    def dataReceived(self, data: bytes) -> None:
        """Count it; it is read in its turn."""
        self._received += len(data)
        if self._received > self._byte_budget:
            self._fail(f"sent more than {self._byte_budget} bytes")
            return
        if self._checked and not self._working and self._overhead + len(data) <= SHORT:
            self._decrypt(data)
            return
        self._inbox += data
        self._work_in_turn()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """The connection has ended; what was received is read first: it may be the answer."""
        if self._lifetime is not None and self._lifetime.active():
            self._lifetime.cancel()
        self._lost = reason
        if not self._working:
            self._leave(reason)

    def _leave(self, reason: Failure) -> None:
        """What is under way has failed, but for an answer that ends with the connection."""
        self._open = False
        in_order = reason.check(ConnectionDone) is not None
        if in_order:
            self._tls.set_shutdown(SSL.SENT_SHUTDOWN)  # else OpenSSL spoils the session
            self._finish()
        phase = "before it answered" if self._checked else "during the TLS handshake"
        how = "closed" if in_order else "lost"
        self._conclude_with(f"the connection was {how} {phase}")
        self._ended(self)

    def resumeProducing(self) -> None:
        """The kernel has taken all that was written: write the next piece."""
        if not self._registered:  # the call that registering makes: it has not taken it yet
            self._registered = True
            return
        self._queued = False
        if self._push():
            self.transport.unregisterProducer()
            self._conclude()

    def stopProducing(self) -> None:
        """The transport is gone; ``connectionLost`` says so too."""
        self._pieces = iter(())

    # Within

    def _work_in_turn(self) -> None:
        if not self._working:
            self._working = True
            self._turns.add(self._work)

    def _work(self) -> None:
        """Take the next slice; or the first step, before anything has come in."""
        self._working = False
        data = bytes(self._inbox[:SLICE])
        del self._inbox[:SLICE]
        if self._open:
            self._decrypt(data)
        if self._open and self._inbox:
            self._work_in_turn()
        elif self._lost is not None:
            self._leave(self._lost)

    def _decrypt(self, data: bytes) -> None:
        self._overhead += len(data)
        if data:
            self._unread += len(data)
            self._tls.bio_write(data)
        if self._checked or self._shake():
            self._read()
        if self._overhead > MAX_OVERHEAD:
            self._fail(f"TLS: sent more than {MAX_OVERHEAD} bytes that brought no data")

    def _shake(self) -> bool:
        """Take the handshake one step further; whether it is over."""
        try:
            self._tls.do_handshake()
            self._secure.check(self._tls, self.peer.callback)
        except SSL.WantReadError:
            self._flush()
            return False
        except SSL.Error as error:
            self._flush()  # the alert tells the subscriber's own log why
            self._fail(f"TLS: {tls.reason(error)}", abort=False)
            return False
        except NotTrustedError as error:
            self._fail(f"TLS: {error}")
            return False
        self._checked = True
        self._send()
        return True

    def _send(self) -> None:
        """Begin the request; what the kernel does not take at once is for the producer."""
        if not self._open or self._outcome is None:
            return
        if not self._queued and self._push():
            self._conclude()
        elif self._open:
            self._registered = False
            self.transport.registerProducer(self, streaming=False)

    def _push(self) -> bool:
        """Write as much as the kernel takes; whether that was all."""
        while self._open:
            piece = next(self._pieces, None)
            if piece is None:
                self._sent = True
                return True
            try:
                self._tls.sendall(piece)
            except SSL.Error as error:
                self._fail(f"TLS: {tls.reason(error)}")
                return False
            if not self._flush():
                return False
        return False

    def _read(self) -> None:
        """Take what TLS has to give.

        Where less is left than any record has, OpenSSL is not asked: to hear that it wants more takes
        as long as to read a short answer.
        """
        while self._open:
            try:
                data = self._tls.recv(READ_SIZE)
            except SSL.WantReadError:
                return
            except SSL.ZeroReturnError:
                self._finish()
                self._fail("the connection was closed before it answered", abort=not self._sent)
                return
            except SSL.Error as error:
                self._fail(f"TLS: {tls.reason(error)}")
                return
            self._unread -= len(data) + RECORD
            self._receive(data)
            if self._unread < RECORD:
                return

    def _receive(self, data: bytes) -> None:
        self._overhead -= len(data)
        try:
            self._answer.feed(data)
        except BrokenAnswerError as error:
            self._fail(f"broken HTTP: {error}")
            return
        self._conclude()
        if self._answer.excess:
            self.close()  # it could be taken for the answer to the next request

    def _flush(self) -> bool:
        """Hand over to the socket what OpenSSL has encrypted; whether the kernel took it all.

        What the kernel takes at once needs no round trip through epoll.
        """
        size = READ_SIZE
        while size == READ_SIZE:  # less means that it was all
            try:
                data = self._tls.bio_read(READ_SIZE)
            except SSL.WantReadError:
                break
            size = len(data)
            if self._lost is not None:
                return False
            self.bytes_written += size
            taken = 0 if self._queued else self.transport.writeSomeData(data)
            if not isinstance(taken, int):
                return False  # it is lost; what the peer said before it left is yet to be read
            if taken < size:
                self._queued = True
                self.transport.write(data[taken:])
        return not self._queued

    def _finish(self) -> None:
        """The peer says no more."""
        self._answer.end()
        self._conclude()

    def _conclude(self) -> None:
        """Give the reply, if it is all there."""
        answer, outcome = self._answer, self._outcome
        if outcome is None or answer.head is None:
            return
        if not self._sent and answer.head.status in SUCCESS:
            return  # it counts once everything is sent
        if self._max_answer is not None and not (answer.complete or answer.overlong):
            return
        self._outcome = None
        if self._received <= MAX_PROLOGUE and not self._remembered:
            self._remembered = True
            self._secure.remember(self._tls, self.peer.callback)
        body = b"" if self._max_answer is None else bytes(answer.body)
        outcome.callback(OutboundResponse(answer.head, body))

    def _conclude_with(self, reason: str) -> None:
        outcome, self._outcome = self._outcome, None
        if outcome is not None:
            outcome.callback(Lost(reason, self._answer.begun))

    def _fail(self, reason: str, *, abort: bool = True) -> None:
        """The exchange under way, if any, has failed, and the connection is of no more use."""
        self._open = False
        if abort:
            self.transport.abortConnection()
        else:
            self.transport.loseConnection()
        self._conclude_with(reason)

    def _expire(self) -> None:
        self._fail(f"the connection took longer than {self._max_lifetime:g} s")
