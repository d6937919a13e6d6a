"""Intents: requests that the hub has accepted and whose callback is yet to confirm (H2 to H5, D1).

The functions are transactions for ``Database.run``. A request is durable when ``ask`` is committed.
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
"""The key in ``meta`` that is written when there is nothing to be written."""


class Asking(Enum):
    """What became of a request."""

    ACCEPTED = "accepted"
    NOTHING_TO_END = "nothing to end"
    NO_TOPIC = "the hub is starting"
    TOO_MANY = "the hub has as many subscriptions as it takes"
    TOO_MANY_FOR_HOST = "this callback host has as many subscriptions as it may"
    TOO_MANY_PENDING = "too many requests wait for their verification"
    BACKING_OFF = "verifications of this callback host keep failing"
    CROWDED_HOST = "too many requests for this callback host"
    BLOCKED = "hub.callback: its host is blocked by the operator of this hub"


def ask(
    cursor: SqlCursor,
    path: str,
    callback: tuple[str, str],
    requested: Intent,
    caps: Caps,
    *,
    backing_off: bool,
    crowded: bool = False,
) -> Asking:
    """Accept a request, or say why not. A pair that is active may always renew or end.

    Args:
        cursor: Of a transaction.
        path: The topic's.
        callback: The URL and its host.
        requested: The request; the topic's version is filled in here.
        caps: What the hub takes on.
        backing_off: Whether verifications of the host are held back (H3).
        crowded: Whether there were too many requests for the host (H2).
    """
    topic = topics(cursor).get(path)
    if topic is None:
        return Asking.NO_TOPIC
    pair = Pair(topic.id, *callback)
    if hits([block.value for block in blocks(cursor)])(pair.host):
        return Asking.BLOCKED  # since it came in, or at another node
    before = load(cursor, pair)
    if before is None or before.active is None:
        if crowded:
            return Asking.CROWDED_HOST
        if requested.mode is Mode.UNSUBSCRIBE:
            _write_anyway(cursor, requested)
            return Asking.NOTHING_TO_END
        if backing_off:
            return Asking.BACKING_OFF
        # one that is pending already counts as it did
        refused = _over(cursor, pair, requested, caps) if before is None else None
        if refused is not None:
            return refused
    requested = replace(requested, topic_version=topic.version)
    save(
        cursor, pair, before, step(before, SubscriptionRequested(requested), requested.requested_at)
    )
    return Asking.ACCEPTED


def _write_anyway(cursor: SqlCursor, requested: Intent) -> None:
    """Take as long as if something were kept: or the time would tell who is subscribed (E14).

    Each time something else, as SQLite neither writes nor syncs what has not changed.
    """
    cursor.execute(
        "INSERT INTO meta (key, value) VALUES (?, ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (_NOTHING, requested.challenge),
    )


def _over(cursor: SqlCursor, pair: Pair, requested: Intent, caps: Caps) -> Asking | None:
    """Return the cap that a new pair would exceed; an expired request counts no more."""
    now = requested.requested_at
    new = (  # who renews is in the first count, or asks for an end
        "FROM verification v WHERE v.expires_at > ? AND NOT EXISTS (SELECT 1 FROM subscription s"
        " WHERE s.topic_id = v.topic_id AND s.callback = v.callback)"
    )
    cursor.execute(
        f"SELECT (SELECT COUNT(*) FROM subscription), (SELECT COUNT(*) {new}),"
        " (SELECT COUNT(*) FROM subscription s WHERE s.callback_host = ?),"
        f" (SELECT COUNT(*) {new} AND v.callback_host = ?),"
        " (SELECT COUNT(*) FROM verification v WHERE v.expires_at > ? AND v.requester = ?)",
        (now, pair.host, now, pair.host, now, requested.requester),
    )
    row = cursor.fetchone()
    assert row is not None  # noqa: S101  aggregates always give a row
    active, pending, host_active, host_pending, client_pending = row
    if active + pending >= caps.active:
        return Asking.TOO_MANY
    if host_active + host_pending >= caps.active_per_host:
        return Asking.TOO_MANY_FOR_HOST
    if pending >= caps.pending or client_pending >= caps.pending_per_client:
        return Asking.TOO_MANY_PENDING
    return None


class Due(Struct, frozen=True, kw_only=True):
    """Something to attempt, not claimed yet."""

    id: int
    host: str
    active: bool
    """Whether the pair is an active subscription: no back-off holds it up (H3)."""
    requester: str = ""
    """The client network that asked for it, where it is an Intent."""
    failing: bool = False
    """The last attempt at it has failed."""
    deaths: int = 0
    """Processes in a row that have died during an attempt at it: see ``claims``."""
    lapsed: bool = False
    """It is claimed by a process that has not let go of it in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentClaim:
    """An Intent whose verification is under way."""

    id: int
    token: str
    pair: Pair
    intent: Intent
    active: bool
    """Whether the pair is an active subscription meanwhile."""
    deaths: int = 0
    """See ``claims``."""

    @property
    def host(self) -> str:
        """Of the callback."""
        return self.pair.host


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of a verification."""

    claim: IntentClaim
    event: Confirmed | NotConfirmed | Unreachable | None
    """None when it was put back: nothing was attempted, and it keeps its turn."""


def due(
    cursor: SqlCursor, now: int, limit: int, without: Collection[str]
) -> tuple[Sequence[Due], int | None]:
    """What is to be verified now, the longest waiting first, and when the next will be.

    Args:
        cursor: Of a transaction.
        now: Milliseconds since 1970 UTC.
        limit: How many at most.
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
    found = [
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
    return found, None if row is None else row[0]


def turn(
    cursor: SqlCursor,
    results: Sequence[Verified],
    wanted: Sequence[Due],
    token: str,
    now: int,
    claim_until: int,
) -> list[IntentClaim]:
    """Write what came of verifications, and claim the next ones.

    Args:
        cursor: Of a transaction.
        results: Those whose claim no longer stands change nothing.
        wanted: What to claim.
        token: Fences late results: another one each time.
        now: Milliseconds since 1970 UTC.
        claim_until: When somebody else may take over.

    Returns:
        What could be claimed.
    """
    for result in results:
        _settle(cursor, result, now)
    lapsed = [each.id for each in wanted if each.lapsed]
    take_over_lapsed(cursor, VERIFICATION, lapsed, now)  # so they are claimed after a wait
    claims = []
    for each in wanted:
        claim = _claim(cursor, each, token, now, claim_until)
        if claim is not None:
            claims.append(claim)
    return claims


def _claim(
    cursor: SqlCursor, wanted: Due, token: str, now: int, claim_until: int
) -> IntentClaim | None:
    cursor.execute(
        "UPDATE verification SET claim_token = ?, claim_until = ? WHERE id = ?"
        " AND (claim_until IS NULL OR claim_until < ?) AND next_attempt_at <= ? AND expires_at > ?",
        (token, claim_until, wanted.id, now, now, now),
    )
    if cursor.rowcount == 0:
        return None
    cursor.execute(
        f"SELECT v.topic_id, v.callback, s.id, v.deaths, {INTENT} FROM verification v"
        " LEFT JOIN subscription s ON s.topic_id = v.topic_id AND s.callback = v.callback"
        " WHERE v.id = ?",
        (wanted.id,),
    )
    row = cursor.fetchone()
    assert row is not None  # noqa: S101  it has just been updated
    requested = intent(row[4:])
    assert requested is not None  # noqa: S101  the mode is never NULL
    return IntentClaim(
        id=wanted.id,
        token=token,
        pair=Pair(row[0], row[1], wanted.host),
        intent=requested,
        active=row[2] is not None,
        deaths=row[3],
    )


def _settle(cursor: SqlCursor, result: Verified, now: int) -> None:
    claim = result.claim
    fence = (claim.id, claim.token)
    if result.event is None:
        cursor.execute(
            "UPDATE verification SET claim_token = NULL, claim_until = NULL"
            " WHERE id = ? AND claim_token = ?",
            fence,
        )
        return
    cursor.execute("SELECT 1 FROM verification WHERE id = ? AND claim_token = ?", fence)
    if cursor.fetchone() is None:
        return
    change(cursor, claim.pair, result.event, now, "unsubscribed")
