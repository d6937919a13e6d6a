"""Changes of the hub's rows other than attempts: expiry, and the operator's pause and blocks (H7).

The functions are transactions for ``Store.run``.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from reviewsd.api.hub import Block
from reviewsd.api.times import instant
from reviewsd.domain.blocks import hits
from reviewsd.domain.subscription import (
    Event,
    Passed,
    Removed,
    Subscription,
    step,
)
from reviewsd.store.rows import Pair, load, note_end, save
from reviewsd.store.transactions import SqlCursor

_PAUSED = "hub_paused"


def expired(cursor: SqlCursor, now: int) -> AbstractSet[tuple[Pair, int]]:
    """Return the expired leases and requests, each with its end."""
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
    changes = [change(cursor, pair, Passed(), now, "the lease is over") for pair in pairs]
    return sum(before != after for before, after in changes)


def change(
    cursor: SqlCursor, pair: Pair, event: Event, now: int, reason: str
) -> tuple[Subscription | None, Subscription | None]:
    """Apply an event to a pair; return the states before and after it.

    Args:
        cursor: The cursor of a transaction.
        pair: The pair.
        event: The event.
        now: Milliseconds since 1970 UTC.
        reason: Recorded if the event ends an active subscription.
    """
    before = load(cursor, pair)
    after = step(before, event, now)
    save(cursor, pair, before, after)
    if before is not None and before.active is not None and (after is None or not after.active):
        note_end(cursor, pair, reason, now)
    return before, after


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
    """Block a host or network, and remove its subscriptions and requests (H7).

    Args:
        cursor: The cursor of a transaction.
        value: The host or network, in the normal form of ``domain.blocks``.
        note: The operator's reason.
        now: Milliseconds since 1970 UTC.
        dry_run: Only count.

    Returns:
        The number of removed subscriptions and requests.
    """
    is_hit = hits([value])
    cursor.execute(
        "SELECT topic_id, callback, callback_host FROM subscription"
        " UNION SELECT topic_id, callback, callback_host FROM verification"
    )
    pairs = [Pair(*row) for row in cursor.fetchall() if is_hit(row[2])]
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
