"""Subscriptions and Intents as rows of the store, and back (security-and-operations.md 4.2).

Every change of state goes the same way inside one transaction: ``load``, ``domain.step``, ``save``.
What belongs to an attempt and not to the state (claims, the last outcome) is written by those who
attempt. Column names are the schema's, values the domain's; times are milliseconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from reviewsd.domain.subscription import Active, Intent, Mode, Subscription
from reviewsd.store.transactions import SqlCursor

MAX_ENDED = 10_000
"""Rows of the ring that remembers how subscriptions ended."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What a subscription is about."""

    topic_id: int
    callback: str
    """The whole URL: a capability, never to be logged."""
    host: str


ACTIVE = (
    "s.secret_sealed, s.lease_seconds, s.lease_expires_at, s.delivered_version,"
    " s.consecutive_failures, s.next_attempt_at, s.created_at, s.verified_at"
)
"""The columns of an Active, in the order of its fields."""

INTENT = (
    "v.mode, v.topic_given, v.secret_sealed, v.lease_seconds, v.challenge, v.verify_token,"
    " v.topic_version_at_request, v.requester, v.requested_at, v.expires_at, v.attempts,"
    " v.next_attempt_at"
)
"""The columns of an Intent, in the order of its fields."""

ACTIVE_SIZE = len(fields(Active))
INTENT_SIZE = len(fields(Intent))


def active(row: Sequence[Any]) -> Active:
    """The Active that the ``ACTIVE`` columns hold."""
    secret, lease, expires_at, version, failures, next_at, created_at, verified_at = row
    return Active(
        secret=secret,
        lease_seconds=lease,
        lease_expires_at=expires_at,
        delivered_version=version,
        failures=failures,
        next_attempt_at=next_at,
        created_at=created_at,
        verified_at=verified_at,
    )


def intent(row: Sequence[Any]) -> Intent | None:
    """The Intent that the ``INTENT`` columns hold; None where a join found none."""
    if row[0] is None:
        return None
    mode, given, secret, lease, challenge, verify_token, version, *rest = row
    requester, asked_at, until, tries, next_at = rest
    return Intent(
        mode=Mode(mode),
        topic_given=given,
        secret=secret,
        lease_seconds=lease,
        challenge=challenge,
        verify_token=verify_token,
        topic_version=version,
        requester=requester,
        requested_at=asked_at,
        expires_at=until,
        attempts=tries,
        next_attempt_at=next_at,
    )


def load(cursor: SqlCursor, pair: Pair) -> Subscription | None:
    """What is known of a pair."""
    key = (pair.topic_id, pair.callback)
    cursor.execute(
        f"SELECT {ACTIVE} FROM subscription s WHERE s.topic_id = ? AND s.callback = ?", key
    )
    found = cursor.fetchone()
    cursor.execute(
        f"SELECT {INTENT} FROM verification v WHERE v.topic_id = ? AND v.callback = ?", key
    )
    requested = cursor.fetchone()
    if found is None and requested is None:
        return None
    return Subscription(
        None if found is None else active(found), None if requested is None else intent(requested)
    )


def outdated(token: str) -> str:
    """The token of a claim whose secret was replaced meanwhile, so that its version counts as not delivered.

    The subscriber may have dropped it, for its signature was made with the secret of before (W5).
    """
    return f"{token}*"


def save(
    cursor: SqlCursor, pair: Pair, before: Subscription | None, after: Subscription | None
) -> None:
    """Write what has changed."""
    was, now = before or _NOTHING, after or _NOTHING
    if was.active != now.active:
        _save_active(cursor, pair, was.active, now.active)
    if was.intent != now.intent:
        _save_intent(cursor, pair, was.intent, now.intent)


_NOTHING = Subscription(None, None)


def _save_active(cursor: SqlCursor, pair: Pair, was: Active | None, now: Active | None) -> None:
    key = (pair.topic_id, pair.callback)
    if now is None:
        cursor.execute("DELETE FROM subscription WHERE topic_id = ? AND callback = ?", key)
        return
    values = (
        now.secret,
        now.lease_seconds,
        now.lease_expires_at,
        now.delivered_version,
        now.failures,
        now.next_attempt_at,
        now.created_at,
        now.verified_at,
    )
    if was is None:
        cursor.execute(
            "INSERT INTO subscription (secret_sealed, lease_seconds, lease_expires_at,"
            " delivered_version, consecutive_failures, next_attempt_at, created_at, verified_at,"
            " topic_id, callback, callback_host) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*values, *key, pair.host),
        )
    else:
        outdate = (
            ", claim_token = RTRIM(claim_token, '*') || '*'" if was.secret != now.secret else ""
        )
        cursor.execute(
            "UPDATE subscription SET secret_sealed = ?, lease_seconds = ?, lease_expires_at = ?,"
            " delivered_version = ?, consecutive_failures = ?, next_attempt_at = ?,"
            f" created_at = ?, verified_at = ?{outdate} WHERE topic_id = ? AND callback = ?",
            (*values, *key),
        )


def _save_intent(cursor: SqlCursor, pair: Pair, was: Intent | None, now: Intent | None) -> None:
    """A newer request is a new row: what comes of the older one's attempt finds nothing."""
    key = (pair.topic_id, pair.callback)
    if was is not None and now is not None and was.challenge == now.challenge:
        cursor.execute(
            "UPDATE verification SET attempts = ?, next_attempt_at = ?, claim_token = NULL,"
            " claim_until = NULL, deaths = 0 WHERE topic_id = ? AND callback = ?",
            (now.attempts, now.next_attempt_at, *key),
        )
        return
    if was is not None:
        cursor.execute("DELETE FROM verification WHERE topic_id = ? AND callback = ?", key)
    if now is not None:
        cursor.execute(
            "INSERT INTO verification (mode, topic_given, secret_sealed, lease_seconds, challenge,"
            " verify_token, topic_version_at_request, requester, requested_at, expires_at, attempts,"
            " next_attempt_at, topic_id, callback, callback_host)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                now.mode.value,
                now.topic_given,
                now.secret,
                now.lease_seconds,
                now.challenge,
                now.verify_token,
                now.topic_version,
                now.requester,
                now.requested_at,
                now.expires_at,
                now.attempts,
                now.next_attempt_at,
                *key,
                pair.host,
            ),
        )


def note_end(cursor: SqlCursor, pair: Pair, reason: str, now: int) -> None:
    """Remember that and why a subscription ended, and forget the oldest of such notes."""
    cursor.execute(
        "INSERT INTO ended (callback, topic, reason, at)"
        " SELECT ?, path, ?, ? FROM topic WHERE id = ?",
        (pair.callback, reason, now, pair.topic_id),
    )
    cursor.execute("DELETE FROM ended WHERE id <= (SELECT MAX(id) FROM ended) - ?", (MAX_ENDED,))
