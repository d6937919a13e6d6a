"""Streams of changes without a connection (mcp.md 2b-12, 2b-13)."""

import json
from functools import partial
from typing import Any

import pytest

from reviewsd.mcp.change_streams import MAX_ID, MAX_PER_NETWORK, ChangeStream
from reviewsd.mcp.server import McpAnswer
from reviewsd.snapshot.snapshots import Snapshot
from tests.support.columns import review
from tests.support.mcp import Bench, mirrors, modern
from tests.support.publishing import Directories
from tests.support.tools import published

BASE = "https://reviews.example"
REVIEWS, INSIGHTS, FEED = (
    f"{BASE}/{path}" for path in ("reviews.json", "insights.json", "api/feed.json")
)
ID = "io.modelcontextprotocol/subscriptionId"


def listen(bench: Bench, *uris: str, request_id: object = 1, accept: bytes = b"") -> McpAnswer:
    """Ask for a stream of changes, as a connection does that opens it."""
    message = modern(
        "subscriptions/listen", request_id, notifications={"resourceSubscriptions": uris}
    )
    answer = bench.answer(message, **mirrors("subscriptions/listen"), accept=[accept])
    if answer.events is not None:
        answer.events.open(partial(bench.wakes.append, None))
    return answer


def stream(bench: Bench, *uris: str, request_id: object = 1) -> ChangeStream:
    events = listen(bench, *uris, request_id=request_id).events
    assert events is not None
    return events


def messages(events: bytes) -> list[Any]:
    """Return the messages of some events."""
    *parts, rest = events.decode().split("\n\n")
    assert "" == rest
    return [json.loads(part.removeprefix("data: ")) for part in parts]


def changed(*uris: str, request_id: object = 1) -> list[Any]:
    """Return the notifications of some changes."""
    method = "notifications/resources/updated"
    return [
        {"jsonrpc": "2.0", "method": method, "params": {"_meta": {ID: request_id}, "uri": uri}}
        for uri in uris
    ]


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> tuple[Snapshot, Snapshot, Snapshot]:
    """The data of the bench with a review more, then with two more, then without insights."""
    directories = Directories(tmp_path_factory.mktemp("later"))
    snapshots = []
    for ids in ("abcd", "abcde"):
        directories.write(*(review(name) for name in ids), insights={"model": "rules"})
        snapshots.append(published(directories))
    (directories.data / "insights.json").unlink()
    first, second = snapshots
    return first, second, published(directories)


@pytest.mark.parametrize("request_id", [7, "listen-1", '"quoted" \U0001f600'])
def test_first_event_names_the_known_resources(bench: Bench, request_id: object) -> None:
    """The acknowledgment is the first message, and has what the server agrees to send."""
    answer = listen(bench, REVIEWS, "https://example.com/x", FEED, FEED, request_id=request_id)

    (acknowledged,) = messages(bytes(answer.body[0]))
    assert 200 == answer.status
    assert {
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {
            "_meta": {ID: request_id},
            "notifications": {"resourceSubscriptions": [FEED, REVIEWS]},
        },
    } == acknowledged


@pytest.mark.parametrize(
    "notifications", [{}, {"toolsListChanged": True}, {"resourceSubscriptions": None}]
)
def test_unsupported_kinds_are_left_out(bench: Bench, notifications: object) -> None:
    message = modern("subscriptions/listen", notifications=notifications)
    answer = bench.answer(message, **mirrors("subscriptions/listen"))
    (acknowledged,) = messages(bytes(answer.body[0]))
    assert {} == acknowledged["params"]["notifications"]


def test_publication_gives_one_event_for_each_changed_resource(
    bench: Bench, later: tuple[Snapshot, ...]
) -> None:
    """Each event has the id of the request, and only resources that were asked for are named."""
    both = stream(bench, REVIEWS, INSIGHTS)
    feed = stream(bench, FEED, request_id="f")
    bench.streams.published(later[0])

    assert 2 == len(bench.wakes)
    assert changed(INSIGHTS, REVIEWS) == messages(both.take())
    assert changed(FEED, request_id="f") == messages(feed.take())
    assert b"" == both.take()


def test_publication_without_a_change_gives_no_event(bench: Bench) -> None:
    quiet = stream(bench, REVIEWS, INSIGHTS, FEED)
    bench.streams.published(bench.snapshot)
    assert (0, b"") == (len(bench.wakes), quiet.take())


def test_events_that_wait_are_coalesced(bench: Bench, later: tuple[Snapshot, ...]) -> None:
    """A slow client gets one event for two publications, so a stream has a bounded size."""
    slow = stream(bench, REVIEWS)
    for snapshot in later[:2]:
        bench.streams.published(snapshot)
    assert changed(REVIEWS) == messages(slow.take())


def test_withdrawn_resource_has_changed(bench: Bench, later: tuple[Snapshot, ...]) -> None:
    bench.streams.published(later[1])
    insights = stream(bench, INSIGHTS, REVIEWS)
    bench.streams.published(later[2])
    assert changed(INSIGHTS) == messages(insights.take())


def test_last_event_is_the_result(bench: Bench, later: tuple[Snapshot, ...]) -> None:
    """The server ends the stream with it, after the changes that waited."""
    ending = stream(bench, REVIEWS, request_id="s")
    bench.streams.published(later[0])

    update, result = messages(ending.finish())
    assert changed(REVIEWS, request_id="s") == [update]
    info = result["result"]["_meta"].pop("io.modelcontextprotocol/serverInfo")
    assert "reviewsd" == info["name"]
    assert {
        "jsonrpc": "2.0",
        "id": "s",
        "result": {"resultType": "complete", "_meta": {ID: "s"}},
    } == result


def test_closed_stream_is_forgotten(bench: Bench, later: tuple[Snapshot, ...]) -> None:
    closed = stream(bench, REVIEWS)
    assert {"mcp_streams": 1} == bench.streams.counts()
    closed.close()
    bench.streams.published(later[0])
    assert (0, b"") == (len(bench.wakes), closed.take())
    assert {"mcp_streams": 0} == bench.streams.counts()


def test_network_has_a_limited_number_of_streams(bench: Bench) -> None:
    opened = [stream(bench, REVIEWS) for _ in range(MAX_PER_NETWORK)]
    refused = listen(bench, REVIEWS)
    opened[0].close()
    assert (429, (b"Retry-After", b"60")) == (refused.status, refused.headers[0])
    assert 200 == listen(bench, REVIEWS).status


def test_all_clients_have_a_limited_number_of_streams(snapshot: Snapshot) -> None:
    bench = Bench(snapshot, max_streams=1)
    assert [200, 429] == [listen(bench, REVIEWS).status for _ in range(2)]


@pytest.mark.parametrize(
    "notifications",
    [None, [], "x", {"resourceSubscriptions": REVIEWS}, {"resourceSubscriptions": [1]}],
)
def test_malformed_filter_is_refused(bench: Bench, notifications: object) -> None:
    params = {} if notifications is None else {"notifications": notifications}
    message = modern("subscriptions/listen", **params)
    refused = bench.send(message, **mirrors("subscriptions/listen"))
    assert (400, -32602) == (refused.status, refused.code)


def test_long_id_is_refused(bench: Bench) -> None:
    """Each stream keeps its id."""
    refused = listen(bench, REVIEWS, request_id="i" * MAX_ID)
    assert (400, None) == (refused.status, refused.events)


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        (b"application/json, text/event-stream", 200),
        (b"text/event-stream", 200),
        (b"*/*", 200),
        (b"application/json", 406),
    ],
)
def test_client_must_accept_events(bench: Bench, accept: bytes, status: int) -> None:
    assert status == listen(bench, REVIEWS, accept=accept).status
