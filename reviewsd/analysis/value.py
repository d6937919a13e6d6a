"""Types of the insights that the rules make (data-model.md 2, insights.md 5).

Encoded as JSON they are a valid insights.json. The structs of ``domain.insights`` decode hand-written
files, and have defaults; these require every member.
"""

import datetime
from typing import Literal, Protocol

from msgspec import UNSET, Struct, UnsetType

from reviewsd.domain.insights import DateRange, FaqEntry, OverallSentiment, PerReview


class Formats(Protocol):
    """The formats of a language."""

    @property
    def tag(self) -> str:
        """The language tag (BCP 47)."""

    def number(self, value: float, digits: int = 0) -> str:
        """Format a number."""

    def date(self, day: datetime.date) -> str:
        """Format a day."""


class LocalWords(Protocol):
    """The words of labels and sentences, in the language of the business."""

    @property
    def language(self) -> Formats:
        """Their language."""

    def __call__(self, key: str, **values: object) -> str:
        """Return the words of a key, with values in place of their braces."""

    def plural(self, key: str, count: int, **values: object) -> str:
        """Return the words of a key for a count."""


Trend = Literal["improving", "stable", "declining"]


class AspectInsight(Struct, frozen=True, kw_only=True):
    """An aspect; counts are reviews."""

    id: str
    label: str
    mention_count: int
    positive_count: int | UnsetType = UNSET
    """UNSET, like the next four, with few mentions."""
    neutral_count: int | UnsetType = UNSET
    negative_count: int | UnsetType = UNSET
    positive_pct: float | UnsetType = UNSET
    score: float | UnsetType = UNSET
    """Positive minus negative mentions, divided by all."""
    top_phrases: tuple[str, ...]
    example_review_ids: tuple[str, ...]


class EntityInsight(Struct, frozen=True, kw_only=True):
    """A technician, service, problem or area.

    Figures are those of the reviews that mention it; a technician's are those of the reviews with an
    opinion about them.
    """

    id: str
    name: str | UnsetType = UNSET
    """The label; only of technicians."""
    label: str
    aliases: tuple[str, ...] | UnsetType = UNSET
    """Further names for searches; only of technicians."""
    mention_count: int
    positive_count: int | UnsetType = UNSET
    """UNSET, like the next five, with few mentions."""
    neutral_count: int | UnsetType = UNSET
    """UNSET for technicians; their further reviews have no opinion about them."""
    negative_count: int | UnsetType = UNSET
    positive_pct: float | UnsetType = UNSET
    score: float | UnsetType = UNSET
    average_rating: float | UnsetType = UNSET
    praised_for: dict[str, int] | UnsetType = UNSET
    """Numbers of reviews that praise a technician for an aspect, by its id, the greatest first."""
    top_phrases: tuple[str, ...]
    example_review_ids: tuple[str, ...]


class EntityLists(Struct, frozen=True, kw_only=True):
    """The entities, most mentioned first."""

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
    """Every month from the first review to the last, and the trend."""

    monthly: tuple[MonthInsight, ...]
    trend: Trend


class Method(Struct, frozen=True, kw_only=True):
    """The method of the analysis, for readers."""

    rules: str
    languages: dict[str, int]
    not_analysed: int
    """Reviews without words."""
    model: str | UnsetType = UNSET
    """The language models that read reviews; UNSET, like the next, if rules read all."""
    labelled: dict[str, int] | UnsetType = UNSET
    """Reviews with words that a ``model`` and ``rules`` read."""
    written_by: str | UnsetType = UNSET
    """The language model that wrote the summary or the FAQ."""
    note: str
    not_published: tuple[str, ...] | UnsetType = UNSET
    """Names of lists that are empty because their content is for the owner alone."""


class MadeInsights(Struct, frozen=True, kw_only=True):
    """The insights."""

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
