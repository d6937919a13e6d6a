"""Whom an attempt counts for, and how many of each may be under way (H2, H8).

A stranger has many callbacks, and may let all of them hang. So an attempt counts for the callback's
host, for its address network and, while it is busy, for the client network that asked for it. A host has
to earn its share: few attempts are made at the same time, and more when some have ended quickly (slow
start, as in TCP); and anew in each fan-out, since who was quick yesterday may hang today.

Callbacks whose last attempt was slow, or failed, share half of what there is. Those during which a
process has died are attempted a few at a time, then one by one (``store.claims``).
"""

from collections.abc import Collection

from reviewsd.domain.addresses import network_of
from reviewsd.websub.places import IDLE
from reviewsd.websub.rate_limits import CAPACITY, Recent

FIRST = 4
"""Attempts under way at a host of which none has ended quickly of late."""

QUICK_SECONDS = 2.0
"""Within which an attempt has to be answered to count as quick."""

MAX_RELAPSES = 15
"""Quick attempts in a row, at most, until a callback that was slow no longer counts as slow."""

_SLOW, _DIED, _DIED_AGAIN = "*slow", "*died", "*died again"
"""Keys that are no hosts and no networks."""


class HostLimits:
    """How many attempts may be under way, for each of those that they count for.

    Which network a host is in is known after the first attempt. It only saves the later ones from
    meeting a crowd: what counts is the address that is dialled, and the ``Crowd`` there.

    Args:
        per_host: For a host.
        per_address: For an address network, and for a client network.
        places: For all, beside those that are idle.
    """

    def __init__(self, per_host: int, per_address: int, places: int) -> None:
        self._per_host = per_host
        self._per_address = per_address
        self._common = {_SLOW: max(IDLE * places // 2, 1), _DIED: 8, _DIED_AGAIN: 1}
        self._addresses: Recent[str] = Recent(CAPACITY)
        self._keys: Recent[tuple[str, ...]] = Recent(CAPACITY)
        self._shares: Recent[int] = Recent(CAPACITY)

    def learn(self, host: str, address: str | None) -> None:
        """An attempt at the host has led to this address."""
        if address is not None and self._addresses.get(host) != address:
            self._addresses.set(host, address)
            self._keys.set(host, (host, network_of(address)))

    def keys(self, host: str, *, slow: bool = False) -> Collection[str]:
        """What an attempt counts for: the host and, if known, its address network.

        Args:
            host: The callback's.
            slow: Whether the callback was slow, or failed, when it was last called.
        """
        keys = self._keys.get(host) or (host,)
        return (*keys, _SLOW) if slow else keys

    def keys_while_busy(self, requester: str, deaths: int) -> Collection[str]:
        """What an attempt counts for beside, until it is idle.

        Args:
            requester: The client network that asked for it; empty where it is a delivery.
            deaths: Processes in a row that have died during an attempt at the same.
        """
        client = (requester,) if requester else ()
        if deaths == 0:
            return client
        return (*client, _DIED if deaths == 1 else _DIED_AGAIN)

    def room(self, key: str) -> int:
        """How many attempts that count for this may be under way."""
        if "/" in key:
            return self._per_address
        common = self._common.get(key)
        return self._share(key) if common is None else common

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
    """Callbacks that were slow, or failed, when they were last called.

    One that does so again and again has to be quick as often before it counts as quick.
    """

    def __init__(self) -> None:
        self._relapses: Recent[int] = Recent(CAPACITY)

    def __contains__(self, callback: object) -> bool:
        return callback in self._relapses

    def note(self, callback: int, *, quick: bool) -> None:
        """What has come of a call; callbacks are known by their subscriptions."""
        left = self._relapses.get(callback) or 0
        left = left - 1 if quick else min(2 * left + 1, MAX_RELAPSES)
        if left > 0:
            self._relapses.set(callback, left)
        elif left == 0:
            self._relapses.drop(callback)
