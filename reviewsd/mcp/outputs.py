"""The data of each tool's result, and its flat schema (mcp.md 5.2, 5.5).

The schemas are those of the OpenAPI document without the parts that some clients reject: references
are resolved, and a member that may be null is described in words, without a type.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from reviewsd.domain.insights import (
    DateRange,
    FaqEntry,
    MonthlySentiment,
    OverallSentiment,
    PerReview,
)
from reviewsd.domain.reviews import AggregateRating, Business, Date, NonNegative, Review, Timestamp
from reviewsd.publish import fragments
from reviewsd.publish.excerpts import Listed
from reviewsd.publish.fragments import TopicFragment
from reviewsd.publish.openapi import schemas
from reviewsd.publish.openapi.schemas import Json

Matched = Annotated[NonNegative, Meta(description="All that match")]
NothingMatches = Annotated[str | UnsetType, Meta(description="Why nothing matches")]
Withheld = str | UnsetType
Missing = fragments.Unknown


def _names(kind: type[Struct]) -> str:
    return ", ".join(field.encode_name for field in msgspec.structs.fields(kind))


_PROFILE, _REVIEW = _names(Business), _names(Review)


class Profile(Struct):
    """The data of ``get_business``."""

    business: Annotated[dict[str, Raw], Meta(description=_PROFILE)]
    aggregate_rating: AggregateRating
    review_count: Annotated[NonNegative, Meta(description="Reviews in the data set")]
    note: Withheld = UNSET


class FoundReviews(Struct):
    """The data of ``search_reviews``."""

    matched: Matched
    returned: NonNegative
    reviews: tuple[Listed, ...]
    next_cursor: str | None
    note: NothingMatches = UNSET


class FoundSince(Struct):
    """The data of ``get_reviews_since``."""

    since: Date
    matched: Matched
    returned: NonNegative
    reviews: Annotated[tuple[dict[str, Raw], ...], Meta(description="As search_reviews has them")]
    next_cursor: str | None
    note: Withheld = UNSET


class Topics(Struct):
    """The data of ``get_topics``."""

    kind: str
    matched: Annotated[NonNegative, Meta(description="All of this kind")]
    returned: NonNegative
    topics: tuple[TopicFragment, ...]
    next_offset: int | None
    note: Missing = UNSET


class SentimentTrend(Struct, kw_only=True):
    """The data of ``get_sentiment_trend``."""

    trend: Literal["improving", "stable", "declining"] | UnsetType = UNSET
    matched: NonNegative
    returned: NonNegative
    monthly: tuple[MonthlySentiment, ...]
    next_offset: int | None
    note: Missing = UNSET


class Faq(Struct):
    """The data of ``get_faq``."""

    matched: Matched
    returned: NonNegative
    faq: tuple[FaqEntry, ...]
    next_offset: int | None
    note: NothingMatches = UNSET


SummaryIndex = tuple[dict[str, str | float], ...] | UnsetType
_LABEL = "id, label, mention_count, positive_pct"


class Summary(Struct, kw_only=True):
    """The data of ``get_summary``."""

    summary: str | None
    pull_quote: str | None
    verification_statement: Annotated[str | None, Meta(description="How reviews are collected")]
    review_count: Annotated[NonNegative | UnsetType, Meta(description="Reviews analysed")] = UNSET
    date_range: DateRange
    generated_at: Timestamp | None
    model: str
    method: Annotated[dict[str, Raw] | UnsetType, Meta(description="How made; repeat its note")] = (
        UNSET
    )
    overall_sentiment: OverallSentiment | UnsetType = UNSET
    totals: Annotated[dict[str, NonNegative], Meta(description="How many there are of each list")]
    aspects: Annotated[
        SummaryIndex, Meta(description=f"{_LABEL}; ids for get_aspect_sentiment")
    ] = UNSET
    technicians: Annotated[
        SummaryIndex, Meta(description="name instead of label; ids for get_technician")
    ] = UNSET
    services: Annotated[SummaryIndex, Meta(description="As aspects; ids for get_service")] = UNSET
    problems: Annotated[SummaryIndex, Meta(description="As aspects")] = UNSET
    service_areas: Annotated[SummaryIndex, Meta(description="As aspects")] = UNSET
    topics: Annotated[SummaryIndex, Meta(description="As aspects")] = UNSET
    note: Missing = UNSET


class OneReview(Struct):
    """The data of ``get_review``."""

    review: Annotated[dict[str, Raw], Meta(description=_REVIEW)]
    next_text_offset: Annotated[int | None, Meta(description="null unless the text goes on")]
    insight: Annotated[
        PerReview | None, Meta(description="sentiment, score and ids of what it mentions")
    ]


_PREFIX = "#/components/schemas/"
_KEYWORDS = ("type", "description", "enum")

_DEPTH = 3
"""Levels of objects that are described: every language model reads the list of tools first."""


def schema_of(kind: type[Struct]) -> Json:
    """Return the output schema of a tool."""
    _, own = msgspec.json.schema_components((kind,), ref_template=_PREFIX + "{name}")
    definitions = {**own, **schemas.components()}
    schema = _flat(schemas.reference(kind.__name__), definitions, _DEPTH)
    fields = msgspec.structs.fields(kind)
    return {
        **schema,
        "required": [field.encode_name for field in fields if field.default is not UNSET],
    }


def _flat(schema: Json, definitions: dict[str, Json], depth: int) -> Json:
    """Return a schema without references, unions and the docstrings of structs."""
    if "anyOf" in schema:
        return _nullable(schema, definitions)
    if "$ref" in schema:
        target = dict(definitions[str(schema["$ref"]).removeprefix(_PREFIX)])
        target.pop("description", None)
        return _flat(target | {k: v for k, v in schema.items() if k != "$ref"}, definitions, depth)
    flat = {keyword: schema[keyword] for keyword in _KEYWORDS if keyword in schema}
    if "enum" in schema:
        flat["type"] = "string"
    if "properties" in schema and depth:
        members = msgspec.convert(schema["properties"], dict[str, Json])
        flat["properties"] = {
            name: _flat(member, definitions, depth - 1) for name, member in members.items()
        }
    if isinstance(schema.get("items"), dict):
        items = _flat(msgspec.convert(schema["items"], Json), definitions, depth - 1)
        if items != {"type": "object"}:  # every object has this type
            flat["items"] = items
    return flat


def _nullable(schema: Json, definitions: dict[str, Json]) -> Json:
    """Return the schema of a member that may be null: words instead of a union."""
    branches = [
        _flat(branch, definitions, 0) for branch in msgspec.convert(schema["anyOf"], list[Json])
    ]
    words = " or ".join(str(branch["type"]) for branch in branches)
    description = schema.get("description")
    return {"description": f"{words}: {description}" if description else words}
