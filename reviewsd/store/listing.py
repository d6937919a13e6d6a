"""Lists and changes single subscriptions for the operator (H7).

The functions are transactions for ``Store.run``; their times are milliseconds since 1970 UTC. An id is
``12`` for a subscription, ``p7`` for a pending request without a subscription.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from reviewsd.api.hub import Listing, PendingIntent, TopicState
from reviewsd.api.jobs import instant
from reviewsd.domain.subscription import Active, Intent, RedeliveryRequested, Removed, Subscription
from reviewsd.store.rows import (
    ACTIVE,
    ACTIVE_SIZE,
    INTENT,
    Pair,
    active,
    change,
    intent,
)
from reviewsd.store.transactions import MANY, SqlCursor, SqlValue

PENDING = "p"
"""Prefix of the id of a pending request."""

_COLUMNS = (
    f"s.claim_until, v.claim_until, t.path, t.version, {ACTIVE}, {INTENT}, s.last_attempt_at, s.last_status,"
    " s.last_error, s.last_success_at, s.last_failure_at, s.last_failure"
)
_SUBSCRIPTIONS = (
    f"SELECT s.id, s.callback, s.callback_host, {_COLUMNS} FROM subscription s"
    " JOIN topic t ON t.id = s.topic_id"
    " LEFT JOIN verification v ON v.topic_id = s.topic_id AND v.callback = s.callback"
)
_NEW_REQUESTS = (
    f"SELECT v.id, v.callback, v.callback_host, {_COLUMNS} FROM verification v"
    " JOIN topic t ON t.id = v.topic_id"
    " LEFT JOIN subscription s ON s.topic_id = v.topic_id AND s.callback = v.callback"
    " WHERE s.id IS NULL"
)


def page(
    cursor: SqlCursor, topic: str | None, callback: str | None, after: str | None, limit: int
) -> list[Listing]:
    """Return subscriptions in the order of their ids, then the requests for new ones.

    ``topic`` is a path and ``callback`` a URL; None matches any. The entries begin after the id ``after``.
    """
    conditions, values = "", []
    if topic is not None:
        conditions += " AND t.path = ?"
        values.append(topic)
    if callback is not None:
        conditions += " AND {table}.callback = ?"
        values.append(callback)
    entries: list[Listing] = []
    if after is None or not after.startswith(PENDING):
        cursor.execute(
            f"{_SUBSCRIPTIONS} WHERE s.id > ?{conditions.format(table='s')} ORDER BY s.id LIMIT ?",
            (int(after or 0), *values, limit),
        )
        entries = [_listing(row, "") for row in cursor.fetchall()]
        after = None
    if len(entries) < limit:
        cursor.execute(
            f"{_NEW_REQUESTS} AND v.id > ?{conditions.format(table='v')} ORDER BY v.id LIMIT ?",
            (_row_id(after or PENDING + "0"), *values, limit - len(entries)),
        )
        entries += [_listing(row, PENDING) for row in cursor.fetchall()]
    return entries


def find(cursor: SqlCursor, name: str) -> Listing | None:
    """Return the subscription or request with this id, or None."""
    pending = name.startswith(PENDING)
    where = f"{_NEW_REQUESTS} AND v.id = ?" if pending else f"{_SUBSCRIPTIONS} WHERE s.id = ?"
    cursor.execute(where, (_row_id(name),))
    row = cursor.fetchone()
    return None if row is None else _listing(row, PENDING if pending else "")


def is_id(name: str) -> bool:
    """Return whether a text looks like an id."""
    digits = name.removeprefix(PENDING)
    return digits.isascii() and digits.isdigit() and len(digits) <= 18  # noqa: PLR2004 - BIGINT


def _row_id(name: str) -> int:
    return int(name.removeprefix(PENDING))


def remove(cursor: SqlCursor, name: str, reason: str, now: int) -> tuple[Pair, str, bool] | None:
    """Remove a subscription or request; return its pair, topic, and whether it was active."""
    entry = find(cursor, name)
    if entry is None:
        return None
    cursor.execute("SELECT id FROM topic WHERE path = ?", (entry.topic,))
    row = cursor.fetchone()
    assert row is not None  # noqa: S101  a foreign key: the topic exists
    pair = Pair(row[0], entry.callback, entry.host)
    before, _ = change(cursor, pair, Removed(), now, f"removed by the operator: {reason}")
    return pair, entry.topic, before is not None and before.active is not None


def make_due(
    cursor: SqlCursor, names: Sequence[str] | None, topic: str | None, now: int
) -> list[int]:
    """Make the current content due again; return the ids of the subscriptions.

    ``names`` (ids, of which those of requests are ignored) and ``topic`` (a path) select the subscriptions;
    None is all.
    """
    where = "WHERE s.lease_expires_at > ?"
    values: list[SqlValue] = [now]
    if topic is not None:
        where += " AND t.path = ?"
        values.append(topic)
    if names is not None:
        where += f" AND s.id IN {MANY}"
        values.append([_row_id(name) for name in names if not name.startswith(PENDING)])
    cursor.execute(
        "SELECT s.id, s.topic_id, s.callback, s.callback_host FROM subscription s"
        f" JOIN topic t ON t.id = s.topic_id {where}",
        values,
    )
    rows = cursor.fetchall()
    for row in rows:
        change(cursor, Pair(*row[1:]), RedeliveryRequested(), now, "")
    return [row[0] for row in rows]


def topic_states(cursor: SqlCursor, now: int) -> list[TopicState]:
    """Return the topics, with counts of their unexpired subscriptions."""
    cursor.execute(
        "SELECT t.path, t.version, t.sha256, t.changed_at, COUNT(s.id),"
        " COUNT(CASE WHEN s.delivered_version < t.version THEN 1 END)"
        " FROM topic t LEFT JOIN subscription s ON s.topic_id = t.id AND s.lease_expires_at > ?"
        " GROUP BY t.id ORDER BY t.id",
        (now,),
    )
    return [
        TopicState(
            path=path,
            version=version,
            sha256=sha256,
            changed_at=instant(changed_at / 1000),
            subscriptions=subscriptions,
            due=due,
        )
        for path, version, sha256, changed_at, subscriptions, due in cursor.fetchall()
    ]


def count_pending(cursor: SqlCursor, now: int) -> int:
    """Return the number of requests that are not confirmed yet."""
    cursor.execute("SELECT COUNT(*) FROM verification WHERE expires_at > ?", (now,))
    ((count,),) = cursor.fetchall()
    return int(count)


def _listing(row: Sequence[Any], prefix: str) -> Listing:
    number, callback, host, claim_until, verification_claim_until, path, version = row[:7]
    attempted_at, status, error, succeeded_at, failed_at, failure = row[-6:]
    subscription, request = active(row[7 : 7 + ACTIVE_SIZE]), intent(row[7 + ACTIVE_SIZE : -6])
    current = subscription or request
    assert current is not None  # noqa: S101  a row has at least one of them
    created_at = current.created_at if isinstance(current, Active) else current.requested_at
    due_at = None
    if subscription and subscription.delivered_version < version and claim_until is None:
        due_at = subscription.next_attempt_at
    return Listing(
        id=f"{prefix}{number}",
        topic=path,
        callback=callback,
        host=host,
        state=Subscription(subscription, request).label,
        created_at=instant(created_at / 1000),
        verified_at=_instant(subscription.verified_at if subscription else None),
        lease_seconds=current.lease_seconds,
        lease_expires_at=_instant(subscription.lease_expires_at if subscription else None),
        signed=current.secret is not None,
        delivered_version=subscription.delivered_version if subscription else None,
        topic_version=version,
        consecutive_failures=subscription.failures if subscription else 0,
        next_attempt_at=_instant(due_at),
        in_flight=claim_until is not None,
        last_attempt_at=_instant(attempted_at),
        last_status=status,
        last_error=error,
        last_success_at=_instant(succeeded_at),
        last_failure_at=_instant(failed_at),
        last_failure=failure,
        pending=_pending(request, verification_claim_until) if request else None,
    )


def _pending(request: Intent, claim_until: int | None) -> PendingIntent:
    return PendingIntent(
        mode=request.mode.value,
        requested_at=instant(request.requested_at / 1000),
        expires_at=instant(request.expires_at / 1000),
        attempts=request.attempts,
        next_attempt_at=_instant(request.next_attempt_at if claim_until is None else None),
        requester=request.requester,
        lease_seconds=request.lease_seconds,
    )


def _instant(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else instant(milliseconds / 1000)


def delivery_results(cursor: SqlCursor, ids: Collection[int], since: int) -> dict[int, bool | None]:
    """Return whether the last delivery of each existing subscription succeeded.

    The value is None if there was no delivery at or after ``since``.
    """
    cursor.execute(
        "SELECT id, CASE WHEN last_attempt_at >= ? THEN last_error IS NULL END"
        f" FROM subscription WHERE id IN {MANY}",
        (since, list(ids)),
    )
    return {
        number: None if success is None else bool(success) for number, success in cursor.fetchall()
    }
