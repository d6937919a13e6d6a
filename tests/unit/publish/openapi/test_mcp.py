"""The MCP endpoint in the OpenAPI document against what answers there (mcp.md 2; contract 4)."""

import json
import re
from typing import Any

import jsonschema
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reviewsd.domain.reviews import Business
from reviewsd.http1 import urls
from reviewsd.http1.problems import MCP_MAX_BODY
from reviewsd.mcp import revisions
from reviewsd.mcp.jsonrpc import JsonRpcError, JsonRpcRequest, read_body, read_member
from reviewsd.mcp.server import MAX_BATCH, NO_ROOM, McpAnswer
from reviewsd.mcp.sessions import TOKEN_LENGTH
from reviewsd.publish.openapi import document
from reviewsd.web import mcp

DOCUMENT: dict[str, Any] = json.loads(document.render("https://a.example", Business(name="Acme")))
ITEM = DOCUMENT["paths"][urls.MCP]
(MEDIA,) = ITEM["post"]["requestBody"]["content"].values()


def answer_of(method: str, status: int) -> Any:
    return ITEM[method]["responses"][str(status)]["content"]["application/json"]["example"]


def test_mcp_path_has_post_and_delete() -> None:
    assert ["application/json"] == list(ITEM["post"]["requestBody"]["content"])


@pytest.mark.parametrize("method", ["post", "delete"])
def test_every_answer_is_json_that_is_not_kept(method: str) -> None:
    """The events of ``subscriptions/listen`` are a response, too."""
    for status, answer in ITEM[method]["responses"].items():
        kinds = set(answer["content"]) - (
            {"text/event-stream"} if "post200" == method + status else set()
        )
        assert (set() if status in {"202", "204"} else {"application/json"}) == kinds
        assert "no-store" == answer["headers"]["Cache-Control"]["schema"]["const"]
        assert ("Retry-After" in answer["headers"]) == (status in {"429", "503"})


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("post", mcp.FOREIGN_ORIGIN),
        ("post", mcp.FOREIGN_HOST),
        ("post", mcp.WRONG_TYPE),
        ("post", mcp.NOT_ACCEPTED),
        ("post", mcp.UNAVAILABLE),
        ("post", mcp.CROWDED),
        ("delete", mcp.FOREIGN_ORIGIN),
        ("delete", mcp.FOREIGN_HOST),
        ("delete", NO_ROOM),
        ("delete", mcp.too_many(mcp.TOO_MANY_ENDS, 60)),
        ("delete", mcp.UNSTORED),
    ],
)
def test_the_examples_of_refusals_are_what_is_answered(method: str, answer: McpAnswer) -> None:
    assert answer_of(method, answer.status) == json.loads(b"".join(answer.body))


def test_the_example_is_a_message() -> None:
    message = read_body(json.dumps(MEDIA["example"]).encode())
    assert isinstance(message, JsonRpcRequest)
    assert "initialize" == message.method


def test_the_revisions_are_those_that_are_served() -> None:
    served = [item.name for item in (*revisions.HANDSHAKE, revisions.STATELESS)]
    named = set(re.findall(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", json.dumps(ITEM)))
    assert {served[0], served[-1]} <= named <= set(served)


def test_the_bounds_are_those_of_what_answers() -> None:
    assert MAX_BATCH == DOCUMENT["components"]["schemas"]["McpBatch"]["maxItems"]
    assert f"at most {MAX_BATCH} messages" in ITEM["post"]["description"]
    assert f"at most {MCP_MAX_BODY} bytes" in answer_of("post", 413)["error"]["message"]
    pattern = ITEM["post"]["responses"]["200"]["headers"]["Mcp-Session-Id"]["schema"]["pattern"]
    assert f"{{{TOKEN_LENGTH}}}" in pattern


CALL = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
TOLD = {"jsonrpc": "2.0", "method": "notifications/initialized"}
DONE = {"jsonrpc": "2.0", "id": 1, "result": {}}
FAILED = {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}}
POSTED = jsonschema.Draft202012Validator({**MEDIA["schema"], "components": DOCUMENT["components"]})


def accepted(value: object) -> bool:
    """The server tests each message of a batch separately."""
    try:
        result = read_body(json.dumps(value).encode())
        if isinstance(result, list):
            for member in result:
                read_member(member)
            return 0 < len(result) <= MAX_BATCH
    except JsonRpcError:
        return False
    return True


@pytest.mark.parametrize(
    "value", [CALL, TOLD, DONE, FAILED, FAILED | {"id": None}, [CALL, TOLD, DONE, FAILED]]
)
def test_the_schema_accepts_what_is_a_message(value: object) -> None:
    assert accepted(value)
    POSTED.validate(value)


MEMBERS = {
    "jsonrpc": st.sampled_from(["2.0", "2.0", "1.0", 2]),
    "id": st.sampled_from([1, "a", None, True, 0.5, [], {}]),
    "method": st.sampled_from(["ping", "ping", "", 5, None, {}]),
    "params": st.sampled_from([{}, {"a": []}, None, [], ["x"], 1, "x", False]),
    "result": st.sampled_from([{}, {"a": 1}, None, [], 5]),
    "error": st.sampled_from(
        [{"code": 1, "message": "a"}, {"code": 1}, {"code": "a", "message": "a"}, {}, None, "a"]
    ),
}
MESSAGE = st.fixed_dictionaries({}, optional=MEMBERS) | st.builds(
    lambda message, more: message | more,
    st.sampled_from([CALL, TOLD, DONE, FAILED]),
    st.fixed_dictionaries({}, optional=MEMBERS),
)


@given(MESSAGE | st.lists(MESSAGE | st.just(1), max_size=2))
@example([TOLD] * MAX_BATCH)
@example([TOLD] * (MAX_BATCH + 1))
@example([[CALL]])
@example("ping")
@example(None)
def test_the_schema_is_what_the_server_goes_by(value: object) -> None:
    assert accepted(value) is POSTED.is_valid(value)
