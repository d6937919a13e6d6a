"""What the hub does to its rows beside attempts (H7).

What has run out, the operator's pause and blocks. The functions are transactions for ``Database.run``.
"""

from dataclasses import dataclass

from reviewsd.domain.blocks import hits
from reviewsd.domain.subscription import Event, Passed, Removed, Subscription, step
from reviewsd.store.rows import Pair, load, note_end, save
from reviewsd.store.transactions import SqlCursor

SWEEP = 1_000
"""Rows that one sweep takes at most, so that it never holds the store for long."""

_PAUSED = "hub_paused"


def sweep(cursor: SqlCursor, now: int) -> int:
    """End what has run out: leases, and requests that nobody confirmed. Returns how many."""
    cursor.execute(
        "SELECT topic_id, callback, callback_host FROM subscription WHERE lease_expires_at <= ?"
        " UNION SELECT topic_id, callback, callback_host FROM verification WHERE expires_at <= ?"
        " LIMIT ?",
        (now, now, SWEEP),
    )
    pairs = [Pair(*row) for row in cursor.fetchall()]
    for pair in pairs:
        change(cursor, pair, Passed(), now, "the lease is over")
    return len(pairs)


def change(
    cursor: SqlCursor, pair: Pair, event: Event, now: int, reason: str
) -> tuple[Subscription | None, Subscription | None]:
    """Let an event happen to a pair; returns what was and what is.

    Args:
        cursor: Of a transaction.
        pair: The pair.
        event: What happens.
        now: Milliseconds since 1970 UTC.
        reason: Noted, should an active subscription end by it.
    """
    before = load(cursor, pair)
    after = step(before, event, now)
    save(cursor, pair, before, after)
    if before is not None and before.active is not None and (after is None or not after.active):
        note_end(cursor, pair, reason, now)
    return before, after


def paused(cursor: SqlCursor) -> bool:
    """Whether the operator has paused the hub."""
    cursor.execute("SELECT 1 FROM meta WHERE key = ?", (_PAUSED,))
    return cursor.fetchone() is not None


def pause(cursor: SqlCursor, now: int) -> None:
    """Pause the hub; it stays so through restarts."""
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
    """All blocks."""
    cursor.execute("SELECT value, note, created_at FROM block ORDER BY value")
    return [BlockRow(row[0], row[1] or "", row[2]) for row in cursor.fetchall()]


def block(cursor: SqlCursor, value: str, note: str, now: int, *, dry_run: bool) -> int:
    """Block a host or network, and remove what it hits (H7).

    Args:
        cursor: Of a transaction.
        value: In the normal form of ``domain.blocks``.
        note: Why.
        now: Milliseconds since 1970 UTC.
        dry_run: Only count.

    Returns:
        How many subscriptions and requests are removed.
    """
    hit = hits([value])
    cursor.execute(
        "SELECT topic_id, callback, callback_host FROM subscription"
        " UNION SELECT topic_id, callback, callback_host FROM verification"
    )
    pairs = [Pair(*row) for row in cursor.fetchall() if hit(row[2])]
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
    """Take a block back; whether there was one."""
    cursor.execute("DELETE FROM block WHERE value = ?", (value,))
    return cursor.rowcount > 0
