"""One connection of the public site: strict, bounded, and quick (S1 to S5, S17).

``dataReceived`` passes bytes to the parser, and requests are answered one after the other. A client that closes its
side gets the responses to its complete requests.

**Strict.** One parser reads every request. A malformed request is answered and ends the connection, because the begin
of the next one is unknown.

**Bounded.** A connection has one deadline, which ``Connections`` checks four times a second. Further bytes do not extend
the time for a head or a body. While a client does not take its response, its bytes are not read, and it is cut off
if it takes them too slowly.

**Quick.** A complete request that came alone goes from ``dataReceived`` to ``send`` in one call. A pipelined request
waits for a turn (``runtime.turns``), so that other clients are answered in between.
"""

from collections.abc import Callable
from enum import Enum
from functools import partial
from time import perf_counter

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IHalfCloseableProtocol, IPushProducer
from twisted.internet.protocol import Protocol, connectionDone
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import implementer

from reviewsd.http1 import problems
from reviewsd.http1.events import EventSource
from reviewsd.http1.head import RefusedError
from reviewsd.http1.hosts import is_loopback
from reviewsd.http1.parser import HEAD, NOTHING, RequestParser
from reviewsd.http1.problems import Problem
from reviewsd.http1.proxy_header import read_header
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response
from reviewsd.server.connections import NEVER, Connections
from reviewsd.server.pace import DRAIN_WINDOW, Pace
from reviewsd.server.site import PublicSite
from reviewsd.server.stream import Stream
from reviewsd.server.write_buffer import WriteBuffer, write_buffer_for

LAST_REQUEST_SECONDS = 1
"""Time for one more request when the daemon stops (O4)."""

LINGER_SECONDS = 5
"""Seconds for which bytes of a refused client are skipped, so that it can read the response."""

_MAX_BUFFERED = 16_384  # bytes during an answer; with more of them reading is paused

_CLOSE = b"Connection: close\r\n\r\n"
_END = b"\r\n"
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class State(Enum):
    """The states of a connection."""

    READING = "waits for a request, or for the rest of one"
    QUEUED = "has bytes of its next request, and waits for its turn"
    ANSWERING = "waits for the response to its request"
    SENDING = "waits until the client takes its response"
    STREAMING = "sends events until one side ends; further bytes are skipped"
    CLOSING = "has sent its last response; further bytes are skipped"


@implementer(IHalfCloseableProtocol, IPushProducer)
class ClientConnection(Protocol):
    """One connection of the public site; on a ``proxied`` one a PROXY header comes first (S6)."""

    _log = Logger()

    def __init__(
        self, site: PublicSite, connections: Connections, *, proxied: bool = False
    ) -> None:
        self.parser = RequestParser(site.cap)
        self.state = State.READING
        self.deadline = NEVER
        self.networks: tuple[str, ...] = ()
        self._site = site
        self._connections = connections
        self._proxy_header = b"" if proxied else None  # the bytes so far; None once it is read
        self._request_count = 0
        self._timed_state = NOTHING  # the parser's state to which the deadline belongs
        self._pending: Deferred[Response] | None = None  # the answer under way
        self._stream: Stream | None = None  # the events of the last response, if it has any
        self._release: Callable[[], object] = bool  # stops counting the memory of the response
        self._closes = False  # after the response under way, or the next
        self._lingers = False  # whether further bytes are skipped at the end
        self._reading_paused = False
        self._has_finished = False  # whether the client has closed its side

    # Beginning and end ----------------------------------------------------------------------------

    def connectionMade(self) -> None:
        transport = self.transport
        assert transport is not None  # noqa: S101  it is set just before
        peer = transport.getPeer()
        if isinstance(peer, IPv4Address | IPv6Address):
            self._set_client(peer.host)
        self.out: WriteBuffer = write_buffer_for(transport, self)
        limits = self._connections.limits
        self.pace = Pace(self.out, transport, limits.drain_rate)
        self.expire_in(limits.idle if self._proxy_header is None else limits.header)
        problem = self._connections.enter(self, self._remote_client)
        if problem is not None:
            self._refuse(problem)

    def expire_in(self, seconds: float) -> None:
        """Set the deadline."""
        self.deadline = self._connections.clock.seconds() + seconds

    def _set_client(self, host: str) -> None:
        self.parser.client, self.parser.loopback = host, is_loopback(host)

    @property
    def _remote_client(self) -> str | None:
        """The address of a client that is not on this machine; None for others."""
        return None if self.parser.loopback else self.parser.client

    def _read_proxy_header(self, data: bytes) -> bytes:
        """Read the PROXY header; returns the bytes behind it, none while it is incomplete.

        Until it is complete its bytes do not extend the deadline, and the connection counts for the proxy.
        """
        assert self._proxy_header is not None  # noqa: S101  it is awaited
        self._proxy_header += data
        try:
            header = read_header(self._proxy_header)
        except RefusedError as refused:
            self._refuse(refused.problem)
            return b""
        if header is None:
            return b""
        rest, self._proxy_header = self._proxy_header[header.size :], None
        if header.client is not None:
            self._set_client(header.client)
            problem = self._connections.count_client(self, self._remote_client)
            if problem is not None:
                self._refuse(problem)
                return b""
        if not self._closes:
            self.expire_in(self._connections.limits.idle)
        return rest

    def readConnectionLost(self) -> None:
        """Answer the complete requests of a client that has closed its side, and may still read.

        A client that has left looks the same, so an answer under way gets a deadline.
        """
        self._has_finished = True
        match self.state:
            case State.CLOSING | State.STREAMING:
                self.out.end(lingering=False)
            case State.ANSWERING:
                self.expire_in(self._connections.limits.idle)
            case State.READING:
                self._read_request()

    def writeConnectionLost(self) -> None:
        pass  # this side has closed it

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: ARG002
        self.state = State.CLOSING
        self._connections.leave(self)
        self._connections.turns.remove(self._take_turn)
        if self._stream is not None:
            self._stream.close()
        self._release()
        if self._pending is not None:
            self._pending.cancel()

    def drain(self) -> None:
        """Close after the response under way, or the next one, or if no request comes for a moment.

        A request may be on its way, which closing at once would lose.
        """
        self._closes = True
        if self.state is State.STREAMING and self._stream is not None:
            self._stream.end()
        elif not self._has_request:
            if self.state is State.SENDING:
                self.end()
            else:
                self.expire_in(LAST_REQUEST_SECONDS)

    def abort(self) -> None:
        """Close at once."""
        self.state = State.CLOSING
        self.out.abortConnection()

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way and the client has all bytes."""
        return not self.out.pending and (self.state is State.CLOSING or not self._has_request)

    @property
    def is_answering(self) -> bool:
        """Whether a request is being answered."""
        return self.state is State.ANSWERING

    @property
    def _has_request(self) -> bool:
        """Whether a request has begun to come, or is being answered."""
        if self.state in {State.READING, State.SENDING}:
            return self.parser.state != NOTHING
        return True

    # Reading --------------------------------------------------------------------------------------

    def dataReceived(self, data: bytes) -> None:
        if self.state is State.CLOSING or self.state is State.STREAMING:
            return
        if self._proxy_header is not None and not (data := self._read_proxy_header(data)):
            return
        parser = self.parser
        parser.buffer = parser.buffer + data if parser.buffer else data
        if self.state is State.READING:
            self._read_request()
        elif len(parser.buffer) > _MAX_BUFFERED and not self._reading_paused:
            self._reading_paused = True
            self.out.stopReading()

    def _read_request(self) -> None:
        """Answer the next request if it is complete."""
        try:
            request = self.parser.next_request()
        except RefusedError as refused:
            self._refuse(refused.problem)
            return
        if request is None:
            self._wait_for_rest()
        else:
            self._answer(request)

    def _wait_for_rest(self) -> None:
        """Set the deadline of the head or body, which runs from its first byte."""
        if self._has_finished:
            self.end()
            return
        state, limits = self.parser.state, self._connections.limits
        if state != self._timed_state:
            self._timed_state = state
            self.expire_in(limits.header if state == HEAD else limits.body)
            if self.parser.awaits_continue:
                self.out.send(_CONTINUE)
        self._resume_reading()

    def _resume_reading(self) -> None:
        if self._reading_paused:
            self._reading_paused = False
            self.out.startReading()

    def _read_on(self) -> None:
        """Continue after a response, with buffered bytes or further ones."""
        if self.parser.buffer:
            self.state = State.QUEUED
            self._connections.turns.add(self._take_turn)
        elif self._has_finished:
            self.end()
        else:
            self._resume_reading()

    def _take_turn(self) -> None:
        """Read the request that was queued; an exception ends the connection, as in ``dataReceived``."""
        self.state = State.READING
        try:
            self._read_request()
        except Exception:  # noqa: BLE001 - logged with its traceback
            self._log.failure("answering a pipelined request failed")
            self.abort()

    # Answering ------------------------------------------------------------------------------------

    def _answer(self, request: Request) -> None:
        began = perf_counter()
        connections = self._connections
        self.state = State.ANSWERING
        self.deadline = connections.now + connections.limits.idle if self._has_finished else NEVER
        self._timed_state = NOTHING
        self._request_count += 1
        if request.truncated:
            self._lingers = self._closes = True
        elif not request.fields.persistent or self._request_count >= connections.limits.requests:
            self._closes = True
        answer = self._site.respond(request)
        if isinstance(answer, Response):
            self._respond(request, began, answer)
        else:
            self._pending = answer
            answer.addCallback(partial(self._respond, request, began))
            answer.addErrback(partial(self._fail, request, began))

    def _respond(self, request: Request, began: float, response: Response) -> None:
        """Send the response to the request under way."""
        self._pending = None
        if self.state is not State.ANSWERING:  # the client was cut off
            return
        self._site.count(request, response.status, began)
        self._send(response, is_head=request.method == b"HEAD")

    def _fail(self, request: Request, began: float, failure: Failure) -> None:
        self._pending = None
        if self.state is State.CLOSING and failure.check(CancelledError):  # the client has left
            return
        self._log.failure("answering failed", failure)
        self._respond(request, began, self._site.internal_error())

    def _send(self, response: Response, *, is_head: bool) -> None:
        """Send a response, without its body to a HEAD."""
        if response.events is not None:
            self._closes = True  # the end of the connection is the end of the body
        end = _CLOSE if self._closes else _END
        head = self._site.prefix(response.status) + response.block + end
        self.state = State.READING
        self.out.send(head, *(() if is_head else response.body))
        if self.state is State.SENDING and response.reserve is not None:  # see pauseProducing
            self._release = response.reserve()
        if response.events is not None:
            self._begin_stream(response.events)
        elif self._closes:
            self.end()
        elif self.state is State.READING:
            self.deadline = self._connections.now + self._connections.limits.idle
            if self.parser.buffer or self._has_finished or self._reading_paused:
                self._read_on()

    def _begin_stream(self, events: EventSource) -> None:
        paused = self.state is State.SENDING
        self.state, self.parser.buffer = State.STREAMING, b""
        self._stream = Stream(self, events, self._connections, paused=paused)
        if self._has_finished or self._connections.draining:
            self._stream.end()

    def _refuse(self, problem: Problem) -> None:
        """Answer malformed bytes, and close; further bytes are skipped."""
        self._closes = self._lingers = True
        line = self.parser.line
        is_head = line is not None and line.method == b"HEAD"
        self._send(self._site.refuse(problem), is_head=is_head)

    def end(self) -> None:
        """Close when all is sent."""
        self.state = State.CLOSING
        may_send = self._lingers or self._reading_paused or bool(self.parser.buffer)
        lingering = may_send and not self._has_finished
        self.parser.buffer = b""
        pending = self.out.pending
        if pending:
            self.pace.begin()
        self.expire_in(LINGER_SECONDS if lingering and not pending else DRAIN_WINDOW)
        self._resume_reading()
        self.out.end(lingering=lingering)

    # Called by the connections and the transport --------------------------------------------------

    def expire(self) -> None:
        """Act on the deadline, which has passed."""
        if self.state is State.STREAMING and self._stream is not None:
            self._stream.expire(self._connections.now)
        elif self.out.pending or (self.state is State.CLOSING and self.pace.untaken):
            if self.pace.next_window():
                self.expire_in(DRAIN_WINDOW)
            else:
                self.abort()
        elif self.state is State.CLOSING:
            self.abort()
        elif self.parser.state != NOTHING:
            self._refuse(problems.TIMEOUT)
        else:
            self.end()

    def pauseProducing(self) -> None:
        """Wait until the client takes its response: called while one is sent."""
        if self._stream is not None:
            self._stream.pause()
            return
        if self.state is not State.CLOSING:
            self.state = State.SENDING
        self.pace.begin()
        self.expire_in(DRAIN_WINDOW)

    def resumeProducing(self) -> None:
        """Continue: the transport has sent all bytes."""
        self.pace.end()
        self._release()
        if self.state is State.SENDING:
            self.state = State.READING
            if self.parser.state == NOTHING:
                self.expire_in(self._connections.limits.idle)
            self._read_on()
        elif self.state is State.STREAMING and self._stream is not None:
            self._stream.resume()

    def stopProducing(self) -> None:
        pass  # the connection is lost, and ``connectionLost`` is called
