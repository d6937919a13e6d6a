"""The operator's side of the hub, through a real socket and over a real hub (H7, A1, A3)."""

import json
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet.defer import maybeDeferred
from twisted.internet.task import LoopingCall
from twisted.internet.threads import deferToThread
from twisted.logger import capturedLogs

from reviewsd.admin.hub import HubRoutes
from reviewsd.config.hub_schema import HubConfig, HubLimitsConfig
from reviewsd.runtime.tasks import TaskSet
from reviewsd.store import listing
from tests.support.admin_socket import ask, check_headers, check_problem, listen, told
from tests.support.daemon import Answer
from tests.support.hub import (
    BASE_URL,
    CALLBACK,
    FEED,
    JSON_FEED,
    REVIEWS,
    Callbacks,
    HubProcess,
    Time,
    confirming,
    connect,
    good,
    hanging,
    start_process,
)
from tests.support.hub import Answer as Response

PEER = f"asked for by pid {os.getpid()}, uid {os.getuid()}, gid {os.getgid()}"
HOST = "subscriber.example.org"
NEW = "https://new.example.net/"
STEADY = HubConfig(limits=HubLimitsConfig(active_per_host=1000))


class Desk:
    """The operator's routes on a socket, over a hub with data."""

    def __init__(self, place: Path) -> None:
        self.time = Time()
        self.callbacks = Callbacks(self.time)
        self.hub = start_process(connect(), self.time, self.callbacks, STEADY)
        self.hub.publish("first")
        self.time.advance(0.0)
        self.path = place / "admin.sock"
        self.port = listen(self.path, [HubRoutes(self.hub.operator, BASE_URL, TaskSet())])

    async def ask(self, method: str, target: str) -> Answer:
        return await ask(self.path, method, target)

    async def ask_while_time_goes_by(self, method: str, target: str) -> Answer:
        advancing = LoopingCall(self.time.advance, 1.0)
        advancing.start(0.01)
        try:
            return await self.ask(method, target)
        finally:
            advancing.stop()

    def subscribe(self, number: int) -> None:
        for path in range(number):
            self.hub.post(f"https://{HOST}/{path}", topic=(FEED, REVIEWS)[path % 2])


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def desk() -> AsyncIterator[Desk]:
    with tempfile.TemporaryDirectory() as name:  # a short path
        desk = Desk(Path(name))
        yield desk
        desk.hub.store.latency = None
        desk.hub.stop()
        await maybeDeferred(desk.port.stopListening)


@pytest.fixture
def busy(desk: Desk) -> Desk:
    """A desk with the subscription 1 and the pending request p2."""
    desk.hub.post(secret="s")
    desk.callbacks.behavior = hanging
    desk.hub.post(NEW)
    return desk


@pytest.fixture
def _failing_push(monkeypatch: pytest.MonkeyPatch) -> None:
    """A push cannot learn the results of its attempts."""

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(listing, "delivery_results", fail)


# -- reads


async def test_subscription_has_its_times_and_no_secret(desk: Desk) -> None:
    desk.time.advance(1.0)
    desk.hub.post(lease_seconds="1000", secret="s")
    desk.time.advance(10.0)
    desk.callbacks.behavior = confirming(lambda _: Response(503))
    desk.hub.publish("second")
    answer = await desk.ask("GET", "/v1/subscriptions/1")
    assert 200 == answer.status
    check_headers(answer)
    assert {
        "id": "1",
        "topic": FEED,
        "callback": CALLBACK,
        "host": HOST,
        "state": "active",
        "created_at": "2025-10-09T08:53:21Z",
        "verified_at": "2025-10-09T08:53:21Z",
        "lease_seconds": 1000,
        "lease_expires_at": "2025-10-09T09:10:01Z",
        "signed": True,
        "delivered_version": 1,
        "topic_version": 2,
        "consecutive_failures": 1,
        "next_attempt_at": "2025-10-09T08:54:31Z",
        "in_flight": False,
        "last_attempt_at": "2025-10-09T08:53:31Z",
        "last_status": 503,
        "last_error": "answered 503",
        "last_success_at": None,
        "last_failure_at": "2025-10-09T08:53:31Z",
        "last_failure": "answered 503",
        "pending": None,
    } == answer.json()


async def test_pending_request_has_its_requester(desk: Desk) -> None:
    """The operator sees the client network (H6)."""
    desk.callbacks.behavior = hanging
    desk.hub.post(lease_seconds="1000")
    desk.time.advance(20.0)
    entry = (await desk.ask("GET", "/v1/subscriptions/p1")).json()
    assert ("p1", "pending verification", None, None) == (
        entry["id"],
        entry["state"],
        entry["verified_at"],
        entry["delivered_version"],
    )
    assert {
        "mode": "subscribe",
        "requested_at": "2025-10-09T08:53:20Z",
        "expires_at": "2025-10-09T09:03:20Z",
        "attempts": 1,
        "next_attempt_at": "2025-10-09T08:54:05Z",
        "requester": "192.0.2.7/32",
        "lease_seconds": 1000,
    } == entry["pending"]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", ["1", "2", "3", "4", "p6"]),
        ("?topic=/feed.xml", ["1", "3"]),
        ("?topic=feed.xml", ["1", "3"]),
        (f"?topic={BASE_URL}/feed.xml", ["1", "3"]),
        ("?topic=/reviews.json", ["2", "4", "p6"]),
        ("?topic=/api/feed.json", []),
        ("?state=active&limit=3", ["2", "3", "4"]),
        ("?state=active&limit=2", ["2", "3"]),
        ("?state=active%20(renewing)", ["1"]),
        ("?state=pending%20verification", ["p6"]),
        ("?state=removal%20pending&limit=1", []),
        (f"?callback={NEW}", ["p6"]),
        ("?after=3", ["4", "p6"]),
    ],
)
async def test_list_is_filtered_by_its_parameters(desk: Desk, query: str, ids: list[str]) -> None:
    desk.subscribe(4)
    desk.callbacks.behavior = hanging
    desk.hub.post(f"https://{HOST}/0")
    desk.hub.post(NEW, topic=REVIEWS)
    page = (await desk.ask("GET", f"/v1/subscriptions{query}")).json()
    assert ids == [entry["id"] for entry in page["subscriptions"]]


@pytest.mark.parametrize("limit", [None, 1, 2, 3, 7, 100])
async def test_pages_list_each_entry_once(
    desk: Desk, limit: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if limit is None:
        monkeypatch.setattr("reviewsd.admin.hub.PAGE", 3)
    desk.subscribe(7)
    desk.callbacks.behavior = hanging
    for number in range(4):
        desk.hub.post(f"{NEW}{number}")
    query = "" if limit is None else f"limit={limit}"
    listed: list[str] = []
    after = ""
    while True:
        page = (await desk.ask("GET", f"/v1/subscriptions?{query}{after}")).json()
        assert len(page["subscriptions"]) <= (limit or 3)
        listed += [entry["id"] for entry in page["subscriptions"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert [*"1234567", "p8", "p9", "p10", "p11"] == listed


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("GET /v1/subscriptions?limit=0", "limit: expected 1 to 1000."),
        ("GET /v1/subscriptions?limit=1001", "limit: expected 1 to 1000."),
        ("GET /v1/subscriptions?limit=010000", "limit: expected 1 to 1000."),
        ("GET /v1/subscriptions?limit=%D9%A1", "limit: expected 1 to 1000."),
        ("GET /v1/subscriptions?after=x", "after: expected an id such as 12 or p7."),
        ("GET /v1/subscriptions?state=dead", "state: expected one of pending verification, "),
        ("GET /v1/subscriptions?state=active&state=active", "state: given more than once."),
        ("GET /v1/subscriptions?callback=a%0Ab", "callback: expected at most 2048 characters"),
        ("POST /v1/subscriptions/1/remove?reason=" + 201 * "x", "reason: expected at most 200"),
        ("POST /v1/push?topic=/feed.xml&id=1", "Name a topic or ids, not both."),
        ("POST /v1/blocks", "value: expected a host name"),
        ("POST /v1/blocks?value=https://x.example/secret", "value: expected a host name"),
        ("POST /v1/blocks?value=x.example%0A&note=y", "value: expected at most 2048"),
        ("DELETE /v1/blocks?value=1.2.3.4/99", "value: expected a host name"),
    ],
)
async def test_invalid_parameter_is_named_with_its_valid_values(
    busy: Desk, target: str, says: str
) -> None:
    changes = busy.hub.store.connection.total_changes
    with capturedLogs() as events:
        answer = await busy.ask(*target.split(" ", 1))
    check_problem(answer, 400)
    assert answer.json()["detail"].startswith(says)
    assert (changes, []) == (busy.hub.store.connection.total_changes, told(events))


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("GET /v1/subscriptions/13", "reviewsctl subs list"),
        ("POST /v1/subscriptions/13/remove", "reviewsctl subs list"),
        ("POST /v1/push?id=1&id=13", "reviewsctl subs list"),
        ("POST /v1/push?topic=/feed", "/feed.xml, /api/feed.json, /reviews.json"),
        ("GET /v1/subscriptions?topic=//feed.xml", "/feed.xml, /api/feed.json, /reviews.json"),
        ("POST /v1/push?topic=https://b.example/feed.xml", "/feed.xml, /api/feed.json"),
        ("DELETE /v1/blocks?value=x.example", "reviewsctl hub blocks"),
        ("GET /v1/subscriptions/", "no such operation"),
        ("GET /v1/hub/nothing", "no such operation"),
        ("GET /v1/pushes", "no such operation"),
    ],
)
async def test_missing_resource_is_404_with_the_existing_ones(
    busy: Desk, target: str, says: str
) -> None:
    answer = await busy.ask(*target.split(" ", 1))
    check_problem(answer, 404)
    assert says in answer.json()["detail"]


async def test_state_of_the_hub_has_its_topics(desk: Desk) -> None:
    """With the last known counts while the store fails: reads do not depend on it (D9)."""
    desk.subscribe(4)
    desk.callbacks.behavior = hanging
    desk.hub.post(NEW)
    desk.time.advance(10.0)
    desk.hub.publish("second", {REVIEWS: "first"})
    answer = await desk.ask("GET", "/v1/hub")
    check_headers(answer)
    state = answer.json()
    feed, json_feed, reviews = state.pop("topics")
    changed = "2025-10-09T08:53:30Z"
    expected = {
        "paused": False,
        "active": 4,
        "pending": 1,
        "due": 2,
        "in_flight": 2,
        "oldest_due_at": changed,
        "blocks": 0,
        "opened_networks": [],
        "store": "ok",
    }
    assert expected == state
    digest = feed.pop("sha256")
    topic = {"path": FEED, "version": 2, "changed_at": changed, "subscriptions": 2, "due": 2}
    assert (topic, 64) == (feed, len(digest))
    assert [(JSON_FEED, 2, 0, 0), (REVIEWS, 1, 2, 0)] == [
        tuple(other[name] for name in ("path", "version", "subscriptions", "due"))
        for other in (json_feed, reviews)
    ]

    desk.hub.store.fault = lambda: "before"
    failing = await desk.ask("GET", "/v1/hub")
    desk.hub.store.fault = lambda: None
    failing_state = failing.json()
    del failing_state["topics"]
    assert (200, {**expected, "store": "disk I/O error"}) == (failing.status, failing_state)


# -- changes


ACCEPTED = {"type": "accepted"}


def pushed(hub: HubProcess) -> list[str]:
    return [post.topic for post in hub.callbacks.posts]


def is_paused(hub: HubProcess) -> bool:
    return hub.requests.paused


def is_subscribed(hub: HubProcess) -> bool:
    return bool(hub.store.rows("SELECT id FROM subscription"))


@pytest.mark.parametrize(
    ("target", "answer", "outcome", "expected", "audit"),
    [
        (
            "POST /v1/subscriptions/1/remove?reason=It%20loops",
            {"id": "1", "removed": True},
            lambda hub: hub.store.rows("SELECT reason FROM ended"),
            [("removed by the operator: It loops",)],
            "removal of subscription 1",
        ),
        ("POST /v1/hub/pause", {"paused": True}, is_paused, True, "pause of the hub"),
        (
            "POST /v1/blocks?value=203.0.113.9&note=floods",
            {"value": "203.0.113.9/32", "dry_run": False, "removed": 0},
            lambda hub: hub.store.rows("SELECT value, note FROM block"),
            [("203.0.113.9/32", "floods")],
            "block of 203.0.113.9/32",
        ),
        ("POST /v1/push?wait=false", ACCEPTED, pushed, [FEED], "push to every subscription"),
        ("POST /v1/push?wait=false&topic=feed.xml", ACCEPTED, pushed, [FEED], "push to /feed.xml"),
        ("POST /v1/push?wait=false&id=1", ACCEPTED, pushed, [FEED], "push to subscriptions 1"),
    ],
)
async def test_change_is_made_and_logged_with_its_peer(
    busy: Desk,
    target: str,
    answer: object,
    outcome: Callable[[HubProcess], object],
    expected: object,
    audit: str,
) -> None:
    """The kernel names the peer; the path of a callback is not logged (A1)."""
    with capturedLogs() as events:
        got = await busy.ask(*target.split(" ", 1))
    assert (202 if answer is ACCEPTED else 200) == got.status
    check_headers(got)
    assert answer == got.json()
    assert expected == outcome(busy.hub)
    assert f"{audit} {PEER}" == told(events)[0]
    assert "/cb" not in str(told(events))


async def test_resumption_is_logged_and_ends_the_pause(busy: Desk) -> None:
    await busy.ask("POST", "/v1/hub/pause")
    with capturedLogs() as events:
        answer = await busy.ask("POST", "/v1/hub/resume")
    assert ({"paused": False}, False) == (answer.json(), busy.hub.requests.paused)
    assert [f"resumption of the hub {PEER}"] == told(events)


async def test_dry_run_only_counts(busy: Desk) -> None:
    with capturedLogs() as events:
        answer = await busy.ask("POST", "/v1/blocks?value=Example.Org.&dry_run=true")
    assert {"value": "example.org", "dry_run": True, "removed": 1} == answer.json()
    assert [] == busy.hub.store.rows("SELECT value FROM block")
    assert 1 == len(busy.hub.store.rows("SELECT id FROM subscription"))
    assert [] == told(events)


async def test_block_is_listed_until_it_is_removed(desk: Desk) -> None:
    await desk.ask("POST", "/v1/blocks?value=x.example&note=why")
    block = {"value": "x.example", "note": "why", "created_at": "2025-10-09T08:53:20Z"}
    assert {"blocks": [block]} == (await desk.ask("GET", "/v1/blocks")).json()
    answer = await desk.ask("DELETE", "/v1/blocks?value=x.example")
    assert {"value": "x.example", "blocked": False} == answer.json()
    assert {"blocks": []} == (await desk.ask("GET", "/v1/blocks")).json()


# -- push


async def test_push_is_a_line_for_each_step_and_one_for_the_result(desk: Desk) -> None:
    desk.subscribe(2)
    desk.callbacks.behavior = lambda exchange: (
        Response(500) if exchange.topic == REVIEWS else good(exchange)
    )
    answer = await desk.ask_while_time_goes_by("POST", "/v1/push")
    assert (200, "application/x-ndjson") == (answer.status, answer.headers["Content-Type"])
    check_headers(answer)
    step = {"type": "progress", "stage": "pushing", "total": 2}
    assert [
        {**step, "done": 0, "failed": 0},
        {**step, "done": 2, "failed": 1},
        {"type": "result", "total": 2, "delivered": 1, "failed": 1, "removed": 0},
    ] == [json.loads(line) for line in answer.body.splitlines()]
    assert answer.body.endswith(b"\n")


@pytest.mark.parametrize("query", ["", "?wait=false"])
async def test_push_of_a_paused_hub_is_a_problem_with_the_remedy(busy: Desk, query: str) -> None:
    await busy.ask("POST", "/v1/hub/pause")
    answer = await busy.ask("POST", f"/v1/push{query}")
    check_problem(answer, 409)
    assert "reviewsctl hub resume" in answer.json()["detail"]
    assert [] == pushed(busy.hub)


async def test_push_to_an_unconfirmed_callback_is_refused(busy: Desk) -> None:
    """Nothing is sent before the verification (I2)."""
    check_problem(await busy.ask("POST", "/v1/push?id=p2"), 409)
    assert [] == pushed(busy.hub)


# -- clients that leave


async def _ask_and_leave(desk: Desk, target: str) -> None:
    client = socket.socket(socket.AF_UNIX)
    await deferToThread(client.connect, str(desk.path))
    client.sendall(f"{target} HTTP/1.1\r\nHost: reviewsd\r\n\r\n".encode())
    await desk.ask("GET", "/v1/nothing")  # the request has arrived
    client.close()
    await desk.ask("GET", "/v1/nothing")  # the daemon has seen the disconnect


@pytest.mark.parametrize(
    ("target", "outcome", "before", "after"),
    [
        ("POST /v1/hub/pause", is_paused, False, True),
        ("POST /v1/subscriptions/1/remove", is_subscribed, True, False),
    ],
)
async def test_change_continues_when_its_client_leaves(
    busy: Desk, target: str, outcome: Callable[[HubProcess], object], before: object, after: object
) -> None:
    """Nothing is logged as an error (A3)."""
    busy.hub.store.latency = 5.0
    with capturedLogs() as events:
        await _ask_and_leave(busy, target)
        assert before == outcome(busy.hub)
        busy.time.advance(10.0)
    assert after == outcome(busy.hub)
    assert told(events)[0].endswith(PEER)
    assert [] == [event for event in events if "log_failure" in event]


async def test_push_continues_when_its_client_leaves(busy: Desk) -> None:
    with capturedLogs() as events:
        await _ask_and_leave(busy, "POST /v1/push")
        (exchange,) = busy.callbacks.posts
        exchange.outcome.callback(Response(200))
        busy.time.advance(10.0)
    assert [(200,)] == busy.hub.store.rows("SELECT last_status FROM subscription")
    assert [] == [event for event in events if "log_failure" in event]


@pytest.mark.usefixtures("_failing_push")
async def test_failure_after_the_client_has_left_is_logged(busy: Desk) -> None:
    with capturedLogs() as events:
        await _ask_and_leave(busy, "POST /v1/push")
        busy.time.advance(10.0)
    assert "work for a client that has left failed" in told(events)


# -- failing store


@pytest.mark.parametrize(
    "target",
    [
        "GET /v1/subscriptions",
        "GET /v1/subscriptions/1",
        "POST /v1/subscriptions/1/remove",
        "POST /v1/push",
        "POST /v1/push?wait=false",
        "POST /v1/hub/pause",
        "POST /v1/hub/resume",
        "POST /v1/blocks?value=x.example",
        "DELETE /v1/blocks?value=x.example",
    ],
)
async def test_change_with_a_failing_store_is_503_with_the_reason(busy: Desk, target: str) -> None:
    busy.hub.store.fault = lambda: "before"
    answer = await busy.ask(*target.split(" ", 1))
    busy.hub.store.fault = lambda: None
    check_problem(answer, 503)
    assert "disk I/O error" in answer.json()["detail"]


@pytest.mark.usefixtures("_failing_push")
async def test_push_that_fails_after_its_first_line_has_no_result(busy: Desk) -> None:
    with capturedLogs() as events:
        answer = await busy.ask_while_time_goes_by("POST", "/v1/push")
    (step,) = answer.body.splitlines()
    assert "progress" == json.loads(step)["type"]
    assert "b'/v1/push' broke off" in told(events)
