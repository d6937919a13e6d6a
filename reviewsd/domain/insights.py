"""Types of the insights file: sentiment, entities and mentions (data-model.md 2, seed 2).

Lists of aspects, entities and topics are lenient, because operators write them by hand: one of
``id``, ``label`` or ``name`` is enough, and a string stands for ``{label}``. The file is served
unchanged; ``named`` derives the missing names for look-ups, feeds and agents. An absent figure is
unset, never zero (insights.md 5).
"""

import unicodedata
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from reviewsd.domain.data_errors import spelled
from reviewsd.domain.reviews import Date, NonNegative, Text, Timestamp

_SURE_MENTIONS = 8
_SURE_PART = 7

Percent = Annotated[float, Meta(ge=0, le=100)]
Score = Annotated[float, Meta(ge=-1, le=1)]
Stars = Annotated[float, Meta(ge=1, le=5)]
Sentiment = Literal["positive", "neutral", "negative"]
YearMonth = Annotated[str, spelled("[0-9]{4}-(0[1-9]|1[0-2])", "YYYY-MM")]


OPTIONAL = frozenset({"summary", "pull_quote"})
"""Members of the file that clients of the platform do not expect."""

NOT_FILLED_IN = OPTIONAL | {"review_count", "overall_sentiment"}
"""Members that stay absent, because figures are not invented; ``review_count`` is counted if the file has
``per_review``. All other members are filled in."""


class DateRange(Struct, frozen=True, kw_only=True):
    """The first and the last day of the reviews analysed."""

    earliest: Date | None = None
    latest: Date | None = None


class OverallSentiment(Struct, frozen=True, kw_only=True):
    """Sentiment over all reviews; ``score`` from -1 to 1, percentages from 0 to 100."""

    score: Score | UnsetType = UNSET
    positive_pct: Percent | UnsetType = UNSET
    neutral_pct: Percent | UnsetType = UNSET
    negative_pct: Percent | UnsetType = UNSET


class Entity(Struct, frozen=True, kw_only=True):
    """An aspect, technician, service, problem, service area or topic that reviews speak of."""

    id: Text | None = None
    name: Text | None = None
    label: Text | None = None
    aliases: tuple[Text, ...] = ()
    """Further names, for look-ups only."""
    mention_count: NonNegative | UnsetType = UNSET
    positive_count: NonNegative | UnsetType = UNSET
    neutral_count: NonNegative | UnsetType = UNSET
    negative_count: NonNegative | UnsetType = UNSET
    positive_pct: Percent | UnsetType = UNSET
    score: Score | UnsetType = UNSET
    average_rating: Stars | UnsetType | None = UNSET
    praised_for: dict[Text, NonNegative] | UnsetType = UNSET
    """Numbers of reviews that praise a technician for an aspect, by its id."""
    top_phrases: tuple[str, ...] = ()
    example_review_ids: tuple[str, ...] = ()
    review_ids: tuple[str, ...] = ()


class Entities(Struct, frozen=True, kw_only=True):
    """Who and what the reviews name."""

    technicians: tuple[Text | Entity, ...] = ()
    services: tuple[Text | Entity, ...] = ()
    problems: tuple[Text | Entity, ...] = ()
    service_areas: tuple[Text | Entity, ...] = ()


class MonthlySentiment(Struct, frozen=True, kw_only=True):
    """One month of the trend; a month without reviews has null averages."""

    month: YearMonth
    review_count: NonNegative | UnsetType = UNSET
    average_rating: Stars | UnsetType | None = UNSET
    score: Score | UnsetType | None = UNSET
    positive_pct: Percent | UnsetType | None = UNSET


class Temporal(Struct, frozen=True, kw_only=True):
    """How sentiment moves; months oldest first."""

    monthly: tuple[MonthlySentiment, ...] = ()
    trend: Literal["improving", "stable", "declining"] | UnsetType = UNSET


class AspectMention(Struct, frozen=True, kw_only=True):
    """An aspect that one review speaks of."""

    id: Text
    sentiment: Sentiment | None = None
    phrase: str | None = None


class PerReview(Struct, frozen=True, kw_only=True):
    """What one review says: sentiment, and the ids of the entities it mentions."""

    sentiment: Sentiment | None = None
    score: Score | UnsetType = UNSET
    aspects: tuple[Text | AspectMention, ...] = ()
    technicians: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    service_areas: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()


class FaqEntry(Struct, frozen=True, kw_only=True):
    """A question customers ask, answered from the reviews."""

    question: Text
    answer: Text
    example_review_ids: tuple[str, ...] = ()


class Insights(Struct, frozen=True, kw_only=True):
    """The whole file, in the order in which its members are served."""

    version: int = 1
    generated_at: Timestamp | None = None
    model: str = "unknown"
    review_count: NonNegative | None = None
    date_range: DateRange = DateRange()
    overall_sentiment: OverallSentiment | UnsetType = UNSET
    aspects: tuple[Text | Entity, ...] = ()
    entities: Entities = Entities()
    topics: tuple[Text | Entity, ...] = ()
    temporal: Temporal = Temporal()
    per_review: dict[str, PerReview] = {}
    faq: tuple[FaqEntry, ...] = ()
    summary: str | None = None
    pull_quote: str | None = None

    def lists(self) -> "dict[str, tuple[str | Entity, ...]]":
        """Return the aspects, entities and topics by the names of their lists."""
        entities = {kind: getattr(self.entities, kind) for kind in Entities.__struct_fields__}
        return {"aspects": self.aspects, **entities, "topics": self.topics}


def least_mentions(reviews: int) -> int:
    """Return the mentions of a made aspect below which pages and the summary leave it out (decision 651).

    Eight, or a seventh of the reviews: with fewer, half of the shares are far from what readers count.
    """
    return min(_SURE_MENTIONS, reviews // _SURE_PART)


def path_of(kind: str) -> str:
    """Return the JSON path of one of the lists."""
    return f"$.entities.{kind}" if kind in Entities.__struct_fields__ else f"$.{kind}"


def named(entity: str | Entity) -> Entity:
    """Return the entity with id, name and label filled in from those it has.

    Raises:
        ValueError: It has none of the three.
    """
    if isinstance(entity, str):
        entity = Entity(label=entity)
    label = entity.label or entity.name or entity.id
    if label is None:
        raise ValueError("needs one of id, label, name")
    return structs.replace(
        entity, id=entity.id or slug(label), name=entity.name or label, label=label
    )


def slug(label: str) -> str:
    """Return a kebab-case id: ``Réparation A/C`` becomes ``reparation-a-c``."""
    folded = unicodedata.normalize("NFKD", label).casefold()  # NFKD first: it brings capitals
    plain = unicodedata.normalize("NFKD", folded)
    words = "".join(c if c.isalnum() else " " for c in plain if not unicodedata.combining(c))
    return "-".join(words.split()) or label  # "★★★" has no words
