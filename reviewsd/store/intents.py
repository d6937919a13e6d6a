"""Intents as rows: accepted requests that their callbacks have not confirmed yet (H2 to H5, D1).

The functions are transactions for ``Store.run``; their times are milliseconds since 1970 UTC. A request is
durable when ``record_request`` is committed.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from enum import Enum

from msgspec import Struct

from reviewsd.domain.addresses import hits
from reviewsd.domain.subscription import (
    Caps,
    Confirmed,
    Intent,
    Mode,
    NotConfirmed,
    SubscriptionRequested,
    Unreachable,
    step,
)
from reviewsd.store.rows import (
    INTENT_COLUMNS,
    VERIFICATIONS,
    Claim,
    Due,
    Pair,
    change,
    intent,
    load,
    save,
)
from reviewsd.store.transactions import SqlCursor

_DUMMY_KEY = "nothing_to_end"
"""The key in ``meta`` that is written for a request that changes nothing."""


class RequestOutcome(Enum):
    """The outcome of a request, with its text for the client."""

    ACCEPTED = "accepted"
    NOTHING_TO_END = "nothing to end"
    NO_TOPIC = "the hub is starting"
    TOO_MANY = "the hub has as many subscriptions as it takes"
    TOO_MANY_FOR_HOST = "this callback host has as many subscriptions as it may"
    TOO_MANY_PENDING = "too many requests wait for their verification"
    BACKING_OFF = "verifications of this callback host keep failing"
    CROWDED_HOST = "too many requests for this callback host"
    BLOCKED = "hub.callback: its host is blocked by the operator of this hub"


def record_request(
    cursor: SqlCursor,
    path: str,
    callback: tuple[str, str],
    request: Intent,
    caps: Caps,
    *,
    backing_off: bool,
    crowded: bool = False,
) -> RequestOutcome:
    """Store a request, or return why it is refused.

    Unless its host is blocked, an active subscription may renew or end in spite of the limits.

    Args:
        cursor: The cursor of a transaction.
        path: The path of the topic.
        callback: The URL and its host.
        request: The request; the topic's version is filled in here.
        caps: The hub's limits.
        backing_off: Whether the host is backed off (H3).
        crowded: Whether there were too many requests for the host (H2).
    """
    cursor.execute("SELECT id, version FROM topic WHERE path = ?", (path,))
    topic = cursor.fetchone()
    if topic is None:
        return RequestOutcome.NO_TOPIC
    topic_id, version = topic
    pair = Pair(topic_id, *callback)
    cursor.execute("SELECT value FROM block")
    if hits([value for (value,) in cursor.fetchall()])(pair.host):
        # It was blocked after the request came in, or by another node
        return RequestOutcome.BLOCKED
    before = load(cursor, pair)
    if before is None or before.active is None:
        if crowded:
            return RequestOutcome.CROWDED_HOST
        if request.mode is Mode.UNSUBSCRIBE:
            _write_anyway(cursor, request)
            return RequestOutcome.NOTHING_TO_END
        if backing_off:
            return RequestOutcome.BACKING_OFF
        # A request that is pending already is part of the counts
        exceeded = _exceeded_cap(cursor, pair, request, caps) if before is None else None
        if exceeded is not None:
            return exceeded
    request = replace(request, topic_version=version)
    save(cursor, pair, before, step(before, SubscriptionRequested(request), request.requested_at))
    return RequestOutcome.ACCEPTED


def _write_anyway(cursor: SqlCursor, request: Intent) -> None:
    """Write a row, so that the duration does not reveal whether the callback is subscribed (E14).

    The value differs each time, because SQLite neither writes nor syncs an unchanged row.
    """
    cursor.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (_DUMMY_KEY, request.challenge),
    )


def _exceeded_cap(
    cursor: SqlCursor, pair: Pair, request: Intent, caps: Caps
) -> RequestOutcome | None:
    """Return the cap that a new pair would exceed; expired requests do not count.

    Requests to renew or end a subscription count only for the client network that sent them: the hub verifies
    each of them, but their pairs are among the subscriptions already.
    """
    now = request.requested_at
    new = (  # requests of pairs without a subscription
        "FROM verification v WHERE v.expires_at > ? AND NOT EXISTS (SELECT 1 FROM subscription s"
        " WHERE s.topic_id = v.topic_id AND s.callback = v.callback)"
    )
    cursor.execute(
        f"SELECT (SELECT COUNT(*) FROM subscription), (SELECT COUNT(*) {new}),"
        " (SELECT COUNT(*) FROM subscription s WHERE s.callback_host = ?),"
        f" (SELECT COUNT(*) {new} AND v.callback_host = ?),"
        " (SELECT COUNT(*) FROM verification v WHERE v.expires_at > ? AND v.requester = ?)",
        (now, pair.host, now, pair.host, now, request.requester),
    )
    row = cursor.fetchone()
    assert row is not None  # noqa: S101  aggregates always give a row
    active, pending, host_active, host_pending, client_pending = row
    if active + pending >= caps.active:
        return RequestOutcome.TOO_MANY
    if host_active + host_pending >= caps.active_per_host:
        return RequestOutcome.TOO_MANY_FOR_HOST
    if pending >= caps.pending or client_pending >= caps.pending_per_client:
        return RequestOutcome.TOO_MANY_PENDING
    return None


class IntentClaim(Claim, frozen=True, kw_only=True):
    """The claim of a verification."""

    intent: Intent
    active: bool
    """Whether the pair is an active subscription."""


class VerificationOutcome(Struct, frozen=True):
    """The outcome of a verification."""

    claim: IntentClaim
    event: Confirmed | NotConfirmed | Unreachable | None
    """None if the claim was released without an attempt."""


def find_due(
    cursor: SqlCursor, now: int, limit: int, without: Collection[str]
) -> tuple[Sequence[Due], float | None]:
    """Return due verifications, as ``ClaimTable.find_due`` does."""
    return VERIFICATIONS.find_due(cursor, (now,), now, limit, without)


def settle_and_claim(
    cursor: SqlCursor,
    outcomes: Sequence[VerificationOutcome],
    due: Sequence[Due],
    token: str,
    now: int,
) -> list[IntentClaim]:
    """Write the outcomes of verifications, and claim the next ones; return the claims.

    An outcome changes nothing if its claim has been replaced. The other arguments are those of
    ``ClaimTable.claim``.
    """
    for outcome in outcomes:
        _settle(cursor, outcome, now)
    columns = ", ".join(("topic_id", "callback", *INTENT_COLUMNS))
    claims = []
    for row, values in VERIFICATIONS.claim(cursor, columns, (now,), due, token, now):
        topic_id, callback, *columns_of_intent = values
        request = intent(columns_of_intent)
        assert request is not None  # noqa: S101  each row of the table has one
        claim = IntentClaim(
            id=row.id,
            token=token,
            pair=Pair(topic_id, callback, row.host),
            intent=request,
            active=row.active,
            deaths=row.deaths,
        )
        claims.append(claim)
    return claims


def _settle(cursor: SqlCursor, outcome: VerificationOutcome, now: int) -> None:
    claim = outcome.claim
    if outcome.event is None:
        VERIFICATIONS.release(cursor, claim.id, claim.token)
        return
    fence = (claim.id, claim.token)
    cursor.execute("SELECT 1 FROM verification WHERE id = ? AND claim_token = ?", fence)
    if cursor.fetchone() is not None:
        change(cursor, claim.pair, outcome.event, now, "unsubscribed")
