"""The definitions of the tools: small, portable, and saying enough (mcp.md 5.1, 5.2)."""

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
from reviewsd.snapshot.snapshots import Snapshot
from tests.support.mcp import Bench
from tests.support.publishing import Directories

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
"""Members of answers that are left out where insights.json leaves them out."""

every_tool = pytest.mark.parametrize("tool", DEFINITIONS, ids=NAMES)


def inside(part: object) -> Iterator[tuple[str, object]]:
    """Every member at any depth."""
    if isinstance(part, dict):
        yield from part.items()
    if isinstance(part, (dict, list)):
        for each in part.values() if isinstance(part, dict) else part:
            yield from inside(each)


def test_the_order_is_fixed() -> None:
    assert NAMES == [tool["name"] for tool in DEFINITIONS]
    assert NAMES == [tool.name for tool in TOOLS]


def test_the_list_is_small(tmp_path: Path) -> None:
    """Every model reads it before it says a word, with what the protocol adds."""
    directories = Directories(tmp_path)
    directories.write(name="ü" * 200)
    directories.publish()
    bench = Bench(Snapshot(directories.current.resolve()))
    assert len(LISTING) < len(bench.ask_modern("tools/list").body) <= 20_000


def test_the_tools_that_give_texts_say_whose_words_they_are() -> None:
    """What a customer has written may read like an order to a language model."""
    said = {tool["name"] for tool in DEFINITIONS if "never" in tool["description"]}
    assert {"search_reviews", "get_review", "get_reviews_since"} == said


@every_tool
def test_a_tool_says_what_it_is(tool: dict[str, Any]) -> None:
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
        assert ", e.g. " in member["description"] or "enum" in member or name == "cursor"
        assert "(?" not in member.get("pattern", "")


@every_tool
def test_an_output_schema_needs_no_thought(tool: dict[str, Any]) -> None:
    schema = tool["outputSchema"]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    optional = OPTIONAL.get(tool["name"], {"note"} & schema["properties"].keys())
    assert [name for name in schema["properties"] if name not in optional] == schema["required"]
    words = {name for name, _ in inside(schema)}
    assert not words & {"$ref", "$defs", "anyOf", "oneOf", "allOf", "additionalProperties"}
    assert not [value for name, value in inside(schema) if name == "type" and value == "null"]


@pytest.mark.parametrize("parameter", SEARCH_PARAMETERS, ids=lambda each: each.name)
def test_search_takes_what_http_takes(parameter: Any) -> None:  # noqa: ANN401  pytest's id function
    """The bounds come from one table."""
    search = next(tool for tool in DEFINITIONS if tool["name"] == "search_reviews")
    schema = search["inputSchema"]["properties"][parameter.name]
    shared = ("type", "minimum", "maximum", "default")
    expected = {key: value for key, value in of_parameter(parameter).items() if key in shared}
    assert expected == {key: value for key, value in schema.items() if key in shared}
    assert list(search["inputSchema"]["properties"]) == [each.name for each in SEARCH_PARAMETERS]
