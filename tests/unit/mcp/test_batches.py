"""Batches: served where a session of 2025-03-26 sends them, refused elsewhere (mcp.md 2a-15)."""

import json
from typing import Any

import pytest

from reviewsd.mcp.server import BATCH_FULL
from tests.support.mcp import Bench, Reply, http_request, notification, request

RESPONSE = {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.fixture
def session(bench: Bench) -> bytes:
    return bench.session("2025-03-26")


def answers(found: Reply) -> list[Any]:
    assert 200 == found.status, found.body
    listed: list[Any] = found.json
    return listed


def test_2a_15_every_request_of_a_batch_is_answered(bench: Bench, session: bytes) -> None:
    found = bench.send(
        [
            request("ping", "a"),
            notification("notifications/initialized"),
            request("tools/call", 2, name="search_reviews", arguments={"limit": 1}),
            RESPONSE,
            request("nonsense", 3),
            request("tools/call", 4),
        ],
        sessions=[session],
    )
    by_id = {each["id"]: each for each in answers(found)}
    assert ["a", 2, 3, 4] == list(by_id)
    assert {} == by_id["a"]["result"]
    assert 1 == by_id[2]["result"]["structuredContent"]["returned"]
    assert [-32601, -32602] == [by_id[each]["error"]["code"] for each in (3, 4)]


def test_2a_15_one_message_may_be_a_batch(bench: Bench, session: bytes) -> None:
    expected = [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    assert expected == answers(bench.send([request("ping")], sessions=[session]))


def test_2a_15_invalid_members_are_answered_one_by_one_without_id(
    bench: Bench, session: bytes
) -> None:
    invalid = [1, None, "a", [], [request("ping")], {}, request("ping", None), {"id": 4}]
    found = answers(bench.send([*invalid, request("ping", 7)], sessions=[session]))
    assert [None] * len(invalid) + [7] == [each["id"] for each in found]
    assert {-32600} == {each["error"]["code"] for each in found[:-1]}


@pytest.mark.parametrize("batch", [[notification("a")], [RESPONSE], [notification("a"), RESPONSE]])
def test_2a_15_what_wants_no_answer_gets_a_bare_202(
    bench: Bench, session: bytes, batch: object
) -> None:
    assert Reply(202, b"", {}) == bench.send(batch, sessions=[session])


def test_2a_15_an_empty_array_is_refused(bench: Bench, session: bytes) -> None:
    found = bench.send([], sessions=[session])
    assert (400, -32600, None) == (found.status, found.code, found.json["id"])


def test_2a_15_initialize_must_not_be_in_one(bench: Bench, session: bytes) -> None:
    begin = request("initialize", 1, protocolVersion="2025-03-26")
    found = bench.send([begin, request("ping", 2)], sessions=[session])
    first, second = answers(found)
    assert (-32600, 1) == (first["error"]["code"], first["id"])
    assert {} == second["result"]
    assert {} == found.headers
    assert 400 == bench.send([begin]).status


def test_2a_15_a_batch_has_at_most_50_messages(bench: Bench, session: bytes) -> None:
    batch = [request("ping", number) for number in range(50)]
    assert list(range(50)) == [
        each["id"] for each in answers(bench.send(batch, sessions=[session]))
    ]
    found = bench.send([*batch, notification("a")], sessions=[session])
    assert (400, -32600) == (found.status, found.code)


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
@pytest.mark.parametrize("batch", [[], [request("ping")], [notification("a")]])
def test_2a_15_later_revisions_have_none(bench: Bench, version: str, batch: object) -> None:
    found = bench.send(batch, sessions=[bench.session(version)])
    assert (400, -32600, None) == (found.status, found.code, found.json["id"])


def test_a_part_that_is_not_strict_spoils_it_all(bench: Bench, session: bytes) -> None:
    body = b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"a":1,"a":2}]'
    found = bench.send(body, sessions=[session])
    assert (400, -32700) == (found.status, found.code)


def test_other_work_goes_on_between_its_messages(bench: Bench, session: bytes) -> None:
    """A step is a chance for the reactor."""
    body = b"[" + b",".join([b'{"jsonrpc":"2.0","id":1,"method":"ping"}'] * 50) + b"]"
    steps = bench.server.post(
        http_request(body, sessions=[session]), bench.snapshot, bench.now, bench.room
    )
    assert 50 <= sum(1 for _ in steps)


def test_what_its_answers_take_is_counted_while_they_grow(bench: Bench, session: bytes) -> None:
    batch = [request("tools/call", 1, name="get_summary"), request("ping", 2), notification("a")]
    found = bench.send(batch, sessions=[session])
    assert sum(map(len, bench.room.held)) == len(found.body) - len("[,]")
    assert 1 == bench.room.released


def test_what_is_too_much_together_is_refused_one_by_one(bench: Bench, session: bytes) -> None:
    """The rest of the batch costs no more, and each request is told what to do."""
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


def test_what_was_held_is_released_when_the_client_leaves(bench: Bench, session: bytes) -> None:
    body = json.dumps([request("ping", 1), request("ping", 2)]).encode()
    posted = http_request(body, sessions=[session])
    steps = bench.server.post(posted, bench.snapshot, bench.now, bench.room)
    next(steps)
    assert 0 == bench.room.released
    steps.close()
    assert 1 == bench.room.released
