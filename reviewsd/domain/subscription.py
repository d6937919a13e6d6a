"""The state machine of a subscription (seed 3, security-and-operations.md 4.3).

A subscription is a pair of callback and topic with two optional facts, so "active and being renewed"
needs no state of its own, and a failed renewal does not change the active fact (WebSub 5.1, H13):

    active   intent        label                  seed 3
    no       no            (none)                 none
    no       subscribe     pending verification   pending verification
    yes      no            active                 active
    yes      subscribe     active (renewing)      active
    yes      unsubscribe   removal pending        removal pending

Times are integer milliseconds since 1970 UTC, as in the store. The store drops
results of outdated claims before they reach ``step``.
"""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal, assert_never

State = Literal["pending verification", "active", "active (renewing)", "removal pending"]
"""The labels of a Subscription (security-and-operations.md 4.3)."""

MAX_FAILURES = 3
"""Consecutive failed deliveries before the hub removes a subscription (seed 3, 8)."""

MAX_UNREACHABLE = 2
"""Verification GETs without a response before the Intent is dropped (H4)."""

UNREACHABLE_WAIT = 30_000
"""Milliseconds before the second verification GET (H4)."""


MIN_LEASE, MAX_LEASE = 300, 2_592_000
"""Bounds of a lease in seconds; a request outside of them is moved to the nearest (H18)."""


class Mode(Enum):
    """``hub.mode`` of a request (seed 4.8)."""

    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Active:
    """A verified subscription."""

    secret: bytes | None
    """The sealed secret that signs deliveries (WebSub 7.1), or None."""
    lease_seconds: int
    lease_expires_at: int
    delivered_version: int
    """The version that the subscriber has, or had when it subscribed; 0 after a push by the operator."""
    failures: int = 0
    """Consecutive failed deliveries, 0 to 2."""
    next_attempt_at: int = 0
    """Earliest time of the next delivery; 0 if it may start at once."""
    created_at: int
    verified_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A subscribe or unsubscribe request that the callback has not confirmed yet."""

    mode: Mode
    requested_topic: str
    """``hub.topic`` of the request, which the verification echoes (H17)."""
    secret: bytes | None
    lease_seconds: int
    """The granted lease; unused for unsubscribe."""
    challenge: str
    verify_token: bytes | None = None
    """``hub.verify_token`` of the request, which the verification echoes (W4)."""
    topic_version: int
    """The version at the time of the request, or the subscriber's if that was older; later ones are
    delivered after the verification."""
    requester: str
    """The client network of the request (H6)."""
    requested_at: int
    expires_at: int
    attempts: int = 0
    next_attempt_at: int


@dataclass(frozen=True, slots=True)
class Subscription:
    """The facts about a callback and a topic; at least one is not None."""

    active: Active | None
    intent: Intent | None

    @property
    def label(self) -> State:
        """The state in the words of ``reviewsctl subs list``."""
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
    """The callback sent any other response, such as a redirect."""


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The callback sent no response to a verification."""


@dataclass(frozen=True, slots=True)
class DeliverySucceeded:
    """The callback accepted this version with a 2xx."""

    version: int


@dataclass(frozen=True, slots=True)
class DeliveryFailed:
    """A delivery got no 2xx."""

    waits: tuple[int, int]
    """Milliseconds to the next attempt after the first and after the second consecutive failure."""


@dataclass(frozen=True, slots=True)
class DeliveryGone:
    """A delivery was answered 410."""


@dataclass(frozen=True, slots=True)
class DeadlinesChecked:
    """Time passed; a lease or a request may be over."""


@dataclass(frozen=True, slots=True)
class RedeliveryRequested:
    """The operator requested another delivery of the current content; failures in a row still count."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The operator removed or blocked the subscription."""


Event = (
    SubscriptionRequested
    | Confirmed
    | NotConfirmed
    | Unreachable
    | DeliverySucceeded
    | DeliveryFailed
    | DeliveryGone
    | DeadlinesChecked
    | RedeliveryRequested
    | Removed
)


def step(  # noqa: C901, PLR0912 - the specification's table in its order, a row a case
    subscription: Subscription | None, event: Event, now: int
) -> Subscription | None:
    """Return the subscription after an event; None is seed 3's state "none".

    An event that does not apply, such as the result of a delivery after the subscription ended, changes
    nothing.
    """
    active = None if subscription is None else subscription.active
    intent = None if subscription is None else subscription.intent
    match event:
        # none | active -> pending verification | renewing | removal pending
        case SubscriptionRequested(intent=requested):
            if requested.mode is Mode.SUBSCRIBE or active is not None:
                intent = requested if active is None else _keep_due_version(active, requested)
        # pending verification -> active; removal pending -> none
        case Confirmed():
            if intent is not None:
                active, intent = _confirmed(active, intent, now), None
        # pending verification -> none; the active fact does not change
        case NotConfirmed():
            intent = None
        case Unreachable():
            if intent is not None:
                intent = _retry(intent, now)
        # active -> active, or after the third consecutive failure -> none
        case DeliverySucceeded(version=version):
            if active is not None:
                active = replace(active, delivered_version=version, failures=0, next_attempt_at=0)
        case DeliveryFailed(waits=waits):
            if active is not None:
                active = _failed(active, waits, now)
        case DeliveryGone():
            active = None
        # the lease or the request expires -> none
        case DeadlinesChecked():
            if active is not None and active.lease_expires_at <= now:
                active = None
            if intent is not None and intent.expires_at <= now:
                intent = None
        case RedeliveryRequested():
            if active is not None:
                active = replace(active, delivered_version=0, next_attempt_at=0)
        case Removed():
            active = intent = None
        case _:
            assert_never(event)
    if active is None and intent is not None and intent.mode is Mode.UNSUBSCRIBE:
        intent = None  # there is no subscription to end
    return None if active is None and intent is None else Subscription(active, intent)


def _keep_due_version(active: Active, intent: Intent) -> Intent:
    """Return the request with the subscriber's version if that is older.

    The content stays due if the subscription ends before the confirmation.
    """
    version = min(intent.topic_version, active.delivered_version)
    return replace(intent, topic_version=version)


def _confirmed(active: Active | None, intent: Intent, now: int) -> Active | None:
    if intent.mode is Mode.UNSUBSCRIBE:
        return None
    return Active(
        secret=intent.secret,
        lease_seconds=intent.lease_seconds,
        # The lease begins at the confirmation, so it is never shorter than announced (H18).
        lease_expires_at=now + intent.lease_seconds * 1000,
        delivered_version=intent.topic_version if active is None else active.delivered_version,
        created_at=now if active is None else active.created_at,
        verified_at=now,
    )


def _retry(intent: Intent, now: int) -> Intent | None:
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
    """Active and pending subscriptions."""
    active_per_host: int = 100
    """Subscriptions with callbacks at one host, pending ones included."""
    pending: int = 2_000
    """Requests that wait for their verification."""
    pending_per_client: int = 240
    """Pending requests of one client network."""


CAPS = Caps()
