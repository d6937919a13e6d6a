"""What ``reviewsd`` says of files and settings, as values (reviewsd/app/check.py, reviewsd/config/show.py)."""

import datetime
from typing import Literal

import msgspec

from reviewsctl.daemon.messages import InsightsOrigin


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """A problem or a warning."""

    file: str
    line: int | None = None
    column: int | None = None
    path: str = ""
    id: str | None = None
    reason: str
    lines: tuple[str, ...]
    """For people: place and reason, and where they help the source line and a caret."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What valid data is."""

    business: str
    reviews: int
    first: datetime.date | None
    last: datetime.date | None
    average: float | None
    stars: dict[str, int]
    insights: bool
    analysed: int
    uncovered: int
    made: bool


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """How a check went."""

    config: str | None
    data_dir: str | None
    problems: tuple[Remark, ...]
    problem_count: int
    warnings: tuple[Remark, ...]
    warning_count: int
    facts: Facts | None


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """What reviews speak of; of a file of others much may be missing."""

    id: str = ""
    name: str = ""
    label: str = ""
    mention_count: int | None = None
    positive_pct: float | None = None

    @property
    def called(self) -> str:
        """What people call it."""
        return self.label or self.name or self.id


class Entities(msgspec.Struct, frozen=True, kw_only=True):
    """Who and what reviews name."""

    technicians: tuple[Entity | str, ...] = ()
    services: tuple[Entity | str, ...] = ()
    problems: tuple[Entity | str, ...] = ()


class Temporal(msgspec.Struct, frozen=True, kw_only=True):
    """Where it goes."""

    trend: str | None = None


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the insights that a table shows."""

    summary: str | None = None
    aspects: tuple[Entity | str, ...] = ()
    entities: Entities = Entities()
    temporal: Temporal = Temporal()


class Insights(msgspec.Struct, frozen=True, kw_only=True):
    """The insights of a data directory."""

    data_dir: str
    origin: InsightsOrigin | None
    insights: Overview


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What is published of one thing; None is not zero."""

    mention_count: int | None
    positive_pct: float | None


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One thing on both sides; None where one does not have it."""

    id: str
    label: str
    file: Figures | None
    rules: Figures | None


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """Mentions of one kind."""

    file: int
    rules: int
    both: int
    same_sentiment: int | None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The insights of a file, and those that the rules make."""

    trend: tuple[str | None, str | None]
    aspects: tuple[Row, ...]
    technicians: tuple[Row, ...]
    services: tuple[Row, ...]
    problems: tuple[Row, ...]
    service_areas: tuple[Row, ...]
    reviews: int
    mentions: dict[str, Agreement]


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """The same, with where they are from."""

    data_dir: str
    file: InsightsOrigin
    rules: InsightsOrigin
    comparison: Comparison


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """What reviews speak of, and insights.yaml does not name."""

    name: str
    also: tuple[str, ...]
    reviews: int
    quotation: str
    review_id: str


class ServiceSetting(msgspec.Struct, frozen=True, kw_only=True, rename={"with_": "with"}):
    """A service as insights.yaml has it."""

    id: str
    label: str
    words: tuple[str, ...]
    with_: tuple[str, ...]
    topic: str | None


class Suggestions(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates for insights.yaml."""

    reviews: int
    technicians: tuple[Candidate, ...]
    services: tuple[Candidate, ...]
    aspects: tuple[Candidate, ...]
    preset: tuple[ServiceSetting, ...]


class Suggested(msgspec.Struct, frozen=True, kw_only=True):
    """The same, with where they are from."""

    data_dir: str
    suggestions: Suggestions


class AspectExplanation(msgspec.Struct, frozen=True, kw_only=True):
    """What a clause says about an aspect."""

    aspect: str
    matched: tuple[str, ...]
    sentiment: str | None
    score: float
    why: str


class ClauseExplanation(msgspec.Struct, frozen=True, kw_only=True):
    """One clause."""

    text: str
    words: tuple[tuple[str, float], ...]
    score: float
    contrasted: bool
    set_aside: str | None
    aspects: tuple[AspectExplanation, ...]


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Why a review has the labels it has."""

    id: str
    rating: int
    english: bool
    clauses: tuple[ClauseExplanation, ...]


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One key of the configuration."""

    key: str
    value: object
    default: object | msgspec.UnsetType = msgspec.UNSET
    origin: Literal["file", "environment", "default"]
    line: int | None = None
    column: int | None = None
    variable: str | None = None


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration in effect."""

    file: str
    settings: tuple[Setting, ...]

    def value(self, key: str) -> object:
        """The value of a key that there is."""
        return next(each.value for each in self.settings if each.key == key)

    def text(self, key: str) -> str:
        """The value of a key that is a string."""
        return str(self.value(key))
