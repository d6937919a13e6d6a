"""The stateless era: one test for each row of mcp.md 2b that is decided without HTTP."""

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


def outcome(found: Reply) -> tuple[int, int, object]:
    return found.status, found.code, found.json["id"]


def call(**arguments: object) -> dict[str, object]:
    return modern("tools/call", name="search_reviews", arguments=arguments)


def call_headers(*names: bytes) -> dict[str, Sequence[bytes]]:
    return mirrors("tools/call", names)


@pytest.mark.parametrize("version", [b"2026-07-28", b"2024-11-05", b"2099-01-01", b"x", b""])
def test_2b_1_a_header_that_names_no_handshake_revision_leads_here(
    bench: Bench, version: bytes
) -> None:
    found = bench.send(request("tools/list"), versions=[version], sessions=[bench.session()])
    assert (400, -32602, 1) == outcome(found)


def test_2b_1_so_does_a_version_in_meta(bench: Bench) -> None:
    assert (400, -32020, 1) == outcome(bench.send(modern("tools/list")))
    assert (400, -32602, 1) == outcome(bench.send(request("a", _meta={PROTOCOL_VERSION: 5})))


def test_2b_1_other_meta_does_not(bench: Bench) -> None:
    found = bench.send(request("tools/list", _meta={CLIENT_CAPABILITIES: {}}))
    assert "Mcp-Session-Id" in found.json["error"]["message"]


def test_2b_2_the_first_failure_answers(bench: Bench) -> None:
    """Everything is wrong, and is put right from the front."""
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
    found = bench.send(request("tools/list", 5, **params), **mirrors("tools/list"))
    assert (400, -32602, 5) == outcome(found)


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "resources/list", "nonsense"])
@pytest.mark.parametrize(("params", "code"), [(7, -32600), ("x", -32600), ([META], -32602)])
def test_2b_2_params_must_be_an_object(
    bench: Bench, method: str, params: object, code: int
) -> None:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    assert (400, code, 5) == outcome(bench.send(message | {"id": 5}, **mirrors(method)))
    assert (400, code, None) == outcome(bench.send(message, **mirrors(method)))


def test_2b_3_discover(bench: Bench) -> None:
    info = {"name": "reviewsd", "title": "Acme reviews", "version": "1.2.3"}
    info["websiteUrl"] = "https://reviews.example"
    found = bench.ask_modern("server/discover").json["result"]
    assert "get_summary" in found.pop("instructions")
    expected = {
        "resultType": "complete",
        "ttlMs": 3_600_000,
        "cacheScope": "public",
        "_meta": {"io.modelcontextprotocol/serverInfo": info},
        "supportedVersions": [MODERN],
        "capabilities": {"tools": {}, "resources": {}},
    }
    assert expected == found


@pytest.mark.parametrize("method", LISTS)
def test_2b_4_lists_say_how_long_they_hold(bench: Bench, method: str) -> None:
    found = bench.ask_modern(method).json["result"]
    assert ("complete", 3_600_000, "public") == (
        found["resultType"],
        found["ttlMs"],
        found["cacheScope"],
    )
    session = bench.session()
    plain = bench.ask(session, method).json["result"]
    assert plain == {name: value for name, value in found.items() if name in plain}
    assert {"resultType", "ttlMs", "cacheScope", "_meta"} == set(found) - set(plain)


def test_2b_4_so_does_a_resource(bench: Bench) -> None:
    found = bench.ask_modern("resources/read", REVIEWS.encode(), uri=REVIEWS).json["result"]
    assert ("complete", 60_000, "public") == (
        found["resultType"],
        found["ttlMs"],
        found["cacheScope"],
    )
    assert REVIEWS == found["contents"][0]["uri"]


def test_2b_4_a_tool_s_answer_is_complete_and_holds_for_now(bench: Bench) -> None:
    found = bench.send(call(limit=1), **call_headers(b"search_reviews")).json["result"]
    expected = {"resultType", "_meta", "content", "structuredContent", "isError"}
    assert expected == set(found)
    assert "complete" == found["resultType"]
    assert found["structuredContent"] == json.loads(found["content"][0]["text"])


def test_2b_5_sessions_are_ignored_and_none_is_given(bench: Bench) -> None:
    fields = mirrors("tools/list")
    plain = bench.send(modern("tools/list"), **fields)
    assert 200 == plain.status
    assert {} == plain.headers
    for stale in (b"stale", b"", bench.session()):
        assert plain == bench.send(modern("tools/list"), **fields, sessions=[stale])


def test_2b_5_there_is_nothing_to_delete(bench: Bench) -> None:
    found = bench.delete(bench.session(), versions=[MODERN.encode()])
    assert isinstance(found, Reply)
    assert (405, {"Allow": "POST, DELETE, OPTIONS"}) == (found.status, found.headers)


def encoded(text: str) -> bytes:
    return b"=?base64?%b?=" % base64.b64encode(text.encode())


@pytest.mark.parametrize(
    "name", [b"search_reviews", b" search_reviews\t", encoded("search_reviews")]
)
def test_2b_6_the_name_is_compared_as_it_is_meant(bench: Bench, name: bytes) -> None:
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
    """Unknown, all the same."""
    for name in ("Größe", " padded ", "=?base64?x?=", "a\nb", ""):
        found = bench.ask_modern("tools/call", encoded(name), name=name)
        assert (400, -32602, 1) == outcome(found)


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
def test_2b_6_the_other_fields_must_say_what_the_body_says(
    bench: Bench, fields: dict[str, Sequence[bytes]]
) -> None:
    found = bench.send(modern("tools/list"), **mirrors("tools/list") | fields)
    assert (400, -32020, 1) == outcome(found)


def test_2b_6_a_name_that_nothing_asks_for_is_ignored(bench: Bench) -> None:
    assert 200 == bench.send(modern("tools/list"), **mirrors("tools/list", [b"x"])).status


@pytest.mark.parametrize(
    "method",
    [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "subscriptions/listen",
        "prompts/list",
        "tasks/get",
        "nonsense",
        "größe",
    ],
)
def test_2b_7_what_is_gone_is_404(bench: Bench, method: str) -> None:
    found = bench.send(modern(method, "x"), **mirrors(method))
    assert (404, -32601, "x") == outcome(found)
    assert {} == found.headers


@pytest.mark.parametrize("request_id", [0, "", "probe-1", -(2**53)])
def test_2b_8_errors_carry_the_id(bench: Bench, request_id: object) -> None:
    for message in (
        modern("nonsense", request_id),
        request("server/discover", request_id, _meta={PROTOCOL_VERSION: "2099-01-01"}),
        {"id": request_id, "method": "server/discover"},
    ):
        found = bench.send(message, **mirrors("server/discover"))
        assert request_id == found.json["id"]


def test_2b_9_another_version_is_told_the_supported_ones(bench: Bench) -> None:
    for version in ("2099-01-01", "2025-06-18", "", "ü"):
        message = request("server/discover", _meta=META | {PROTOCOL_VERSION: version})
        fields = mirrors("server/discover", version=version)
        found = bench.send(message, **fields)
        assert (400, -32022, 1) == outcome(found)
        expected = {"supported": [MODERN], "requested": version}
        assert expected == found.json["error"]["data"]


@pytest.mark.parametrize("params", [{}, {"_meta": META}])
def test_2b_10_a_notification_is_accepted(bench: Bench, params: dict[str, object]) -> None:
    found = bench.send(notification("a", **params), versions=[MODERN.encode()])
    assert Reply(202, b"", {}) == found


def test_2b_10_but_not_in_another_version(bench: Bench) -> None:
    found = bench.send(notification("a"), versions=[b"2099-01-01"])
    assert (400, -32022, None) == outcome(found)
    found = bench.send(notification("a", _meta={PROTOCOL_VERSION: "2099-01-01"}))
    assert (400, -32022, None) == outcome(found)
    found = bench.send(notification("a", _meta=META), versions=[b"2099-01-01"])
    assert (400, -32020, None) == outcome(found)


@pytest.mark.parametrize("message", [{"jsonrpc": "2.0", "id": 1, "result": {}}, [], [modern("a")]])
def test_2b_10_a_response_or_an_array_is_refused(bench: Bench, message: object) -> None:
    found = bench.send(message, versions=[MODERN.encode()])
    assert (400, -32600, None) == outcome(found)


def test_2b_11_an_unknown_tool_or_resource_is_400(bench: Bench) -> None:
    assert (400, -32602, 1) == outcome(bench.ask_modern("tools/call", b"x", name="x"))
    found = bench.ask_modern("resources/read", b"x", uri="x")
    assert (400, -32602, 1) == outcome(found)
    assert {"uri": "x"} == found.json["error"]["data"]
    assert (400, -32602, 1) == outcome(bench.ask_modern("tools/call"))
    assert (400, -32602, 1) == outcome(bench.ask_modern("resources/read"))
    assert (400, -32602, 1) == outcome(bench.ask_modern("tools/list", cursor="x"))


def test_2b_11_bad_arguments_are_an_answer(bench: Bench) -> None:
    found = bench.send(call(rating=9), **call_headers(b"search_reviews"))
    assert 200 == found.status
    result = found.json["result"]
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
    found = bench.ask_modern(
        "tools/call", b"search_reviews", name="search_reviews", arguments=arguments
    )
    meta = plain.json["result"]["_meta"]
    assert meta | {IGNORED: ["sessionId"]} == found.json["result"]["_meta"]
    assert 2 == len(found.json["result"]["structuredContent"]["reviews"])
