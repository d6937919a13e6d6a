"""The insights that are made, member by member (data-model.md 2, insights.md 5).

Encoded as JSON it is a valid insights.json. The structs of ``domain.insights`` read what owners
write, with defaults for what is absent; these write every member, and none that does not belong.
"""

import datetime
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from reviewsd.domain.insights import DateRange, FaqEntry, OverallSentiment, PerReview

Trend = Literal["improving", "stable", "declining"]


class AspectInsight(Struct, frozen=True, kw_only=True):
    """An aspect; counts are reviews."""

    id: str
    label: str
    mention_count: int
    positive_count: int
    neutral_count: int
    negative_count: int
    positive_pct: float
    score: float
    """Positive less negative mentions, of all."""
    top_phrases: tuple[str, ...]
    example_review_ids: tuple[str, ...]


class EntityInsight(Struct, frozen=True, kw_only=True):
    """A technician, service, problem or area; sentiment is that of the reviews that name it."""

    id: str
    name: str | UnsetType = UNSET
    """Of technicians, as the label."""
    label: str
    aliases: tuple[str, ...] | UnsetType = UNSET
    """Of technicians whom the owner has given some: searches find them by these too."""
    mention_count: int
    positive_count: int | UnsetType = UNSET
    """UNSET like the next five of a person with few mentions."""
    neutral_count: int | UnsetType = UNSET
    negative_count: int | UnsetType = UNSET
    positive_pct: float | UnsetType = UNSET
    score: float | UnsetType = UNSET
    average_rating: float | UnsetType = UNSET
    top_phrases: tuple[str, ...]
    example_review_ids: tuple[str, ...]


class EntityLists(Struct, frozen=True, kw_only=True):
    """Who and what the reviews name, most mentioned first."""

    technicians: tuple[EntityInsight, ...] = ()
    services: tuple[EntityInsight, ...] = ()
    problems: tuple[EntityInsight, ...] = ()
    service_areas: tuple[EntityInsight, ...] = ()


class MonthInsight(Struct, frozen=True, kw_only=True):
    """One month; without reviews it has no averages."""

    month: str
    review_count: int = 0
    average_rating: float | None = None
    score: float | None = None
    positive_pct: float | None = None


class TemporalInsight(Struct, frozen=True, kw_only=True):
    """Every month from the first review to the last, and where it goes."""

    monthly: tuple[MonthInsight, ...]
    trend: Trend


class Method(Struct, frozen=True, kw_only=True):
    """How the insights were made, for readers to judge them by."""

    rules: str
    languages: dict[str, int]
    not_analysed: int
    """Reviews without words."""
    note: str
    not_published: tuple[str, ...] | UnsetType = UNSET
    """What was made for the owner alone: its lists are empty here."""


class MadeInsights(Struct, frozen=True, kw_only=True):
    """The whole value."""

    version: int = 1
    generated_at: datetime.datetime | None
    model: str
    review_count: int
    date_range: DateRange
    overall_sentiment: OverallSentiment
    aspects: tuple[AspectInsight, ...]
    entities: EntityLists
    topics: tuple[EntityInsight, ...]
    temporal: TemporalInsight
    per_review: dict[str, PerReview]
    faq: tuple[FaqEntry, ...]
    summary: str | UnsetType = UNSET
    pull_quote: str | UnsetType = UNSET
    method: Method
