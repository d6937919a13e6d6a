"""The one way out: every request to a callback goes through here (E4).

An attempt resolves, is admitted, dials, makes one exchange, and leaves nothing behind: whatever
happens, one timeout is around the whole, and cancelling lets go of the socket. The checks are the
resolver's and the dialler's, the limits below TLS are the connection's; here is the order of things.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from twisted.internet import defer
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IReactorTime

from reviewsd.domain.addresses import AddressRefusedError
from reviewsd.domain.callback import Callback
from reviewsd.websub.outbound.connection import Connection
from reviewsd.websub.outbound.dialer import Dialer
from reviewsd.websub.outbound.exchange import Lost, OutboundRequest, OutboundResponse, Peer
from reviewsd.websub.outbound.fair_queue import FairQueue
from reviewsd.websub.outbound.outcomes import (
    Answered,
    AttemptOutcome,
    Throttled,
    Unanswered,
)
from reviewsd.websub.outbound.pool import Pool
from reviewsd.websub.outbound.resolver import NotResolvedError, Resolver
from reviewsd.websub.outbound.tls import Tls
from reviewsd.websub.slots import Slot

T = TypeVar("T")

_STOPPING = "this service is stopping"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptLimits:
    """What one attempt may cost (E12)."""

    connect_seconds: float = 10.0
    """For all addresses of a name together."""
    byte_budget: int = 131_072
    """Bytes received in one exchange, below TLS: handshake, heads and body."""
    max_lifetime: float = 45.0
    """Seconds of a connection, whatever it is used for."""
    idle_seconds: float = 5.0
    """How long a connection may wait for its next delivery."""


class Outbound:
    """Makes exchanges with callbacks.

    Args:
        clock: For timeouts and lifetimes.
        resolver: From names to addresses.
        dialler: From addresses to connections.
        secure: The TLS side.
        limits: What an attempt may cost.
    """

    def __init__(
        self,
        clock: IReactorTime,
        resolver: Resolver,
        dialler: Dialer,
        secure: Tls,
        limits: AttemptLimits,
    ) -> None:
        self._clock = clock
        self._resolver = resolver
        self._dialler = dialler
        self._secure = secure
        self._limits = limits
        self._turns = FairQueue(clock)
        self._pool = Pool(clock, limits.idle_seconds)
        self._attempts: set[Deferred[Any]] = set()
        self._connections: set[Connection] = set()
        self._closed = False
        self._emptied: Deferred[None] | None = None

    async def exchange(
        self,
        callback: Callback,
        request: OutboundRequest,
        *,
        timeout: float,
        slot: Slot,
    ) -> AttemptOutcome:
        """Send a request, once, or twice when a kept connection turns out to be dead.

        A request that wants none of the answer's body may use a connection that an earlier one has
        left, and leaves its own.

        Args:
            callback: Whom to call.
            request: What to send.
            timeout: Seconds for the whole of it.
            slot: The place of the attempt.
        """
        if self._closed:
            return Unanswered(_STOPPING, None)
        deadline = self._clock.seconds() + timeout
        kept = self._pool.acquire(callback) if request.max_answer is None else None
        if kept is not None:
            outcome = await self._on_kept(kept, request, timeout, slot)
            if outcome is not None:
                return outcome
            # it had died while it waited, which says nothing of the subscriber (E7)
        # a coroutine has no timeout, and nothing that close() could cancel
        attempt = Deferred.fromCoroutine(self._attempt(callback, request, slot))
        left = max(0.0, deadline - self._clock.seconds())
        return await self._within(attempt, left, timeout, slot)

    async def _within(
        self, attempt: Deferred[T], seconds: float, timeout: float, slot: Slot
    ) -> T | Unanswered:
        """What comes of an attempt in so many seconds, which are left of the timeout."""
        self._attempts.add(attempt)
        try:
            return await attempt.addTimeout(seconds, self._clock)
        except defer.TimeoutError:
            return Unanswered(f"no answer within {timeout:g} s", slot.address)
        except CancelledError:
            if self._closed:
                return Unanswered(_STOPPING, slot.address)
            raise
        finally:
            self._attempts.discard(attempt)

    async def _on_kept(
        self,
        kept: Connection,
        request: OutboundRequest,
        timeout: float,
        slot: Slot,
    ) -> AttemptOutcome | None:
        """An exchange on a kept connection; None where it was lost before any of an answer."""
        peer = kept.peer
        if not slot.try_dial(peer.address):
            self._pool.keep(kept)
            return Throttled(peer.address)
        slot.watch(kept, self._clock.seconds())
        reply = await self._within(kept.exchange(request), timeout, timeout, slot)
        if isinstance(reply, OutboundResponse):
            return self._answered(kept, request, reply)
        if isinstance(reply, Unanswered):
            return reply
        return Unanswered(reply.reason, peer.address) if reply.begun else None

    async def close(self) -> None:
        """End every attempt and every connection; returns when no socket is left."""
        self._closed = True
        self._pool.close()
        for attempt in tuple(self._attempts):
            attempt.cancel()
        for connection in tuple(self._connections):
            connection.abort()
        if self._connections:
            self._emptied = Deferred()
            await self._emptied

    async def _attempt(
        self,
        callback: Callback,
        request: OutboundRequest,
        slot: Slot,
    ) -> AttemptOutcome:
        try:
            addresses = await self._resolver.addresses(callback, slot.due.requester)
        except (NotResolvedError, AddressRefusedError) as error:
            return Unanswered(str(error), None)
        return await self._attempt_anew(callback, request, slot, addresses)

    async def _attempt_anew(
        self,
        callback: Callback,
        request: OutboundRequest,
        slot: Slot,
        addresses: Sequence[str],
    ) -> AttemptOutcome:
        """Try one address after the other until one can be connected to."""
        if any(self._dialler.is_own(address, callback.port) for address in addresses):
            return Unanswered("the callback leads to this service itself", None)
        deadline = self._clock.seconds() + self._limits.connect_seconds
        crowded, reason = None, "no connection"
        for tried, address in enumerate(addresses):
            if not slot.try_dial(address):
                crowded = address
                continue
            share = (deadline - self._clock.seconds()) / (len(addresses) - tried)
            make = partial(self._connection, Peer(callback=callback, address=address))
            dialled = await self._dialler.dial(address, callback.port, share, make)
            if isinstance(dialled, Connection):
                outcome = await self._exchange(dialled, request, slot)
                if isinstance(outcome, Answered):
                    return outcome
                return Unanswered(outcome.reason, address)
            reason = dialled.reason
        return Unanswered(reason, slot.address) if crowded is None else Throttled(crowded)

    async def _exchange(
        self, connection: Connection, request: OutboundRequest, slot: Slot
    ) -> Answered | Lost:
        """One exchange; afterwards the connection is kept or closed."""
        slot.watch(connection, self._clock.seconds())
        reply = await connection.exchange(request)
        return reply if isinstance(reply, Lost) else self._answered(connection, request, reply)

    def _answered(
        self, connection: Connection, request: OutboundRequest, reply: OutboundResponse
    ) -> Answered:
        """An answer has come; the connection is kept or closed."""
        if request.max_answer is None and connection.keepable and not self._closed:
            self._pool.keep(connection)
        else:
            connection.close()
        return _answered(reply, connection.peer.address)

    def _connection(self, peer: Peer) -> Connection:
        connection = Connection(
            self._clock,
            self._turns,
            self._secure,
            peer,
            byte_budget=self._limits.byte_budget,
            max_lifetime=self._limits.max_lifetime,
            ended=self._ended,
        )
        self._connections.add(connection)
        return connection

    def _ended(self, connection: Connection) -> None:
        self._connections.discard(connection)
        self._pool.forget(connection)
        if self._emptied is not None and not self._connections:
            emptied, self._emptied = self._emptied, None
            emptied.callback(None)


def _answered(reply: OutboundResponse, address: str) -> Answered:
    fields = reply.head.fields
    retry_after = fields.get(b"retry-after")
    headers: Mapping[bytes, bytes] = {} if retry_after is None else {b"retry-after": retry_after}
    encoded = fields.get(b"content-encoding", b"identity").lower() != b"identity"
    return Answered(
        status=reply.head.status,
        headers=headers,
        body=b"" if encoded else reply.body,
        address=address,
    )
