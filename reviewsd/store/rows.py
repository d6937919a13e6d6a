"""Subscriptions and Intents as rows of the store (security-and-operations.md 4.2).

Each change of state takes the same steps in one transaction: ``load``, ``domain.step``, ``save``. The columns
of an attempt (claims, the last outcome) are written by ``deliveries`` and ``intents``. Times are milliseconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from reviewsd.domain.subscription import Active, Intent, Mode, Subscription
from reviewsd.store.transactions import SqlCursor, SqlValue

MAX_ENDED = 10_000
"""Ended subscriptions in the store; the oldest are deleted."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The key of a subscription: a topic and a callback."""

    topic_id: int
    callback: str
    """The whole URL: a capability, never to be logged."""
    host: str


_ACTIVE_COLUMNS = (
    "secret_sealed",
    "lease_seconds",
    "lease_expires_at",
    "delivered_version",
    "consecutive_failures",
    "next_attempt_at",
    "created_at",
    "verified_at",
)
"""The columns of an Active, in the order of its fields."""

INTENT_COLUMNS = (
    "mode",
    "topic_given",
    "secret_sealed",
    "lease_seconds",
    "challenge",
    "verify_token",
    "topic_version_at_request",
    "requester",
    "requested_at",
    "expires_at",
    "attempts",
    "next_attempt_at",
)
"""The columns of an Intent, in the order of its fields."""

_ACTIVE_FIELDS = tuple(field.name for field in fields(Active))
_INTENT_FIELDS = tuple(field.name for field in fields(Intent))
ACTIVE_SIZE = len(_ACTIVE_FIELDS)
INTENT_SIZE = len(_INTENT_FIELDS)

ACTIVE = ", ".join(f"s.{column}" for column in _ACTIVE_COLUMNS)
INTENT = ", ".join(f"v.{column}" for column in INTENT_COLUMNS)


def active(row: Sequence[Any]) -> Active:
    """Return the Active in the ``ACTIVE`` columns of a row."""
    return Active(**dict(zip(_ACTIVE_FIELDS, row, strict=True)))


def intent(row: Sequence[Any]) -> Intent:
    """Return the Intent in the ``INTENT`` columns of a row."""
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
    request = cursor.fetchone()
    if subscription is None and request is None:
        return None
    return Subscription(
        None if subscription is None else active(subscription),
        None if request is None else intent(request),
    )


def outdated(token: str) -> str:
    """Return the token of a claim whose secret was replaced during the attempt.

    Its version does not count as delivered: the signature was made with the previous secret, so the
    subscriber may have dropped the content (W5).
    """
    return f"{token}*"


def save(
    cursor: SqlCursor, pair: Pair, before: Subscription | None, after: Subscription | None
) -> None:
    """Write the difference between two states of a pair."""
    old, new = before or _NOTHING, after or _NOTHING
    if old.active != new.active:
        _save_active(cursor, pair, old.active, new.active)
    if old.intent != new.intent:
        _save_intent(cursor, pair, old.intent, new.intent)


_NOTHING = Subscription(None, None)


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
