"""The OpenAPI document against OpenAPI 3.1, the parameter table, and what is really served."""

import datetime
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jsonschema
import openapi_spec_validator
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reviewsd import demo
from reviewsd.config import yaml_source
from reviewsd.domain.dataset import load
from reviewsd.domain.issues import InvalidParametersError
from reviewsd.domain.parameters import read_query
from reviewsd.domain.reviews import Business
from reviewsd.domain.search_parameters import SEARCH_PARAMETERS, SINCE_DATE
from reviewsd.domain.search_query import BY_RATING, CHANGED, SORTS, Cursor
from reviewsd.domain.times import STAMPS
from reviewsd.http1 import urls
from reviewsd.publish import compiler, messages
from reviewsd.publish.openapi import document as openapi
from reviewsd.publish.openapi import examples, schemas
from tests.support.daemon import HAND_MADE

BASE_URL = "https://reviews.acme.example"
BUSINESS = Business(
    name="Acme & Söhne", url="https://acme.example/?a=b", email="office@acme.example"
)
DEMO = Path(demo.__file__).parent

SINCE = "/api/reviews/since/{date}"
READS = [
    urls.REVIEWS,
    urls.SEARCH,
    SINCE,
    urls.INSIGHTS,
    urls.JSON_FEED,
    urls.ATOM_FEED,
    urls.OPENAPI,
]


def rendered(business: Business = BUSINESS) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(openapi.render(BASE_URL, business))
    return document


DOCUMENT = rendered()
OPERATIONS = {path: item["get"] for path, item in DOCUMENT["paths"].items() if "get" in item}


def objects(part: object) -> Iterator[dict[str, Any]]:
    """Every object of the document, outer ones first."""
    if isinstance(part, dict):
        yield part
    if isinstance(part, dict | list):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from objects(inner)


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """Resolve a reference; return anything else unchanged."""
    if "$ref" not in part:
        return part
    result = DOCUMENT
    for step in part["$ref"].removeprefix("#/").split("/"):
        result = result[step]
    return result


def check(value: object, schema: dict[str, Any]) -> None:
    """Raise ValidationError unless the value has the schema, formats included."""
    jsonschema.Draft202012Validator(
        {**schema, "components": DOCUMENT["components"]},
        format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
    ).validate(value)


def accepts(schema: dict[str, Any], value: object) -> bool:
    try:
        check(value, schema)
    except jsonschema.ValidationError:
        return False
    return True


def parameter(path: str, name: str) -> dict[str, Any]:
    (result,) = (
        row for row in map(resolved, OPERATIONS[path]["parameters"]) if row["name"] == name
    )
    return result


def test_document_is_valid_openapi_3_1() -> None:
    assert (DOCUMENT["openapi"], DOCUMENT["security"]) == ("3.1.0", [])
    openapi_spec_validator.validate(DOCUMENT)


def test_no_key_is_written_twice() -> None:
    """PyYAML silently keeps the last of two equal keys."""
    text = (Path(openapi.__file__).parent / "openapi.yaml").read_text()
    waiting = [yaml.compose(text, Loader=yaml_source.LOADER)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.MappingNode):
            names = [name.value for name, _ in node.value]
            assert len(names) == len(set(names)), f"{node.start_mark}: {names}"
            waiting += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value


def test_every_place_is_filled_once() -> None:
    """A placeholder in the operator's text is not filled in."""
    document = rendered(Business(name="${base_url}", url="https://acme.example/${title}"))
    assert "${base_url} reviews" == document["info"]["title"]
    assert "${" not in json.dumps(
        {**document, "info": document["info"] | {"title": "", "contact": {}}}
    )


@pytest.mark.parametrize(
    ("business", "contact"),
    [
        pytest.param(
            BUSINESS,
            {
                "name": "Acme & Söhne",
                "url": "https://acme.example/?a=b",
                "email": "office@acme.example",
            },
            id="both",
        ),
        pytest.param(Business(name="Acme"), {"name": "Acme"}, id="neither"),
        pytest.param(
            Business(name="Acme", url="https://acme.example/a b", email="ask at the desk"),
            {"name": "Acme"},
            id="neither is well-formed",
        ),
    ],
)
def test_contact_says_what_business_says(business: Business, contact: dict[str, str]) -> None:
    document = rendered(business)
    assert document["info"]["contact"] == contact


@pytest.mark.parametrize("path", OPERATIONS)
def test_an_operation_has_what_generators_and_readers_need(path: str) -> None:
    operation = OPERATIONS[path]
    assert operation["summary"]
    assert operation["description"]
    assert set(operation["tags"]) <= {tag["name"] for tag in DOCUMENT["tags"]}
    assert [item["operationId"] for item in OPERATIONS.values()].count(
        operation["operationId"]
    ) == 1
    assert any(status.startswith("4") for status in operation["responses"])
    (media,) = operation["responses"]["200"]["content"].values()
    assert media["example"]


@pytest.mark.parametrize("path", READS)
def test_a_read_is_conditional_and_declares_its_headers(path: str) -> None:
    dated = path != urls.SEARCH
    sent = [row["name"] for row in map(resolved, OPERATIONS[path]["parameters"])]
    assert ("If-None-Match" in sent, "If-Modified-Since" in sent) == (True, dated)
    always = {"ETag", "Cache-Control", "Link", "Vary", "Access-Control-Allow-Origin"}
    headers = OPERATIONS[path]["responses"]["200"]["headers"]
    assert set(headers) == always | ({"Last-Modified"} if dated else set())
    assert {"304", "406", "412", "413", "421"} <= OPERATIONS[path]["responses"].keys()
    unchanged = resolved(OPERATIONS[path]["responses"]["304"])
    assert set(unchanged["headers"]) == always | {"Last-Modified"}
    assert "content" not in unchanged


@pytest.mark.parametrize("path", [*READS, urls.HEALTH])
def test_a_refusal_is_a_problem_of_its_status_in_both_media_types(path: str) -> None:
    refused = {
        status: resolved(answer)
        for status, answer in OPERATIONS[path]["responses"].items()
        if status.startswith("4")
    }
    assert refused
    for status, answer in refused.items():
        assert ["application/json", "application/problem+json"] == list(answer["content"])
        for media in answer["content"].values():
            assert schemas.reference("Problem") == media["schema"]
            assert int(status) == media["example"]["status"]


def test_every_component_is_referred_to() -> None:
    used = {part["$ref"] for part in objects(DOCUMENT) if "$ref" in part}
    defined = {
        f"#/components/{section}/{name}"
        for section, members in DOCUMENT["components"].items()
        for name in members
    }
    assert used == defined


def test_every_example_is_valid() -> None:
    described = [part for part in objects(DOCUMENT) if "example" in part and "schema" in part]
    assert len(described) > len(OPERATIONS)
    for part in described:
        check(part["example"], part["schema"])


def test_the_example_of_a_bad_search_is_what_it_is_answered() -> None:
    content = DOCUMENT["components"]["responses"]["InvalidParameters"]["content"]
    with pytest.raises(InvalidParametersError) as refusal:
        read_query(examples.INVALID_SEARCH)
    issues = [issue.as_json() for issue in refusal.value.issues]
    assert content["application/json"]["example"]["issues"] == issues


def test_the_parameters_are_those_of_the_table() -> None:
    described = map(resolved, OPERATIONS[urls.SEARCH]["parameters"])
    in_query = [row for row in described if row["in"] == "query"]
    assert [
        (row["name"], row["required"], row["description"], row["example"]) for row in in_query
    ] == [(row.name, False, row.description, row.example) for row in SEARCH_PARAMETERS]
    assert [row["schema"].get("default") for row in in_query] == [
        row.default for row in SEARCH_PARAMETERS
    ]
    date = parameter(SINCE, SINCE_DATE.name)
    assert (date["in"], date["required"]) == ("path", True)
    assert (date["description"], date["example"]) == (SINCE_DATE.description, SINCE_DATE.example)
    assert date["schema"] == parameter(urls.SEARCH, "since")["schema"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("rating", value) for value in (0, 1, 5, 5.0, 6, 4.5, -1, "five", "1_0")),
        *(("min_rating", value) for value in (0.99, 1, 4.5, 5, 5.01, "NaN", "Infinity")),
        *(("limit", value) for value in (0, 1, 100, 101, 20.5)),
        *(("query", value) for value in ("", "boiler", "é" * 200, "x" * 201)),
        *(("mentions_technician", value) for value in ("", "Sam", "x" * 1000)),
        *(("sentiment", value) for value in ("positive", "neutral", "negative", "Positive", "bad")),
        *(("since", value) for value in ("2024-02-29", "0001-01-01", "9999-12-31", "10000-01-01")),
        *(("since", value) for value in ("2025-02-29", "2025-13-01", "2025-00-10", "2025-1-31")),
        *(("since", value) for value in ("20250131", "0000-01-01", "tomorrow", "\u0662025-01-31")),
        *(("cursor", value) for value in ("abc", "%" * 16, "x" * 235)),
        ("cursor", Cursor(datetime.date.min, "x").encode()),
        ("cursor", Cursor(datetime.date.max, "~" * 128).encode()),
        *(
            ("changed_since", value)
            for value in ("2025-01-31", "2025-01-31T12:00:00", "0000-01-01")
        ),
        *(("changed_since", value) for value in ("2025-01-31t23:59:59.5+05:30", "2025-1-1", "now")),
        *(("sort", value) for value in ("newest", "changed", "oldest", "highest", "best")),
    ],
)
def test_schema_of_parameter_accepts_what_validator_accepts(name: str, value: str | float) -> None:
    try:
        read_query(urlencode({name: value}).encode())
    except InvalidParametersError as error:
        accepted = False
        for issue in error.issues:
            check(issue.as_json(), schemas.reference("Issue"))
    else:
        accepted = True
    assert accepts(parameter(urls.SEARCH, name)["schema"], value) is accepted


@given(
    st.dates(),
    st.from_regex(r"[!-~]{1,128}", fullmatch=True),
    st.sampled_from(SORTS),
    st.datetimes(timezones=st.just(datetime.UTC)),
)
def test_every_cursor_has_the_pattern(
    date: datetime.date, review_id: str, sort: str, moment: datetime.datetime
) -> None:
    changed_at = moment if sort == CHANGED else None
    rating = 5 if sort in BY_RATING else None
    cursor = Cursor(date, review_id, sort, changed_at=changed_at, rating=rating).encode()
    assert accepts(parameter(urls.SEARCH, "cursor")["schema"], cursor)


@pytest.mark.parametrize(
    "name",
    ["Business", "Address", "AggregateRating", "Distribution", "Review", "OwnerReply", "Geo"],
)
def test_members_that_are_always_served_are_required(name: str) -> None:
    """All but what only some files have: stamps, locations, and the mark of a reply without a date."""
    absent = {*STAMPS, "location", "locations", "undated"}
    schema = DOCUMENT["components"]["schemas"][name]
    assert schema["required"] == [item for item in schema["properties"] if item not in absent]


def test_insights_require_what_is_filled_in() -> None:
    """Figures that the file leaves out are left out, as prose is (insights.md 5)."""
    schema = DOCUMENT["components"]["schemas"]["Insights"]
    assert set(schema["properties"]) - set(schema["required"]) == {
        *("review_count", "overall_sentiment", "summary", "pull_quote")
    }
    for name in ("OverallSentiment", "Entity", "PerReview", "Temporal"):
        assert not DOCUMENT["components"]["schemas"][name].get("required")


@pytest.mark.parametrize("name", DOCUMENT["components"]["schemas"])
def test_a_schema_is_described_and_allows_more_members(name: str) -> None:
    schema = DOCUMENT["components"]["schemas"][name]
    assert schema["description"]
    assert "``" not in schema["description"]
    assert ".md" not in schema["description"]
    assert schema.get("additionalProperties", True) is not False


def test_served_members_have_no_default() -> None:
    assert not [part for part in objects(DOCUMENT["components"]["schemas"]) if "default" in part]


_SYNTAX = frozenset("^$\\.*+?()[]{}|/-")
_CLASSES = frozenset("dDsSwWbBnrtfv0123456789xu")


def test_patterns_work_in_unicode_mode() -> None:
    """ajv, Redocly and generated clients compile each with ``new RegExp(pattern, "u")``."""
    for pattern in {str(part["pattern"]) for part in objects(DOCUMENT) if "pattern" in part}:
        escaped = set(re.findall(r"\\(.)", pattern))
        assert escaped <= _SYNTAX | _CLASSES, pattern
        assert not re.search(r"\(\?[^:=!<]", pattern), "only Python knows this kind of group"
        assert len(pattern) < 160


def test_addresses_have_a_format_and_a_short_pattern() -> None:
    """A grammar of 450 characters helps no client: a URL library does."""
    schemas_of = DOCUMENT["components"]["schemas"]
    expected = {"type": "string", "format": "uri", "pattern": "^https?://"}
    assert expected == schemas_of["Business"]["properties"]["url"]["anyOf"][0]
    assert expected == schemas_of["Business"]["properties"]["social_urls"]["items"]
    assert expected == schemas_of["Review"]["properties"]["source_url"]["anyOf"][0]


def test_examples_of_parameters_work_together() -> None:
    """A client that is tried with all examples must not be refused."""
    named = {
        item["name"]: item["example"]
        for item in DOCUMENT["paths"][urls.SEARCH]["get"]["parameters"]
        if "name" in item
    }
    assert len(SEARCH_PARAMETERS) == len(named)
    texts = {
        name: item if isinstance(item, str) else json.dumps(item) for name, item in named.items()
    }
    query = read_query(urlencode(texts).encode())
    assert (query.min_rating or 9) <= (query.rating or 0) <= (query.max_rating or 0)
    assert (query.since or datetime.date.max) <= (query.until or datetime.date.min)


SMALLEST = b'{"business": {"name": "Acme"}, "reviews": []}'
STRANGE = b"""{"business": {"name": "Acme", "address": {"city": "Dover", "planet": "Earth"},
    "founded": 1999, "hours": [{"day": "friday", "opens": "18:00", "closes": "24:00"}]},
  "aggregate_rating": {"rating_value": null, "review_count": null, "distribution": {"1": null}},
  "reviews": [{"id": "1", "author": "Jo", "rating": 5, "date": "2025-01-01", "source": "yelp",
    "verified": false, "text": "", "mood": "sunny",
    "owner_reply": {"text": "", "date": "2025-01-02", "by": "Al"}}]}"""
LENIENT = b"""{"aspects": ["price", {"label": "Speed"}], "entities": {"technicians": ["Sam"]},
  "generated_at": null, "review_count": null, "per_review": {"1": {"aspects": ["price"]}},
  "faq": [{"question": "Why?", "answer": "So."}], "pull_quote": null, "more": 1}"""


@pytest.mark.parametrize(
    ("reviews", "insights"),
    [
        pytest.param((DEMO / "reviews.json").read_bytes(), HAND_MADE.read_bytes(), id="demo"),
        pytest.param(SMALLEST, b"{}", id="smallest"),
        pytest.param(STRANGE, LENIENT, id="strange"),
    ],
)
def test_documents_match_their_schemas(reviews: bytes, insights: bytes, tmp_path: Path) -> None:
    settings = messages.CompileSettings(base_url=BASE_URL, authority="acme.example", year=2025)
    dataset = load(reviews, insights)
    manifest = compiler.compile_folder(dataset, settings, tmp_path, lambda *_: None)
    described = [item for item in manifest.documents if item.path in OPERATIONS]
    assert {urls.REVIEWS, urls.ATOM_FEED, urls.OPENAPI} <= {item.path for item in described}
    for document in described:
        content = OPERATIONS[document.path]["responses"]["200"]["content"]
        media_type = document.media_type.partition(";")[0]
        text = (tmp_path / document.file).read_text()
        served = json.loads(text) if media_type == "application/json" else text
        check(served, content[media_type]["schema"])
