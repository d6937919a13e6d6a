"""Deliveries: who is owed which version, and what came of the attempts (security-and-operations.md 4.3).

There is no queue: what is due is a comparison of two versions. An attempt is claimed before it is
made, with a token, so that a result which comes too late finds nothing to change. The functions are
transactions for ``Database.run``; many results and claims share one, since each is a sync of the disk.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reviewsd.domain.subscription import (
    MAX_FAILURES,
    Active,
    Delivered,
    Failed,
    Gone,
    Subscription,
    step,
)
from reviewsd.store.claims import SUBSCRIPTION, take_over_lapsed
from reviewsd.store.intents import Due
from reviewsd.store.rows import (
    ACTIVE,
    ACTIVE_SIZE,
    INTENT,
    Pair,
    active,
    intent,
    note_end,
    outdated,
    save,
)
from reviewsd.store.topics import Topic, topics
from reviewsd.store.transactions import MANY, Numbers, SqlCursor, SqlValue, Texts


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryClaim:
    """A delivery under way."""

    id: int
    """The subscription's."""
    token: str
    pair: Pair
    topic: str
    """Its path."""
    version: int
    """The one to send."""
    secret: bytes | None
    """Sealed."""
    deaths: int = 0
    """See ``claims``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryOutcome:
    """What came of a delivery."""

    claim: DeliveryClaim
    event: Delivered | Failed | Gone | None
    """None when it was put back: nothing was attempted, and it keeps its turn."""
    status: int | None = None
    """Of the callback's answer."""
    error: str | None = None
    """Why it failed, for the operator."""
    deadly: bool = False
    """It counts as a failure, but was not attempted: too many processes have died of it."""


@dataclass(frozen=True, slots=True)
class EndedSubscription:
    """A subscription that the hub gave up."""

    pair: Pair
    topic: str
    reason: str
    denied: bool
    """Its callback needs no notice: it asked for the end with a 410, or is not to be called at all."""


def due(
    cursor: SqlCursor, contents: Mapping[str, str], now: int, limit: int, without: Collection[str]
) -> tuple[Sequence[Due], int | None]:
    """Who is owed a version now, the longest waiting first, and when the next will be.

    Args:
        cursor: Of a transaction.
        contents: By path: the sha256 of what could be sent. A topic whose stored digest is another
            one waits: who is behind sends nothing.
        now: Milliseconds since 1970 UTC.
        limit: How many at most.
        without: Callback hosts to leave out.
    """
    ours = Numbers(topic.id for topic in _ours(cursor, contents).values())
    owed = (
        "FROM subscription s JOIN topic t ON t.id = s.topic_id"
        " WHERE s.delivered_version < t.version AND s.lease_expires_at > ?"
        f" AND s.topic_id IN {MANY}"
    )
    cursor.execute(
        "SELECT s.id, s.callback_host, s.consecutive_failures, s.deaths, s.claim_until"
        f" {owed} AND s.next_attempt_at <= ?"
        " AND (s.claim_until IS NULL OR s.claim_until < ?)"
        f" AND NOT s.callback_host IN {MANY}"
        " ORDER BY s.next_attempt_at, s.id LIMIT ?",
        (now, ours, now, now, Texts(without), limit),
    )
    found = [
        Due(
            id=number,
            host=host,
            active=True,
            failing=failures > 0,
            deaths=deaths,
            lapsed=claim_until is not None,
        )
        for number, host, failures, deaths, claim_until in cursor.fetchall()
    ]
    cursor.execute(
        f"SELECT MIN(s.next_attempt_at) {owed} AND s.next_attempt_at > ?", (now, ours, now)
    )
    row = cursor.fetchone()
    return found, None if row is None else row[0]


def turn(
    cursor: SqlCursor,
    results: Sequence[DeliveryOutcome],
    wanted: Sequence[Due],
    contents: Mapping[str, str],
    token: str,
    now: int,
    claim_until: int,
) -> tuple[list[DeliveryClaim], list[EndedSubscription]]:
    """Write what came of deliveries, and claim the next ones.

    Args:
        cursor: Of a transaction.
        results: Those whose claim no longer stands change nothing.
        wanted: What to claim.
        contents: As for ``due``.
        token: Fences late results: another one each time.
        now: Milliseconds since 1970 UTC.
        claim_until: When somebody else may take over.

    Returns:
        What could be claimed, and the subscriptions that ended with these results.
    """
    ended = _settle(cursor, results, now)
    if not wanted:
        return [], ended
    lapsed = [each.id for each in wanted if each.lapsed]
    take_over_lapsed(cursor, SUBSCRIPTION, lapsed, now)  # so they are claimed after a wait
    return _claim(cursor, wanted, contents, token, now, claim_until), ended


def _ours(cursor: SqlCursor, contents: Mapping[str, str]) -> dict[str, Topic]:
    known = topics(cursor)
    return {path: topic for path, topic in known.items() if contents.get(path) == topic.sha256}


def _claim(
    cursor: SqlCursor,
    wanted: Sequence[Due],
    contents: Mapping[str, str],
    token: str,
    now: int,
    claim_until: int,
) -> list[DeliveryClaim]:
    """Claim in one statement: each lets go of Python's lock, and waits to have it again."""
    ours = {topic.id: topic for topic in _ours(cursor, contents).values()}
    cursor.execute(
        "UPDATE subscription SET claim_token = ?, claim_until = ?"
        f" WHERE id IN {MANY} AND +topic_id IN {MANY}"
        " AND (claim_until IS NULL OR claim_until < ?) AND next_attempt_at <= ?"
        " AND lease_expires_at > ? AND delivered_version <"
        " (SELECT version FROM topic WHERE topic.id = subscription.topic_id)"
        " RETURNING id, topic_id, callback, callback_host, secret_sealed, deaths",
        (
            *(token, claim_until),
            *(Numbers(each.id for each in wanted), Numbers(ours)),
            *(now, now, now),
        ),
    )
    claimed = {row[0]: row[1:] for row in cursor.fetchall()}
    claims = []
    for each in wanted:
        if each.id not in claimed:
            continue
        topic_id, callback, host, secret, deaths = claimed[each.id]
        claim = DeliveryClaim(
            id=each.id,
            token=token,
            pair=Pair(topic_id, callback, host),
            topic=ours[topic_id].path,
            version=ours[topic_id].version,
            secret=secret,
            deaths=deaths,
        )
        claims.append(claim)
    return claims


def _settle(
    cursor: SqlCursor, results: Sequence[DeliveryOutcome], now: int
) -> list[EndedSubscription]:
    """Write results, those that come to the same in one statement."""
    others = _write_deliveries(cursor, results, now)
    rows = _claimed(cursor, others) if others else {}
    ended: list[EndedSubscription] = []
    alike: dict[tuple[SqlValue, ...], Numbers] = {}
    put_back = Numbers()
    for result in others:
        claim, row = result.claim, rows.get(result.claim.id)
        if row is None or row[0] not in {claim.token, outdated(claim.token)}:
            continue
        if result.event is None:
            put_back.append(claim.id)
            continue
        before = Subscription(active(row[1 : 1 + ACTIVE_SIZE]), intent(row[1 + ACTIVE_SIZE :]))
        after = step(before, result.event, now)
        if after is None or after.active is None:
            save(cursor, claim.pair, before, after)
            reason = _reason(result)
            note_end(cursor, claim.pair, reason, now)
            denied = result.deadly or isinstance(result.event, Gone)
            ended.append(EndedSubscription(claim.pair, claim.topic, reason, denied))
        else:
            alike.setdefault(_values(result, after.active, now), Numbers()).append(claim.id)
    for values, ids in alike.items():
        cursor.execute(f"{_WRITE} WHERE id IN {MANY}", (*values, ids))
    if put_back:
        cursor.execute(
            f"UPDATE subscription SET claim_token = NULL, claim_until = NULL WHERE id IN {MANY}",
            (put_back,),
        )
    return ended


def _write_deliveries(
    cursor: SqlCursor, results: Sequence[DeliveryOutcome], now: int
) -> list[DeliveryOutcome]:
    """Write those that were delivered; returns the other results.

    What a delivery writes does not depend on what was before, so no row has to be read.
    """
    others: list[DeliveryOutcome] = []
    alike: dict[tuple[str, int, int | None], list[DeliveryOutcome]] = {}
    for result in results:
        if isinstance(result.event, Delivered):
            key = result.claim.token, result.event.version, result.status
            alike.setdefault(key, []).append(result)
        else:
            others.append(result)
    for (token, version, _), same in alike.items():
        after = step(_ANY, Delivered(version), now)
        assert after is not None and after.active is not None  # noqa: PT018, S101  it goes on
        ids = Numbers(result.claim.id for result in same)
        values = _values(same[0], after.active, now)
        tokens = token, outdated(token)
        cursor.execute(
            f"{_WRITE} WHERE claim_token IN (?, ?) AND id IN {MANY}", (*values, *tokens, ids)
        )
    return others


_ANY = Subscription(
    Active(
        secret=None,
        lease_seconds=0,
        lease_expires_at=0,
        delivered_version=0,
        created_at=0,
        verified_at=0,
    ),
    None,
)

_WRITE = (
    "UPDATE subscription SET claim_token = NULL, claim_until = NULL,"
    " delivered_version = CASE WHEN claim_token = ? THEN ? ELSE delivered_version END,"
    " consecutive_failures = ?, next_attempt_at = ?,"
    " deaths = ?, last_attempt_at = ?, last_status = ?, last_error = ?,"
    " last_success_at = COALESCE(?, last_success_at),"
    " last_failure_at = COALESCE(?, last_failure_at),"
    " last_failure = COALESCE(?, last_failure)"
)
"""Takes the values of ``_values``."""


def _claimed(cursor: SqlCursor, results: Sequence[DeliveryOutcome]) -> dict[int, tuple[Any, ...]]:
    """The rows that results are about, by id: the token, and what is known."""
    ids = Numbers(result.claim.id for result in results)
    cursor.execute(
        f"SELECT s.id, s.claim_token, {ACTIVE}, {INTENT} FROM subscription s"
        " LEFT JOIN verification v ON v.topic_id = s.topic_id AND v.callback = s.callback"
        f" WHERE s.id IN {MANY}",
        (ids,),
    )
    return {row[0]: row[1:] for row in cursor.fetchall()}


def _values(result: DeliveryOutcome, after: Active, now: int) -> tuple[SqlValue, ...]:
    """What is written after an attempt; the last success and failure outlive each other."""
    failed = result.error is not None
    return (
        result.claim.token,
        after.delivered_version,
        after.failures,
        after.next_attempt_at,
        result.claim.deaths if result.deadly else 0,
        now,
        result.status,
        result.error,
        None if failed else now,
        now if failed else None,
        result.error,
    )


def _reason(result: DeliveryOutcome) -> str:
    if isinstance(result.event, Gone):
        return "the callback answered 410 Gone"
    return f"{MAX_FAILURES} deliveries in a row failed, the last: {result.error}"
