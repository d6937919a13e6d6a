"""What an operator is told of the hub (security-and-operations.md H7). Never a secret."""

from typing import Generic, Literal, TypeVar

from msgspec import Struct

from reviewsd.api.times import Instant

T = TypeVar("T")


class PendingIntent(Struct, frozen=True, kw_only=True):
    """What was asked for and is not confirmed yet."""

    mode: Literal["subscribe", "unsubscribe"]
    requested_at: Instant
    expires_at: Instant
    attempts: int
    """Verification GETs so far."""
    next_attempt_at: Instant | None
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
    host: str = ""
    """The callback's."""
    state: str
    """The label of the Subscription (security-and-operations.md 4.3)."""
    created_at: Instant
    verified_at: Instant | None
    lease_seconds: int
    """What is granted."""
    lease_expires_at: Instant | None
    signed: bool
    """Deliveries are signed with ``hub.secret``."""
    delivered_version: int | None
    """The topic's version that the subscriber has."""
    topic_version: int
    consecutive_failures: int
    """0 to 2: the third removes."""
    next_attempt_at: Instant | None
    """When the current content may be delivered; None: it is, or is being."""
    in_flight: bool
    last_attempt_at: Instant | None
    last_status: int | None
    """HTTP status of the last delivery; None: there was no answer."""
    last_error: str | None
    """Why the last delivery failed; None: it did not."""
    last_success_at: Instant | None
    last_failure_at: Instant | None
    last_failure: str | None
    """Why it failed when it last did; kept when a later delivery succeeds."""
    pending: PendingIntent | None


class ListingPage(Struct, Generic[T], frozen=True, kw_only=True):
    """``GET /v1/subscriptions``."""

    subscriptions: tuple[T, ...]
    next: str | None
    """What ``after`` is for the next page."""


class TopicState(Struct, frozen=True, kw_only=True):
    """A topic, and how far its subscribers are."""

    path: str
    version: int
    sha256: str = ""
    changed_at: Instant
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
    oldest_due_at: Instant | None
    """When the oldest content that is still to be delivered came to be."""
    blocks: int
    opened_networks: tuple[str, ...]
    """``hub.callbacks.allow_networks`` (E9)."""
    store: str
    """``ok``, or why the store does not work; the counts are then the last ones known."""


class HubStatus(HubState, frozen=True, kw_only=True):
    """``GET /v1/hub``."""

    topics: tuple[TopicState, ...]


class Block(Struct, frozen=True, kw_only=True):
    """A host or network that the hub has nothing to do with."""

    value: str
    note: str
    created_at: Instant


class BlockList(Struct, frozen=True, kw_only=True):
    """``GET /v1/blocks``."""

    blocks: tuple[Block, ...]


class Blocked(Struct, frozen=True, kw_only=True):
    """``POST /v1/blocks``."""

    value: str
    """In its normal form."""
    dry_run: bool = False
    """Whether it was only counted."""
    removed: int
    """Subscriptions and requests."""
