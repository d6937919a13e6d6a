"""The hub's state, subscriptions and blocks, without secrets (security-and-operations.md H7)."""

from typing import Generic, Literal, TypeVar

from msgspec import Struct

from reviewsd.api.jobs import Instant

T = TypeVar("T")


class PendingIntent(Struct, frozen=True, kw_only=True):
    """A request that the callback has not confirmed yet."""

    mode: Literal["subscribe", "unsubscribe"]
    requested_at: Instant
    expires_at: Instant
    attempts: int
    next_attempt_at: Instant | None  # None while a verification runs
    requester: str  # the client network that sent the request (H6)
    lease_seconds: int


class Listing(Struct, frozen=True, kw_only=True):
    """A subscription, or a request for a new one."""

    id: str  # ``12``; ``p7`` for a pending request without a subscription
    topic: str
    callback: str  # the whole URL: a capability, never to be logged
    host: str = ""
    state: str
    """The label of the Subscription (security-and-operations.md 4.3)."""
    created_at: Instant
    verified_at: Instant | None
    lease_seconds: int
    lease_expires_at: Instant | None
    signed: bool  # with ``hub.secret``
    delivered_version: int | None  # the version of the topic that the subscriber has
    topic_version: int
    consecutive_failures: int
    """0 to 2; the third failure ends the subscription."""
    next_attempt_at: Instant | None
    """When the current content may be delivered; None if it is delivered or in flight."""
    in_flight: bool
    last_attempt_at: Instant | None
    last_status: int | None  # the HTTP status; None without a response
    last_error: str | None
    """Why the last delivery failed; None if it succeeded."""
    last_success_at: Instant | None
    last_failure_at: Instant | None
    last_failure: str | None
    """Why the last failed delivery failed; a later success does not clear it."""
    pending: PendingIntent | None


class ListingPage(Struct, Generic[T], frozen=True, kw_only=True):
    """``GET /v1/subscriptions``."""

    subscriptions: tuple[T, ...]
    next: str | None
    """The parameter ``after`` for the next page; None on the last."""


class TopicState(Struct, frozen=True, kw_only=True):
    """A topic, and the progress of its deliveries."""

    path: str
    version: int
    sha256: str = ""
    changed_at: Instant
    subscriptions: int
    due: int
    """Number of subscriptions without the current content."""


class HubState(Struct, frozen=True, kw_only=True):
    """``GET /v1/hub``, and a part of ``GET /v1/status``."""

    paused: bool
    active: int  # number of verified subscriptions
    pending: int  # number of requests that are not confirmed yet
    due: int
    in_flight: int
    oldest_due_at: Instant | None  # when the oldest content that is still due was published
    blocks: int
    opened_networks: tuple[str, ...]  # ``hub.callbacks.allow_networks`` (E9)
    store: str
    """``ok``, or why the store fails; the counts are then the last known ones."""
    topics: tuple[TopicState, ...] = ()


class Block(Struct, frozen=True, kw_only=True):
    """A blocked host or network, in its normal form."""

    value: str
    note: str
    created_at: Instant


class BlockList(Struct, frozen=True, kw_only=True):
    """``GET /v1/blocks``."""

    blocks: tuple[Block, ...]


class Blocked(Struct, frozen=True, kw_only=True):
    """``POST /v1/blocks``."""

    value: str
    dry_run: bool = False
    removed: int
    """Number of subscriptions and requests."""
