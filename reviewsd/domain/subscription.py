"""The life of a subscription: one function from what is and what happened to what is next.

Implements seed 3 and the state machine of security-and-operations.md 4.3. A subscription is a pair
of callback and topic with two optional facts, so "active and being renewed" needs no state of its
own, and a failed renewal leaves the active fact as it is (WebSub 5.1, H13):

    active   intent        label                  seed 3
    no       no            (none)                 none
    no       subscribe     pending verification   pending verification
    yes      no            active                 active
    yes      subscribe     active (renewing)      active
    yes      unsubscribe   removal pending        removal pending

Times are integer milliseconds since 1970 UTC, as they are stored. Which attempt a result belongs to,
and whether it still counts, is the store's business (claims); here it does.
"""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal, assert_never

State = Literal["pending verification", "active", "active (renewing)", "removal pending"]
"""security-and-operations.md 4.3: the labels of a Subscription."""

MAX_FAILURES = 3
"""Consecutive failed deliveries, after which the hub removes a subscription (seed 3, 8)."""

MAX_UNREACHABLE = 2
"""Verification GETs without any answer, after which the Intent is dropped (H4)."""

UNREACHABLE_WAIT = 30_000
"""Milliseconds before the second verification GET (H4)."""


MIN_LEASE, MAX_LEASE = 300, 2_592_000
"""Bounds of a lease in seconds; a request outside of them is moved to the nearest (H18)."""


class Mode(Enum):
    """What a request asks for: ``hub.mode`` (seed 4.8)."""

    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Active:
    """A verified subscription."""

    secret: bytes | None
    """Sealed; deliveries are signed where there is one (WebSub 7.1)."""
    lease_seconds: int
    lease_expires_at: int
    delivered_version: int
    """The topic's version that the subscriber has; 0 before the first delivery of all."""
    failures: int = 0
    """Consecutive failed deliveries, 0 to 2."""
    next_attempt_at: int = 0
    """No delivery before; 0 when nothing has failed."""
    created_at: int
    verified_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """An asked-for subscribe or unsubscribe that the callback has not confirmed yet."""

    mode: Mode
    topic_given: str
    """``hub.topic`` as it came; the verification echoes it (H17)."""
    secret: bytes | None
    lease_seconds: int
    """What is granted; of no meaning for unsubscribe."""
    challenge: str
    verify_token: bytes | None = None
    """``hub.verify_token`` as it came; the verification gives it back (W4)."""
    topic_version: int
    """At the time of the request: what changes during the verification is delivered after it."""
    requester: str
    """The client network that asked (H6)."""
    requested_at: int
    expires_at: int
    attempts: int = 0
    next_attempt_at: int


@dataclass(frozen=True, slots=True)
class Subscription:
    """What is known of a callback and a topic; at least one of the facts."""

    active: Active | None
    intent: Intent | None

    @property
    def label(self) -> State:
        """The state as ``reviewsctl subs list`` names it."""
        match self.active, self.intent:
            case None, _:
                return "pending verification"
            case _, None:
                return "active"
            case _, Intent(mode=Mode.SUBSCRIBE):
                return "active (renewing)"
            case _:
                return "removal pending"


@dataclass(frozen=True, slots=True)
class SubscriptionRequested:
    """A valid POST to the hub."""

    intent: Intent


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The callback answered 2xx with the exact challenge."""


@dataclass(frozen=True, slots=True)
class NotConfirmed:
    """The callback answered anything else, a redirect included."""


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The callback gave no answer at all to a verification."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """The callback took this version with a 2xx."""

    version: int


@dataclass(frozen=True, slots=True)
class Failed:
    """A delivery had no 2xx."""

    waits: tuple[int, int]
    """Milliseconds to the next attempt, should this be the first or the second failure in a row."""


@dataclass(frozen=True, slots=True)
class Gone:
    """A delivery was answered 410."""


@dataclass(frozen=True, slots=True)
class Passed:
    """Time went by."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """The operator wants the current content delivered again."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The operator removed or blocked it."""


Event = (
    SubscriptionRequested
    | Confirmed
    | NotConfirmed
    | Unreachable
    | Delivered
    | Failed
    | Gone
    | Passed
    | Pushed
    | Removed
)


def step(  # noqa: C901, PLR0912 - the specification's table in its order, a row a case
    subscription: Subscription | None, event: Event, now: int
) -> Subscription | None:
    """What becomes of a subscription; None is seed 3's state "none".

    An event that cannot happen in the state, as a delivery's result for a subscription that ended
    meanwhile, changes nothing.

    Args:
        subscription: What is.
        event: What happened.
        now: When.
    """
    active = None if subscription is None else subscription.active
    intent = None if subscription is None else subscription.intent
    match event:
        # none | active -> pending verification | renewing | removal pending
        case SubscriptionRequested(intent=requested):
            if requested.mode is Mode.SUBSCRIBE or active is not None:
                intent = requested
        # pending verification -> active; removal pending -> none
        case Confirmed():
            if intent is not None:
                active, intent = _confirmed(active, intent, now), None
        # pending verification -> none; the active fact stays as it is
        case NotConfirmed():
            intent = None
        case Unreachable():
            if intent is not None:
                intent = _once_more(intent, now)
        # active -> active, or after the third failure in a row -> none
        case Delivered(version=version):
            if active is not None:
                active = replace(active, delivered_version=version, failures=0, next_attempt_at=0)
        case Failed(waits=waits):
            if active is not None:
                active = _failed(active, waits, now)
        case Gone():
            active = None
        # the lease expires -> none; so does a request that nobody confirms
        case Passed():
            if active is not None and active.lease_expires_at <= now:
                active = None
            if intent is not None and intent.expires_at <= now:
                intent = None
        case Pushed():
            if active is not None:
                active = replace(active, delivered_version=0, next_attempt_at=0)
        case Removed():
            active = intent = None
        case _:
            assert_never(event)
    if active is None and intent is not None and intent.mode is Mode.UNSUBSCRIBE:
        intent = None  # there is nothing left to end
    return None if active is None and intent is None else Subscription(active, intent)


def _confirmed(active: Active | None, intent: Intent, now: int) -> Active | None:
    if intent.mode is Mode.UNSUBSCRIBE:
        return None
    return Active(
        secret=intent.secret,
        lease_seconds=intent.lease_seconds,
        # From the confirmation: never less than the callback was told (H18)
        lease_expires_at=now + intent.lease_seconds * 1000,
        delivered_version=intent.topic_version if active is None else active.delivered_version,
        created_at=now if active is None else active.created_at,
        verified_at=now,
    )


def _once_more(intent: Intent, now: int) -> Intent | None:
    attempts = intent.attempts + 1
    if attempts >= MAX_UNREACHABLE:
        return None
    return replace(intent, attempts=attempts, next_attempt_at=now + UNREACHABLE_WAIT)


def _failed(active: Active, waits: tuple[int, int], now: int) -> Active | None:
    failures = active.failures + 1
    if failures >= MAX_FAILURES:
        return None
    return replace(active, failures=failures, next_attempt_at=now + waits[failures - 1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Numbers of subscriptions and requests that the hub accepts (H5)."""

    active: int = 10_000
    """Subscriptions, those that wait for their first verification included."""
    active_per_host: int = 100
    """The same, with callbacks at one host."""
    pending: int = 2_000
    """Requests that wait for their verification."""
    pending_per_client: int = 240
    """The same, of one client network."""


CAPS = Caps()
