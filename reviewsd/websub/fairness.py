"""Whom an attempt counts for, and how many of each may be under way (H2, H8).

A stranger has many callbacks, and may let all of them hang. So an attempt counts for the callback's
host and, while it is busy, for its address network and the client network that asked for it. A host has
to earn its share: few attempts are made at the same time, and more when some have ended quickly (slow
start, as in TCP); and anew in each fan-out, since who was quick yesterday may hang today.

Callbacks whose last attempt was slow, or failed, share half of what there is: of all places and of those
of their network, busy or idle. Those during which a process has died are attempted a few at a time, then
one by one (``store.claims``).
"""

from collections.abc import Collection

from reviewsd.domain.addresses import network_of
from reviewsd.websub.places import IDLE, NetworkPlaces
from reviewsd.websub.rate_limits import CAPACITY, Recent

FIRST = 4
"""Attempts under way at a host of which none has ended quickly of late."""

QUICK_SECONDS = 2.0
"""Within which an attempt has to be answered to count as quick."""

QUICK_AGAIN = 15
"""Quick attempts in a row until a callback that was slow no longer counts as slow."""

_SLOW, _SLOW_BUSY = "*slow:", "*slow, busy:"
_DIED, _DIED_AGAIN = "*died", "*died again"
"""Keys that are no hosts and no networks; the first two with a network are that network's."""


class HostLimits:
    """How many attempts may be under way, for each of those that they count for.

    Which network a host is in is known after the first attempt. It only saves the later ones from
    meeting a crowd: what counts is the address that is dialled, and the ``NetworkPlaces`` there.

    Args:
        per_host: For a host.
        per_address: For an address network, and for a client network.
        places: For all, beside those that are idle.
        networks: Which address networks are full.
    """

    def __init__(
        self, per_host: int, per_address: int, places: int, networks: NetworkPlaces
    ) -> None:
        self._per_host = per_host
        self._per_address = per_address
        self._networks = networks
        self._common = {
            _SLOW: _half(IDLE * places),
            _SLOW_BUSY: _half(places),
            _DIED: 8,
            _DIED_AGAIN: 1,
        }
        self._addresses: Recent[str] = Recent(CAPACITY)
        self._network_of: Recent[str] = Recent(CAPACITY)
        self._shares: Recent[int] = Recent(CAPACITY)

    def learn(self, host: str, address: str | None) -> None:
        """An attempt at the host has led to this address."""
        if address is not None and self._addresses.get(host) != address:
            self._addresses.set(host, address)
            self._network_of.set(host, network_of(address))

    def keys(self, host: str, *, slow: bool = False) -> Collection[str]:
        """What an attempt counts for: the host, and among the slow ones.

        Args:
            host: The callback's.
            slow: Whether the callback was slow, or failed, when it was last called.
        """
        if not slow:
            return (host,)
        network = self._network_of.get(host)
        return (host, _SLOW) if network is None else (host, _SLOW, _SLOW + network)

    def keys_while_busy(
        self, host: str, requester: str, deaths: int, *, slow: bool = False
    ) -> Collection[str]:
        """What an attempt counts for beside, until it is idle.

        Args:
            host: The callback's; its address network counts, if known.
            requester: The client network that asked for it; empty where it is a delivery.
            deaths: Processes in a row that have died during an attempt at the same.
            slow: Whether the callback was slow, or failed, when it was last called.
        """
        keys = []
        network = self._network_of.get(host)
        if network is not None:
            keys.append(network)
        if requester:
            keys.append(requester)
        if slow:
            keys.append(_SLOW_BUSY)
            if network is not None:
                keys.append(_SLOW_BUSY + network)
        if deaths:
            keys.append(_DIED if deaths == 1 else _DIED_AGAIN)
        return keys

    def room(self, key: str) -> int:
        """How many attempts that count for this may be under way."""
        common = self._common.get(key)
        if common is not None:
            return common
        if key.startswith(_SLOW):
            return _half(IDLE * self._per_address)
        if key.startswith(_SLOW_BUSY):
            return _half(self._per_address)
        if "/" in key:
            return 0 if self._networks.full(key) else self._per_address
        return self._share(key)

    def ended(self, host: str, *, quick: bool) -> None:
        """An attempt at the host has ended, with an answer within QUICK_SECONDS or not."""
        if not quick:
            self._shares.drop(host)
        elif self._share(host) < self._per_host:
            self._shares.set(host, self._share(host) + 1)

    def begin_anew(self) -> None:
        """There is something new for all: each host has to earn its share again."""
        self._shares.clear()

    def _share(self, host: str) -> int:
        return self._shares.get(host) or min(FIRST, self._per_host)


class SlowCallbacks:
    """Callbacks that were slow, or failed, when they were called of late.

    A stranger's may be slow and quick in turns. So one quick answer makes none of them quick.
    """

    def __init__(self) -> None:
        self._left: Recent[int] = Recent(CAPACITY)

    def __contains__(self, callback: object) -> bool:
        return callback in self._left

    def note(self, callback: int, *, quick: bool) -> None:
        """What has come of a call; callbacks are known by their subscriptions."""
        left = (self._left.get(callback) or 0) - 1 if quick else QUICK_AGAIN
        if left > 0:
            self._left.set(callback, left)
        else:
            self._left.drop(callback)


def _half(places: int) -> int:
    return max(places // 2, 1)
