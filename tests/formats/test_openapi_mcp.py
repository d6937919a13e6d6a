"""The MCP endpoint in the OpenAPI document against what answers there (mcp.md 2; contract 4)."""

import json
from typing import Any

import jsonschema
import pytest

from reviewsd.domain.reviews import Business
from reviewsd.formats import openapi, openapi_mcp, paths
from reviewsd.mcp import revisions
from reviewsd.mcp.jsonrpc import JsonRpcError, Request, read_body
from reviewsd.mcp.server import MAX_BATCH, NO_ROOM, NOT_ALLOWED, Answer
from reviewsd.mcp.sessions import TOKEN_LENGTH
from reviewsd.web import mcp

DOCUMENT: dict[str, Any] = json.loads(openapi.render("https://a.example", Business(name="Acme")))
ITEM = DOCUMENT["paths"][paths.MCP]
(MEDIA,) = ITEM["post"]["requestBody"]["content"].values()


def example(method: str, status: int) -> Any:  # noqa: ANN401  JSON
    (media,) = ITEM[method]["responses"][str(status)]["content"].values()
    return media["example"]


def test_it_is_asked_with_post_and_delete() -> None:
    assert {"post", "delete"} == ITEM.keys()
    assert ["application/json"] == list(ITEM["post"]["requestBody"]["content"])
    statuses = "200 202 400 403 404 406 413 415 421 500 503"
    assert statuses == " ".join(ITEM["post"]["responses"])
    assert "204 400 403 404 405 421 503" == " ".join(ITEM["delete"]["responses"])


@pytest.mark.parametrize("method", ["post", "delete"])
def test_every_answer_is_json_that_is_not_kept(method: str) -> None:
    for status, answer in ITEM[method]["responses"].items():
        assert ([] if status in {"202", "204"} else ["application/json"]) == list(answer["content"])
        assert "no-store" == answer["headers"]["Cache-Control"]["schema"]["const"]
        assert ("Retry-After" in answer["headers"]) == (status == "503")


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("post", mcp.FOREIGN_ORIGIN),
        ("post", mcp.FOREIGN_HOST),
        ("post", mcp.WRONG_TYPE),
        ("post", mcp.NOT_ACCEPTED),
        ("post", mcp.UNAVAILABLE),
        ("delete", mcp.FOREIGN_ORIGIN),
        ("delete", mcp.FOREIGN_HOST),
        ("delete", NO_ROOM),
        ("delete", mcp.UNSTORED),
    ],
)
def test_the_examples_of_refusals_are_what_is_answered(method: str, answer: Answer) -> None:
    assert example(method, answer.status) == json.loads(b"".join(answer.body))


def test_a_method_that_is_not_described_is_not_allowed() -> None:
    assert (b"Allow", b"POST, DELETE, OPTIONS") in NOT_ALLOWED.headers


def test_the_example_is_a_message() -> None:
    message = read_body(json.dumps(MEDIA["example"]).encode())
    assert isinstance(message, Request)
    assert "initialize" == message.method


def test_the_revisions_are_those_that_are_served() -> None:
    served = (*revisions.HANDSHAKE, revisions.STATELESS)
    assert openapi_mcp.REVISIONS == tuple(each.name for each in served)
    assert all(name in json.dumps(ITEM) for name in (served[0].name, served[-1].name))


def test_the_bounds_are_those_of_what_answers() -> None:
    _, batch = MEDIA["schema"]["anyOf"]
    assert MAX_BATCH == batch["maxItems"]
    assert f"at most {MAX_BATCH} messages" in ITEM["post"]["description"]
    pattern = ITEM["post"]["responses"]["200"]["headers"]["Mcp-Session-Id"]["schema"]["pattern"]
    assert f"{{{TOKEN_LENGTH}}}" in pattern


@pytest.mark.parametrize(
    "value",
    [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": "a", "method": "ping", "params": {}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        [{"jsonrpc": "2.0", "id": 1, "method": "ping"}],
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": True, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
        5,
        "ping",
    ],
)
def test_the_schema_accepts_what_is_a_message(value: object) -> None:
    try:
        read_body(json.dumps(value).encode())
    except JsonRpcError:
        accepted = False
    else:
        accepted = True
    assert accepted is jsonschema.Draft202012Validator(MEDIA["schema"]).is_valid(value)
