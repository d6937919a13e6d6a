"""Changes of the hub's rows other than attempts: expiry, and the operator's pause and blocks (H7).

The functions are transactions for ``Store.run``.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from reviewsd.domain.blocks import hits
from reviewsd.domain.subscription import (
    UNREACHABLE_WAIT,
    Event,
    Passed,
    Removed,
    Subscription,
    step,
)
from reviewsd.store.rows import Pair, load, note_end, save
from reviewsd.store.transactions import SqlCursor

JUMP = 10_000
"""Milliseconds; a clock that differs by more was set."""

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


def shorten_waits(cursor: SqlCursor, now: int, claim: int, wait: int) -> None:
    """Shorten claims and waits that were made while the clock was ahead.

    Args:
        cursor: The cursor of a transaction.
        now: Milliseconds since 1970 UTC.
        claim: Length of a claim, milliseconds.
        wait: Longest wait before a delivery, milliseconds.
    """
    for table in ("subscription", "verification"):
        cursor.execute(
            f"UPDATE {table} SET claim_token = NULL, claim_until = NULL WHERE claim_until > ?",
            (now + claim + JUMP,),
        )
    cursor.execute(
        "UPDATE subscription SET next_attempt_at = CASE consecutive_failures WHEN 0 THEN 0"
        " ELSE CAST(? AS BIGINT) END WHERE next_attempt_at > ?",
        (now + wait, now + wait + JUMP),
    )
    cursor.execute(
        "UPDATE verification SET next_attempt_at = ? WHERE next_attempt_at > ?",
        (now, now + UNREACHABLE_WAIT + JUMP),
    )


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


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A blocked host, with all below it, or a blocked network."""

    value: str
    note: str
    created_at: int


def blocks(cursor: SqlCursor) -> list[BlockRow]:
    """Return all blocks."""
    cursor.execute("SELECT value, note, created_at FROM block ORDER BY value")
    return [BlockRow(row[0], row[1] or "", row[2]) for row in cursor.fetchall()]


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
