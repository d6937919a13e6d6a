"""Renders the OpenAPI 3.1.0 description of the service (seed 1 and 9, contract 3, interfaces 4).

``openapi.yaml`` is the hand-written part. Addresses, parameters, schemas and examples are filled in
from the code that validates and renders the data. Deterministic: it has no time and no version.
"""

import importlib.resources
import re
from collections.abc import Mapping
from functools import cache

import msgspec
import yaml

from reviewsd.config.yaml_source import LOADER
from reviewsd.domain.parameter_rules import SearchParameter
from reviewsd.domain.reviews import Business
from reviewsd.domain.search_parameters import (
    FEED_CURSOR,
    REVIEW_ID,
    SEARCH_PARAMETERS,
    SINCE_DATE,
)
from reviewsd.http1 import problems, urls
from reviewsd.publish.openapi import examples, schemas
from reviewsd.publish.openapi.schemas import Json, reference

# The file may have any text here, but tools check the format of these members.
_URI = re.compile(r"https?://[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")
_EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")


def render(base_url: str, business: Business) -> bytes:
    """Render the description as UTF-8 JSON.

    Args:
        base_url: Origin of all addresses, without a slash at its end.
        business: The business; it is in the title and the contact.
    """
    values: Json = {
        "base_url": base_url,
        "title": f"{business.name} reviews",
        "contact": _contact(business),
        "search_parameters": [_parameter(row, "query") for row in SEARCH_PARAMETERS],
        "since_date": _parameter(SINCE_DATE, "path"),
        "feed_cursor": _parameter(FEED_CURSOR, "path"),
        "review_id": _parameter(REVIEW_ID, "path"),
        "topics": [f"{origin}{path}" for origin in (base_url, "") for path in urls.TOPICS],
        "hub.too_large": f"{problems.HUB_CONTENT_TOO_LARGE.detail}\n",
        "hub.misdirected": f"{problems.HUB_MISDIRECTED.detail}\n",
    }
    values |= {f"example.{name}": body for name, body in examples.answers(base_url).items()}
    values |= {
        f"problem.{kind}": _example(body) for kind, body in examples.refusals(base_url).items()
    }
    filled = {name: _filled(part, values) for name, part in _template().items()}
    components = msgspec.convert(filled["components"], dict[str, Json])
    components["schemas"] = dict(sorted({**schemas.components(), **components["schemas"]}.items()))
    return msgspec.json.encode(filled | {"components": components})


@cache
def _template() -> Json:
    """Return openapi.yaml without ``x-shared``, which only has YAML anchors."""
    text = (importlib.resources.files(__package__) / "openapi.yaml").read_text("utf-8")
    template = msgspec.convert(yaml.load(text, Loader=LOADER), Json)  # noqa: S506  both are safe
    return {name: part for name, part in template.items() if name != "x-shared"}


def _filled(part: object, values: Mapping[str, object]) -> object:
    """Replace each ``${name}`` in a part of the file.

    Raises:
        KeyError: A name has no value.
    """
    match part:
        case str() if part.startswith("${") and part.endswith("}"):
            return values[part[2:-1]]
        case str():
            return part.replace("${base_url}", str(values["base_url"]))
        case list():
            return [entry for item in part for entry in _entries(item, values)]
        case dict():
            return {name: _filled(value, values) for name, value in part.items()}
    return part


def _entries(entry: object, values: Mapping[str, object]) -> list[object]:
    """Fill in an item of a list; a name whose value is a list becomes several items."""
    filled = _filled(entry, values)
    return filled if isinstance(entry, str) and isinstance(filled, list) else [filled]


def _contact(business: Business) -> Json:
    contact: Json = {"name": business.name}
    if business.url and _URI.fullmatch(business.url):
        contact["url"] = business.url
    if business.email and _EMAIL.fullmatch(business.email):
        contact["email"] = business.email
    return contact


def _parameter(row: SearchParameter, place: str) -> Json:
    """Describe a row of the parameter table, sent in the ``query`` or the ``path``."""
    return {
        "name": row.name,
        "in": place,
        "required": place == "path",
        "description": row.description,
        "schema": schemas.of_parameter(row),
        "example": row.example,
        **({"allowEmptyValue": True} if place == "query" else {}),
    }


def _example(problem: object) -> Json:
    """Return the content of an error response, in both media types of problem details."""
    media = {"schema": reference("Problem"), "example": problem}
    return {"application/json": media, "application/problem+json": media}
