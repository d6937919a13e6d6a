"""What tools answer, and its schema: flat, as every client can read it (mcp.md 5.2, 5.5).

The schemas are those of the OpenAPI document with everything in place that a client might stumble
over: references are written out, and what may be null is described in words, without a type.
"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from reviewsd.domain.insights import (
    DateRange,
    FaqEntry,
    MonthlySentiment,
    OverallSentiment,
    PerReview,
)
from reviewsd.domain.reviews import AggregateRating, Business, Count, Date, Review, Timestamp
from reviewsd.formats import schemas
from reviewsd.formats.fragments import Topic
from reviewsd.formats.schemas import Json

Matched = Annotated[Count, Meta(description="All that match")]
Returned = Annotated[Count, Meta(description="In this answer")]
NextCursor = Annotated[str | None, Meta(description="Argument for the next page; null at the end")]
NewestFirst = Annotated[tuple[Review, ...], Meta(description="Newest first")]


class Profile(Struct):
    """Of ``get_business``."""

    business: Business
    aggregate_rating: AggregateRating
    review_count: Annotated[Count, Meta(description="Reviews in the data set")]


class Found(Struct):
    """Of ``search_reviews``."""

    matched: Matched
    returned: Returned
    reviews: NewestFirst
    next_cursor: NextCursor


class FoundSince(Struct):
    """Of ``get_reviews_since``."""

    since: Date
    matched: Matched
    returned: Returned
    reviews: NewestFirst
    next_cursor: NextCursor


class Topics(Struct):
    """Of ``get_topics``."""

    returned: Returned
    topics: Annotated[tuple[Topic, ...], Meta(description="Most mentioned first")]


class Trend(Struct):
    """Of ``get_sentiment_trend``."""

    trend: Literal["improving", "stable", "declining"]
    returned: Annotated[Count, Meta(description="Months in this answer")]
    monthly: Annotated[tuple[MonthlySentiment, ...], Meta(description="Oldest first")]


class Faq(Struct):
    """Of ``get_faq``."""

    matched: Matched
    returned: Returned
    faq: tuple[FaqEntry, ...]


Labels = tuple[dict[str, str | float], ...]
"""The index of a summary: id, label (of technicians name), mention_count, positive_pct."""


_LABEL = "id, label, mention_count, positive_pct"
_PERSON = "id, name, mention_count, positive_pct"


class Summary(Struct):
    """Of ``get_summary``."""

    summary: str | None
    pull_quote: str | None
    review_count: Annotated[Count, Meta(description="Reviews analysed")]
    date_range: DateRange
    generated_at: Timestamp | None
    model: str
    overall_sentiment: OverallSentiment
    aspects: Annotated[Labels, Meta(description=f"{_LABEL}; ids for get_aspect_sentiment")]
    technicians: Annotated[Labels, Meta(description=f"{_PERSON}; ids for get_technician")]
    services: Annotated[Labels, Meta(description=f"{_LABEL}; ids for get_service")]
    problems: Annotated[Labels, Meta(description=_LABEL)]
    service_areas: Annotated[Labels, Meta(description=_LABEL)]
    topics: Annotated[Labels, Meta(description=_LABEL)]


class OneReview(Struct):
    """Of ``get_review``."""

    review: Review
    insight: Annotated[
        PerReview | None, Meta(description="sentiment, score and ids of what it mentions")
    ]


_PREFIX = "#/components/schemas/"
_KEPT = ("type", "description", "enum")

_DEPTH = 3
"""Objects in objects in members of the answer are not described further: the list of tools is read
by every language model before it says a word."""


def schema_of(kind: type[Struct]) -> Json:
    """The output schema of a tool."""
    _, own = msgspec.json.schema_components((kind,), ref_template=_PREFIX + "{name}")
    known = {**own, **schemas.components()}
    schema = _flat(schemas.reference(kind.__name__), known, _DEPTH)
    return {**schema, "required": [field.encode_name for field in msgspec.structs.fields(kind)]}


def _flat(schema: Json, known: dict[str, Json], depth: int) -> Json:
    """A schema without references, unions and what structs say of themselves."""
    if "anyOf" in schema:
        return _nullable(schema, known)
    if "$ref" in schema:
        found = dict(known[str(schema["$ref"]).removeprefix(_PREFIX)])
        found.pop("description", None)
        return _flat(found | {k: v for k, v in schema.items() if k != "$ref"}, known, depth)
    flat = {keyword: schema[keyword] for keyword in _KEPT if keyword in schema}
    if "enum" in schema:
        flat["type"] = "string"
    if "maximum" in schema:
        flat.setdefault("description", f"{schema['minimum']} to {schema['maximum']}")
    if "properties" in schema and depth:
        members = msgspec.convert(schema["properties"], dict[str, Json])
        flat["properties"] = {
            name: _flat(member, known, depth - 1) for name, member in members.items()
        }
    if isinstance(schema.get("items"), dict):
        flat["items"] = _flat(msgspec.convert(schema["items"], Json), known, depth - 1)
    return flat


def _nullable(schema: Json, known: dict[str, Json]) -> Json:
    """A schema of what may be null: words instead of a union."""
    branches = [_flat(each, known, 0) for each in msgspec.convert(schema["anyOf"], list[Json])]
    words = " or ".join(str(branch["type"]) for branch in branches)
    said = schema.get("description")
    return {"description": f"{words}: {said}" if said else words}
