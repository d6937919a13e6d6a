"""What is served, as JSON Schema 2020-12: the schemas of the OpenAPI document.

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
from reviewsd.domain.reviews import AggregateRating, Business, Review
from reviewsd.domain.search_parameters import ParameterType, SearchParameter
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
    "JsonFeed": "A JSON Feed 1.1 document with the newest reviews.",
    "Review": "One customer review.",
}
"""Descriptions of structs whose docstring speaks to the operator or to us."""

_CLIENT_NAMES = {
    "Author": "FeedAuthor",
    "Extension": "FeedReview",
    "HubLink": "FeedHub",
    "Item": "FeedItem",
}
"""Names that say enough in their module, but not in a client made from this document."""


_MAYBE_NULL_RATING = "rating_value"  # null without reviews; all else is computed where missing


@cache
def components() -> Mapping[str, Json]:
    """The schemas of structs, by name in the document. Made once: nobody changes them."""
    schemas = _schemas(AggregateRating, Business, Insights, JsonFeed, Review)
    for name in _schemas(Business, AggregateRating, Review):
        served = _members(schemas[name])
        schemas[name]["required"] = [each for each in served if each not in STAMPS]
    for name in ("AggregateRating", "Distribution"):
        schemas[name]["properties"] = {
            member: schema if member == _MAYBE_NULL_RATING else _never_null(schema)
            for member, schema in _members(schemas[name]).items()
        }
    insights = schemas["Insights"]
    insights["required"] = [name for name in _members(insights) if name not in NOT_FILLED_IN]
    return dict(sorted((_client_name(name), schema) for name, schema in schemas.items()))


def reference(name: str) -> Json:
    """A reference to the schema of a struct."""
    return {"$ref": f"#/components/schemas/{_client_name(name)}"}


def of_parameter(parameter: SearchParameter) -> Json:
    """The schema of a request parameter."""
    schema: Json
    if parameter.kind in {ParameterType.INTEGER, ParameterType.NUMBER}:
        schema = {
            "type": parameter.kind.value,
            "minimum": parameter.minimum,
            "maximum": parameter.maximum,
            "default": parameter.default,
        }
    else:
        schema = {
            "type": "string",
            "maxLength": parameter.maximum,
            "enum": parameter.choices or None,
            "default": parameter.default,
            **_SPELLED.get(parameter.kind, {}),
        }
    return {keyword: value for keyword, value in schema.items() if value is not None}


_ADDRESS = "^https?://"
"""JavaScript refuses our own grammar in Unicode mode, in which ajv and generated clients compile it."""


def _schemas(*kinds: type[Struct]) -> dict[str, Json]:
    """The schemas of structs and of all that they hold, by name of the struct."""
    _, found = msgspec.json.schema_components(kinds, ref_template="{name}")
    schemas = {}
    for name, schema in found.items():
        description = _FROM_OUTSIDE.get(name, schema["description"])
        schemas[name] = {
            **{key: _served(value) for key, value in schema.items() if key != "title"},
            # our docstrings are reStructuredText, descriptions are CommonMark
            "description": description.replace("``", "`"),
        }
    return schemas


def _served(part: object) -> object:
    """A part of a schema without defaults, its references resolved.

    It walks over maps of members as if they were schemas: no member may be called like one of the
    keywords that are handled here.
    """
    match part:
        case list():
            return [_served(item) for item in part]
        case dict():
            served = {key: _served(value) for key, value in part.items() if key != "default"}
            if "$ref" in served:
                served |= reference(str(served["$ref"]))
            if served.get("format") == "uri":
                served["pattern"] = _ADDRESS
            return {"type": "string", **served} if "enum" in served else served
    return part


def _client_name(struct_name: str) -> str:
    return _CLIENT_NAMES.get(struct_name, struct_name)


def _members(schema: Json) -> dict[str, Json]:
    return msgspec.convert(schema["properties"], dict[str, Json])


def _never_null(schema: Json) -> Json:
    """The schema of a value that is null at most in the operator's file."""
    branches = msgspec.convert(schema["anyOf"], list[Json])
    return {key: value for key, value in schema.items() if key != "anyOf"} | branches[0]
