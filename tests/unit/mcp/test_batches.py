"""Batches are served in sessions of 2025-03-26 and refused in others (mcp.md 2a-15)."""

import json
from typing import Any

import pytest

from reviewsd.mcp.server import BATCH_FULL
from tests.support.mcp import Bench, Reply, http_request, notification, request

RESPONSE = {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.fixture
def session(bench: Bench) -> bytes:
    return bench.session("2025-03-26")


def answers(response: Reply) -> list[Any]:
    assert 200 == response.status, response.body
    values: list[Any] = response.json
    return values


def test_2a_15_every_request_of_a_batch_is_answered(bench: Bench, session: bytes) -> None:
    response = bench.send(
        [
            request("ping", "a"),
            notification("notifications/initialized"),
            request("tools/call", 2, name="search_reviews", arguments={"limit": 1}),
            RESPONSE,
            request("nonsense", 3),
            request("tools/call", 4),
            request("ping", 5) | {"params": []},
        ],
        sessions=[session],
    )
    by_id = {answer["id"]: answer for answer in answers(response)}
    assert ["a", 2, 3, 4, 5] == list(by_id)
    assert {} == by_id["a"]["result"]
    assert 1 == by_id[2]["result"]["structuredContent"]["returned"]
    codes = [by_id[number]["error"]["code"] for number in (3, 4, 5)]
    assert [-32601, -32602, -32602] == codes


def test_2a_15_one_message_may_be_a_batch(bench: Bench, session: bytes) -> None:
    expected = [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    assert expected == answers(bench.send([request("ping")], sessions=[session]))


def test_2a_15_invalid_members_are_answered_singly_without_id(bench: Bench, session: bytes) -> None:
    invalid = [1, None, "a", [], [request("ping")], {}, request("ping", None), {"id": 4}]
    *errors, last = answers(bench.send([*invalid, request("ping", 7)], sessions=[session]))
    assert [None] * len(invalid) == [error["id"] for error in errors]
    assert {-32600} == {error["error"]["code"] for error in errors}
    assert 7 == last["id"]


@pytest.mark.parametrize("batch", [[notification("a")], [RESPONSE], [notification("a"), RESPONSE]])
def test_2a_15_batch_without_requests_is_202(bench: Bench, session: bytes, batch: object) -> None:
    assert Reply(202, b"", {}) == bench.send(batch, sessions=[session])


def test_2a_15_an_empty_array_is_refused(bench: Bench, session: bytes) -> None:
    response = bench.send([], sessions=[session])
    assert (400, -32600, None) == (response.status, response.code, response.json["id"])


def test_2a_15_initialize_in_a_batch_is_refused(bench: Bench, session: bytes) -> None:
    begin = request("initialize", 1, protocolVersion="2025-03-26")
    response = bench.send([begin, request("ping", 2)], sessions=[session])
    first, second = answers(response)
    assert (-32600, 1) == (first["error"]["code"], first["id"])
    assert {} == second["result"]
    assert {} == response.headers
    assert 400 == bench.send([begin]).status


def test_2a_15_a_batch_has_at_most_50_messages(bench: Bench, session: bytes) -> None:
    batch = [request("ping", number) for number in range(50)]
    assert list(range(50)) == [
        answer["id"] for answer in answers(bench.send(batch, sessions=[session]))
    ]
    response = bench.send([*batch, notification("a")], sessions=[session])
    assert (400, -32600) == (response.status, response.code)


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
@pytest.mark.parametrize("batch", [[], [request("ping")], [notification("a")]])
def test_2a_15_batch_is_refused_in_later_ones(bench: Bench, version: str, batch: object) -> None:
    response = bench.send(batch, sessions=[bench.session(version)])
    assert (400, -32600, None) == (response.status, response.code, response.json["id"])


def test_batch_with_invalid_json_in_a_member_is_refused(bench: Bench, session: bytes) -> None:
    body = b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"a":1,"a":2}]'
    response = bench.send(body, sessions=[session])
    assert (400, -32700) == (response.status, response.code)


def test_batch_takes_a_step_for_each_message(bench: Bench, session: bytes) -> None:
    """The reactor can serve other clients between two steps."""
    body = b"[" + b",".join([b'{"jsonrpc":"2.0","id":1,"method":"ping"}'] * 50) + b"]"
    steps = bench.server.post(
        http_request(body, sessions=[session]), bench.snapshot, bench.now, bench.room
    )
    assert 50 <= sum(1 for _ in steps)


def test_memory_of_a_batch_is_counted(bench: Bench, session: bytes) -> None:
    batch = [request("tools/call", 1, name="get_summary"), request("ping", 2), notification("a")]
    response = bench.send(batch, sessions=[session])
    assert sum(map(len, bench.room.held)) == len(response.body) - len("[,]")
    assert 1 == bench.room.released


def test_requests_are_refused_when_the_answer_is_full(bench: Bench, session: bytes) -> None:
    """The remaining requests of the batch cost nothing, and their errors say what to do."""
    bench.room.most = 500
    search = request("tools/call", 1, name="search_reviews", arguments={})
    batch = [search, request("ping", 2), notification("a"), 3, request("nonsense", 4)]
    first, second, invalid, last = answers(bench.send(batch, sessions=[session]))
    assert 3 == first["result"]["structuredContent"]["returned"]
    for number, refused in ((2, second), (4, last)):
        assert number == refused["id"]
        assert {"code": -32600, "message": BATCH_FULL} == refused["error"]
    assert (None, -32600) == (invalid["id"], invalid["error"]["code"])
    assert "by itself" in BATCH_FULL


def test_memory_is_released_when_the_client_disconnects(bench: Bench, session: bytes) -> None:
    body = json.dumps([request("ping", 1), request("ping", 2)]).encode()
    posted = http_request(body, sessions=[session])
    steps = bench.server.post(posted, bench.snapshot, bench.now, bench.room)
    next(steps)
    assert 0 == bench.room.released
    steps.close()
    assert 1 == bench.room.released
