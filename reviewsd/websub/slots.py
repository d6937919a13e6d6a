"""Limits of the attempts that run at the same time (H2, H8).

A slot is the place of one attempt, from its claim to its end. It counts for the callback's host, for
the address network that the host leads to, for the client network that requested it, and for a class:
callbacks that were slow, and callbacks during whose attempts a process died. Each count has a limit,
because one subscriber may have any number of callbacks and let all of them hang.

A slot is idle while its attempt needs neither CPU nor bandwidth: it waits for DNS, a connection or a
response, or the peer accepts less than MIN_PACE. An idle slot counts for less and leaves its place to
another attempt, so that callbacks that hang do not delay those that respond. A slow peer must not delay
others, but on a slow line of ours more concurrent deliveries would only slow down all of them. The hub
cannot tell the two apart, because a peer can read slowly or let its network drop packets. So MIN_PACE is
the bandwidth that each of 64 deliveries has on a line of 8 Mbit/s.

The share of a host grows as in TCP's slow start: it begins with a few slots, gains one with each quick
response, and loses them with a slow one.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from reviewsd.domain.addresses import network_of
from reviewsd.store.rows import Due
from reviewsd.websub.outbound.connection import Connection
from reviewsd.websub.rate_limits import Backoffs, LRUCache


class SlotLimits(NamedTuple):
    """Attempts that run at the same time (H2, H8)."""

    total: int
    per_host: int
    per_network: int
    """Attempts to one address network, IPv4 /24 or IPv6 /48."""


DELIVERIES = SlotLimits(64, 16, 16)
VERIFICATIONS = SlotLimits(64, 8, 16)

FIRST_SHARE = 4
"""Slots of a host without a recent quick response."""

QUICK_SECONDS = 2.0
"""A response within this time is quick."""

QUICK_RESPONSES = 15
"""Consecutive quick responses after which a slow callback is no longer slow."""

IDLE_PER_PLACE = 16
"""Idle slots for each place."""

NEW_SECONDS = 0.1
"""Time for which a slot counts as busy after it began or dialed an address."""

CHECK_INTERVAL = 0.15  # seconds between two checks for idle slots

MIN_PACE, PACE_SECONDS = 16_384, 1.0
"""Bytes per second that a busy peer accepts at least, and the seconds over which they are measured."""

MAX_DIED_ONCE, MAX_DIED_AGAIN = 8, 1
"""Busy slots of callbacks during whose attempts the process died once, or several times."""

_HOST, _REQUESTER, _SLOW, _SLOW_BUSY = "host", "requester", "slow", "slow busy"
_NETWORK, _NETWORK_BUSY = "network", "network busy"
_NETWORK_SLOW, _NETWORK_SLOW_BUSY = "network slow", "network slow busy"
_DIED_ONCE, _DIED_AGAIN = "died once", "died again"

_Key = tuple[str, str]
"""A kind of count, and its host, network or requester."""


class Slot(Struct, eq=False, kw_only=True):
    """The place of one attempt, from its claim to its end."""

    owner: "Slots"
    due: Due
    slow: bool
    """Whether the callback was slow, or failed, when it was called last."""
    entered_at: float
    network: str | None
    """The address network that it counts for; None until it is known."""
    counts: Sequence[_Key] = ()
    own: int = 0
    """The number of counts that are not of its network."""
    address: str | None = None
    """The address that was dialed last."""
    began_at: float = 0.0
    busy_until: float = 0.0
    idle: bool = False
    connection: Connection | None = None
    _accepted: int = 0
    _measured_at: float = 0.0
    _keeps_pace: bool = True

    def try_enter_network(self, address: str) -> bool:
        """Move to the network of an address, unless that is full."""
        return self.owner.try_enter_network(self, address)

    def watch(self, connection: Connection, now: float) -> None:
        """Stay busy while the connection makes progress."""
        self.connection = connection
        self._accepted, self._measured_at = connection.bytes_written, now
        self._keeps_pace = True

    def has_progress(self, now: float) -> bool:
        """Return whether the service has work to do, or the peer accepts bytes at MIN_PACE."""
        connection = self.connection
        if connection is None or connection.has_work:
            return connection is not None
        accepted = connection.bytes_accepted()
        if accepted >= connection.bytes_written:
            return False
        seconds = now - self._measured_at
        if seconds >= PACE_SECONDS:
            self._keeps_pace = accepted - self._accepted >= MIN_PACE * seconds
            self._accepted, self._measured_at = accepted, now
        return self._keeps_pace


class Slots:
    """The slots of one kind of attempt: verifications, or deliveries.

    Attributes:
        freed: Called when slots became idle and left their places.
        places: Busy slots at most.

    Args:
        clock: For the checks, and for the age of slots.
        places: Busy slots at most.
        per_host: Slots of a callback host.
        per_network: Busy slots of an address network, and of a client network.
        backoffs: Hosts that must not be verified now, or one request at a time.
        holds_network: Whether idle slots still count for their network. Anyone can name a third party as
            callback, which must never see more connections than ``per_network`` (H2).
    """

    def __init__(
        self,
        clock: IReactorTime,
        places: int,
        per_host: int,
        per_network: int,
        backoffs: Backoffs,
        *,
        holds_network: bool = False,
    ) -> None:
        self.freed: Callable[[], None] = lambda: None
        self._clock = clock
        self.places = places
        self._per_host = per_host
        self._backoffs = backoffs
        self._holds_network = holds_network
        self._limits = {
            _REQUESTER: per_network,
            _NETWORK: (1 + IDLE_PER_PLACE) * per_network,
            _NETWORK_BUSY: per_network,
            _NETWORK_SLOW: _half(IDLE_PER_PLACE * per_network),
            _NETWORK_SLOW_BUSY: _half(per_network),
            _SLOW: _half(IDLE_PER_PLACE * places),
            _SLOW_BUSY: _half(places),
            _DIED_ONCE: MAX_DIED_ONCE,
            _DIED_AGAIN: MAX_DIED_AGAIN,
        }
        self._counts: dict[_Key, int] = {}
        self._slots: dict[int, Slot] = {}
        self._running: set[Slot] = set()
        self._idle = 0
        self._check: IDelayedCall | None = None
        self._networks: LRUCache[str, str] = LRUCache()
        self._shares: LRUCache[str, int] = LRUCache()
        self._slow_callbacks: LRUCache[int, int] = LRUCache()

    @property
    def occupied(self) -> int:
        """Attempts that are claimed, waiting or under way."""
        return len(self._slots)

    @property
    def running(self) -> int:
        """Attempts under way, busy and idle."""
        return len(self._running)

    @property
    def has_room(self) -> bool:
        """Whether more may be claimed: as many attempts as there are places may wait for one."""
        return len(self._slots) - self._idle < 2 * self.places

    @property
    def has_place(self) -> bool:
        """Whether a claimed attempt may begin."""
        running = len(self._running)
        return running - self._idle < self.places and running < (1 + IDLE_PER_PLACE) * self.places

    def try_enter(self, due: Due) -> Slot | None:
        """Return a slot for an attempt, or None if one of its limits is reached."""
        count = self._counts.get((_HOST, due.host), 0)
        if not self.has_room or count >= self._host_limit(due) or due.id in self._slots:
            return None
        slot = Slot(
            owner=self,
            due=due,
            slow=self._is_slow(due),
            entered_at=self._clock.seconds(),
            network=self._networks.get(due.host),
        )
        slot.counts = self._counts_of(slot)
        if not all(map(self._is_below_limit, slot.counts)):
            return None
        self._slots[due.id] = slot
        self._add(slot)
        return slot

    def is_full(self, host: str) -> bool:
        """Return whether a host has all slots of its share, so that none of its rows can enter."""
        return self._counts.get((_HOST, host), 0) >= self._share(host)

    def begin(self, slot: Slot) -> None:
        """Count a slot as running."""
        slot.began_at = now = self._clock.seconds()
        slot.busy_until = now + NEW_SECONDS
        self._running.add(slot)
        self._start_checks()

    def try_enter_network(self, slot: Slot, address: str) -> bool:
        """Count a slot for the network of an address; return False if that network is full."""
        network, host = _network_of(address), slot.due.host
        if self._networks.get(host) != network:
            self._networks[host] = network
        slot.connection = None
        if slot.network != network or slot.idle:
            holds_place = (_NETWORK_BUSY, network) in slot.counts
            self._withdraw(slot)
            slot.network, slot.idle = network, False
            slot.busy_until = self._clock.seconds() + NEW_SECONDS
            slot.counts = self._counts_of(slot)
            if not (holds_place or all(map(self._is_below_limit, slot.counts[slot.own :]))):
                slot.network = None
                slot.counts = slot.counts[: slot.own]
            self._add(slot)
            self._start_checks()
        if slot.network is None:
            return False
        slot.address = address
        return True

    def record(self, slot: Slot, *, answered: bool) -> None:
        """Record how an attempt ended: the host's share and the callback's class depend on it."""
        quick = answered and self._clock.seconds() - slot.began_at <= QUICK_SECONDS
        host, callback = slot.due.host, slot.due.id
        share = self._share(host)
        if not quick:
            self._shares.pop(host, None)
        elif share < self._per_host:
            self._shares[host] = share + 1
        remaining = (self._slow_callbacks.get(callback) or 0) - 1 if quick else QUICK_RESPONSES
        if remaining > 0:
            self._slow_callbacks[callback] = remaining
        else:
            self._slow_callbacks.pop(callback, None)

    def leave(self, slot: Slot) -> None:
        """Free a slot."""
        self._withdraw(slot)
        self._running.discard(slot)
        del self._slots[slot.due.id]

    def stop(self) -> None:
        """Cancel the check for idle slots."""
        if self._check is not None:
            self._check.cancel()
            self._check = None

    def _is_slow(self, due: Due) -> bool:
        if due.failing or due.id in self._slow_callbacks:
            return True
        return not due.active and self._backoffs.is_failing(due.host)

    def _host_limit(self, due: Due) -> int:
        if not due.active:
            if self._backoffs.seconds_left(due.host, self._clock.seconds()) > 0:
                return 0
            if self._backoffs.is_serialized(due.host):
                return 1
        return self._share(due.host)

    def _share(self, host: str) -> int:
        return self._shares.get(host) or min(FIRST_SHARE, self._per_host)

    def _counts_of(self, slot: Slot) -> list[_Key]:
        """Return the counts that a slot is part of now; those of its network come last."""
        due, busy, slow = slot.due, not slot.idle, slot.slow
        counts = [(_HOST, due.host)]
        if slow:
            counts += [(_SLOW, ""), (_SLOW_BUSY, "")] if busy else [(_SLOW, "")]
        if due.requester and busy:
            counts.append((_REQUESTER, due.requester))
        if due.deaths and busy:
            counts.append((_DIED_ONCE if due.deaths == 1 else _DIED_AGAIN, ""))
        slot.own = len(counts)
        if slot.network is not None:
            counts.append((_NETWORK, slot.network))
            if busy or self._holds_network:
                counts.append((_NETWORK_BUSY, slot.network))
            if slow:
                counts.append((_NETWORK_SLOW, slot.network))
            if slow and busy:
                counts.append((_NETWORK_SLOW_BUSY, slot.network))
        return counts

    def _is_below_limit(self, key: _Key) -> bool:
        limit = self._limits.get(key[0])
        return limit is None or self._counts.get(key, 0) < limit

    def _add(self, slot: Slot) -> None:
        self._idle += slot.idle
        for key in slot.counts:
            self._counts[key] = self._counts.get(key, 0) + 1

    def _withdraw(self, slot: Slot) -> None:
        self._idle -= slot.idle
        for key in slot.counts:
            if self._counts[key] == 1:
                del self._counts[key]
            else:
                self._counts[key] -= 1

    def _start_checks(self) -> None:
        if self._check is None:
            self._check = self._clock.callLater(CHECK_INTERVAL, self._find_idle)

    def _find_idle(self) -> None:
        """Compare each running slot with the progress of its attempt."""
        now = self._clock.seconds()
        freed = False
        for slot in self._running:
            idle = slot.busy_until <= now and not slot.has_progress(now)
            if idle != slot.idle:
                self._withdraw(slot)
                slot.idle = idle
                slot.counts = self._counts_of(slot)
                self._add(slot)
                freed = freed or idle
        self._check = None
        if self._idle < len(self._running):
            self._start_checks()
        if freed:
            self.freed()


def _half(places: int) -> int:
    return max(places // 2, 1)


_network_of = lru_cache(4_096)(network_of)  # takes 10 µs
