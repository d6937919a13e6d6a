"""The clock of a store, and what becomes of stored times when somebody sets it (D13).

Stored times are those of the wall clock, which may be set: by an operator, by NTP after a start
without a battery, on a virtual machine that was moved. The times that have to come stand for what is
left of a duration: of a lease, of a wait before the next attempt, of a claim. So when the wall clock
jumps, they move with it, in one transaction, before anything goes by the new time. A jump is known by
CLOCK_BOOTTIME, which nobody sets and which goes on while the machine sleeps: a laptop that was shut for
a day has not jumped, and its leases are a day older.

A lease only ever moves later, and never beyond its whole length from now: who was subscribed under a
wrong clock, or is when it is set right, may stay longer than promised, but loses nothing.

A jump that nobody saw, because no daemon ran, cannot be told from the time for which none ran. So
what cannot be is put right, and the hub ends no lease in the first minutes after a start, in which a
clock that was wrong is set.
"""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from reviewsd.domain.subscription import UNREACHABLE_WAIT

JUMPED = "the clock was set {how}; leases and waits go on for as long as was left of them"
"""For the log; ``how`` is what ``described`` says."""

JUMP = 10_000
"""Milliseconds: what is less is no jump, but a clock that was adjusted; it is followed."""


class ClockCursor(Protocol):
    """What ``move`` needs of a transaction."""

    def execute(self, sql: str, parameters: Sequence[int] = ..., /) -> object:
        """Run one statement."""


def passed() -> int:
    """The time that has passed since the machine was started, milliseconds."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


class StoreClock:
    """Follows a wall clock, and notices when it jumps.

    It is asked in the reactor's thread, and looks in the store's.

    Args:
        wall: Milliseconds since 1970 UTC, as far as known before the first look.
        passed: What goes on whatever is set, milliseconds.
    """

    def __init__(self, wall: int, passed: Callable[[], int] = passed) -> None:
        self._passed = passed
        self._offset = wall - passed()
        self._known = False

    def now(self) -> int:
        """The time, milliseconds since 1970 UTC; a jump counts when ``jump`` says so."""
        return self._passed() + self._offset

    def look(self, read: Callable[[], int]) -> int:
        """Read the wall clock, however long that takes, and follow it unless it has jumped.

        Returns:
            Milliseconds by which it has jumped, negative if it was set back; mostly 0.
        """
        before = self._passed()
        wall = read()
        least, most = wall - self._passed(), wall - before
        if self._known and not least - JUMP <= self._offset <= most + JUMP:
            return (least if least > self._offset else most) - self._offset
        self._offset = min(max(self._offset, least), most)
        self._known = True
        return 0

    def jump(self, by: int) -> None:
        """Go by the new time: the rows have moved."""
        self._offset += by

    def forget(self) -> None:
        """Take the next look for the first one: what has become of the rows is known by others."""
        self._known = False


def move(cursor: ClockCursor, by: int, now: int) -> None:
    """Move the times that have to come with a clock that has jumped.

    Args:
        cursor: Of a transaction.
        by: Milliseconds.
        now: The new time, milliseconds since 1970 UTC.
    """
    if by > 0:
        cursor.execute(
            "UPDATE subscription SET lease_expires_at = lease_expires_at + ?"
            " WHERE lease_expires_at > ?",
            (by, now - by),
        )
    longest = "? + CAST(lease_seconds AS BIGINT) * 1000"
    cursor.execute(
        f"UPDATE subscription SET lease_expires_at = {longest} WHERE lease_expires_at > {longest}",
        (now, now),
    )
    for table in ("subscription", "verification"):
        cursor.execute(
            f"UPDATE {table} SET next_attempt_at = next_attempt_at + ? WHERE next_attempt_at > 0",
            (by,),
        )
        cursor.execute(
            f"UPDATE {table} SET claim_until = claim_until + ? WHERE claim_until IS NOT NULL", (by,)
        )
    cursor.execute("UPDATE verification SET expires_at = expires_at + ?", (by,))
    cursor.execute("UPDATE topic SET changed_at = changed_at + ?", (by,))


def put_right(cursor: ClockCursor, now: int, claim: int, wait: int) -> None:
    """Shorten claims and waits that end later than any that is made now: the clock was ahead then.

    Args:
        cursor: Of a transaction.
        now: Milliseconds since 1970 UTC.
        claim: For which an attempt is claimed, milliseconds.
        wait: The longest before a delivery, milliseconds.
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


def described(by: int) -> str:
    """A jump in words, for the log."""
    return f"{'ahead' if by > 0 else 'back'} by {abs(by) / 1000:,.0f} s"
