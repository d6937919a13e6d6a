"""Topics and their deliveries as rows (security-and-operations.md 4.3).

A version of a topic is a number that rises with each change of the bytes and is never used again (D2). The
bytes are in the snapshot; the store has their digest, so that a process can compare its content with the
store's version.

There is no queue: a delivery is due if two versions differ. An attempt is claimed with a token before it
begins, so that an outcome that arrives too late changes nothing. The functions are transactions for
``Store.run``; their times are milliseconds since 1970 UTC. Many outcomes and claims share one transaction,
because each syncs the disk.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from reviewsd.domain.subscription import (
    MAX_FAILURES,
    DeliveryFailed,
    DeliveryGone,
    DeliverySucceeded,
    Subscription,
    step,
)
from reviewsd.store.rows import (
    ACTIVE,
    ACTIVE_SIZE,
    DELIVERIES,
    INTENT,
    Claim,
    Due,
    Pair,
    active,
    intent,
    note_end,
    outdated,
    save,
)
from reviewsd.store.transactions import MANY, SqlCursor, SqlValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """One topic in the store."""

    id: int
    path: str
    version: int
    sha256: str
    changed_at: int


def topics(cursor: SqlCursor) -> dict[str, Topic]:
    """Return all topics by path; none before the first ``bump``."""
    cursor.execute("SELECT id, path, version, sha256, changed_at FROM topic ORDER BY id")
    return {
        row[1]: Topic(id=row[0], path=row[1], version=row[2], sha256=row[3], changed_at=row[4])
        for row in cursor.fetchall()
    }


def bump(
    cursor: SqlCursor,
    digests: Mapping[str, str],
    data_revision: int,
    now: int,
    *,
    newer_only: bool = False,
) -> dict[str, Topic]:
    """Raise the version of each topic whose bytes have changed (H10); return all topics.

    Args:
        cursor: The cursor of a transaction: all topics of a snapshot change together.
        digests: The sha256 of each content, by path.
        data_revision: When the newest source file was modified.
        now: The time.
        newer_only: Change nothing unless the data is newer than the data in the store, so that
            nodes with different data do not replace each other's versions (D8).
    """
    current = topics(cursor)
    cursor.execute("SELECT COALESCE(MAX(data_revision), 0) FROM topic")
    (newest,) = cursor.fetchall()[0]
    for path, sha256 in digests.items():
        topic = current.get(path)
        if topic is None:
            cursor.execute(
                "INSERT INTO topic (path, version, sha256, data_revision, changed_at)"
                " VALUES (?, 1, ?, ?, ?)",
                (path, sha256, data_revision, now),
            )
        elif topic.sha256 != sha256 and (not newer_only or data_revision > newest):
            cursor.execute(
                "UPDATE topic SET version = version + 1, sha256 = ?, data_revision = ?,"
                " changed_at = ? WHERE id = ?",
                (sha256, data_revision, now, topic.id),
            )
    return topics(cursor)


class DeliveryClaim(Claim, frozen=True, kw_only=True):
    """The claim of a delivery; its id is that of the subscription."""

    topic: Topic
    """The topic with the version to send."""
    secret: bytes | None
    """The sealed secret."""


class DeliveryOutcome(Struct, frozen=True, kw_only=True):
    """The outcome of a delivery."""

    claim: DeliveryClaim
    event: DeliverySucceeded | DeliveryFailed | DeliveryGone | None
    """None if the claim was released without an attempt."""
    status: int | None = None
    """The status of the callback's response."""
    error: str | None = None
    """The reason of a failure, for the operator."""


@dataclass(frozen=True, slots=True)
class EndedSubscription:
    """A subscription that the hub has ended."""

    pair: Pair
    topic: str
    reason: str
    denied: bool
    """The callback gets no notice: it responded 410, or must not be called at all."""


def find_due(
    cursor: SqlCursor, contents: Mapping[str, str], now: int, limit: int, without: Collection[str]
) -> tuple[Sequence[Due], float | None]:
    """Return due deliveries, as ``ClaimTable.find_due`` does.

    The contents are the sha256 of this node's content, by path. A topic with another digest in the store
    waits, so that a node with old data sends nothing.
    """
    topic_ids = [topic.id for topic in _current_topics(cursor, contents)]
    return DELIVERIES.find_due(cursor, (now, topic_ids), now, limit, without)


def settle_and_claim(
    cursor: SqlCursor,
    outcomes: Sequence[DeliveryOutcome],
    due: Sequence[Due],
    contents: Mapping[str, str],
    token: str,
    now: int,
) -> tuple[list[DeliveryClaim], list[EndedSubscription]]:
    """Write the outcomes of deliveries, and claim the next ones, of topics as in ``find_due``.

    An outcome changes nothing if its claim has been replaced. The other arguments are those of
    ``ClaimTable.claim``.

    Returns:
        The claims that were made, and the subscriptions that these outcomes ended.
    """
    ended = _settle(cursor, outcomes, now)
    if not due:
        return [], ended
    by_id = {topic.id: topic for topic in _current_topics(cursor, contents)}
    claimed = DELIVERIES.claim(
        cursor,
        "topic_id, callback, secret_sealed",
        (now, list(by_id)),
        due,
        token,
        now,
    )
    claims = [
        DeliveryClaim(
            id=row.id,
            token=token,
            pair=Pair(topic_id, callback, row.host),
            topic=by_id[topic_id],
            secret=secret,
            deaths=row.deaths,
        )
        for row, (topic_id, callback, secret) in claimed
    ]
    return claims, ended


def _current_topics(cursor: SqlCursor, contents: Mapping[str, str]) -> list[Topic]:
    """Return the topics of which this node has the current content."""
    return [topic for topic in topics(cursor).values() if contents.get(topic.path) == topic.sha256]


def _settle(
    cursor: SqlCursor, outcomes: Sequence[DeliveryOutcome], now: int
) -> list[EndedSubscription]:
    """Write outcomes, equal ones in one statement."""
    undelivered = _write_deliveries(cursor, outcomes, now)
    rows = _claimed_rows(cursor, undelivered) if undelivered else {}
    ended: list[EndedSubscription] = []
    ids_by_values: dict[tuple[SqlValue, ...], list[int]] = {}
    for outcome in undelivered:
        claim, row = outcome.claim, rows.get(outcome.claim.id)
        if row is None or row[0] not in {claim.token, outdated(claim.token)}:
            continue
        if outcome.event is None:
            DELIVERIES.release(cursor, claim.id, claim.token)
            continue
        before = Subscription(active(row[1 : 1 + ACTIVE_SIZE]), intent(row[1 + ACTIVE_SIZE :]))
        after = step(before, outcome.event, now)
        if after is None or after.active is None:
            save(cursor, claim.pair, before, after)
            is_gone = isinstance(outcome.event, DeliveryGone)
            reason = f"{MAX_FAILURES} deliveries in a row failed, the last: {outcome.error}"
            reason = "the callback answered 410 Gone" if is_gone else reason
            note_end(cursor, claim.pair, reason, now)
            denied = claim.deadly or is_gone
            ended.append(EndedSubscription(claim.pair, claim.topic.path, reason, denied))
        else:
            state = after.active
            retry = (state.delivered_version, state.failures, state.next_attempt_at)
            values = _values(outcome, retry, now)
            ids_by_values.setdefault(values, []).append(claim.id)
    for values, ids in ids_by_values.items():
        cursor.execute(f"{_WRITE} WHERE id IN {MANY}", (*values, ids))
    return ended


def _write_deliveries(
    cursor: SqlCursor, outcomes: Sequence[DeliveryOutcome], now: int
) -> list[DeliveryOutcome]:
    """Write the successful deliveries; return the other outcomes.

    A successful delivery writes the same whatever the row holds, as ``step`` has it, so no row is read.
    """
    undelivered: list[DeliveryOutcome] = []
    deliveries: dict[tuple[str, int, int | None], list[DeliveryOutcome]] = {}
    for outcome in outcomes:
        if isinstance(outcome.event, DeliverySucceeded):
            key = outcome.claim.token, outcome.event.version, outcome.status
            deliveries.setdefault(key, []).append(outcome)
        else:
            undelivered.append(outcome)
    for (token, version, _), batch in deliveries.items():
        ids = [outcome.claim.id for outcome in batch]
        values = _values(batch[0], (version, 0, 0), now)
        tokens = token, outdated(token)
        cursor.execute(
            f"{_WRITE} WHERE claim_token IN (?, ?) AND id IN {MANY}", (*values, *tokens, ids)
        )
    return undelivered


_WRITE = (
    "UPDATE subscription SET claim_token = NULL, claim_until = NULL,"
    " delivered_version = CASE WHEN claim_token = ? THEN ? ELSE delivered_version END,"
    " consecutive_failures = ?, next_attempt_at = ?,"
    " deaths = ?, last_attempt_at = ?, last_status = ?, last_error = ?,"
    " last_success_at = COALESCE(?, last_success_at),"
    " last_failure_at = COALESCE(?, last_failure_at),"
    " last_failure = COALESCE(?, last_failure)"
)
"""Keeps both the last success and the last failure."""


def _claimed_rows(
    cursor: SqlCursor, outcomes: Sequence[DeliveryOutcome]
) -> dict[int, tuple[Any, ...]]:
    """Return the rows of outcomes by id: the token, then the columns of the state."""
    ids = [outcome.claim.id for outcome in outcomes]
    cursor.execute(
        f"SELECT s.id, s.claim_token, {ACTIVE}, {INTENT} FROM subscription s"
        " LEFT JOIN verification v ON v.topic_id = s.topic_id AND v.callback = s.callback"
        f" WHERE s.id IN {MANY}",
        (ids,),
    )
    return {row[0]: row[1:] for row in cursor.fetchall()}


def _values(
    outcome: DeliveryOutcome, state: tuple[int, int, int], now: int
) -> tuple[SqlValue, ...]:
    """Return the values of ``_WRITE``; the state is the version, the failures and the next attempt."""
    failed = outcome.error is not None
    return (
        outcome.claim.token,
        *state,
        outcome.claim.deaths if outcome.claim.deadly else 0,
        now,
        outcome.status,
        outcome.error,
        None if failed else now,
        now if failed else None,
        outcome.error,
    )
