"""The data of each tool's result, and its flat schema (mcp.md 5.2, 5.5).

The schemas are those of the OpenAPI document without the parts that some clients reject: references are
resolved, and a member that may be null has no type, which would be a union, but a description such as "string
or null".
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

MatchCount = Annotated[NonNegative, Meta(description="All matches")]
NoMatchNote = Annotated[str | UnsetType, Meta(description="Why nothing matches")]
WithheldNote = str | UnsetType
UnknownNote = fragments.Unknown


def _field_names(kind: type[Struct]) -> str:
    return ", ".join(field.encode_name for field in msgspec.structs.fields(kind))


_BUSINESS_FIELDS, _REVIEW_FIELDS = _field_names(Business), _field_names(Review)


class Profile(Struct):
    """The data of ``get_business``."""

    business: Annotated[dict[str, Raw], Meta(description=_BUSINESS_FIELDS)]
    aggregate_rating: AggregateRating
    review_count: Annotated[NonNegative, Meta(description="All reviews")]
    note: WithheldNote = UNSET


class FoundReviews(Struct):
    """The data of ``search_reviews``."""

    matched: MatchCount
    returned: NonNegative
    reviews: tuple[Listed, ...]
    next_cursor: str | None
    note: NoMatchNote = UNSET


class FoundSince(Struct):
    """The data of ``get_reviews_since``."""

    since: Date
    matched: MatchCount
    returned: NonNegative
    reviews: Annotated[tuple[dict[str, Raw], ...], Meta(description="As in search_reviews")]
    next_cursor: str | None
    note: WithheldNote = UNSET


class Topics(Struct):
    """The data of ``get_topics``."""

    kind: str
    matched: Annotated[NonNegative, Meta(description="All of this kind")]
    returned: NonNegative
    topics: tuple[TopicFragment, ...]
    next_offset: int | None
    note: UnknownNote = UNSET


class SentimentTrend(Struct, kw_only=True):
    """The data of ``get_sentiment_trend``."""

    trend: Literal["improving", "stable", "declining"] | UnsetType = UNSET
    matched: NonNegative
    returned: NonNegative
    monthly: tuple[MonthlySentiment, ...]
    next_offset: int | None
    note: UnknownNote = UNSET


class Faq(Struct):
    """The data of ``get_faq``."""

    matched: MatchCount
    returned: NonNegative
    faq: tuple[FaqEntry, ...]
    next_offset: int | None
    note: NoMatchNote = UNSET


SummaryIndex = tuple[dict[str, str | float], ...] | UnsetType
_ENTRY_FIELDS = "id, label, mention_count, positive_pct"


class Summary(Struct, kw_only=True):
    """The data of ``get_summary``."""

    summary: str | None
    pull_quote: str | None
    verification_statement: Annotated[str | None, Meta(description="How reviews are collected")]
    review_count: Annotated[NonNegative | UnsetType, Meta(description="Reviews analysed")] = UNSET
    date_range: DateRange
    generated_at: Timestamp | None
    model: str
    method: Annotated[
        dict[str, Raw] | UnsetType, Meta(description="How made; tell users its note")
    ] = UNSET
    overall_sentiment: OverallSentiment | UnsetType = UNSET
    totals: Annotated[dict[str, NonNegative], Meta(description="Length of each whole list")]
    aspects: Annotated[
        SummaryIndex, Meta(description=f"{_ENTRY_FIELDS}; ids for get_aspect_sentiment")
    ] = UNSET
    technicians: Annotated[SummaryIndex, Meta(description="With names; ids for get_technician")] = (
        UNSET
    )
    services: Annotated[SummaryIndex, Meta(description="As aspects; ids for get_service")] = UNSET
    problems: Annotated[SummaryIndex, Meta(description="As aspects")] = UNSET
    service_areas: Annotated[SummaryIndex, Meta(description="As aspects")] = UNSET
    topics: Annotated[SummaryIndex, Meta(description="As aspects")] = UNSET
    note: UnknownNote = UNSET


class OneReview(Struct):
    """The data of ``get_review``."""

    review: Annotated[dict[str, Raw], Meta(description=_REVIEW_FIELDS)]
    next_text_offset: Annotated[int | None, Meta(description="null at the end")]
    insight: Annotated[
        PerReview | None, Meta(description="sentiment, score and ids of what it mentions")
    ]


_PREFIX = "#/components/schemas/"
_KEYWORDS = ("type", "description", "enum")

_DEPTH = 3
"""Levels of objects and arrays that are described; few, because a model reads the whole list of tools before
its first call."""


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
    """Return a schema without references, unions or the docstrings of structs."""
    if "anyOf" in schema:
        return _union_in_words(schema, definitions)
    if "$ref" in schema:
        target = dict(definitions[str(schema["$ref"]).removeprefix(_PREFIX)])
        target.pop("description", None)
        return _flat(target | {k: v for k, v in schema.items() if k != "$ref"}, definitions, depth)
    flat = {keyword: schema[keyword] for keyword in _KEYWORDS if keyword in schema}
    if "enum" in schema:
        flat["type"] = "string"  # there are no choices among numbers
    if "properties" in schema and depth > 0:
        members = msgspec.convert(schema["properties"], dict[str, Json])
        flat["properties"] = {
            name: _flat(member, definitions, depth - 1) for name, member in members.items()
        }
    if isinstance(schema.get("items"), dict):
        items = _flat(msgspec.convert(schema["items"], Json), definitions, depth - 1)
        if items != {"type": "object"}:  # this would tell nothing
            flat["items"] = items
    return flat


def _union_in_words(schema: Json, definitions: dict[str, Json]) -> Json:
    """Return the schema of a member of several types, such as one that may be null."""
    branches = [
        _flat(branch, definitions, 0) for branch in msgspec.convert(schema["anyOf"], list[Json])
    ]
    words = " or ".join(str(branch["type"]) for branch in branches)
    description = schema.get("description")
    return {"description": f"{words}: {description}" if description else words}
