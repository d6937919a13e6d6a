"""What the daemon says on its admin socket, as values (interfaces.md 1.5).

Members we do not know are ignored, so an older reviewsctl reads a newer daemon.
"""

import datetime
from typing import Annotated, Literal

import msgspec

from reviewsctl.terminal.escaping import printable

Instant = Annotated[datetime.datetime, msgspec.Meta(tz=True)]
Outcome = Literal["published", "unchanged", "refused", "failed"]


class InsightsOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """Where the insights are from."""

    made: bool
    """From the reviews, by rules; else they are those of insights.json."""
    model: str | None = None
    reviews: int = 0
    generated_at: str | None = None
    fault: str | None = None
    """Why there are none although they were to be made."""

    def line(self) -> str:
        """For people."""
        if self.fault is not None:
            return printable(f"none, they could not be made: {self.fault}")
        model = "" if self.model is None else f" ({printable(self.model)})"
        if self.made:
            return f"made from {self.reviews:,} review{'' if self.reviews == 1 else 's'}{model}"
        of = "" if self.generated_at is None else f" of {printable(self.generated_at[:10])}"
        return f"insights.json{of}{model}"


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What is being served."""

    revision: str
    published_at: Instant
    review_count: int
    updated_at: Instant | None
    """The date the data gives itself."""
    insights: bool
    insights_origin: InsightsOrigin | None = None
    """None where there are none and none were to be made; missing from an older daemon."""


class LastReload(msgspec.Struct, frozen=True, kw_only=True):
    """The newest attempt to load the data."""

    at: Instant
    outcome: Outcome
    seconds: float


class Data(msgspec.Struct, frozen=True, kw_only=True):
    """The data directory and how its loading goes."""

    dir: str
    state: Literal["ok", "degraded"]
    last_reload: LastReload | None
    failing_since: Instant | None
    problems: tuple[str, ...]
    """One line each, in the form of data-model.md 5."""
    retry_at: Instant | None = None
    """When a publication that failed is tried again; missing from an older daemon."""


class HubState(msgspec.Struct, frozen=True, kw_only=True):
    """How the hub is."""

    paused: bool
    active: int
    """Verified subscriptions."""
    pending: int
    """Requests whose callback has not confirmed yet."""
    due: int
    """Subscriptions whose content is not the current one."""
    in_flight: int
    oldest_due_at: Instant | None
    blocks: int
    opened_networks: tuple[str, ...]
    """``hub.callbacks.allow_networks``."""
    store: str
    """``ok``, or why the subscriptions cannot be read or written."""


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """What came of the configuration when it was read again."""

    applied: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    """Keys that wait for a restart."""
    problems: tuple[str, ...] = ()
    """Then nothing was changed."""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """``GET /v1/status``."""

    version: str
    pid: int
    started_at: Instant
    uptime_seconds: float
    base_url: str
    listen: tuple[str, ...]
    snapshot: Snapshot
    data: Data
    config: Changes = Changes()
    hub: HubState | None = None
    """Missing from a daemon that has not been restarted since it got a hub."""
    unknown_parameters: dict[str, int] = {}
    """Of searches, by name: they were ignored."""


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    """One of ``GET /v1/topics``."""

    path: str
    version: int
    changed_at: Instant
    subscriptions: int
    due: int


class Hub(HubState, frozen=True, kw_only=True):
    """``GET /v1/hub``."""

    topics: tuple[Topic, ...]


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """What a subscriber has asked for and its callback has not confirmed yet."""

    mode: Literal["subscribe", "unsubscribe"]
    requested_at: Instant
    expires_at: Instant
    attempts: int
    next_attempt_at: Instant | None
    requester: str
    """The network that the request came from (H6)."""
    lease_seconds: int


class Subscription(msgspec.Struct, frozen=True, kw_only=True):
    """``GET /v1/subscriptions/{id}``, and one of the list. Never a secret."""

    id: str
    topic: str
    callback: str
    state: str
    created_at: Instant
    verified_at: Instant | None
    lease_seconds: int
    lease_expires_at: Instant | None
    signed: bool
    delivered_version: int | None
    topic_version: int
    consecutive_failures: int
    next_attempt_at: Instant | None
    in_flight: bool
    last_attempt_at: Instant | None
    last_status: int | None
    last_error: str | None
    last_success_at: Instant | None
    last_failure_at: Instant | None
    last_failure: str | None
    pending: Pending | None


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """``GET /v1/subscriptions``."""

    subscriptions: tuple[msgspec.Raw, ...]
    next: str | None
    """What ``after`` is for the next page."""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """One of ``GET /v1/blocks``."""

    value: str
    note: str
    created_at: Instant


class Blocks(msgspec.Struct, frozen=True, kw_only=True):
    """``GET /v1/blocks``."""

    blocks: tuple[Block, ...]


class Blocked(msgspec.Struct, frozen=True, kw_only=True):
    """``POST /v1/blocks``."""

    value: str
    """In its normal form."""
    removed: int
    """Subscriptions and requests."""


class Ping(msgspec.Struct, frozen=True, kw_only=True):
    """``GET /v1/ping``."""

    pong: bool
    version: str


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a long job."""

    stage: str
    done: int
    total: int
    failed: int | None = None
    """How many of the done have failed, where one can fail alone."""


class ReloadResult(msgspec.Struct, frozen=True, kw_only=True):
    """The last line of ``POST /v1/reload``."""

    outcome: Outcome
    revision: str
    review_count: int
    seconds: float
    problems: tuple[str, ...] = ()
    retry_at: Instant | None = None
    config: Changes = Changes()
    insights_origin: InsightsOrigin | None = None


class BackupContents(msgspec.Struct, frozen=True, kw_only=True):
    """The header field ``Reviewsd-Backup`` of ``POST /v1/backup``."""

    bytes: int
    subscriptions: int
    signed: int
    requests: int
    blocks: int
    sessions_ended: int
    keys: tuple[str, ...]
    """Where the keys are that belong to it."""

    def members(self) -> dict[str, object]:
        """As a JSON object."""
        return msgspec.structs.asdict(self)


class PushResult(msgspec.Struct, frozen=True, kw_only=True):
    """The last line of ``POST /v1/push``; the three others add up to the total."""

    total: int
    delivered: int
    failed: int
    removed: int


class Event(msgspec.Struct, frozen=True):
    """What every line of a long job has."""

    type: str


class Happening(msgspec.Struct, frozen=True):
    """One of ``GET /v1/events``."""

    type: str
    ts: str = ""
    event: str = ""
    """The sentence."""
    lost: int = 0
    """How many events were."""

    def line(self) -> str:
        """For people."""
        match self.type:
            case "listening":
                return "waiting for events; Ctrl-C ends"
            case "lost":
                return (
                    f"{self.lost:,} event{' was' if self.lost == 1 else 's were'} too many to show"
                )
            case _:
                return f"{printable(self.ts)}  {printable(self.type):<9}  {printable(self.event)}"


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """An RFC 9457 body; every member is optional there (3.1)."""

    title: str = ""
    detail: str = ""
