"""The OpenAPI 3.1.0 description of the service (seed 1 and 9, contract 3, interfaces 4).

``openapi.yaml`` beside this module is the document as it is written by hand. What the program knows is
filled in here: addresses, parameters, schemas and examples come from what validates, holds and
renders the data. Deterministic like every document: neither a clock nor our own version is in it.
"""

import importlib.resources
import re
from collections.abc import Mapping
from functools import cache

import msgspec
import yaml

from reviewsd.config.yaml_source import LOADER
from reviewsd.domain.reviews import Business
from reviewsd.domain.search_parameters import (
    FEED_CURSOR,
    REVIEW_ID,
    SEARCH_PARAMETERS,
    SINCE_DATE,
    SearchParameter,
)
from reviewsd.http1 import problems, urls
from reviewsd.publish.openapi import examples, schemas
from reviewsd.publish.openapi.schemas import Json, reference

# An operator may write anything; the format of these members is checked by every tool.
_URI = re.compile(r"https?://[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")
_EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")


class _Components(msgspec.Struct):
    """What the document refers to, by name."""

    schemas: dict[str, Json]
    parameters: Json
    headers: Json
    responses: Json


def render(base_url: str, business: Business) -> bytes:
    """The description as UTF-8 JSON.

    Args:
        base_url: Origin of all addresses, without a slash at its end.
        business: Whose reviews are served; names the document and the contact.
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
    values |= {f"example.{name}": each for name, each in examples.answers(base_url).items()}
    values |= {
        f"problem.{kind}": _example(each) for kind, each in examples.refusals(base_url).items()
    }
    filled = {name: _filled(part, values) for name, part in _written().items()}
    components = msgspec.convert(filled["components"], _Components)
    components.schemas = dict(sorted({**schemas.components(), **components.schemas}.items()))
    return msgspec.json.encode(filled | {"components": components})


@cache
def _written() -> Json:
    """The file, without what is shared by its parts."""
    text = (importlib.resources.files(__package__) / "openapi.yaml").read_text("utf-8")
    written = msgspec.convert(yaml.load(text, Loader=LOADER), Json)  # noqa: S506  both are safe
    return {name: part for name, part in written.items() if name != "x-shared"}


def _filled(part: object, values: Mapping[str, object]) -> object:
    """A part of the file with values in place of ``${name}``.

    Raises:
        KeyError: There is no such value.
    """
    match part:
        case str() if part.startswith("${") and part.endswith("}"):
            return values[part[2:-1]]
        case str():
            return part.replace("${base_url}", str(values["base_url"]))
        case list():
            return [entry for each in part for entry in _entries(each, values)]
        case dict():
            return {name: _filled(each, values) for name, each in part.items()}
    return part


def _entries(entry: object, values: Mapping[str, object]) -> list[object]:
    """What stands for an entry of a list: a list of values stands for as many entries."""
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
    """A row of the parameter table, to be sent in the ``query`` or the ``path``."""
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
    """The content of a refusal, in both media types of problem details."""
    media = {"schema": reference("Problem"), "example": problem}
    return {"application/json": media, "application/problem+json": media}
