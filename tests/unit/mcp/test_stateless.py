"""The stateless era: one test for each row of mcp.md 2b that needs no HTTP."""

import base64
import json
from collections.abc import Sequence

import pytest

from reviewsd.mcp.arguments import IGNORED
from reviewsd.mcp.stateless import CLIENT_CAPABILITIES, PROTOCOL_VERSION
from tests.support.mcp import MODERN, Bench, Reply, mirrors, modern, notification, request

META = {PROTOCOL_VERSION: MODERN, CLIENT_CAPABILITIES: {}}
LISTS = ["tools/list", "resources/list", "resources/templates/list"]
REVIEWS = "https://reviews.example/reviews.json"


def outcome(response: Reply) -> tuple[int, int, object]:
    return response.status, response.code, response.json["id"]


def call(**arguments: object) -> dict[str, object]:
    return modern("tools/call", name="search_reviews", arguments=arguments)


def call_headers(*names: bytes) -> dict[str, Sequence[bytes]]:
    return mirrors("tools/call", names)


@pytest.mark.parametrize("version", [b"2026-07-28", b"2024-11-05", b"2099-01-01", b"x", b""])
def test_2b_1_header_without_handshake_revision_is_stateless(bench: Bench, version: bytes) -> None:
    response = bench.send(request("tools/list"), versions=[version], sessions=[bench.session()])
    assert (400, -32602, 1) == outcome(response)


def test_2b_1_version_in_meta_is_stateless(bench: Bench) -> None:
    assert (400, -32020, 1) == outcome(bench.send(modern("tools/list")))
    assert (400, -32602, 1) == outcome(bench.send(request("a", _meta={PROTOCOL_VERSION: 5})))


def test_2b_1_meta_without_version_is_not_stateless(bench: Bench) -> None:
    response = bench.send(request("tools/list", _meta={CLIENT_CAPABILITIES: {}}))
    assert "Mcp-Session-Id" in response.json["error"]["message"]


def test_2b_2_the_first_failure_answers(bench: Bench) -> None:
    """The request has every fault, and they are corrected one by one in the order of the checks."""
    wrong_headers = {"versions": [b"2026-07-28"], "methods": [b"x"], "names": [b"x"]}
    assert (400, -32700, None) == outcome(bench.send(b'{"id":1,"id":1}', **wrong_headers))
    assert (400, -32600, 1) == outcome(bench.send({"id": 1}, **wrong_headers))
    message = request("nonsense", _meta={PROTOCOL_VERSION: "2099-01-01"})
    assert (400, -32602, 1) == outcome(bench.send(message, **wrong_headers))
    message = request("nonsense", _meta=META | {PROTOCOL_VERSION: "2099-01-01"})
    assert (400, -32020, 1) == outcome(bench.send(message, **wrong_headers))
    fields = mirrors("nonsense", version="2099-01-01")
    assert (400, -32022, 1) == outcome(bench.send(message, **fields))
    assert (404, -32601, 1) == outcome(bench.send(modern("nonsense"), **mirrors("nonsense")))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"_meta": None},
        {"_meta": []},
        {"_meta": {}},
        {"_meta": {PROTOCOL_VERSION: MODERN}},
        {"_meta": {CLIENT_CAPABILITIES: {}}},
        {"_meta": META | {PROTOCOL_VERSION: 20260728}},
        {"_meta": META | {PROTOCOL_VERSION: None}},
        {"_meta": META | {CLIENT_CAPABILITIES: None}},
        {"_meta": META | {CLIENT_CAPABILITIES: []}},
    ],
)
def test_2b_2_meta_must_be_complete(bench: Bench, params: dict[str, object]) -> None:
    response = bench.send(request("tools/list", 5, **params), **mirrors("tools/list"))
    assert (400, -32602, 5) == outcome(response)


def test_2b_3_discover(bench: Bench) -> None:
    info = {"name": "reviewsd", "title": "Acme reviews", "version": "1.2.3"}
    info["websiteUrl"] = "https://reviews.example"
    result = bench.ask_modern("server/discover").json["result"]
    assert "get_summary" in result.pop("instructions")
    expected = {
        "resultType": "complete",
        "ttlMs": 3_600_000,
        "cacheScope": "public",
        "_meta": {"io.modelcontextprotocol/serverInfo": info},
        "supportedVersions": [MODERN],
        "capabilities": {
            "tools": {},
            "resources": {"subscribe": True},
            "extensions": {"io.modelcontextprotocol/ui": {}},
        },
    }
    assert expected == result


@pytest.mark.parametrize("method", LISTS)
def test_2b_4_list_has_a_lifetime(bench: Bench, method: str) -> None:
    result = bench.ask_modern(method).json["result"]
    assert ("complete", 3_600_000, "public") == (
        result["resultType"],
        result["ttlMs"],
        result["cacheScope"],
    )
    session = bench.session()
    plain = bench.ask(session, method).json["result"]
    assert plain == {name: value for name, value in result.items() if name in plain}
    assert {"resultType", "ttlMs", "cacheScope", "_meta"} == set(result) - set(plain)


def test_2b_4_resource_has_a_lifetime(bench: Bench) -> None:
    result = bench.ask_modern("resources/read", REVIEWS.encode(), uri=REVIEWS).json["result"]
    assert ("complete", 60_000, "public") == (
        result["resultType"],
        result["ttlMs"],
        result["cacheScope"],
    )
    assert REVIEWS == result["contents"][0]["uri"]


def test_2b_4_tool_result_is_complete_without_a_lifetime(bench: Bench) -> None:
    result = bench.send(call(limit=1), **call_headers(b"search_reviews")).json["result"]
    expected = {"resultType", "_meta", "content", "structuredContent", "isError"}
    assert expected == set(result)
    assert "complete" == result["resultType"]
    assert result["structuredContent"] == json.loads(result["content"][0]["text"])


def test_2b_5_session_is_ignored(bench: Bench) -> None:
    fields = mirrors("tools/list")
    plain = bench.send(modern("tools/list"), **fields)
    assert 200 == plain.status
    assert {} == plain.headers
    for stale in (b"stale", b"", bench.session()):
        assert plain == bench.send(modern("tools/list"), **fields, sessions=[stale])


def test_2b_5_delete_is_405(bench: Bench) -> None:
    response = bench.delete(bench.session(), versions=[MODERN.encode()])
    assert isinstance(response, Reply)
    assert (405, {"Allow": "POST, DELETE, OPTIONS"}) == (response.status, response.headers)


def encoded(text: str) -> bytes:
    return b"=?base64?%b?=" % base64.b64encode(text.encode())


@pytest.mark.parametrize(
    "name", [b"search_reviews", b" search_reviews\t", encoded("search_reviews")]
)
def test_2b_6_name_is_decoded_before_it_is_compared(bench: Bench, name: bytes) -> None:
    assert 200 == bench.send(call(), **call_headers(name)).status


@pytest.mark.parametrize(
    "names",
    [
        [],
        [b""],
        [b"Search_Reviews"],
        [b"search_reviews", b"search_reviews"],
        [b"search_reviews, search_reviews"],
        [b"=?BASE64?c2VhcmNoX3Jldmlld3M=?="],
        [b"=?base64?c2VhcmNoX3Jldmlld3M?="],
        [b"=?base64?c2VhcmNoX3Jldmlld3M==?="],
        [b"=?base64?c2VhcmNoX3Jldmlld3N=?="],
        [b"=?base64?c2VhcmNoX3J ldmlld3M=?="],
        [b"=?base64?!?="],
        [b"=?base64?="],
        [b"=?base64?/w==?="],
        [b"search_r\xc3\xa9views"],
    ],
)
def test_2b_6_another_name_is_a_mismatch(bench: Bench, names: list[bytes]) -> None:
    assert (400, -32020, 1) == outcome(bench.send(call(), **call_headers(*names)))


def test_2b_6_any_name_can_be_sent(bench: Bench) -> None:
    """A name outside ASCII can be sent in base64; its tool is unknown."""
    for name in ("Größe", " padded ", "=?base64?x?=", "a\nb", ""):
        response = bench.ask_modern("tools/call", encoded(name), name=name)
        assert (400, -32602, 1) == outcome(response)


@pytest.mark.parametrize(
    "fields",
    [
        {"versions": []},
        {"versions": [b"2025-06-18"]},
        {"versions": [b"2026-07-28", b"2026-07-28"]},
        {"methods": []},
        {"methods": [b"Tools/List"]},
        {"methods": [b"tools/call"]},
        {"methods": [b"tools/list", b"tools/list"]},
        {"methods": [b"=?base64?dG9vbHMvbGlzdA==?="]},
        {"names": [b"a", b"a"]},
    ],
)
def test_2b_6_fields_must_match_the_body(bench: Bench, fields: dict[str, Sequence[bytes]]) -> None:
    response = bench.send(modern("tools/list"), **mirrors("tools/list") | fields)
    assert (400, -32020, 1) == outcome(response)


def test_2b_6_name_is_ignored_for_other_methods(bench: Bench) -> None:
    assert 200 == bench.send(modern("tools/list"), **mirrors("tools/list", [b"x"])).status


@pytest.mark.parametrize(
    "method",
    [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "prompts/list",
        "tasks/get",
        "nonsense",
        "größe",
    ],
)
def test_2b_7_removed_method_is_404(bench: Bench, method: str) -> None:
    response = bench.send(modern(method, "x"), **mirrors(method))
    assert (404, -32601, "x") == outcome(response)
    assert {} == response.headers


def test_2b_9_error_for_unknown_version_lists_the_supported_ones(bench: Bench) -> None:
    for version in ("2099-01-01", "2025-06-18", "", "ü"):
        message = request("server/discover", _meta=META | {PROTOCOL_VERSION: version})
        fields = mirrors("server/discover", version=version)
        response = bench.send(message, **fields)
        assert (400, -32022, 1) == outcome(response)
        expected = {"supported": [MODERN], "requested": version}
        assert expected == response.json["error"]["data"]


@pytest.mark.parametrize("params", [{}, {"_meta": META}])
def test_2b_10_a_notification_is_accepted(bench: Bench, params: dict[str, object]) -> None:
    response = bench.send(notification("a", **params), versions=[MODERN.encode()])
    assert Reply(202, b"", {}) == response


def test_2b_10_notification_of_another_version_is_refused(bench: Bench) -> None:
    response = bench.send(notification("a"), versions=[b"2099-01-01"])
    assert (400, -32022, None) == outcome(response)
    response = bench.send(notification("a", _meta={PROTOCOL_VERSION: "2099-01-01"}))
    assert (400, -32022, None) == outcome(response)
    response = bench.send(notification("a", _meta=META), versions=[b"2099-01-01"])
    assert (400, -32020, None) == outcome(response)


@pytest.mark.parametrize("message", [{"jsonrpc": "2.0", "id": 1, "result": {}}, [], [modern("a")]])
def test_2b_10_a_response_or_an_array_is_refused(bench: Bench, message: object) -> None:
    response = bench.send(message, versions=[MODERN.encode()])
    assert (400, -32600, None) == outcome(response)


def test_2b_11_an_unknown_tool_or_resource_is_400(bench: Bench) -> None:
    assert (400, -32602, 1) == outcome(bench.ask_modern("tools/call", b"x", name="x"))
    response = bench.ask_modern("resources/read", b"x", uri="x")
    assert (400, -32602, 1) == outcome(response)
    assert {"uri": "x"} == response.json["error"]["data"]
    assert (400, -32602, 1) == outcome(bench.ask_modern("tools/call"))
    assert (400, -32602, 1) == outcome(bench.ask_modern("resources/read"))
    assert (400, -32602, 1) == outcome(bench.ask_modern("tools/list", cursor="x"))


def test_2b_11_bad_arguments_are_an_error_result(bench: Bench) -> None:
    response = bench.send(call(rating=9), **call_headers(b"search_reviews"))
    assert 200 == response.status
    result = response.json["result"]
    assert {"resultType", "_meta", "content", "isError"} == set(result)
    assert result["isError"] is True


def test_tools_and_resources_are_the_same_in_both_eras(bench: Bench) -> None:
    session = bench.session("2025-11-25")
    arguments = {"query": "boiler", "limit": "1"}
    old = bench.ask(session, "tools/call", name="search_reviews", arguments=arguments)
    new = bench.send(call(**arguments), **call_headers(b"search_reviews"))
    assert old.json["result"]["structuredContent"] == new.json["result"]["structuredContent"]


def test_result_notes_arguments_beside_the_server(bench: Bench) -> None:
    arguments = {"query": "boiler", "sessionId": 'a"b'}
    plain = bench.ask_modern("tools/call", b"search_reviews", name="search_reviews", arguments={})
    response = bench.ask_modern(
        "tools/call", b"search_reviews", name="search_reviews", arguments=arguments
    )
    meta = plain.json["result"]["_meta"]
    assert meta | {IGNORED: ["sessionId"]} == response.json["result"]["_meta"]
    assert 2 == len(response.json["result"]["structuredContent"]["reviews"])
