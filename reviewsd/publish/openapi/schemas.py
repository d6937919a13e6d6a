"""Returns the JSON Schemas (2020-12) of the OpenAPI document.

Made from the structs that validate the operator's files, so they cannot drift. Two things differ
between a file and what is served, and are put right here: defaults have become values, and members
that are always served are required. Unknown members stay allowed everywhere (contract 1). The schemas
of answers that no struct holds stand in ``openapi.yaml``.
"""

from collections.abc import Mapping
from functools import cache

import msgspec
from msgspec import Struct

from reviewsd.domain.insights import NOT_FILLED_IN, Insights
from reviewsd.domain.parameter_rules import ParameterType, SearchParameter
from reviewsd.domain.reviews import SERVED_PATTERN, AggregateRating, Business, Review
from reviewsd.domain.times import STAMPS
from reviewsd.publish.json_feed import JsonFeed

Json = dict[str, object]
"""An object as JSON can write it: a schema, or another part of the document."""

# all that can be said without a calendar; years begin at 1
_DAY = "(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_HOUR = "([01][0-9]|2[0-3]):[0-5][0-9]"

_SPELLED: dict[ParameterType, Json] = {
    ParameterType.DATE: {"format": "date", "pattern": f"^{_DAY}$"},
    ParameterType.MOMENT: {
        "pattern": rf"^{_DAY}([Tt]{_HOUR}:[0-5][0-9](\.[0-9]+)?([Zz]|[-+]{_HOUR}))?$"
    },
    # unpadded base64url of a date, a slash and 1 to 128 characters, after an order and a time for some
    ParameterType.CURSOR: {"pattern": "^[A-Za-z0-9_-]{16,234}$"},
}


_FROM_OUTSIDE = {
    "AggregateRating": "Average and number of the ratings.",
    "Business": "The business whose reviews are served.",
    "Insights": "What the reviews say, by aspect, entity, topic, month and review.",
    "Location": "One of several places of the business.",
    "JsonFeed": "A JSON Feed 1.1 document with the newest reviews.",
    "Review": "One customer review.",
}
"""Descriptions that replace docstrings written for the operator or for developers."""

_CLIENT_NAMES = {
    "Author": "FeedAuthor",
    "Extension": "FeedReview",
    "HubLink": "FeedHub",
    "Item": "FeedItem",
}
"""Longer names for generated clients, which have no modules."""


_ABSENT = frozenset((*STAMPS, "location", "locations", "undated"))
"""Members of reviews, replies and the business that are served only where the file has them."""

_MAYBE_NULL_RATING = "rating_value"  # null without reviews; all else is computed where missing


@cache
def components() -> Mapping[str, Json]:
    """Return the schemas of structs by name; callers must not change them."""
    schemas = _schemas(AggregateRating, Business, Insights, JsonFeed, Review)
    for name in _schemas(Business, AggregateRating, Review):
        served = _members(schemas[name])
        schemas[name]["required"] = [member for member in served if member not in _ABSENT]
    for name in ("AggregateRating", "Distribution"):
        schemas[name]["properties"] = {
            member: schema if member == _MAYBE_NULL_RATING else _never_null(schema)
            for member, schema in _members(schemas[name]).items()
        }
    insights = schemas["Insights"]
    insights["required"] = [name for name in _members(insights) if name not in NOT_FILLED_IN]
    return dict(sorted((_client_name(name), schema) for name, schema in schemas.items()))


def reference(name: str) -> Json:
    """Return a reference to the schema of a struct."""
    return {"$ref": f"#/components/schemas/{_client_name(name)}"}


def of_parameter(parameter: SearchParameter) -> Json:
    """Return the schema of a request parameter."""
    schema: Json
    if parameter.kind in {ParameterType.INTEGER, ParameterType.NUMBER}:
        schema = {
            "type": parameter.kind.value,
            "minimum": parameter.minimum,
            "maximum": parameter.maximum,
            "default": parameter.default,
        }
    elif parameter.kind is ParameterType.BOOLEAN:
        schema = {"type": "boolean"}
    else:
        schema = {
            "type": "string",
            "maxLength": parameter.maximum,
            "enum": parameter.choices or None,
            "default": parameter.default,
            **_SPELLED.get(parameter.kind, {}),
        }
    return {keyword: value for keyword, value in schema.items() if value is not None}


def _schemas(*kinds: type[Struct]) -> dict[str, Json]:
    """Return the schemas of structs and of all nested structs, by name."""
    _, components = msgspec.json.schema_components(kinds, ref_template="{name}")
    schemas = {}
    for name, schema in components.items():
        description = _FROM_OUTSIDE.get(name, schema["description"])
        schemas[name] = {
            **{key: _served(value) for key, value in schema.items() if key != "title"},
            # Docstrings are reStructuredText, descriptions are CommonMark.
            "description": description.replace("``", "`"),
        }
    return schemas


def _served(part: object) -> object:
    """Return a part of a schema without defaults, with our references.

    Maps of members are handled like schemas, so no member may have the name of a keyword used here.
    """
    match part:
        case list():
            return [_served(item) for item in part]
        case dict():
            served = {key: _served(value) for key, value in part.items() if key != "default"}
            if "$ref" in served:
                served |= reference(str(served["$ref"]))
            if SERVED_PATTERN in served:
                served["pattern"] = served.pop(SERVED_PATTERN)
            return {"type": "string", **served} if "enum" in served else served
    return part


def _client_name(struct_name: str) -> str:
    return _CLIENT_NAMES.get(struct_name, struct_name)


def _members(schema: Json) -> dict[str, Json]:
    return msgspec.convert(schema["properties"], dict[str, Json])


def _never_null(schema: Json) -> Json:
    """Return the schema of a value that is never null when served."""
    branches = msgspec.convert(schema["anyOf"], list[Json])
    return {key: value for key, value in schema.items() if key != "anyOf"} | branches[0]
