"""Intents as rows: accepted requests that their callbacks have not confirmed yet (H2 to H5, D1).

The functions are transactions for ``Store.run``. A request is durable when ``record_request`` is committed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from msgspec import Struct

from reviewsd.domain.blocks import hits
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
from reviewsd.store.claims import VERIFICATION, take_over_lapsed
from reviewsd.store.rows import INTENT, Pair, intent, load, save
from reviewsd.store.topics import topics
from reviewsd.store.transactions import MANY, SqlCursor, Texts
from reviewsd.store.upkeep import blocks, change

_NOTHING = "nothing_to_end"
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
    """Store a request, or return why it is refused. An active subscription may always renew or end.

    Args:
        cursor: The cursor of a transaction.
        path: The path of the topic.
        callback: The URL and its host.
        request: The request; the topic's version is filled in here.
        caps: The hub's limits.
        backing_off: Whether the host is backed off (H3).
        crowded: Whether there were too many requests for the host (H2).
    """
    topic = topics(cursor).get(path)
    if topic is None:
        return RequestOutcome.NO_TOPIC
    pair = Pair(topic.id, *callback)
    if hits([block.value for block in blocks(cursor)])(pair.host):
        return RequestOutcome.BLOCKED  # after the request came in, or by another node
    before = load(cursor, pair)
    if before is None or before.active is None:
        if crowded:
            return RequestOutcome.CROWDED_HOST
        if request.mode is Mode.UNSUBSCRIBE:
            _write_anyway(cursor, request)
            return RequestOutcome.NOTHING_TO_END
        if backing_off:
            return RequestOutcome.BACKING_OFF
        # a request that is pending already is part of the counts
        exceeded = _exceeded_cap(cursor, pair, request, caps) if before is None else None
        if exceeded is not None:
            return exceeded
    request = replace(request, topic_version=topic.version)
    save(cursor, pair, before, step(before, SubscriptionRequested(request), request.requested_at))
    return RequestOutcome.ACCEPTED


def _write_anyway(cursor: SqlCursor, request: Intent) -> None:
    """Write a row, so that the duration does not reveal whether the callback is subscribed (E14).

    The value differs each time, because SQLite neither writes nor syncs an unchanged row.
    """
    cursor.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (_NOTHING, request.challenge),
    )


def _exceeded_cap(
    cursor: SqlCursor, pair: Pair, request: Intent, caps: Caps
) -> RequestOutcome | None:
    """Return the cap that a new pair would exceed; expired requests do not count."""
    now = request.requested_at
    new = (  # a renewal's subscription is in the first count already
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


class Due(Struct, frozen=True, kw_only=True):
    """A due delivery or verification that is not claimed yet."""

    id: int
    host: str
    active: bool
    """Whether the pair is an active subscription: no back-off holds it up (H3)."""
    requester: str = ""
    """The client network of an Intent."""
    failing: bool = False
    """Whether the last attempt failed."""
    deaths: int = 0
    """Processes in a row that have died during an attempt at it (``claims``)."""
    lapsed: bool = False
    """Whether it has an expired claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentClaim:
    """The claim of a verification."""

    id: int
    token: str
    pair: Pair
    intent: Intent
    active: bool
    """Whether the pair is an active subscription."""
    deaths: int = 0
    """Processes in a row that have died during an attempt at it (``claims``)."""

    @property
    def host(self) -> str:
        """The callback's host."""
        return self.pair.host


@dataclass(frozen=True, slots=True)
class VerificationOutcome:
    """The outcome of a verification."""

    claim: IntentClaim
    event: Confirmed | NotConfirmed | Unreachable | None
    """None if the claim was released without an attempt."""


def find_due(
    cursor: SqlCursor, now: int, limit: int, without: Collection[str]
) -> tuple[Sequence[Due], int | None]:
    """Return the due verifications, longest waiting first, and the time of the next one.

    Args:
        cursor: The cursor of a transaction.
        now: Milliseconds since 1970 UTC.
        limit: Highest number of verifications.
        without: Hosts to leave out.
    """
    cursor.execute(
        "SELECT v.id, v.callback_host, s.id, v.requester, v.attempts, v.deaths, v.claim_until"
        " FROM verification v LEFT JOIN subscription s"
        " ON s.topic_id = v.topic_id AND s.callback = v.callback WHERE v.next_attempt_at <= ?"
        " AND v.expires_at > ? AND (v.claim_until IS NULL OR v.claim_until < ?)"
        f" AND NOT v.callback_host IN {MANY}"
        " ORDER BY v.next_attempt_at, v.id LIMIT ?",
        (now, now, now, Texts(without), limit),
    )
    due = [
        Due(
            id=number,
            host=host,
            active=active is not None,
            requester=requester,
            failing=attempts > 0,
            deaths=deaths,
            lapsed=claim_until is not None,
        )
        for number, host, active, requester, attempts, deaths, claim_until in cursor.fetchall()
    ]
    cursor.execute(
        "SELECT MIN(v.next_attempt_at) FROM verification v WHERE v.next_attempt_at > ?", (now,)
    )
    row = cursor.fetchone()
    return due, None if row is None else row[0]


def settle_and_claim(
    cursor: SqlCursor,
    outcomes: Sequence[VerificationOutcome],
    due: Sequence[Due],
    token: str,
    now: int,
    claim_until: int,
) -> list[IntentClaim]:
    """Write the outcomes of verifications, and claim the next ones.

    Args:
        cursor: The cursor of a transaction.
        outcomes: An outcome changes nothing if its claim has been replaced.
        due: The verifications to claim.
        token: A new token, which fences late outcomes.
        now: Milliseconds since 1970 UTC.
        claim_until: When the claims expire.

    Returns:
        The claims that were made.
    """
    for outcome in outcomes:
        _settle(cursor, outcome, now)
    lapsed = [verification.id for verification in due if verification.lapsed]
    take_over_lapsed(cursor, VERIFICATION, lapsed, now)  # so they are claimed after a wait
    claims = (_claim(cursor, verification, token, now, claim_until) for verification in due)
    return [claim for claim in claims if claim is not None]


def _claim(
    cursor: SqlCursor, verification: Due, token: str, now: int, claim_until: int
) -> IntentClaim | None:
    cursor.execute(
        "UPDATE verification SET claim_token = ?, claim_until = ? WHERE id = ?"
        " AND (claim_until IS NULL OR claim_until < ?) AND next_attempt_at <= ? AND expires_at > ?",
        (token, claim_until, verification.id, now, now, now),
    )
    if cursor.rowcount == 0:
        return None
    cursor.execute(
        f"SELECT v.topic_id, v.callback, s.id, v.deaths, {INTENT} FROM verification v"
        " LEFT JOIN subscription s ON s.topic_id = v.topic_id AND s.callback = v.callback"
        " WHERE v.id = ?",
        (verification.id,),
    )
    row = cursor.fetchone()
    assert row is not None  # noqa: S101  it has just been updated
    request = intent(row[4:])
    assert request is not None  # noqa: S101  the mode is never NULL
    return IntentClaim(
        id=verification.id,
        token=token,
        pair=Pair(row[0], row[1], verification.host),
        intent=request,
        active=row[2] is not None,
        deaths=row[3],
    )


def _settle(cursor: SqlCursor, outcome: VerificationOutcome, now: int) -> None:
    claim = outcome.claim
    fence = (claim.id, claim.token)
    if outcome.event is None:
        cursor.execute(
            "UPDATE verification SET claim_token = NULL, claim_until = NULL"
            " WHERE id = ? AND claim_token = ?",
            fence,
        )
        return
    cursor.execute("SELECT 1 FROM verification WHERE id = ? AND claim_token = ?", fence)
    if cursor.fetchone() is None:
        return
    change(cursor, claim.pair, outcome.event, now, "unsubscribed")
