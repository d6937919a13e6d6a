"""The operator's side of the hub, through a real socket (H7, A1, A3)."""

import json
import os
import socket
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from msgspec.structs import replace
from twisted.internet.defer import Deferred, maybeDeferred, succeed
from twisted.internet.task import Clock
from twisted.internet.threads import deferToThread
from twisted.logger import capturedLogs

from reviewsd.publish.compile_process import StepObserver
from reviewsd.publish.messages import Job, Outcome
from reviewsd.publish.publication import publish
from reviewsd.publish.publisher import Publisher
from reviewsd.publish.sources import fingerprint
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.store.transactions import StoreError
from tests.support.admin_socket import (
    Answer,
    ask,
    check_headers,
    check_problem,
    listen,
    operator_routes,
    told,
)
from tests.support.columns import review
from tests.support.operator import ACTIVE, MemoryOperator
from tests.support.publishing import Directories

BASE = "https://a.example"
PEER = f"asked for by pid {os.getpid()}, uid {os.getuid()}, gid {os.getgid()}"


class Desk:
    """The operator's routes on a socket, over an operator in memory."""

    def __init__(self, place: Path) -> None:
        directories = Directories(place)
        directories.write(review("a"))
        snapshots = Snapshots(directories.snapshots)
        self.operator = MemoryOperator()
        self.publisher = Publisher(
            directories.order,
            "1",
            snapshots,
            lambda: succeed(fingerprint(directories.data)),
            _publish,
            Clock(),
        )
        self.path = place / "admin.sock"
        routes = operator_routes(snapshots, self.publisher, self.operator)
        self.port = listen(self.path, routes)

    async def ask(self, method: str, target: str) -> Answer:
        return await ask(self.path, method, target)


async def _publish(job: Job, _: StepObserver) -> Outcome:
    return publish(job, lambda *_: None)


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def desk() -> AsyncIterator[Desk]:
    with tempfile.TemporaryDirectory() as name:  # a short path
        desk = Desk(Path(name))
        yield desk
        await maybeDeferred(desk.port.stopListening)


# -- reads


async def test_subscription_has_its_times_and_no_secret(desk: Desk) -> None:
    answer = await desk.ask("GET", "/v1/subscriptions/12")
    assert 200 == answer.status
    check_headers(answer)
    assert {
        "id": "12",
        "topic": "/feed.xml",
        "callback": "https://subscriber.example.com/cb?secret=1",
        "host": "subscriber.example.com",
        "state": "active",
        "created_at": "2025-10-09T08:53:20Z",
        "verified_at": "2025-10-09T08:53:21Z",
        "lease_seconds": 864_000,
        "lease_expires_at": "2025-10-19T08:53:21Z",
        "signed": True,
        "delivered_version": 11,
        "topic_version": 12,
        "consecutive_failures": 1,
        "next_attempt_at": "2025-10-09T08:55:20Z",
        "in_flight": False,
        "last_attempt_at": "2025-10-09T08:54:20Z",
        "last_status": 503,
        "last_error": "HTTP 503",
        "last_success_at": "2025-10-09T08:53:30Z",
        "last_failure_at": "2025-10-09T08:54:20Z",
        "last_failure": "HTTP 503",
        "pending": None,
    } == answer.json()


async def test_pending_request_has_its_requester(desk: Desk) -> None:
    """The operator sees the client network (H6)."""
    entry = (await desk.ask("GET", "/v1/subscriptions/p7")).json()
    assert (None, "192.0.2.7/32") == (entry["verified_at"], entry["pending"]["requester"])
    assert "2025-10-09T09:03:20Z" == entry["pending"]["expires_at"]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", ["12", "p7"]),
        ("?topic=/feed.xml", ["12", "p7"]),
        ("?topic=feed.xml", ["12", "p7"]),
        ("?topic=https://a.example/feed.xml", ["12", "p7"]),
        ("?topic=/reviews.json", []),
        ("?state=active", ["12"]),
        ("?state=pending%20verification", ["p7"]),
        ("?callback=https://new.example.com/", ["p7"]),
        ("?callback=https://subscriber.example.com/cb%3Fsecret%3D1", ["12"]),
        ("?after=12", ["p7"]),
    ],
)
async def test_list_is_filtered_by_its_parameters(desk: Desk, query: str, ids: list[str]) -> None:
    page = (await desk.ask("GET", f"/v1/subscriptions{query}")).json()
    assert ids == [entry["id"] for entry in page["subscriptions"]]
    assert None is page["next"]


async def test_list_is_paged(desk: Desk) -> None:
    desk.operator.subscriptions = [replace(ACTIVE, id=str(number)) for number in range(1, 2501)]
    ids: list[str] = []
    query, sizes = "", []
    while True:
        page = (await desk.ask("GET", f"/v1/subscriptions{query}")).json()
        sizes.append(len(page["subscriptions"]))
        ids += [entry["id"] for entry in page["subscriptions"]]
        if page["next"] is None:
            break
        query = f"?after={page['next']}"
    assert [1000, 1000, 500] == sizes
    assert [entry.id for entry in desk.operator.subscriptions] == ids


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
        ("POST /v1/subscriptions/12/remove?reason=" + 201 * "x", "reason: expected at most 200"),
        ("POST /v1/push?topic=/feed.xml&id=12", "Name a topic or ids, not both."),
        ("POST /v1/blocks", "value: expected a host name"),
        ("POST /v1/blocks?value=https://x.example/secret", "value: expected a host name"),
        ("POST /v1/blocks?value=x.example%0A&note=y", "value: expected at most 2048"),
        ("DELETE /v1/blocks?value=1.2.3.4/99", "value: expected a host name"),
    ],
)
async def test_invalid_parameter_is_named_with_its_valid_values(
    desk: Desk, target: str, says: str
) -> None:
    with capturedLogs() as events:
        answer = await desk.ask(*target.split(" ", 1))
    check_problem(answer, 400)
    assert answer.json()["detail"].startswith(says)
    assert ([], []) == (desk.operator.done, told(events))


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("GET /v1/subscriptions/13", "reviewsctl subs list"),
        ("GET /v1/subscriptions/x", "reviewsctl subs list"),
        ("GET /v1/subscriptions/9999999999999999999", "reviewsctl subs list"),
        ("POST /v1/subscriptions/13/remove", "reviewsctl subs list"),
        ("POST /v1/push?id=12&id=13", "reviewsctl subs list"),
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
    desk: Desk, target: str, says: str
) -> None:
    answer = await desk.ask(*target.split(" ", 1))
    check_problem(answer, 404)
    assert says in answer.json()["detail"]


@pytest.mark.parametrize(
    ("target", "allow"),
    [
        ("POST /v1/subscriptions", "GET, HEAD"),
        ("DELETE /v1/subscriptions/12", "GET, HEAD"),
        ("GET /v1/subscriptions/12/remove", "POST"),
        ("GET /v1/push", "POST"),
        ("GET /v1/hub/pause", "POST"),
        ("PUT /v1/blocks", "DELETE, GET, HEAD, POST"),
    ],
)
async def test_other_method_is_405_with_allow(desk: Desk, target: str, allow: str) -> None:
    answer = await desk.ask(*target.split(" ", 1))
    check_problem(answer, 405)
    assert allow == answer.headers["Allow"]


async def test_state_of_the_hub_has_its_topics(desk: Desk) -> None:
    topic = {
        "path": "/feed.xml",
        "version": 12,
        "sha256": "ab",
        "changed_at": "2025-10-09T08:53:20Z",
        "subscriptions": 1,
        "due": 1,
    }
    state = {
        "paused": False,
        "active": 1,
        "pending": 1,
        "due": 1,
        "in_flight": 0,
        "oldest_due_at": "2025-10-09T08:53:20Z",
        "blocks": 0,
        "opened_networks": ["127.0.0.0/8"],
        "store": "ok",
        "topics": [topic],
    }
    await desk.publisher.reload()
    assert state == (await desk.ask("GET", "/v1/hub")).json()
    assert state == (await desk.ask("GET", "/v1/status")).json()["hub"]


# -- changes


@pytest.mark.parametrize(
    ("target", "answer", "done", "audit"),
    [
        (
            "POST /v1/subscriptions/12/remove?reason=It%20loops",
            {"id": "12", "removed": True},
            ("remove", "12", "It loops"),
            "removal of subscription 12",
        ),
        (
            "POST /v1/subscriptions/p7/remove",
            {"id": "p7", "removed": True},
            ("remove", "p7", ""),
            "removal of subscription p7",
        ),
        ("POST /v1/hub/pause", {"paused": True}, ("pause",), "pause of the hub"),
        ("POST /v1/hub/resume", {"paused": False}, ("resume",), "resumption of the hub"),
        (
            "POST /v1/blocks?value=203.0.113.9&note=floods",
            {"value": "203.0.113.9/32", "dry_run": False, "removed": 3},
            ("block", "203.0.113.9/32", "floods", False),
            "block of 203.0.113.9/32",
        ),
        (
            "POST /v1/push?wait=false",
            {"type": "accepted"},
            ("push later", None, None),
            "push to every subscription",
        ),
        (
            "POST /v1/push?wait=false&topic=https://a.example/feed.xml",
            {"type": "accepted"},
            ("push later", None, "/feed.xml"),
            "push to /feed.xml",
        ),
        (
            "POST /v1/push?wait=false&id=12",
            {"type": "accepted"},
            ("push later", ["12"], None),
            "push to subscriptions 12",
        ),
    ],
)
async def test_change_is_made_and_logged_with_its_peer(
    desk: Desk, target: str, answer: object, done: tuple[object, ...], audit: str
) -> None:
    """The kernel names the peer; the path of a callback is not logged (A1)."""
    with capturedLogs() as events:
        got = await desk.ask(*target.split(" ", 1))
    assert (200 if answer != {"type": "accepted"} else 202) == got.status
    check_headers(got)
    assert answer == got.json()
    assert [done] == desk.operator.done
    assert [f"{audit} {PEER}"] == told(events)


async def test_dry_run_only_counts(desk: Desk) -> None:
    with capturedLogs() as events:
        answer = await desk.ask("POST", "/v1/blocks?value=X.Example.&dry_run=true")
    assert {"value": "x.example", "dry_run": True, "removed": 3} == answer.json()
    assert [("block", "x.example", "", True)] == desk.operator.done
    assert [] == told(events)


async def test_block_is_listed_until_it_is_removed(desk: Desk) -> None:
    await desk.ask("POST", "/v1/blocks?value=x.example&note=why")
    block = {"value": "x.example", "note": "why", "created_at": "2025-10-09T08:53:20Z"}
    assert {"blocks": [block]} == (await desk.ask("GET", "/v1/blocks")).json()
    answer = await desk.ask("DELETE", "/v1/blocks?value=x.example")
    assert {"value": "x.example", "blocked": False} == answer.json()


# -- push


async def test_push_is_a_line_for_each_step_and_one_for_the_result(desk: Desk) -> None:
    answer = await desk.ask("POST", "/v1/push")
    assert (200, "application/x-ndjson") == (answer.status, answer.headers["Content-Type"])
    check_headers(answer)
    step = {"type": "progress", "stage": "pushing", "total": 2}
    assert [
        {**step, "done": 0, "failed": 0},
        {**step, "done": 2, "failed": 1},
        {"type": "result", "total": 2, "delivered": 1, "failed": 1, "removed": 0},
    ] == [json.loads(line) for line in answer.body.splitlines()]
    assert answer.body.endswith(b"\n")
    assert [("push", None, None)] == desk.operator.done


@pytest.mark.parametrize("query", ["", "?wait=false"])
async def test_push_of_a_paused_hub_is_a_problem_with_the_remedy(desk: Desk, query: str) -> None:
    desk.operator.now = replace(desk.operator.now, paused=True)
    answer = await desk.ask("POST", f"/v1/push{query}")
    check_problem(answer, 409)
    assert "reviewsctl hub resume" in answer.json()["detail"]
    assert [] == desk.operator.done


async def test_push_to_an_unconfirmed_callback_is_refused(desk: Desk) -> None:
    """Nothing is sent before the verification (I2)."""
    check_problem(await desk.ask("POST", "/v1/push?id=p7"), 409)
    assert [] == desk.operator.done


@pytest.mark.parametrize(
    ("target", "done"),
    [
        ("POST /v1/push", ("push", None, None)),
        ("POST /v1/hub/pause", ("pause",)),
        ("POST /v1/subscriptions/12/remove", ("remove", "12", "")),
    ],
)
async def test_change_continues_when_its_client_leaves(
    desk: Desk, target: str, done: tuple[object, ...]
) -> None:
    """Nothing is logged as an error (A3)."""
    gate: Deferred[None] = Deferred()
    desk.operator.gate = gate
    with capturedLogs() as events:
        await _ask_and_leave(desk, target)
        assert [] == desk.operator.done
        gate.callback(None)
    assert [done] == desk.operator.done
    (audit,) = told(events)
    assert audit.endswith(PEER)


async def test_failure_after_the_client_has_left_is_logged(desk: Desk) -> None:
    gate: Deferred[None] = Deferred()
    desk.operator.gate = gate
    with capturedLogs() as events:
        await _ask_and_leave(desk, "POST /v1/push")
        gate.errback(StoreError("the disk is full"))
    assert "work for a client that has left failed" == told(events)[-1]


async def _ask_and_leave(desk: Desk, target: str) -> None:
    client = socket.socket(socket.AF_UNIX)
    await deferToThread(client.connect, str(desk.path))
    client.sendall(f"{target} HTTP/1.1\r\nHost: reviewsd\r\n\r\n".encode())
    await desk.ask("GET", "/v1/hub")  # the request has arrived
    client.close()
    await desk.ask("GET", "/v1/hub")  # the daemon has seen the disconnect


# -- failing store


@pytest.mark.parametrize(
    "target",
    [
        "GET /v1/subscriptions",
        "GET /v1/subscriptions/12",
        "POST /v1/subscriptions/12/remove",
        "POST /v1/push?wait=false",
        "POST /v1/hub/pause",
        "POST /v1/hub/resume",
        "GET /v1/blocks",
        "POST /v1/blocks?value=x.example",
        "DELETE /v1/blocks?value=x.example",
    ],
)
async def test_change_with_a_failing_store_is_503_with_the_reason(desk: Desk, target: str) -> None:
    desk.operator.fault = StoreError("the disk is full")
    answer = await desk.ask(*target.split(" ", 1))
    check_problem(answer, 503)
    assert "the disk is full" in answer.json()["detail"]


async def test_push_that_fails_in_the_store_has_no_result(desk: Desk) -> None:
    gate: Deferred[None] = Deferred()
    desk.operator.gate = gate
    gate.errback(StoreError("the disk is full"))
    with capturedLogs() as events:
        answer = await desk.ask("POST", "/v1/push")
    (step,) = answer.body.splitlines()
    assert "progress" == json.loads(step)["type"]
    assert "b'/v1/push' broke off" == told(events)[-1]


async def test_state_is_available_with_a_failing_store(desk: Desk) -> None:
    """Reads do not depend on the store (D9)."""
    await desk.publisher.reload()
    desk.operator.fault = StoreError("the disk is full")
    desk.operator.now = replace(desk.operator.now, store="the disk is full")
    hub, status = await desk.ask("GET", "/v1/hub"), await desk.ask("GET", "/v1/status")
    assert (200, "the disk is full") == (hub.status, hub.json()["store"])
    assert (200, "the disk is full") == (status.status, status.json()["hub"]["store"])
