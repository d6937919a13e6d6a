"""The documents of ``reviewsctl insights --json`` (insights.md 8)."""

from typing import Generic, TypeVar

from msgspec import Struct

from reviewsd.api.jobs import InsightsOrigin

T = TypeVar("T")


class ListedEntity(Struct, frozen=True, kw_only=True):
    """An entity or aspect; a file of another program may omit members."""

    id: str | None = None
    name: str | None = None
    label: str | None = None
    mention_count: int | None = None
    positive_pct: float | None = None

    @property
    def display_name(self) -> str:
        """The name for people; never empty in valid insights."""
        return self.label or self.name or self.id or ""


class ListedEntities(Struct, frozen=True, kw_only=True):
    """The entities in the reviews; a bare string stands for a label."""

    technicians: tuple[ListedEntity | str, ...] = ()
    services: tuple[ListedEntity | str, ...] = ()
    problems: tuple[ListedEntity | str, ...] = ()
    service_areas: tuple[ListedEntity | str, ...] = ()


class Trend(Struct, frozen=True, kw_only=True):
    """The trend of the ratings."""

    trend: str | None = None


class Overview(Struct, frozen=True, kw_only=True):
    """The part of the insights that ``reviewsctl insights`` prints."""

    summary: str | None = None
    aspects: tuple[ListedEntity | str, ...] = ()
    entities: ListedEntities = ListedEntities()
    temporal: Trend = Trend()


class ServedInsights(Struct, Generic[T], frozen=True, kw_only=True):
    """The insights that are served, or were made for the command."""

    data_dir: str
    origin: InsightsOrigin | None
    """None if there are no insights, and none are made."""
    unpublished: tuple[str, ...] = ()
    """The members that are not published: ``problems``."""
    insights: T
    """The members of ``/insights.json``, and those of ``unpublished``; an ``Overview`` has no ``per_review``."""


class Figures(Struct, frozen=True, kw_only=True):
    """The published figures of an entity; None if omitted, which is not zero."""

    mention_count: int | None = None
    positive_pct: float | None = None


class Row(Struct, frozen=True, kw_only=True):
    """An aspect or entity in the file and by the rules."""

    id: str
    label: str
    file: Figures | None
    """None if insights.json does not have it."""
    rules: Figures | None


class Agreement(Struct, frozen=True, kw_only=True):
    """Mentions in the reviews that the file and the rules both cover."""

    file: int = 0
    rules: int = 0
    both: int = 0
    """Mentions that both have."""
    same_sentiment: int | None = None
    """Mentions with the same sentiment; None if the file has no sentiments."""


class Comparison(Struct, frozen=True, kw_only=True):
    """The insights of a file compared with those of the rules."""

    trend: tuple[str | None, str | None]
    """The trend in the file, and by the rules."""
    aspects: tuple[Row, ...]
    technicians: tuple[Row, ...]
    services: tuple[Row, ...]
    problems: tuple[Row, ...]
    service_areas: tuple[Row, ...]
    reviews: int
    """Number of reviews that both cover."""
    mentions: dict[str, Agreement]
    """Agreement by kind; the key ``reviews`` compares the sentiment of whole reviews."""


class Compared(Struct, frozen=True, kw_only=True):
    """The result of ``reviewsctl insights compare``."""

    data_dir: str
    file: InsightsOrigin
    rules: InsightsOrigin
    comparison: Comparison


class Candidate(Struct, frozen=True, kw_only=True):
    """A name in the reviews that the settings do not have."""

    name: str
    also: tuple[str, ...]
    """Other spellings."""
    reviews: int
    quotation: str
    """A quotation from the newest review with the name."""
    review_id: str


class PresetService(Struct, frozen=True, kw_only=True, rename={"with_": "with"}):
    """A service in the form of insights.yaml."""

    id: str
    label: str
    words: tuple[str, ...]
    with_: tuple[str, ...]
    topic: str | None


class Suggestions(Struct, frozen=True, kw_only=True):
    """Candidates for insights.yaml, most mentioned first."""

    reviews: int
    """Number of reviews with text."""
    technicians: tuple[Candidate, ...]
    services: tuple[Candidate, ...]
    aspects: tuple[Candidate, ...]
    preset: tuple[PresetService, ...]
    """The services of the business's category; a list in insights.yaml replaces them."""


class Suggested(Struct, frozen=True, kw_only=True):
    """The result of ``reviewsctl insights suggest``."""

    data_dir: str
    suggestions: Suggestions


class AspectExplanation(Struct, frozen=True, kw_only=True):
    """The sentiment of a clause about an aspect."""

    aspect: str
    matched: tuple[str, ...]
    """Quotations that name, praise or criticize it."""
    sentiment: str | None
    """None if it was not counted."""
    score: float
    why: str


class ClauseExplanation(Struct, frozen=True, kw_only=True):
    """One clause."""

    text: str
    words: tuple[tuple[str, float], ...]
    """Opinion words with their valence in context, -4 to 4."""
    score: float
    """The score of all its words, -1 to 1."""
    contrasted: bool
    """Whether its sentence has a contrast word."""
    set_aside: str | None
    """Why it does not count; None if it counts."""
    aspects: tuple[AspectExplanation, ...]


class Explanation(Struct, frozen=True, kw_only=True):
    """The result of ``--explain``: the reasons for the labels of a review."""

    id: str
    rating: int
    english: bool
    clauses: tuple[ClauseExplanation, ...]
    labels: object = None
    """The published labels: ``analysis.labels.Labels``."""
