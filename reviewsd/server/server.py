"""The factory of the public connections: what they have in common, and how many there may be.

One sweep, four times a second, looks for connections that are overdue, in place of a delayed call for
each (S1). The head of every answer begins with what is the same for all in a second: the status line,
Server and Date.
"""

import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from ipaddress import IPv4Network, IPv6Network
from typing import Protocol

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress, IProtocolFactory, IReactorTime
from twisted.internet.protocol import Factory
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from reviewsd.domain.addresses import client_network, neighbourhood
from reviewsd.domain.clients import is_trusted
from reviewsd.http1 import problems
from reviewsd.http1.hosts import Hosts
from reviewsd.http1.parser import Cap
from reviewsd.http1.preconditions import http_date
from reviewsd.http1.problems import HUB_MAX_BODY, Problem
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.http1.routes import BodyRule, Route
from reviewsd.runtime.counters import merged
from reviewsd.server.connection import BUSY, NEVER, Channel
from reviewsd.server.pipelines import Pipelines
from reviewsd.server.traffic import Traffic

DRAIN_SECONDS = 20
"""What answers under way may take to end when the daemon stops; systemd waits longer."""

SWEEP_SECONDS = 0.25
"""So late may a deadline be noticed."""

MAX_OLD = 8
"""Snapshots that are no longer served, and that answers keep on the disk, at most;"""

OLD_SECONDS = 60.0
"""unless they were begun within so many seconds: then a quick series of changes ends none."""

NEIGHBOURS = 4
"""As many times as a client network may have connections, may all of one /24 or /48 (S4)."""

_NO_BODY = Cap(0, problems.CONTENT_TOO_LARGE)
_NO_HUB_BODY = Cap(0, problems.HUB_CONTENT_TOO_LARGE)
_HUB_CAP = Cap(HUB_MAX_BODY, problems.HUB_CONTENT_TOO_LARGE)
_IGNORED = Cap(65_536, problems.CONTENT_TOO_LARGE)
"""It is read past, so that a POST is answered for what it is; a larger one is refused."""


_WORTH = 64
"""A look at all connections is repeated if it found one in so many idle: its cost is shared by those."""

_BODILESS = frozenset((b"GET", b"HEAD"))
_PHRASES = {413: "Content Too Large", 414: "URI Too Long"}  # of RFC 9110


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """How long and how much (S1, S2, S4, S5)."""

    header: float = 10.0
    """Seconds from the first byte of a head to its end."""
    body: float = 20.0
    """Seconds from there to the end of the body."""
    idle: float = 60.0
    """Seconds between two requests."""
    requests: int = 1_000
    """Of one connection."""
    connections: int = 4_096
    per_client: int = 256
    """Connections of one client network; all of its address network may have four times as many."""
    drain_rate: int = 8_192
    """Bytes a second that a client must take."""
    mcp_body: int = 65_536
    """Bytes of a body for the MCP endpoint."""


class Routes(Protocol):
    """The routes of the site."""

    def respond(self, request: Request, /) -> Response | Deferred[Response]:
        """Answer a request, now or later; the Deferred is cancelled if the client leaves."""

    def find(self, path: bytes, /) -> Route | None:
        """Return the route of a path, escapes included; None if there is none."""


class PublicServer(Factory):
    """The public connections of a process.

    Args:
        routes: Answer the requests.
        responses: What answers are made of.
        clock: For the deadlines.
        limits: How long and how much.
        hosts: By which names the service may be asked; all when None.
        exempt: Whose connections are not counted by client: those of proxies.
    """

    noisy = False
    _log = Logger()

    def __init__(
        self,
        routes: Routes,
        responses: Responses,
        clock: IReactorTime,
        limits: ConnectionLimits,
        hosts: Hosts | None = None,
        exempt: Sequence[IPv4Network | IPv6Network] = (),
    ) -> None:
        self.respond = routes.respond
        self._find = routes.find
        self.clock = clock
        self.limits = limits
        self._mcp_cap = Cap(limits.mcp_body, problems.CONTENT_TOO_LARGE, truncates=True)
        self.channels: set[Channel] = set()
        self.answered: set[Channel] = set()
        """Those that have been answered since the last sweep."""
        self.pipelines = Pipelines(clock)
        self.draining = False
        self.traffic = Traffic(routes.find)
        self.now = clock.seconds()
        """The clock's seconds at the last sweep: good enough for what is a minute ahead."""
        self._responses = responses
        self._hosts = hosts
        self._exempt = exempt
        self._networks: Counter[str] = Counter()
        self._idle: list[Channel] | None = None  # at the last look, who has been so longest last
        self._found = 0  # how many those were
        self._second = 0
        self._prefixes: dict[int, bytes] = {}
        self._changes: deque[float] = deque(maxlen=MAX_OLD)  # when the last ones were
        self._drained: Deferred[None] | None = None
        self._sweeping = LoopingCall(self._sweep)
        self._sweeping.clock = clock

    # Connections ----------------------------------------------------------------------------------

    def buildProtocol(self, addr: IAddress | None) -> Channel:  # noqa: ARG002
        """A connection."""
        return Channel(self)

    def proxied(self) -> IProtocolFactory:
        """For listeners whose connections come from a proxy that says first who the client is."""
        factory: Factory[Channel] = Factory.forProtocol(partial(Channel, self, proxied=True))
        factory.noisy = False
        return factory

    def entered(self, channel: Channel) -> Problem | None:
        """Count a connection; the problem that keeps it out, if there is one (S4)."""
        self.channels.add(channel)
        if not self._sweeping.running:
            self.now = self.clock.seconds()
            self._sweeping.start(SWEEP_SECONDS, now=False)
        if self.draining:
            channel.drain()
        if (refused := self.counted(channel)) is not None:
            return refused
        if len(self.channels) > self.limits.connections and not self._make_room(channel):
            return problems.NO_ROOM
        return None

    def counted(self, channel: Channel) -> Problem | None:
        """Count a connection for its client, whoever that was before, and as :meth:`entered`."""
        self._uncount(channel)
        client, loopback = channel.parser.client, channel.parser.loopback
        if client is not None and not loopback and not is_trusted(client, self._exempt):
            network = client_network(client)
            near = neighbourhood(network)
            channel.networks = (network,) if near == network else (network, near)
            self._networks.update(channel.networks)
            most = self.limits.per_client
            if self._networks[network] > most or self._networks[near] > NEIGHBOURS * most:
                return problems.TOO_MANY_CONNECTIONS
        return None

    def _uncount(self, channel: Channel) -> None:
        for network in channel.networks:
            self._networks[network] -= 1
            if not self._networks[network]:
                del self._networks[network]
        channel.networks = ()

    def _make_room(self, newest: Channel) -> bool:
        """Close the one that has been idle longest; whether there was any.

        To look at all of them takes milliseconds. So it is done once between two sweeps, and again
        only where the last look has found so many that it was worth it.
        """
        while True:
            if self._idle is None:
                idle = (each for each in self.channels if each.idle and each is not newest)
                self._idle = sorted(idle, key=lambda channel: channel.deadline, reverse=True)
                self._found = len(self._idle)
            while self._idle:
                channel = self._idle.pop()
                if channel in self.channels and channel.idle:
                    channel.abort()
                    return True
            if self._found <= self.limits.connections // _WORTH:
                return False
            self._idle = None

    def left(self, channel: Channel) -> None:
        """Forget a connection that has ended."""
        if channel not in self.channels:
            return
        self.channels.discard(channel)
        self.answered.discard(channel)
        self._uncount(channel)
        if not self.channels:
            self._sweeping.stop()
            if self._drained is not None:
                drained, self._drained = self._drained, None
                drained.callback(None)

    def changed(self) -> None:
        """Answers are not what they were: there is a new snapshot."""
        self._changes.append(self.clock.seconds())
        for channel in self.channels:
            channel.exchange.forget()

    def outdated(self, since: float) -> bool:
        """Whether an answer that waits since then keeps a snapshot that is too old (S5)."""
        full = len(self._changes) == MAX_OLD
        return full and since < min(self._changes[0], self.clock.seconds() - OLD_SECONDS)

    def _sweep(self) -> None:
        self.now = now = self.clock.seconds()
        self._idle = None
        answered, self.answered = self.answered, set()
        for channel in answered:
            channel.let_go()
        for channel in [channel for channel in self.channels if channel.deadline <= now]:
            channel.deadline = NEVER
            try:
                channel.overdue()
            except Exception:  # noqa: BLE001 - logged with its traceback; all others are due, too
                self._log.failure("ending a connection failed")
                channel.abort()

    async def drain(self) -> None:
        """Let answers under way end, close all connections; returns when none is left."""
        self.draining = True
        for channel in tuple(self.channels):
            channel.drain()
        if not self.channels:
            return
        self._drained = Deferred()
        deadline = self.clock.callLater(DRAIN_SECONDS, self._abort)
        await self._drained
        if deadline.active():
            deadline.cancel()

    def _abort(self) -> None:
        for channel in tuple(self.channels):
            channel.abort()

    def counts(self) -> dict[str, float]:
        """What answers were given, and what is open and under way now (O9)."""
        under_way = sum(channel.state is BUSY for channel in self.channels)
        levels = {"connections": len(self.channels), "inflight": under_way}
        return merged(levels, self.traffic.counts())

    # What channels ask ----------------------------------------------------------------------------

    def prefix(self, status: int) -> bytes:
        """How the head of an answer begins: the status line, Server and Date."""
        second = int(time.time())
        if second != self._second:
            self._second = second
            self._prefixes.clear()
        prefix = self._prefixes.get(status)
        if prefix is None:
            phrase = _PHRASES.get(status) or HTTPStatus(status).phrase
            prefix = self._prefixes[status] = (
                b"HTTP/1.1 %d %b\r\nServer: reviewsd\r\nDate: %b\r\n"
                % (
                    status,
                    phrase.encode(),
                    http_date(second),
                )
            )
        return prefix

    def serves(self, request: Request) -> bool:
        """Return whether the host name of a request is served (S3)."""
        return self._hosts is None or self._hosts.allow(
            request.authority, loopback=request.loopback
        )

    def misdirected(self, request: Request) -> Response | None:
        """Return the refusal of a request for another host name; None if its route serves any."""
        route = self._find(request.path)
        if route is not None and route.any_host:
            return None
        if route is not None and route.body is BodyRule.FORM:
            return self._responses.refusal(problems.HUB_MISDIRECTED)
        return self._responses.problem(request, problems.MISDIRECTED)

    def refusal(self, problem: Problem) -> Response:
        """The answer to what is no request."""
        return self._responses.refusal(problem)

    def cap(self, method: bytes, path: bytes) -> Cap:
        """What may come in the body of a request (S2)."""
        route = self._find(path)
        body = BodyRule.IGNORED if route is None else route.body
        if body is BodyRule.JSON:
            return self._mcp_cap
        form = body is BodyRule.FORM
        if method in _BODILESS:
            return _NO_HUB_BODY if form else _NO_BODY
        return _HUB_CAP if form else _IGNORED
