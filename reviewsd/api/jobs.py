"""The lines of long jobs and of events (interfaces.md 1.5): a JSON object each, told apart by ``type``."""

from typing import Literal

from msgspec import Struct

from reviewsd.api.times import Instant

Guard = Literal["shrink", "corrections"]
"""A rule that refuses data until the operator lifts it: many reviews are gone, or corrections.json is."""

ReloadOutcome = Literal["published", "unchanged", "refused", "failed"]


class JobLine(Struct, frozen=True):
    """What every line has."""

    type: str


class Step(Struct, frozen=True, tag_field="type", tag="progress", omit_defaults=True):
    """How far a job is."""

    stage: str
    done: int
    total: int
    failed: int | None = None
    """How many of the done have failed, where one can fail alone."""


class InsightsOrigin(Struct, frozen=True, kw_only=True):
    """Where the insights are from."""

    made: bool
    """From the reviews, by rules; else they are those of insights.json."""
    model: str | None = None
    reviews: int = 0
    """How many they speak of."""
    generated_at: str | None = None
    """As insights.json says it."""
    fault: str | None = None
    """Why there are none although they were to be made."""


class ConfigChanges(Struct, frozen=True, kw_only=True):
    """What came of the configuration when it was read again: dotted keys, and faults."""

    applied: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    """These wait for a restart of the daemon."""
    problems: tuple[str, ...] = ()
    """Lines to print, each fault with its place; then nothing was changed."""


class LastReload(Struct, frozen=True, kw_only=True):
    """The newest attempt to load the data."""

    at: Instant
    outcome: ReloadOutcome
    seconds: float


class ReloadResult(Struct, frozen=True, kw_only=True, tag_field="type", tag="result"):
    """The last line of ``POST /v1/reload``."""

    at: Instant | None = None
    outcome: ReloadOutcome
    seconds: float
    retry_at: Instant | None = None
    """When it is tried again; only where it failed."""
    revision: str | None
    """Of what is served; None where nothing is."""
    review_count: int | None
    insights_origin: InsightsOrigin | None = None
    problems: tuple[str, ...] = ()
    config: ConfigChanges = ConfigChanges()


class PushResult(Struct, frozen=True, kw_only=True, tag_field="type", tag="result"):
    """The last line of ``POST /v1/push``; the three others add up to the total."""

    total: int
    delivered: int
    failed: int
    """The hub tries these again."""
    removed: int
    """Gone meanwhile: the third failure in a row, 410, unsubscribed, over."""


class Happening(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What every line of ``GET /v1/events`` has; outcomes have further members."""

    type: str
    ts: str = ""
    event: str = ""
    """The sentence."""
    lost: int = 0
    """How many events were too many to tell."""
