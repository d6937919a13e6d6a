"""Times, and the lines of long jobs and of events: JSON objects with a ``type`` (interfaces.md 1.5)."""

import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

Instant = Annotated[datetime.datetime, Meta(tz=True)]
"""RFC 3339 in UTC, to the second."""

Guard = Literal["shrink", "corrections"]
"""A check that refuses data with many reviews missing, or without the corrections.json of before."""

ReloadOutcome = Literal["published", "unchanged", "refused", "failed"]


def instant(seconds: float) -> datetime.datetime:
    """Return the time of POSIX seconds."""
    return datetime.datetime.fromtimestamp(int(seconds), datetime.UTC)


class JobLine(Struct, frozen=True):
    """The members of every line."""

    type: str


class Step(Struct, frozen=True, tag_field="type", tag="progress", omit_defaults=True):
    """The progress of a job."""

    stage: str
    done: int
    total: int
    failed: int | None = None
    """Number of failures among ``done``; None if items do not fail alone."""


class InsightsOrigin(Struct, frozen=True, kw_only=True):
    """The origin of the insights."""

    made: bool
    """Whether rules made them from the reviews; else they are from insights.json."""
    model: str | None = None
    reviews: int = 0
    generated_at: str | None = None
    """The text in insights.json."""
    fault: str | None = None
    """Why they could not be made."""


class ConfigChanges(Struct, frozen=True, kw_only=True):
    """The changes of a configuration that was read again, as dotted keys, and its errors."""

    applied: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    """Changes that need a restart."""
    problems: tuple[str, ...] = ()
    """Lines to print; with an error nothing was changed."""


class LastReload(Struct, frozen=True, kw_only=True):
    """The last attempt to load the data."""

    at: Instant
    outcome: ReloadOutcome
    seconds: float


class ReloadResult(Struct, frozen=True, kw_only=True, tag_field="type", tag="result"):
    """The last line of ``POST /v1/reload``."""

    at: Instant | None = None
    outcome: ReloadOutcome
    seconds: float
    retry_at: Instant | None = None
    """When a failed reload is repeated."""
    revision: str | None
    review_count: int | None
    insights_origin: InsightsOrigin | None = None
    problems: tuple[str, ...] = ()
    config: ConfigChanges = ConfigChanges()


class PushResult(Struct, frozen=True, kw_only=True, tag_field="type", tag="result"):
    """The last line of ``POST /v1/push``; the three counts add up to the total."""

    total: int
    delivered: int
    failed: int
    """Failed deliveries, which the hub repeats."""
    removed: int
    """Subscriptions that ended: third failure, 410, unsubscribed, or lease expired."""


class EventLine(JobLine, frozen=True, kw_only=True, omit_defaults=True):
    """The common members of the lines of ``GET /v1/events``."""

    ts: str = ""
    event: str = ""
    """The event as a sentence."""
    lost: int = 0
    """Number of events that were dropped because the client read too slowly."""
