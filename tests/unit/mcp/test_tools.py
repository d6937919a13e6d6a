"""The definitions of the tools are small, portable and complete (mcp.md 5.1, 5.2)."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from reviewsd.domain.search_parameters import SEARCH_PARAMETERS
from reviewsd.mcp.tools import LISTING, TOOLS
from reviewsd.publish.openapi.schemas import of_parameter
from tests.support.mcp import Bench
from tests.support.publishing import Directories
from tests.support.tools import published

DEFINITIONS: list[dict[str, Any]] = json.loads(LISTING)["tools"]
NAMES = [
    "get_business",
    "search_reviews",
    "get_aspect_sentiment",
    "get_technician",
    "get_service",
    "get_topics",
    "get_sentiment_trend",
    "get_faq",
    "get_summary",
    "get_review",
    "get_reviews_since",
]

FIGURES = {
    *("mention_count", "positive_count", "neutral_count", "negative_count", "positive_pct"),
    *("score", "average_rating", "note"),
}
OPTIONAL = {
    **dict.fromkeys(("get_aspect_sentiment", "get_technician", "get_service"), FIGURES),
    "get_sentiment_trend": {"trend", "note"},
    "get_summary": {
        *("review_count", "method", "overall_sentiment", "aspects", "technicians", "services"),
        *("problems", "service_areas", "topics", "note"),
    },
}
"""Members of results that are absent if insights.json does not have them."""

every_tool = pytest.mark.parametrize("tool", DEFINITIONS, ids=NAMES)


def inside(part: object) -> Iterator[tuple[str, object]]:
    """Yield every member at any depth."""
    if isinstance(part, dict):
        yield from part.items()
    if isinstance(part, (dict, list)):
        for member in part.values() if isinstance(part, dict) else part:
            yield from inside(member)


def test_the_order_is_fixed() -> None:
    assert NAMES == [tool["name"] for tool in DEFINITIONS]
    assert NAMES == [tool.name for tool in TOOLS]


def test_the_list_is_small(tmp_path: Path) -> None:
    """Every language model reads the list, with the members that the protocol adds."""
    directories = Directories(tmp_path)
    directories.write(name="ü" * 200)
    bench = Bench(published(directories))
    assert len(LISTING) < len(bench.ask_modern("tools/list").body) <= 20_000


def test_tools_with_review_texts_warn_about_instructions() -> None:
    """A review may read like an instruction to a language model."""
    names = {tool["name"] for tool in DEFINITIONS if "never" in tool["description"]}
    assert {"search_reviews", "get_review", "get_reviews_since"} == names


@every_tool
def test_tool_is_described(tool: dict[str, Any]) -> None:
    assert re.fullmatch("[a-z_]{1,64}", tool["name"])
    assert {
        "title": tool["title"],
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    } == tool["annotations"]
    assert 150 <= len(tool["description"]) <= 600
    assert tool["description"].startswith("Returns ")
    assert "Use it " in tool["description"] or "Start here" in tool["description"]
    siblings = [name for name in NAMES if name in tool["description"]]
    assert siblings
    assert tool["name"] not in siblings


@every_tool
def test_an_input_schema_is_flat_and_portable(tool: dict[str, Any]) -> None:
    schema = tool["inputSchema"]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert set(schema) <= {"type", "properties", "required"}
    assert schema.get("required") != []
    assert set(schema.get("required", [])) <= set(schema["properties"])
    allowed = {"type", "description", "minimum", "maximum", "default", "pattern", "format"}
    for name, member in schema["properties"].items():
        assert set(member) <= allowed | {"minLength", "enum"}
        assert isinstance(member["type"], str)
        is_listed = "enum" in member or member["type"] == "boolean"
        assert ", e.g. " in member["description"] or is_listed or name == "cursor"
        assert "(?" not in member.get("pattern", "")


@every_tool
def test_output_schema_is_flat_and_portable(tool: dict[str, Any]) -> None:
    schema = tool["outputSchema"]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    optional = OPTIONAL.get(tool["name"], {"note"} & schema["properties"].keys())
    assert [name for name in schema["properties"] if name not in optional] == schema["required"]
    words = {name for name, _ in inside(schema)}
    assert not words & {"$ref", "$defs", "anyOf", "oneOf", "allOf", "additionalProperties"}
    assert not [value for name, value in inside(schema) if name == "type" and value == "null"]


@pytest.mark.parametrize("parameter", SEARCH_PARAMETERS, ids=lambda parameter: parameter.name)
def test_search_has_the_bounds_of_http(parameter: Any) -> None:
    """One table has the bounds of both."""
    search = next(tool for tool in DEFINITIONS if tool["name"] == "search_reviews")
    schema = search["inputSchema"]["properties"][parameter.name]
    shared = ("type", "minimum", "maximum", "default")
    expected = {key: value for key, value in of_parameter(parameter).items() if key in shared}
    assert expected == {key: value for key, value in schema.items() if key in shared}
    assert list(search["inputSchema"]["properties"]) == [
        parameter.name for parameter in SEARCH_PARAMETERS
    ]
