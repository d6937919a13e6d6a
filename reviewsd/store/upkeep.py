"""Changes to the hub's rows that no attempt makes: expiry, and the operator's pause and blocks (H7).

Leases and requests expire by a wall clock that may be wrong for a while (D13): after an operator's mistake, on
a machine without a battery until NTP corrects it, or on a virtual machine that was moved. So a lease or request
ends only if two checks, ten minutes of monotonic time apart, find it expired (W13). Nothing ends in the first
ten minutes after a start, by when a wrong clock has usually been corrected. An expired lease has no deliveries
in the meantime, because a delivery is due only before the lease expires.

The functions are transactions for ``Store.run``; their times are milliseconds since 1970 UTC.
"""

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from functools import partial

from twisted.internet.interfaces import IReactorTime

from reviewsd.api.hub import Block
from reviewsd.api.jobs import instant
from reviewsd.domain.addresses import hits
from reviewsd.domain.subscription import DeadlinesChecked, Removed
from reviewsd.store.rows import Pair, change
from reviewsd.store.transactions import SqlCursor, Store

EXPIRY_SECONDS = 600.0
"""Interval of the checks."""

BATCH = 1_000
"""Pairs in one transaction, so that no transaction holds the store for long."""

_PAUSED = "hub_paused"


class Expiry:
    """Ends expired leases and requests.

    Args:
        store: The store.
        clock: Has monotonic seconds, as the reactor of the daemon (``__main__``).
        now: The store's wall clock.
    """

    def __init__(self, store: Store, clock: IReactorTime, now: Callable[[], int]) -> None:
        self._store = store
        self._clock = clock
        self._now = now
        self._expired: AbstractSet[tuple[Pair, int]] = frozenset()
        self._next_check_at: float | None = None

    async def end(self) -> int:
        """End what this check and the last one found expired; return the number of pairs.

        Nothing happens until a check is due.

        Raises:
            StoreError: The store cannot be used now.
        """
        seconds = self._clock.seconds()
        if self._next_check_at is not None and seconds < self._next_check_at:
            return 0
        now = self._now()
        current = await self._store.run(partial(expired, now=now))
        previous, self._expired = self._expired, current
        self._next_check_at = seconds + EXPIRY_SECONDS
        # One event ends all of a pair that is expired, so the last check must have found all of it
        ending = list(_pairs(current & previous) - _pairs(current - previous))
        count = 0
        for start in range(0, len(ending), BATCH):
            pairs = ending[start : start + BATCH]
            count += await self._store.run(partial(end_expired, pairs=pairs, now=now))
        return count


def _pairs(entries: Iterable[tuple[Pair, int]]) -> set[Pair]:
    return {pair for pair, _ in entries}


def expired(cursor: SqlCursor, now: int) -> AbstractSet[tuple[Pair, int]]:
    """Return the expired leases and requests, each with the time when it expired."""
    cursor.execute(
        "SELECT topic_id, callback, callback_host, lease_expires_at FROM subscription"
        " WHERE lease_expires_at <= ? UNION ALL"
        " SELECT topic_id, callback, callback_host, expires_at FROM verification"
        " WHERE expires_at <= ?",
        (now, now),
    )
    return frozenset((Pair(*row[:3]), row[3]) for row in cursor.fetchall())


def end_expired(cursor: SqlCursor, pairs: Iterable[Pair], now: int) -> int:
    """End the expired leases and requests of these pairs; return how many pairs changed."""
    reason = "the lease is over"  # is recorded of active subscriptions only
    changes = [change(cursor, pair, DeadlinesChecked(), now, reason) for pair in pairs]
    return sum(before != after for before, after in changes)


def paused(cursor: SqlCursor) -> bool:
    """Return whether the operator has paused the hub."""
    cursor.execute("SELECT 1 FROM meta WHERE key = ?", (_PAUSED,))
    return cursor.fetchone() is not None


def pause(cursor: SqlCursor, now: int) -> None:
    """Pause the hub; restarts do not end the pause."""
    cursor.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO NOTHING",
        (_PAUSED, str(now)),
    )


def resume(cursor: SqlCursor) -> None:
    """End the pause."""
    cursor.execute("DELETE FROM meta WHERE key = ?", (_PAUSED,))


def blocks(cursor: SqlCursor) -> list[Block]:
    """Return all blocks."""
    cursor.execute("SELECT value, note, created_at FROM block ORDER BY value")
    return [
        Block(value=value, note=note or "", created_at=instant(created_at / 1000))
        for value, note, created_at in cursor.fetchall()
    ]


def block(cursor: SqlCursor, value: str, note: str, now: int, *, dry_run: bool) -> int:
    """Block a host or network, and remove its subscriptions and requests, all or nothing (H7).

    Args:
        cursor: The cursor of a transaction.
        value: The host or network in the normal form of ``domain.addresses.read_block``.
        note: The operator's reason.
        now: The store's clock.
        dry_run: Change nothing and only count.

    Returns:
        The number of pairs that are removed; a subscription and its renewal are one.
    """
    is_blocked = hits([value])
    cursor.execute(
        "SELECT topic_id, callback, callback_host FROM subscription"
        " UNION SELECT topic_id, callback, callback_host FROM verification"
    )
    pairs = [Pair(*row) for row in cursor.fetchall() if is_blocked(row[2])]
    if dry_run:
        return len(pairs)
    cursor.execute(
        "INSERT INTO block (value, note, created_at) VALUES (?, ?, ?)"
        " ON CONFLICT (value) DO UPDATE SET note = excluded.note",
        (value, note, now),
    )
    for pair in pairs:
        change(cursor, pair, Removed(), now, f"blocked by the operator: {value}")
    return len(pairs)


def unblock(cursor: SqlCursor, value: str) -> bool:
    """Remove a block; return whether there was one."""
    cursor.execute("DELETE FROM block WHERE value = ?", (value,))
    return cursor.rowcount > 0
