"""Subscriptions, Intents and the claims of their attempts as rows (security-and-operations.md 4.2).

Each change of state takes the same steps in one transaction: ``load``, ``domain.step``, ``save``. The
columns of an attempt (claims, the last outcome) are written by ``deliveries`` and ``intents``. Times are
milliseconds since 1970 UTC.

A claim is on the disk before its attempt begins (D7). It is removed with the attempt's result, or by an
orderly stop. A claim that a start finds, or that another node finds expired, belonged to an attempt whose
process died. The cause cannot be known: kill -9 leaves the same row behind.

So the deaths are counted, row by row, until an attempt has a result of any kind. After a death the next
attempt waits, longer after each further death, while the new process serves all others. The hub also makes
only a few attempts at such rows at a time, so that the deadly one is soon among few, then alone. After
MAX_DEATHS it is not attempted any more: see ``websub.delivery`` and ``websub.verification``.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any

from msgspec import Struct

from reviewsd.domain.subscription import Active, Event, Intent, Mode, Subscription, step
from reviewsd.store.transactions import MANY, SqlCursor, SqlValue

CLAIM_MILLISECONDS = 90_000
"""Duration of a claim, longer than any attempt (D5)."""

MAX_ENDED = 10_000
"""Ended subscriptions in the store; the oldest are deleted."""

MAX_DEATHS = 4
"""Processes that may die during attempts at one row."""

DEADLY = f"not attempted: the service has died during it, {MAX_DEATHS} times in a row"

_WAITS = (1_000, 10_000, 30_000)
"""Milliseconds before the next attempt, after the first, the second, each further death."""


class Pair(Struct, frozen=True):
    """The key of a subscription: a topic and a callback."""

    topic_id: int
    callback: str
    """The whole URL: a capability, never to be logged."""
    host: str


_ACTIVE_FIELDS = tuple(field.name for field in fields(Active))
_INTENT_FIELDS = tuple(field.name for field in fields(Intent))
ACTIVE_SIZE = len(_ACTIVE_FIELDS)

_OTHER_NAMES = {
    "secret": "secret_sealed",
    "failures": "consecutive_failures",
    "requested_topic": "topic_given",
    "topic_version": "topic_version_at_request",
}
"""The columns that are not named like their fields."""

_ACTIVE_COLUMNS = tuple(_OTHER_NAMES.get(name, name) for name in _ACTIVE_FIELDS)
INTENT_COLUMNS = tuple(_OTHER_NAMES.get(name, name) for name in _INTENT_FIELDS)
ACTIVE = ", ".join(f"s.{column}" for column in _ACTIVE_COLUMNS)
INTENT = ", ".join(f"v.{column}" for column in INTENT_COLUMNS)

_NOTHING = Subscription(None, None)


def active(row: Sequence[Any] | None) -> Active | None:
    """Return the Active in the ``ACTIVE`` columns of a row; None if there is none."""
    if row is None or row[1] is None:
        return None
    return Active(**dict(zip(_ACTIVE_FIELDS, row, strict=True)))


def intent(row: Sequence[Any] | None) -> Intent | None:
    """Return the Intent in the ``INTENT`` columns of a row; None if there is none."""
    if row is None or row[0] is None:
        return None
    mode, *values = row
    return Intent(**dict(zip(_INTENT_FIELDS, (Mode(mode), *values), strict=True)))


def load(cursor: SqlCursor, pair: Pair) -> Subscription | None:
    """Return the state of a pair."""
    key = (pair.topic_id, pair.callback)
    cursor.execute(
        f"SELECT {ACTIVE} FROM subscription s WHERE s.topic_id = ? AND s.callback = ?", key
    )
    subscription = cursor.fetchone()
    cursor.execute(
        f"SELECT {INTENT} FROM verification v WHERE v.topic_id = ? AND v.callback = ?", key
    )
    state = Subscription(active(subscription), intent(cursor.fetchone()))
    return None if state == _NOTHING else state


def save(
    cursor: SqlCursor, pair: Pair, before: Subscription | None, after: Subscription | None
) -> None:
    """Write the difference between two states of a pair."""
    old, new = before or _NOTHING, after or _NOTHING
    if old.active != new.active:
        _save_active(cursor, pair, old.active, new.active)
    if old.intent != new.intent:
        _save_intent(cursor, pair, old.intent, new.intent)


def _save_active(cursor: SqlCursor, pair: Pair, old: Active | None, new: Active | None) -> None:
    key = (pair.topic_id, pair.callback)
    if new is None:
        cursor.execute("DELETE FROM subscription WHERE topic_id = ? AND callback = ?", key)
        return
    values = [getattr(new, name) for name in _ACTIVE_FIELDS]
    if old is None:
        _insert(cursor, "subscription", _ACTIVE_COLUMNS, values, pair)
        return
    assignments = ", ".join(f"{column} = ?" for column in _ACTIVE_COLUMNS)
    if old.secret != new.secret:
        assignments += ", claim_token = RTRIM(claim_token, '*') || '*'"  # see ``outdated``
    cursor.execute(
        f"UPDATE subscription SET {assignments} WHERE topic_id = ? AND callback = ?",
        (*values, *key),
    )


def _save_intent(cursor: SqlCursor, pair: Pair, old: Intent | None, new: Intent | None) -> None:
    """Write an Intent. A newer request is a new row, so the older one's outcome matches no row."""
    key = (pair.topic_id, pair.callback)
    if old is not None and new is not None and old.challenge == new.challenge:
        cursor.execute(
            "UPDATE verification SET attempts = ?, next_attempt_at = ?, claim_token = NULL,"
            " claim_until = NULL, deaths = 0 WHERE topic_id = ? AND callback = ?",
            (new.attempts, new.next_attempt_at, *key),
        )
        return
    if old is not None:
        cursor.execute("DELETE FROM verification WHERE topic_id = ? AND callback = ?", key)
    if new is not None:
        values = [new.mode.value, *(getattr(new, name) for name in _INTENT_FIELDS[1:])]
        _insert(cursor, "verification", INTENT_COLUMNS, values, pair)


def _insert(
    cursor: SqlCursor, table: str, columns: Sequence[str], values: Sequence[SqlValue], pair: Pair
) -> None:
    names = (*columns, "topic_id", "callback", "callback_host")
    marks = ", ".join("?" * len(names))
    cursor.execute(
        f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})",
        (*values, pair.topic_id, pair.callback, pair.host),
    )


def note_end(cursor: SqlCursor, pair: Pair, reason: str, now: int) -> None:
    """Record that a subscription ended, and delete the oldest records."""
    cursor.execute(
        "INSERT INTO ended (callback, topic, reason, at)"
        " SELECT ?, path, ?, ? FROM topic WHERE id = ?",
        (pair.callback, reason, now, pair.topic_id),
    )
    cursor.execute("DELETE FROM ended WHERE id <= (SELECT MAX(id) FROM ended) - ?", (MAX_ENDED,))


def change(
    cursor: SqlCursor, pair: Pair, event: Event, now: int, reason: str
) -> tuple[Subscription | None, Subscription | None]:
    """Apply an event to a pair; return the states before and after it.

    The reason is recorded if the event ends an active subscription.
    """
    before = load(cursor, pair)
    after = step(before, event, now)
    save(cursor, pair, before, after)
    if before is not None and before.active is not None and (after is None or not after.active):
        note_end(cursor, pair, reason, now)
    return before, after


def outdated(token: str) -> str:
    """Return the token of a claim whose secret was replaced during the attempt.

    Its version does not count as delivered: the signature was made with the previous secret, so the
    subscriber may have dropped the content (W5).
    """
    return f"{token}*"


class Due(Struct, frozen=True, kw_only=True):
    """A due delivery or verification that is not claimed yet."""

    id: int
    host: str
    """The callback's host."""
    active: bool
    """Whether the pair is an active subscription: no back-off holds it up (H3)."""
    requester: str = ""
    """The client network of an Intent."""
    failing: bool = False
    """Whether the last attempt failed."""
    deaths: int = 0
    """Processes in a row that have died during an attempt at it."""


class Claim(Struct, frozen=True, kw_only=True):
    """The claim of a row for one attempt."""

    id: int
    token: str
    pair: Pair
    deaths: int = 0
    """Processes in a row that have died during an attempt at the row."""

    @property
    def deadly(self) -> bool:
        """Whether so many processes have died that the row is not attempted any more."""
        return self.deaths >= MAX_DEATHS


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimTable:
    """A table with rows that are claimed for attempts."""

    name: str
    alias: str
    facts: str
    """The columns ``active``, ``requester`` and ``failing`` of a ``Due``."""
    condition: str
    """The condition of a due row besides its time, with a placeholder for each of ``values``."""

    def find_due(
        self,
        cursor: SqlCursor,
        values: Sequence[SqlValue],
        now: int,
        limit: int,
        without: Collection[str],
    ) -> tuple[list[Due], float | None]:
        """Return the due rows, longest waiting first, and the seconds until the next one is due.

        The values are those of the condition. Rows of the hosts in ``without`` are left out.
        """
        rows = f"FROM {self.name} {self.alias} WHERE {self.condition}"
        cursor.execute(
            f"SELECT id, callback_host, {self.facts}, deaths {rows} AND next_attempt_at <= ?"
            f" AND (claim_until IS NULL OR claim_until < ?) AND NOT callback_host IN {MANY}"
            " ORDER BY next_attempt_at, id LIMIT ?",
            (*values, now, now, list(without), limit),
        )
        due = [
            Due(
                id=number,
                host=host,
                active=bool(active),
                requester=requester,
                failing=bool(failing),
                deaths=deaths,
            )
            for number, host, active, requester, failing, deaths in cursor.fetchall()
        ]
        cursor.execute(
            f"SELECT MIN(next_attempt_at) {rows} AND next_attempt_at > ?", (*values, now)
        )
        ((next_at,),) = cursor.fetchall()
        return due, None if next_at is None else (next_at - now) / 1000

    def claim(
        self,
        cursor: SqlCursor,
        columns: str,
        values: Sequence[SqlValue],
        due: Sequence[Due],
        token: str,
        now: int,
    ) -> list[tuple[Due, Sequence[Any]]]:
        """Claim rows that are still due, in one statement: each one waits for the GIL again.

        Expired claims among them are voided instead, so those rows are claimed after a wait. The token is
        new: it fences late outcomes.

        Returns:
            Each claimed row, with the values of its columns.
        """
        ids = [row.id for row in due]
        self.void(cursor, f"id IN {MANY} AND claim_until < ?", (ids, now), now)
        cursor.execute(
            f"UPDATE {self.name} AS {self.alias} SET claim_token = ?, claim_until = ?"
            f" WHERE id IN {MANY} AND claim_until IS NULL AND next_attempt_at <= ?"
            f" AND {self.condition} RETURNING id, {columns}",
            (token, now + CLAIM_MILLISECONDS, ids, now, *values),
        )
        claimed = {row[0]: row[1:] for row in cursor.fetchall()}
        return [(row, claimed[row.id]) for row in due if row.id in claimed]

    def release(self, cursor: SqlCursor, row_id: int, token: str) -> None:
        """Remove a claim, unless it has been replaced."""
        cursor.execute(
            f"UPDATE {self.name} SET claim_token = NULL, claim_until = NULL"
            " WHERE id = ? AND claim_token IN (?, ?)",
            (row_id, token, outdated(token)),
        )

    def void(
        self, cursor: SqlCursor, where: str, values: Sequence[SqlValue], now: int
    ) -> list[tuple[str, int]]:
        """Remove claims of processes that have died, and make the rows wait.

        Returns:
            The callback host of each row, and the processes in a row that have died during an attempt at it.
        """
        cursor.execute(
            f"SELECT id, callback_host, deaths + 1 FROM {self.name} WHERE {where}", values
        )
        rows = cursor.fetchall()
        for deaths in sorted({row[2] for row in rows}):
            ids = [row[0] for row in rows if row[2] == deaths]
            wait = _WAITS[min(deaths, len(_WAITS)) - 1]
            cursor.execute(
                f"UPDATE {self.name} SET claim_token = NULL, claim_until = NULL, deaths = ?,"
                f" next_attempt_at = ? WHERE id IN {MANY}",
                (deaths, now + wait, ids),
            )
        return [row[1:] for row in rows]


_VERSION = "(SELECT t.version FROM topic t WHERE t.id = s.topic_id)"

DELIVERIES = ClaimTable(
    name="subscription",
    alias="s",
    facts="1, '', consecutive_failures > 0",
    condition=(
        f"s.delivered_version < {_VERSION} AND s.lease_expires_at > ? AND +s.topic_id IN {MANY}"
    ),
)
"""Subscriptions; the values are now, and the topics of which this node has the current content."""

VERIFICATIONS = ClaimTable(
    name="verification",
    alias="v",
    facts=(
        "EXISTS (SELECT 1 FROM subscription s WHERE s.topic_id = v.topic_id"
        " AND s.callback = v.callback), requester, attempts > 0"
    ),
    condition="v.expires_at > ?",
)
"""Requests; the value is now."""


def take_over(cursor: SqlCursor, now: int) -> list[tuple[str, int]]:
    """Void all claims, as ``void`` does; only where one process uses the store, at its start."""
    where = "claim_token IS NOT NULL"
    deliveries = DELIVERIES.void(cursor, where, (), now)
    return deliveries + VERIFICATIONS.void(cursor, where, (), now)
