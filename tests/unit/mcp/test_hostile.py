"""Every body gets a valid answer, never an exception or a 5xx (mcp.md 2c, S17)."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.mcp.stateless import CLIENT_CAPABILITIES, PROTOCOL_VERSION
from reviewsd.snapshot.snapshots import Snapshot
from tests.support.examples import examples
from tests.support.mcp import MODERN, Bench, Reply

METHODS = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "server/discover",
    "notifications/initialized",
    "nonsense",
]
TOOLS = ["search_reviews", "get_review", "get_reviews_since", "get_technician", "get_summary"]
ARGUMENTS = ["rating", "min_rating", "since", "query", "limit", "cursor", "id", "date", "name"]

SCALAR = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**4_000)
    | st.floats(allow_nan=False)
    | st.text()
    | st.sampled_from(["2025-06-18", MODERN, "5", "2025-02-29", "\u2028", "\ud800"])
)
JSON = st.recursive(
    SCALAR,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(), part, max_size=3),
    max_leaves=8,
)


def maybe(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy that draws the usual value most often, and sometimes any JSON."""
    return st.one_of(usual, usual, usual, JSON)


META = maybe(
    st.fixed_dictionaries(
        {},
        optional={
            PROTOCOL_VERSION: maybe(st.just(MODERN)),
            CLIENT_CAPABILITIES: maybe(st.just({})),
        },
    )
)
PARAMS = maybe(
    st.fixed_dictionaries(
        {},
        optional={
            "name": maybe(st.sampled_from(TOOLS)),
            "arguments": maybe(st.dictionaries(st.sampled_from(ARGUMENTS), SCALAR, max_size=3)),
            "uri": maybe(st.just("https://reviews.example/feed.xml")),
            "cursor": JSON,
            "protocolVersion": maybe(st.just("2025-03-26")),
            "_meta": META,
        },
    )
)
MESSAGE = maybe(
    st.fixed_dictionaries(
        {"jsonrpc": maybe(st.just("2.0"))},
        optional={
            "id": maybe(st.integers() | st.text()),
            "method": maybe(st.sampled_from(METHODS)),
            "params": PARAMS,
            "result": JSON,
        },
    )
)
BODY = (MESSAGE | st.lists(MESSAGE, max_size=4)).map(lambda value: json.dumps(value).encode())
VALUES = st.lists(
    st.sampled_from([b"2025-03-26", b"2026-07-28", b"x", b"tools/call", b"search_reviews", b""])
    | st.binary(max_size=20),
    max_size=2,
)
STATUSES = {200, 202, 400, 404}


def check(response: Reply) -> None:
    assert response.status in STATUSES
    if response.status == 202:
        assert b"" == response.body
        return
    answers = response.json if isinstance(response.json, list) else [response.json]
    assert answers
    for answer in answers:
        assert "2.0" == answer["jsonrpc"]
        assert isinstance(answer["id"], int | str | None)
        assert ("result" in answer) != ("error" in answer)
        assert -32603 != answer.get("error", {}).get("code")
    response.body.decode()


@pytest.fixture(scope="module")
def peer(snapshot: Snapshot) -> Bench:
    """A server for all examples: it has no state."""
    return Bench(snapshot)


@examples(200)
@given(body=BODY, versions=VALUES, methods=VALUES, names=VALUES, has_batches=st.booleans())
def test_random_message_is_answered(
    peer: Bench,
    body: bytes,
    versions: Sequence[bytes],
    methods: Sequence[bytes],
    names: Sequence[bytes],
    has_batches: bool,
) -> None:
    check(peer.send(body, versions=versions, methods=methods, names=names))
    check(peer.send(body, sessions=[peer.session("2025-03-26" if has_batches else "2025-11-25")]))


@given(body=BODY, data=st.data())
def test_damaged_body_is_answered(peer: Bench, body: bytes, data: st.DataObject) -> None:
    damaged = bytearray(body)
    at = data.draw(st.integers(0, len(body)))
    damaged[at : at + data.draw(st.integers(0, 5))] = data.draw(st.binary(max_size=5))
    check(peer.send(bytes(damaged), sessions=[peer.session("2025-03-26")]))
