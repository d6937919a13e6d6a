"""Between the socket and the routes: one connection, strict, bounded, and quick (S1 to S5, S17).

A connection is in one of three states:

    READY  nothing is being answered; a request may be coming
    BUSY   a request is being answered; what the client says meanwhile waits in the parser
    OVER   the last answer is sent; what still comes is read past, until the client has gone

``dataReceived`` gives the parser what comes and calls ``_advance``, which goes on from request to request,
one at a time, as long as there is a whole one and the client takes what it is sent. A client that
closes its side is answered what it has asked by then, and closed.

**Strict.** One parser reads every request, however it is answered. What it refuses is answered with the
same problems as everywhere, and the connection ends: nobody knows where the next request would begin.

**Bounded.** A connection has one moment at which it is overdue, and the server looks at all of them
four times a second; no delayed calls are made and cancelled. Nothing that comes in puts off the end of
a head or a body. A client that is sent more than it takes is not read from until it has taken it, and
is cut off if it takes it too slowly. A body is counted while it comes.

**Quick.** A whole request that came alone, as most do, goes through ``dataReceived`` to ``send`` in one
go: no event loop, no Deferred. The quick look-up answers what it knows; for all else Klein finds the route
(``exchange``). Both come back to ``_reply``: the one place where an answer is written.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IHalfCloseableProtocol, IPushProducer
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from zope.interface import implementer

from reviewsd.http1 import problems
from reviewsd.http1.head import RefusedError
from reviewsd.http1.hosts import is_loopback
from reviewsd.http1.parser import HEAD, NOTHING, RequestParser
from reviewsd.http1.problems import Problem
from reviewsd.http1.proxy_header import read_header
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response
from reviewsd.server.exchange import Exchange
from reviewsd.server.write_buffer import ReadingPace, WriteBuffer, outlet

if TYPE_CHECKING:
    from reviewsd.server.server import PublicServer

MORE_SECONDS = 1
"""What a client may take to ask once more when the daemon stops (O4)."""

LINGER_SECONDS = 5
"""How long what a refused client still sends is read past, so that it comes to read why."""

DRAIN_WINDOW = 10.0
"""Seconds over which a client must keep to the minimum rate (S5)."""

NEVER = float("inf")

READY, BUSY, OVER = range(3)

_MAX_BUFFERED = 16_384  # bytes that wait while a request is answered; then the socket is not read

_CLOSE = b"Connection: close\r\n\r\n"
_END = b"\r\n"
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@implementer(IHalfCloseableProtocol, IPushProducer)
class Channel(Protocol):
    """One connection of the public site.

    Args:
        server: Whose connection it is.
        proxied: Whether a proxy says first who the client is (S6).
    """

    def __init__(self, server: "PublicServer", *, proxied: bool = False) -> None:
        self.site = server
        self.parser = RequestParser(server.cap)
        self._header = b"" if proxied else None  # what has come of what a proxy says first
        self.deadline = NEVER
        """When it is overdue, in the clock's seconds; the server looks."""
        self.state = READY
        self.networks: tuple[str, ...] = ()
        """The client network it is counted for."""
        self.exchange = Exchange(server)
        self._answered = 0  # requests
        self._timed_state = NOTHING  # of the parser, when its time was last set
        self._lingers = False  # whether what still comes is read past at the end
        self._closes = False  # after the answer under way, or the next
        self._write_blocked = False  # whether the client has not taken what it was sent
        self._release: Callable[[], object] = bool  # ends the counting of what is not taken
        self._advancing = False
        self._queued = False  # whether what came at once waits for its turn
        self._paused = False  # whether the socket is not read
        self._blocked_since = NEVER  # when the client last had not taken what it was sent
        self._finished = False  # whether the client says nothing more

    # Beginning and end ----------------------------------------------------------------------------

    def connectionMade(self) -> None:
        transport = self.transport
        assert transport is not None  # noqa: S101  it is set just before
        peer = transport.getPeer()
        if isinstance(peer, IPv4Address | IPv6Address):
            self._meet(peer.host)
        self.out: WriteBuffer = outlet(transport, self)
        self._pace = ReadingPace(self.out, transport)
        limits = self.site.limits
        lasts = limits.idle if self._header is None else limits.header
        self.deadline = self.site.clock.seconds() + lasts
        if (refused := self.site.entered(self)) is not None:
            self._refuse(refused)

    def _meet(self, host: str) -> None:
        """Know the client."""
        self.parser.client, self.parser.loopback = host, is_loopback(host)

    def _introduce(self, data: bytes) -> bytes:
        """Read what a proxy says first; returns what follows it, empty where it goes on.

        Until it has come to its end nothing puts off the deadline, and the connection counts as the
        proxy's.
        """
        assert self._header is not None  # noqa: S101  it is waited for
        self._header += data
        try:
            header = read_header(self._header)
        except RefusedError as refused:
            self._refuse(refused.problem)
            return b""
        if header is None:
            return b""
        rest, self._header = self._header[header.size :], None
        if header.source is not None:
            self._meet(header.source[0])
            if (problem := self.site.counted(self)) is not None:
                self._refuse(problem)
                return b""
        if not self._closes:
            self.deadline = self.site.clock.seconds() + self.site.limits.idle
        return rest

    def readConnectionLost(self) -> None:
        """The client says nothing more; it may still listen, so what it has asked is answered.

        It may have left as well, which looks the same: so it is not waited for without end.
        """
        self._finished = True
        if self.state is OVER:
            self.out.end(lingering=False)
        elif self.state is BUSY:
            self.deadline = self.site.clock.seconds() + self.site.limits.idle
        elif not self._write_blocked:
            self._advance()

    def writeConnectionLost(self) -> None:
        """Our side is closed, by us."""

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: ARG002
        self.state = OVER
        self.site.left(self)
        self._release()
        self.site.pipelines.forget(self._answer_next)
        self.exchange.lost()

    def drain(self) -> None:
        """Close after the answer under way, or the next one, or when none comes for a moment.

        To close at once would lose the request that is on its way from a client that goes on asking.
        """
        self._closes = True
        if self._is_idle and self._write_blocked:
            self._end()
        elif self._is_idle:
            self.deadline = self.site.clock.seconds() + MORE_SECONDS

    def abort(self) -> None:
        """Close without more ado."""
        self.state = OVER
        self.out.abortConnection()

    @property
    def idle(self) -> bool:
        """Whether the client has no request under way, so that nobody misses the connection."""
        return not self.out.pending and (self.state is OVER or self._is_idle)

    @property
    def _is_idle(self) -> bool:
        return self.state is READY and self.parser.state == NOTHING and not self._queued

    # Reading --------------------------------------------------------------------------------------

    def dataReceived(self, data: bytes) -> None:
        if self.state is OVER:
            return
        if self._header is not None and not (data := self._introduce(data)):
            return
        parser, exchange = self.parser, self.exchange
        begins = parser.state == NOTHING and not parser.buffer  # a request, and nothing else
        if data == exchange.same and begins and self.state is READY and not self._write_blocked:
            self._repeat()
            return
        answered = self._answered
        parser.buffer = parser.buffer + data if parser.buffer else data
        if self.state is READY and not self._write_blocked and not self._queued:
            self._advance()
            ends = parser.state == NOTHING and not parser.buffer
            if begins and ends and self._answered == answered + 1 and exchange.said is not None:
                exchange.same = data
        elif len(parser.buffer) > _MAX_BUFFERED and not self._paused:
            self._paused = True
            self.out.pause_reading()

    def _repeat(self) -> None:
        """Answer the last request, which has come again, as it was answered then."""
        self.state = BUSY
        self._count()
        self.exchange.repeat(self._reply)

    def let_go(self) -> None:
        """Keep nothing of the last request, which may be large; it comes again at once or seldom."""
        if self.state is not BUSY:
            self.exchange.let_go()

    def _advance(self) -> None:
        """Take and answer a request, if there is one; the next one waits for its turn."""
        if self._advancing:  # an answer that was made at once
            return
        self._advancing = True
        parser = self.parser
        try:
            if parser.buffer and self.state is READY and not self._write_blocked:
                request = parser.next_request()
                if request is None:
                    self._await()
                else:
                    self._ask(request)
                    if parser.buffer and self.state is READY and not self._write_blocked:
                        self._queued = True
                        self.site.pipelines.put_off(self._answer_next, self.abort)
        except RefusedError as refused:
            self._refuse(refused.problem)
        finally:
            self._advancing = False
        if self.state is not READY or self._write_blocked or self._queued:
            return
        if self._finished:
            self._end()
        elif self._paused:
            self._paused = False
            self.out.resume_reading()

    def _answer_next(self) -> None:
        self._queued = False
        self._advance()

    def _await(self) -> None:
        """Give what is coming its time, which begins with its first byte and is not put off."""
        state, limits = self.parser.state, self.site.limits
        if state != self._timed_state:
            self._timed_state = state
            seconds = limits.header if state == HEAD else limits.body
            self.deadline = self.site.clock.seconds() + seconds
            if self.parser.awaited:
                self.out.send(_CONTINUE)

    # Answering ------------------------------------------------------------------------------------

    def _ask(self, request: Request) -> None:
        """Have a whole request answered."""
        self.state = BUSY
        self.deadline = self.site.now + self.site.limits.idle if self._finished else NEVER
        self._timed_state = NOTHING
        self._count()
        if request.truncated:
            self._lingers = self._closes = True
        elif not request.fields.persistent:
            self._closes = True
        self.exchange.ask(request, self._reply)

    def _count(self) -> None:
        self._answered += 1
        if self._answered >= self.site.limits.requests:
            self._closes = True

    def _reply(self, response: Response, bodiless: bool) -> None:  # noqa: FBT001  as ``Give`` has it
        """Send the answer to the request under way.

        Args:
            response: The answer.
            bodiless: Whether it goes without its body, as to HEAD.
        """
        if self.state is OVER:  # the client has been cut off meanwhile
            return
        site = self.site
        head = site.prefix(response.status) + response.block + (_CLOSE if self._closes else _END)
        self.out.send(head, *(() if bodiless else response.body))
        if self._write_blocked and response.reserve is not None:
            self._release = response.reserve()
        site.answered.add(self)
        if self._closes:
            self._end()
            return
        self.state = READY
        if not self._write_blocked:
            self.deadline = site.now + site.limits.idle
            if self.parser.buffer or self._finished:
                self._advance()

    def _refuse(self, problem: Problem) -> None:
        """Answer what is no request, and close; what still comes of it is read past."""
        self._closes = self._lingers = True
        self.site.traffic.refused(problem)
        line = self.parser.line
        self._reply(self.site.refusal(problem), line is not None and line.method == b"HEAD")

    def _end(self) -> None:
        """Close when all is sent."""
        self.state = OVER
        sends = self._lingers or self._paused or bool(self.parser.buffer)
        lingering = sends and not self._finished
        self.parser.buffer = b""
        pending = self.out.pending
        if pending:
            self._pace.begin()
        lasts = LINGER_SECONDS if lingering and not pending else DRAIN_WINDOW
        self.deadline = self.site.clock.seconds() + lasts
        if self._paused:
            self._paused = False
            self.out.resume_reading()
        self.out.end(lingering=lingering)

    # What the server and the transport say --------------------------------------------------------

    def overdue(self) -> None:
        """The moment has come."""
        if self.out.pending or (self.state is OVER and self._pace.left):
            kept = self._pace.kept(self.site.limits.drain_rate * DRAIN_WINDOW)
            if kept and not self.site.outdated(self._blocked_since):
                self.deadline = self.site.clock.seconds() + DRAIN_WINDOW
            else:
                self.abort()
        elif self.state is OVER:
            self.abort()
        elif self.parser.state != NOTHING:
            self._refuse(problems.TIMEOUT)
        else:
            self._end()

    def pauseProducing(self) -> None:
        """The client has not taken what it was sent."""
        self._write_blocked = True
        self._pace.begin()
        self._blocked_since = self.site.clock.seconds()
        self.deadline = self._blocked_since + DRAIN_WINDOW

    def resumeProducing(self) -> None:
        """The transport has taken all that was written."""
        self._write_blocked = False
        self._pace.end()
        self._release()
        if self.state is READY:
            if self.parser.state == NOTHING:
                self.deadline = self.site.clock.seconds() + self.site.limits.idle
            self._advance()

    def stopProducing(self) -> None:
        """The connection is lost, which ``connectionLost`` will hear."""
