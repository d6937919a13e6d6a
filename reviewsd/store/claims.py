"""Claims that were left behind by a process that died: any of them may be what it died of (D7).

A claim is on the disk before its attempt begins. It is let go of with the attempt's result, or when the
process stops in order. So what a start finds claimed, or another node finds claimed beyond its time,
was under way when its process died. Whether it did it cannot be told: kill -9 leaves the same behind.

So the deaths are counted, row by row, until an attempt has a result of any kind. The next attempt waits
for a while, in which the new process serves everybody else, and longer after each further death; and
the hub makes only a few attempts at such rows at a time, so that the deadly one is soon among few, then
alone. After MAX_DEATHS it is not attempted any more: see ``Distribution`` and ``Verification``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from reviewsd.store.transactions import MANY, Numbers, SqlCursor, SqlValue

MAX_DEATHS = 4
"""Processes that may die of an attempt, as far as that can be known."""

DEADLY = f"not attempted: the service has died during it, {MAX_DEATHS} times in a row"

_WAITS = (1_000, 10_000, 30_000)
"""Milliseconds before the next attempt, after the first, the second, every further death."""

SUBSCRIPTION, VERIFICATION = "subscription", "verification"


@dataclass(frozen=True, slots=True)
class LeftClaim:
    """A claim of a process that has died."""

    host: str
    """Of the callback."""
    deaths: int
    """Processes in a row that have died during an attempt at this row."""


def take_over(cursor: SqlCursor, now: int) -> Sequence[LeftClaim]:
    """Void all claims; only where one process uses the store, at its start (D7)."""
    found: list[LeftClaim] = []
    for table in (SUBSCRIPTION, VERIFICATION):
        found += _void(cursor, table, "claim_token IS NOT NULL", (), now)
    return found


def take_over_lapsed(
    cursor: SqlCursor, table: str, ids: Sequence[int], now: int
) -> Sequence[LeftClaim]:
    """Void those of these rows' claims whose time is over."""
    if not ids:
        return ()
    where = f"id IN {MANY} AND claim_until < ?"
    return _void(cursor, table, where, (Numbers(ids), now), now)


def _void(
    cursor: SqlCursor, table: str, where: str, values: Sequence[SqlValue], now: int
) -> Sequence[LeftClaim]:
    cursor.execute(f"SELECT id, callback_host, deaths + 1 FROM {table} WHERE {where}", values)
    found = cursor.fetchall()
    for deaths in sorted({row[2] for row in found}):
        ids = Numbers(row[0] for row in found if row[2] == deaths)
        wait = _WAITS[min(deaths, len(_WAITS)) - 1]
        cursor.execute(
            f"UPDATE {table} SET claim_token = NULL, claim_until = NULL, deaths = ?,"
            f" next_attempt_at = ? WHERE id IN {MANY}",
            (deaths, now + wait, ids),
        )
    return [LeftClaim(host, deaths) for _, host, deaths in found]
