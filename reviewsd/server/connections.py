"""All connections of the public site: their limits, their deadlines and their end.

One sweep ends overdue connections, four times a second, in place of a delayed call for each (S1).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from operator import attrgetter
from typing import Protocol

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from reviewsd.domain.addresses import client_network, neighborhood
from reviewsd.domain.clients import is_trusted
from reviewsd.http1 import problems
from reviewsd.http1.problems import Problem
from reviewsd.runtime.turns import TURN_SECONDS, TurnQueue

DRAIN_SECONDS = 20
"""Longest time for responses under way when the daemon stops; systemd waits longer."""

SWEEP_SECONDS = 0.25
"""Deadlines are checked this often."""

NEVER = float("inf")
"""A deadline that does not come."""

NEIGHBOURS = 4
"""A /24 or /48 may have this many times the connections of a client network (S4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """Deadlines and caps of connections (S1, S2, S4, S5)."""

    header: float = 10.0
    """Seconds from the first byte of a head to its end."""
    body: float = 20.0
    """Seconds from there to the end of the body."""
    idle: float = 60.0
    """Seconds between two requests."""
    requests: int = 1_000
    """Requests of one connection."""
    connections: int = 4_096
    per_client: int = 256
    """Connections of one client network; its /24 or /48 may have four times as many."""
    drain_rate: int = 8_192
    """Bytes a second that a client must take."""


class CountedConnection(Protocol):
    """A connection, as ``Connections`` sees it."""

    deadline: float
    """The time from which it is overdue, in the clock's seconds."""
    networks: tuple[str, ...]
    """The client networks it is counted for."""

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way, so that it can be closed without a loss."""

    @property
    def is_answering(self) -> bool:
        """Whether a request is being answered."""

    def drain(self) -> None:
        """Close after the response under way, or the next one."""

    def expire(self) -> None:
        """Act on the deadline, which has passed."""

    def abort(self) -> None:
        """Close at once."""


class Connections:
    """Counts connections, closes idle ones for new ones, and ends those that are overdue.

    Connections of ``proxies`` are not counted by client.
    """

    _log = Logger()

    def __init__(
        self,
        clock: IReactorTime,
        limits: ConnectionLimits,
        proxies: Sequence[IPv4Network | IPv6Network] = (),
    ) -> None:
        self.clock = clock
        self.limits = limits
        self.turns = TurnQueue(clock, TURN_SECONDS)
        """Connections with bytes of their next request."""
        self.now = clock.seconds()
        """The clock's seconds at the last sweep, which is exact enough for idle times."""
        self.open: set[CountedConnection] = set()
        self._proxies = proxies
        self.draining = False
        """Whether all connections are being closed."""
        self._per_network: Counter[str] = Counter()
        self._idle: list[CountedConnection] | None = None  # of the last scan; longest idle last
        self._drained: Deferred[None] | None = None
        self._sweeping = LoopingCall(self._sweep)
        self._sweeping.clock = clock

    def enter(self, connection: CountedConnection, client: str | None) -> Problem | None:
        """Count a new connection (S4); return the problem if it has to be refused.

        The address of the client is None if it is on this machine, or not known.
        """
        self.open.add(connection)
        if not self._sweeping.running:
            self.now = self.clock.seconds()
            self._sweeping.start(SWEEP_SECONDS, now=False)
        if self.draining:
            connection.drain()
        problem = self.count_client(connection, client)
        is_full = len(self.open) > self.limits.connections
        if problem is None and is_full and not self._make_room(connection):
            return problems.NO_ROOM
        return problem

    def count_client(self, connection: CountedConnection, client: str | None) -> Problem | None:
        """Count a connection for its client in place of an earlier one; arguments as for ``enter``."""
        self._uncount(connection)
        if client is None or is_trusted(client, self._proxies):
            return None
        network = client_network(client)
        wider = neighborhood(network)
        connection.networks = (network,) if wider == network else (network, wider)
        self._per_network.update(connection.networks)
        most = self.limits.per_client
        if self._per_network[network] > most or self._per_network[wider] > NEIGHBOURS * most:
            return problems.TOO_MANY_CONNECTIONS
        return None

    def _uncount(self, connection: CountedConnection) -> None:
        for network in connection.networks:
            self._per_network[network] -= 1
            if not self._per_network[network]:
                del self._per_network[network]
        connection.networks = ()

    def _make_room(self, newest: CountedConnection) -> bool:
        """Close the connection that has been idle longest; returns whether there was any.

        A scan of all connections takes milliseconds, so it is made once between two sweeps.
        """
        if self._idle is None:
            idle = [entry for entry in self.open if entry.is_idle and entry is not newest]
            self._idle = sorted(idle, key=attrgetter("deadline"), reverse=True)
        while self._idle:
            oldest = self._idle.pop()
            if oldest in self.open and oldest.is_idle:
                oldest.abort()
                return True
        return False

    def leave(self, connection: CountedConnection) -> None:
        """Forget a connection that has ended."""
        if connection not in self.open:
            return
        self.open.discard(connection)
        self._uncount(connection)
        if not self.open:
            self._sweeping.stop()
            if self._drained is not None:
                drained, self._drained = self._drained, None
                drained.callback(None)

    def _sweep(self) -> None:
        self.now = now = self.clock.seconds()
        self._idle = None
        for connection in [overdue for overdue in self.open if overdue.deadline <= now]:
            connection.deadline = NEVER
            try:
                connection.expire()
            except Exception:  # noqa: BLE001 - logged with its traceback; the sweep goes on
                self._log.failure("ending a connection failed")
                connection.abort()

    async def drain(self) -> None:
        """Let responses under way end, and close all connections; returns when none is left."""
        self.draining = True
        for connection in tuple(self.open):
            connection.drain()
        if not self.open:
            return
        self._drained = Deferred()
        deadline = self.clock.callLater(DRAIN_SECONDS, self._abort)
        await self._drained
        if deadline.active():
            deadline.cancel()

    def _abort(self) -> None:
        for connection in tuple(self.open):
            connection.abort()

    def counts(self) -> dict[str, float]:
        """Return how many are open, and how many requests are being answered (O9)."""
        answering = sum(connection.is_answering for connection in self.open)
        return {"connections": len(self.open), "inflight": answering}
