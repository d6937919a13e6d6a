"""What an operator is told of the hub (security-and-operations.md H7). Never a secret.

Times are POSIX seconds; each of them is in a field whose name ends with ``_at``.
"""

from typing import Literal

from msgspec import Struct

State = Literal["pending verification", "active", "active (renewing)", "removal pending"]
"""security-and-operations.md 4.3: the labels of a Subscription."""


class PendingIntent(Struct, frozen=True, kw_only=True):
    """What was asked for and is not confirmed yet."""

    mode: Literal["subscribe", "unsubscribe"]
    requested_at: float
    expires_at: float
    attempts: int
    """Verification GETs so far."""
    next_attempt_at: float | None
    """None: one is under way."""
    requester: str
    """The client network that asked (H6)."""
    lease_seconds: int
    """What is granted."""


class Listing(Struct, frozen=True, kw_only=True):
    """A subscription, or the request for one."""

    id: str
    """``12``; ``p7`` for a request whose subscription does not exist yet."""
    topic: str
    """Path."""
    callback: str
    """The whole URL: a capability, for the operator's eyes and no log."""
    host: str
    """The callback's."""
    state: State
    created_at: float
    verified_at: float | None
    lease_seconds: int
    """What is granted."""
    lease_expires_at: float | None
    signed: bool
    """Deliveries are signed with ``hub.secret``."""
    delivered_version: int | None
    """The topic's version that the subscriber has."""
    topic_version: int
    consecutive_failures: int
    """0 to 2: the third removes."""
    next_attempt_at: float | None
    """When the current content may be delivered; None: it is, or is being."""
    in_flight: bool
    last_attempt_at: float | None
    last_status: int | None
    """HTTP status of the last delivery; None: there was no answer."""
    last_error: str | None
    """Why the last delivery failed; None: it did not."""
    last_success_at: float | None
    last_failure_at: float | None
    last_failure: str | None
    """Why it failed when it last did; kept when a later delivery succeeds."""
    pending: PendingIntent | None


class TopicState(Struct, frozen=True, kw_only=True):
    """A topic, and how far its subscribers are."""

    path: str
    version: int
    sha256: str
    changed_at: float
    subscriptions: int
    due: int
    """Subscriptions whose content is not the current one."""


class HubState(Struct, frozen=True, kw_only=True):
    """How the hub is."""

    paused: bool
    active: int
    """Verified subscriptions."""
    pending: int
    """Requests that are not confirmed yet."""
    due: int
    """Subscriptions whose content is not the current one."""
    in_flight: int
    """Deliveries under way."""
    oldest_due_at: float | None
    """When the oldest content that is still to be delivered came to be."""
    blocks: int
    opened_networks: tuple[str, ...]
    """``hub.callbacks.allow_networks`` (E9)."""
    store: str
    """``ok``, or why the store does not work; the counts are then the last ones known."""


class Block(Struct, frozen=True, kw_only=True):
    """A host or network that the hub has nothing to do with."""

    value: str
    note: str
    created_at: float


class PushStep(Struct, frozen=True, kw_only=True):
    """How far a push is."""

    done: int
    """Subscriptions that have had their attempt, or are gone."""
    total: int
    failed: int
    """How many of the done have failed or are gone."""


class PushResult(Struct, frozen=True, kw_only=True):
    """How a push went; the three others add up to the total."""

    total: int
    delivered: int
    failed: int
    """The hub tries these again."""
    removed: int
    """Gone meanwhile: the third failure in a row, 410, unsubscribed, over."""
