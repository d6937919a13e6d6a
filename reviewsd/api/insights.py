"""The documents of ``reviewsctl insights --json`` (insights.md 8)."""

from typing import Generic, TypeVar

from msgspec import Struct

from reviewsd.api.jobs import InsightsOrigin

T = TypeVar("T")


class ListedEntity(Struct, frozen=True, kw_only=True):
    """What reviews speak of, as far as it is listed; of a file of others much may be missing."""

    id: str | None = None
    name: str | None = None
    label: str | None = None
    mention_count: int | None = None
    positive_pct: float | None = None

    @property
    def called(self) -> str:
        """What people call it; never empty in valid insights."""
        return self.label or self.name or self.id or ""


class ListedEntities(Struct, frozen=True, kw_only=True):
    """Who and what reviews name; a bare string stands for a label."""

    technicians: tuple[ListedEntity | str, ...] = ()
    services: tuple[ListedEntity | str, ...] = ()
    problems: tuple[ListedEntity | str, ...] = ()
    service_areas: tuple[ListedEntity | str, ...] = ()


class Trend(Struct, frozen=True, kw_only=True):
    """Where it goes."""

    trend: str | None = None


class Overview(Struct, frozen=True, kw_only=True):
    """The part of the insights that a table shows."""

    summary: str | None = None
    aspects: tuple[ListedEntity | str, ...] = ()
    entities: ListedEntities = ListedEntities()
    temporal: Trend = Trend()


class ServedInsights(Struct, Generic[T], frozen=True, kw_only=True):
    """The insights that are served, or made now."""

    data_dir: str
    origin: InsightsOrigin | None
    """None where there are none and none are made."""
    unpublished: tuple[str, ...] = ()
    """What of them only the owner sees: ``problems``."""
    insights: T
    """As ``/insights.json`` but for that; without ``per_review`` where only the overview was asked for."""


class Figures(Struct, frozen=True, kw_only=True):
    """What is published of one thing; None where it is left out, which is not zero."""

    mention_count: int | None = None
    positive_pct: float | None = None


class Row(Struct, frozen=True, kw_only=True):
    """One aspect or entity on both sides."""

    id: str
    label: str
    file: Figures | None
    """None where insights.json does not have it."""
    rules: Figures | None


class Agreement(Struct, frozen=True, kw_only=True):
    """Mentions in the reviews that both sides speak of."""

    file: int = 0
    rules: int = 0
    both: int = 0
    """That both have."""
    same_sentiment: int | None = None
    """Of these, those that agree how it is mentioned; None where nothing says it."""


class Comparison(Struct, frozen=True, kw_only=True):
    """The insights of a file, and those that the rules make."""

    trend: tuple[str | None, str | None]
    """Of the file, and by the rules."""
    aspects: tuple[Row, ...]
    technicians: tuple[Row, ...]
    services: tuple[Row, ...]
    problems: tuple[Row, ...]
    service_areas: tuple[Row, ...]
    reviews: int
    """That both sides speak of."""
    mentions: dict[str, Agreement]
    """By kind, ``reviews`` for their sentiment."""


class Compared(Struct, frozen=True, kw_only=True):
    """The result of ``--diff``."""

    data_dir: str
    file: InsightsOrigin
    rules: InsightsOrigin
    comparison: Comparison


class Candidate(Struct, frozen=True, kw_only=True):
    """What the reviews speak of, and the settings do not name."""

    name: str
    also: tuple[str, ...]
    """How else it is written."""
    reviews: int
    quotation: str
    """A verbatim piece of the newest review that has it."""
    review_id: str


class PresetService(Struct, frozen=True, kw_only=True, rename={"with_": "with"}):
    """A service as insights.yaml has it."""

    id: str
    label: str
    words: tuple[str, ...]
    with_: tuple[str, ...]
    topic: str | None


class Suggestions(Struct, frozen=True, kw_only=True):
    """Candidates for insights.yaml, most mentioned first."""

    reviews: int
    """Reviews with words that were read."""
    technicians: tuple[Candidate, ...]
    services: tuple[Candidate, ...]
    aspects: tuple[Candidate, ...]
    preset: tuple[PresetService, ...]
    """The services that go with the category: a list in insights.yaml stands instead of them."""


class Suggested(Struct, frozen=True, kw_only=True):
    """The result of ``--suggest``."""

    data_dir: str
    suggestions: Suggestions


class AspectExplanation(Struct, frozen=True, kw_only=True):
    """What a clause was found to say about an aspect."""

    aspect: str
    matched: tuple[str, ...]
    """Verbatim pieces of the text that name, praise or blame it."""
    sentiment: str | None
    """None where it was not counted."""
    score: float
    why: str


class ClauseExplanation(Struct, frozen=True, kw_only=True):
    """One clause."""

    text: str
    words: tuple[tuple[str, float], ...]
    """Opinion words with their valence where they stand, -4 to 4."""
    score: float
    """Of all its words, -1 to 1."""
    contrasted: bool
    """Whether its sentence has a contrast word."""
    set_aside: str | None
    """Why it does not count, if so."""
    aspects: tuple[AspectExplanation, ...]


class Explanation(Struct, frozen=True, kw_only=True):
    """The result of ``--explain``: the reasons for the labels of a review."""

    id: str
    rating: int
    english: bool
    clauses: tuple[ClauseExplanation, ...]
    labels: object = None
    """What is published: ``analysis.labels.Labels``."""
