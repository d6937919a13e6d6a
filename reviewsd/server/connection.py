"""Between the socket and the routes: one connection, strict, bounded, and quick (S1 to S5, S17).

A connection is in one of three states:

    READY  nothing is being answered; a request may be coming
    BUSY   a request is being answered; what the client says meanwhile waits in the intake
    OVER   the last answer is sent; what still comes is read past, until the client has gone

``dataReceived`` gives the intake what comes and calls ``_advance``, which goes on from request to request,
one at a time, as long as there is a whole one and the client takes what it is sent.

**Strict.** One intake reads every request, however it is answered. What it refuses is answered with the
same problems as everywhere, and the connection ends: nobody knows where the next request would begin.

**Bounded.** A connection has one moment at which it is overdue, and the server looks at all of them
four times a second; no delayed calls are made and cancelled. Nothing that comes in puts off the end of
a head or a body. A client that is sent more than it takes is not read from until it has taken it, and
is cut off if it takes it too slowly. A body is counted while it comes.

**Quick.** A whole request that came alone, as most do, goes through ``dataReceived`` to ``send`` in one
go: no event loop, no Deferred. The lane answers what it knows; for all else a ``PublicRequest`` is made
and Klein finds the route. Both come back to ``_reply``.
"""

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IAddress, IDelayedCall, IPushProducer
from twisted.internet.protocol import Protocol, connectionDone
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import implementer

from reviewsd.http1 import problems
from reviewsd.http1.problems import Problem
from reviewsd.http1.request import Asked
from reviewsd.http1.head import RefusedError
from reviewsd.http1.parser import HEAD, NOTHING, DivertedError, Intake
from reviewsd.http1.hosts import is_loopback
from reviewsd.server.write_buffer import Outlet, outlet, unacknowledged
from reviewsd.http1.responses import Reply
from reviewsd.web.request import PublicRequest

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

_AT_ONCE = 8  # requests that came together; others have their turn before the next ones

_MAX_HELD = 16_384  # bytes that wait while a request is answered; then the socket is not read

_READS = frozenset((b"GET", b"HEAD"))
_CLOSE = b"Connection: close\r\n\r\n"
_END = b"\r\n"
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@implementer(IPushProducer)
class Channel(Protocol):
    """One connection of the public site.

    Args:
        server: Whose connection it is.
    """

    factory = None  # Twisted's request would have it log
    _log = Logger()

    def __init__(self, server: "PublicServer") -> None:
        self.site = server
        self.due = NEVER
        """When it is overdue, in the clock's seconds; the server looks."""
        self.state = READY
        self.client: str | None = None
        """Its address, where the transport knows one."""
        self.loopback = False
        """Whether only this machine can have connected."""
        self.network: str | None = None
        """The client network it is counted for."""
        self._asked: Asked | None = None
        self._began = 0.0  # when it was whole, by perf_counter
        self._request: PublicRequest | None = None  # under way in Klein
        self._waiting: Deferred[Reply] | None = None  # under way in the lane
        self._answered = 0  # requests
        self._stage = NOTHING  # of the intake, when its time was last set
        self._lingers = False  # whether what still comes is read past at the end
        self._known_host: bytes | None = None  # under which it has been served before
        self._closes = False  # after the answer under way, or the next
        self._clogged = False  # whether the client has not taken what it was sent
        self._untaken = 0  # bytes, when that was last looked at
        self._release: Callable[[], object] = bool  # ends the counting of what is not taken
        self._advancing = False
        self._again: IDelayedCall | None = None  # when it goes on with what came at once
        self._paused = False  # whether the socket is not read
        self._same: bytes | None = None  # a read that came alone and was answered at once
        self._said: Reply | None = None  # what was answered then

    # Beginning and end ----------------------------------------------------------------------------

    def connectionMade(self) -> None:
        transport = self.transport
        assert transport is not None  # noqa: S101  it is set just before
        peer = transport.getPeer()
        if isinstance(peer, IPv4Address | IPv6Address):
            self.client = peer.host
            self.loopback = is_loopback(peer.host)
        self.out: Outlet = outlet(transport, self)
        self.due = self.site.clock.seconds() + self.site.limits.idle
        self.intake = Intake(self.site.cap, self.site.diverts, self.client, loopback=self.loopback)
        if (refused := self.site.entered(self)) is not None:
            self._refuse(refused)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.state = OVER
        self.site.left(self)
        self._release()
        if self._again is not None:
            self._again.cancel()
        if self._waiting is not None:
            self._waiting.cancel()
        if self._request is not None:
            self._request.connectionLost(reason)

    def drain(self) -> None:
        """Close after the answer under way, or the next one, or when none comes for a moment.

        To close at once would lose the request that is on its way from a client that goes on asking.
        """
        self._closes = True
        if self._untroubled and self._clogged:
            self._end()
        elif self._untroubled:
            self.due = self.site.clock.seconds() + MORE_SECONDS

    def abort(self) -> None:
        """Close without more ado."""
        self.state = OVER
        self.out.abortConnection()

    @property
    def idle(self) -> bool:
        """Whether the client has no request under way, so that nobody misses the connection."""
        return not self.out.pending and (self.state is OVER or self._untroubled)

    @property
    def _untroubled(self) -> bool:
        return self.state is READY and self.intake.stage == NOTHING and self._again is None

    # Reading --------------------------------------------------------------------------------------

    def dataReceived(self, data: bytes) -> None:
        if self.state is OVER:
            return
        intake = self.intake
        if data == self._same and self.state is READY and not (intake.held or self._clogged):
            self._repeat()
            return
        alone, answered = not intake.held, self._answered
        intake.held = data if alone else intake.held + data
        if self.state is READY and not self._clogged and self._again is None:
            self.forget()
            self._advance()
            if alone and self._answered == answered + 1 and not intake.held and self._said:
                self._same = data
        elif len(intake.held) > _MAX_HELD and not self._paused:
            self._paused = True
            self.out.hold()

    def _repeat(self) -> None:
        """Answer the request that was answered before as it was then."""
        assert self._said is not None  # noqa: S101  there was one
        self.state = BUSY
        self._began = perf_counter()
        self._count()
        self._reply(self._said)

    def forget(self) -> None:
        """What was answered is not true any more."""
        self._same = self._said = None

    def _advance(self) -> None:
        """Take and answer as many requests as there are."""
        if self._advancing:  # an answer that was made at once; the loop below goes on
            return
        self._advancing = True
        intake, last = self.intake, self._answered + _AT_ONCE
        try:
            while intake.held and self.state is READY and not self._clogged:
                if self._answered == last:
                    self._again = self._again or self.site.clock.callLater(0, self._go_on)
                    break
                asked = intake.take()
                if asked is None:
                    self._await()
                    break
                self._ask(asked)
        except RefusedError as refused:
            self._refuse(refused.problem)
        except DivertedError:
            self._hand_over()
        finally:
            self._advancing = False
        if self._paused and self.state is READY and not self._clogged:
            self._paused = False
            self.out.go_on()

    def _go_on(self) -> None:
        self._again = None
        self._advance()

    def _await(self) -> None:
        """Give what is coming its time, which begins with its first byte and is not put off."""
        stage, limits = self.intake.stage, self.site.limits
        if stage != self._stage:
            self._stage = stage
            seconds = limits.header if stage == HEAD else limits.body
            self.due = self.site.clock.seconds() + seconds
            if self.intake.awaited:
                self.out.send(_CONTINUE)

    def _hand_over(self) -> None:
        """Let another process go on with the connection, from the beginning of the request."""
        self._stage = NOTHING
        if self.out.pending:
            self.due = self.site.clock.seconds()  # tried again when the server looks
            return
        transport, hand_over = self.transport, self.site.hand_over
        assert transport is not None and hand_over is not None  # noqa: PT018, S101  it was asked
        self.state = OVER
        self.site.left(self)
        hand_over.give(transport, transport.getPeer(), self.intake.held)

    # Answering ------------------------------------------------------------------------------------

    def _ask(self, asked: Asked) -> None:
        """Have a whole request answered."""
        site = self.site
        self.state = BUSY
        self.due = NEVER
        self._asked = asked
        self._began = perf_counter()
        self._stage = NOTHING
        self._count()
        if asked.truncated:
            self._lingers = self._closes = True
        elif not asked.fields.persistent:
            self._closes = True
        if asked.authority != self._known_host and asked.path not in site.nameless:
            if not site.serves(asked):
                self._reply(site.misdirected(asked))
                return
            self._known_host = asked.authority
        answer = None if site.lane is None else site.lane(asked)
        if answer is None:
            self._request = PublicRequest(self, asked)
            self._request.render_on(site.resource)
        elif isinstance(answer, Reply):
            if asked.method in _READS and answer.hold is None:
                self._said = answer
            self._reply(answer)
        else:
            self._waiting = answer
            answer.addCallbacks(self._reply, self._failed)

    def _count(self) -> None:
        self._answered += 1
        if self._answered >= self.site.limits.requests:
            self._closes = True

    def _failed(self, failure: Failure) -> None:
        if self.state is not OVER or not failure.check(CancelledError):  # the client has left
            self._log.failure("answering failed", failure)
            self._reply(self.site.refusal(problems.INTERNAL))

    def requestDone(self, request: PublicRequest) -> None:
        """Klein's route has answered."""
        self._request = None
        if self.state is BUSY:
            self._reply(request.reply or self.site.refusal(problems.INTERNAL))

    def _reply(self, reply: Reply) -> None:
        """Send the answer to the request under way."""
        if self.state is OVER:  # the client has left meanwhile
            return
        self._waiting, asked = None, self._asked
        site = self.site
        if self.state is BUSY and asked is not None:
            site.traffic.answered(asked, reply.status, self._began)
        head = site.prefix(reply.status) + reply.block + (_CLOSE if self._closes else _END)
        body = () if asked is not None and asked.method == b"HEAD" else reply.body
        self.out.send(head, *body)
        if self._clogged and reply.hold is not None:
            self._release = reply.hold()
        if self._closes:
            self._end()
            return
        self.state = READY
        if not self._clogged:
            self.due = site.now + site.limits.idle
            if self.intake.held:
                self._advance()

    def _refuse(self, problem: Problem) -> None:
        """Answer what is no request, and close; what still comes of it is read past."""
        self._closes = self._lingers = True
        self.site.traffic.refused(problem)
        line = self.intake.line
        self._asked = None if line is None else Asked(line.method, line.path)
        self._reply(self.site.refusal(problem))

    def _end(self) -> None:
        """Close when all is sent."""
        self.state = OVER
        lingering = self._lingers or self._paused or bool(self.intake.held)
        self.intake.held = b""
        pending = self.out.pending
        self._untaken = self._left() if pending else 0
        lasts = LINGER_SECONDS if lingering and not pending else DRAIN_WINDOW
        self.due = self.site.clock.seconds() + lasts
        if self._paused:
            self._paused = False
            self.out.go_on()
        self.out.end(lingering=lingering)

    # What the server and the transport say --------------------------------------------------------

    def overdue(self) -> None:
        """The moment has come."""
        if self.out.pending or (self.state is OVER and self._left()):
            self._judge_pace()
        elif self.state is OVER:
            self.abort()
        elif self.intake.stage != NOTHING:
            self._refuse(problems.TIMEOUT)
        elif self.intake.held and self.site.hand_over is not None:
            self._advance()
        else:
            self._end()

    def _left(self) -> int:
        """Bytes that the client has not taken."""
        assert self.transport is not None  # noqa: S101  it was sent something
        return self.out.pending + unacknowledged(self.transport)

    def _judge_pace(self) -> None:
        """Cut off a client that takes what it is sent too slowly (S5)."""
        left, before = self._left(), self._untaken
        if before and before - left < self.site.limits.drain_rate * DRAIN_WINDOW:
            self.abort()
        else:
            self._begin_window(left)

    def _begin_window(self, left: int) -> None:
        self._untaken = left
        self.due = self.site.clock.seconds() + DRAIN_WINDOW

    def pauseProducing(self) -> None:
        """The client has not taken what it was sent."""
        self._clogged = True
        self._begin_window(self._left())

    def resumeProducing(self) -> None:
        """It has taken all."""
        self._clogged = False
        self._untaken = 0
        self._release()
        if self.state is READY:
            if self.intake.stage == NOTHING:
                self.due = self.site.clock.seconds() + self.site.limits.idle
            self._advance()

    def stopProducing(self) -> None:
        """The connection is lost, which ``connectionLost`` will hear."""

    # What Twisted's request asks its channel -------------------------------------------------------

    def getPeer(self) -> IAddress | None:
        """The address of the client, which routes have from what was asked."""
        return None

    getHost = getPeer

    def isSecure(self) -> bool:
        """No route asks: addresses come from ``base_url``."""
        return False
