"""Claims of processes that died during an attempt, which the attempt may have caused (D7).

A claim is on the disk before its attempt begins. It is removed with the attempt's result, or by an orderly
stop. A claim that a start finds, or that another node finds expired, belonged to an attempt whose process
died. The cause cannot be known: kill -9 leaves the same row behind.

So the deaths are counted, row by row, until an attempt has a result of any kind. After a death the next
attempt waits, longer after each further death, while the new process serves all others. The hub also makes
only a few attempts at such rows at a time, so that the deadly one is soon among few, then alone. After
MAX_DEATHS it is not attempted any more: see ``websub.delivery`` and ``websub.verification``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from reviewsd.store.transactions import MANY, Numbers, SqlCursor, SqlValue

MAX_DEATHS = 4
"""Processes that may die during attempts at one row."""

DEADLY = f"not attempted: the service has died during it, {MAX_DEATHS} times in a row"

_WAITS = (1_000, 10_000, 30_000)
"""Milliseconds before the next attempt, after the first, the second, each further death."""

SUBSCRIPTION, VERIFICATION = "subscription", "verification"


@dataclass(frozen=True, slots=True)
class LapsedClaim:
    """A claim of a process that has died."""

    host: str
    """The callback's host."""
    deaths: int
    """Processes in a row that have died during an attempt at this row."""


def take_over(cursor: SqlCursor, now: int) -> Sequence[LapsedClaim]:
    """Void all claims; only where one process uses the store, at its start (D7)."""
    lapsed: list[LapsedClaim] = []
    for table in (SUBSCRIPTION, VERIFICATION):
        lapsed += _void(cursor, table, "claim_token IS NOT NULL", (), now)
    return lapsed


def take_over_lapsed(
    cursor: SqlCursor, table: str, ids: Sequence[int], now: int
) -> Sequence[LapsedClaim]:
    """Void the expired claims among these rows."""
    if not ids:
        return ()
    where = f"id IN {MANY} AND claim_until < ?"
    return _void(cursor, table, where, (Numbers(ids), now), now)


def _void(
    cursor: SqlCursor, table: str, where: str, values: Sequence[SqlValue], now: int
) -> Sequence[LapsedClaim]:
    cursor.execute(f"SELECT id, callback_host, deaths + 1 FROM {table} WHERE {where}", values)
    rows = cursor.fetchall()
    for deaths in sorted({row[2] for row in rows}):
        ids = Numbers(row[0] for row in rows if row[2] == deaths)
        wait = _WAITS[min(deaths, len(_WAITS)) - 1]
        cursor.execute(
            f"UPDATE {table} SET claim_token = NULL, claim_until = NULL, deaths = ?,"
            f" next_attempt_at = ? WHERE id IN {MANY}",
            (deaths, now + wait, ids),
        )
    return [LapsedClaim(host, deaths) for _, host, deaths in rows]
