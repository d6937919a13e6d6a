"""The operator's site, through a real socket of its own (A1-A3)."""

import json
import os
import socket
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet.defer import Deferred, maybeDeferred, succeed
from twisted.internet.task import Clock
from twisted.internet.threads import deferToThread
from twisted.logger import capturedLogs

from reviewsd.admin.app import API
from reviewsd.api.jobs import Guard, Step
from reviewsd.publish.compile_process import StepObserver
from reviewsd.publish.messages import Job, Outcome
from reviewsd.publish.publication import publish
from reviewsd.publish.publisher import Publisher
from reviewsd.publish.sources import fingerprint
from reviewsd.snapshot.snapshots import Snapshots
from tests.support.admin_socket import (
    BASE,
    VERSION,
    ask,
    check_headers,
    check_problem,
    listen,
    operator_routes,
    told,
)
from tests.support.columns import review
from tests.support.daemon import Answer
from tests.support.hub import Callbacks, Time, connect, start_process
from tests.support.publishing import Directories

STARTED = 1_760_000_000.0


class Office:
    """The operator's routes on a socket, over a Publisher that works in this process."""

    def __init__(self, place: Path) -> None:
        self.directories = Directories(place)
        self.directories.write(review("a"), review("b"))
        self.jobs: list[Job] = []
        self.gate: Deferred[None] = succeed(None)
        self.time = STARTED
        self.snapshots = Snapshots(self.directories.snapshots)
        self.publisher = Publisher(
            self.directories.order,
            "1",
            self.snapshots,
            lambda: succeed(fingerprint(self.directories.data)),
            self.run,
            Clock(),
        )
        self.path = place / "admin.sock"
        time = Time()
        self.hub = start_process(connect(), time, Callbacks(time))
        self.operator = self.hub.operator
        routes = operator_routes(self.snapshots, self.publisher, self.operator, lambda: self.time)
        self.port = listen(self.path, routes)

    async def run(self, job: Job, progress: StepObserver) -> Outcome:
        self.jobs.append(job)
        await self.gate
        return publish(job, lambda stage, done, total: progress(Step(stage, done, total)))

    async def ask(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Answer:
        return await ask(self.path, method, path, headers, body)


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def office() -> AsyncIterator[Office]:
    with tempfile.TemporaryDirectory() as name:  # a short path
        office = Office(Path(name))
        yield office
        office.hub.stop()
        await maybeDeferred(office.port.stopListening)


# -- refused requests


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"origin": "null"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Mode": "cors"},
        {"SEC-FETCH-DEST": "empty"},
        {"Host": "localhost"},
        {"Host": "reviewsd:80"},
        {"Host": ""},
        {"Host": "reviewsd|reviewsd"},
    ],
)
@pytest.mark.parametrize("request_line", ["GET /v1/status", "POST /v1/reload", "GET /nowhere"])
async def test_request_of_a_browser_is_refused(
    office: Office, headers: Mapping[str, str], request_line: str
) -> None:
    """A page in the operator's browser must neither reload nor read (A2)."""
    method, path = request_line.split()
    answer = await office.ask(method, path, headers)
    if answer.headers["Reviewsd-Api"] is None:  # Twisted itself refuses two Hosts
        assert 400 == answer.status
    else:
        check_problem(answer, 403)
    assert [] == office.jobs


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/", "/v1/statu", "/v1/status/", "/v2/status", "/v1/%ff"]
)
async def test_other_path_is_404(office: Office, path: str) -> None:
    with capturedLogs() as events:
        check_problem(await office.ask("GET", path), 404)
    assert [] == told(events)


@pytest.mark.parametrize(
    ("request_line", "allow"),
    [
        ("POST /v1/status", "GET, HEAD"),
        ("DELETE /v1/hub", "GET, HEAD"),
        ("GET /v1/reload", "POST"),
        ("BREW /v1/reload", "POST"),
        ("DELETE /v1/subscriptions/12", "GET, HEAD"),
        ("GET /v1/subscriptions/12/remove", "POST"),
        ("GET /v1/push", "POST"),
        ("PUT /v1/blocks", "DELETE, GET, HEAD, POST"),
    ],
)
async def test_other_method_is_405_with_allow(
    office: Office, request_line: str, allow: str
) -> None:
    method, path = request_line.split()
    answer = await office.ask(method, path)
    check_problem(answer, 405)
    assert allow == answer.headers["Allow"]


@pytest.mark.parametrize(
    "framing", [{}, {"Transfer-Encoding": "chunked"}], ids=["length", "chunks"]
)
@pytest.mark.parametrize("media_type", ["application/x-www-form-urlencoded", "application/json"])
async def test_body_is_refused(office: Office, framing: Mapping[str, str], media_type: str) -> None:
    """Twisted would parse a form as parameters, and a large one would block the reactor."""
    body = b"force=true&" * 1_000
    length = framing or {"Content-Length": str(len(body))}
    answer = await office.ask("POST", "/v1/reload", {"Content-Type": media_type, **length}, body)
    check_problem(answer, 413)
    assert [] == office.jobs


async def test_failure_of_a_route_is_a_problem_and_logged(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail() -> None:
        raise RuntimeError

    monkeypatch.setattr(office.operator, "state", fail)
    with capturedLogs() as events:
        answer = await office.ask("GET", "/v1/status")
    check_problem(answer, 500)
    assert "The daemon failed; its log says why." == answer.json()["detail"]
    assert ["answering b'/v1/status' failed"] == told(events)


# -- reads


async def test_status_of_good_data(office: Office) -> None:
    await office.publisher.reload()
    office.time += 12.34
    with capturedLogs() as events:
        answer = await office.ask("GET", "/v1/status")
    assert 200 == answer.status
    assert "application/json" == answer.headers["Content-Type"]
    check_headers(answer)
    status = answer.json()
    assert (VERSION, BASE) == (status["version"], status["base_url"])
    assert "2025-10-09T08:53:20Z" == status["installed_at"]
    assert (["x"], "/d") == (status["listen"], status["data_dir"])
    assert (API, os.getpid()) == (status["api"], status["pid"])
    assert ("2025-10-09T08:53:20Z", 12.3) == (status["started_at"], status["uptime_seconds"])
    snapshot = status["snapshot"]
    assert office.snapshots.current.revision == snapshot["revision"]
    assert (2, False) == (snapshot["review_count"], snapshot["insights"])
    data = status["data"]
    assert ("ok", None, []) == (data["state"], data["failing_since"], data["problems"])
    assert "published" == data["last_reload"]["outcome"]
    assert (await office.ask("GET", "/v1/hub")).json() == status["hub"]
    assert [] == told(events)  # reading leaves no audit line


async def test_head_is_get_without_the_body(office: Office) -> None:
    get, head = await office.ask("GET", "/v1/hub"), await office.ask("HEAD", "/v1/hub")
    assert (200, b"") == (head.status, head.body)
    assert get.headers["Content-Length"] == head.headers["Content-Length"]


# -- reload


async def test_reload_is_a_line_for_each_step_and_one_for_the_result(office: Office) -> None:
    answer = await office.ask("POST", "/v1/reload")
    assert 200 == answer.status
    assert "application/x-ndjson" == answer.headers["Content-Type"]
    check_headers(answer)
    assert answer.body.endswith(b"\n")
    *steps, result = [json.loads(line) for line in answer.body.splitlines()]
    assert {"progress"} == {step["type"] for step in steps}
    assert {"type", "stage", "done", "total"} == set(steps[0])
    assert ("result", "published", 2) == (result["type"], result["outcome"], result["review_count"])
    assert office.snapshots.current.revision == result["revision"]
    assert [] == result["problems"]
    assert {"at", "seconds"} < set(result)


@pytest.mark.parametrize(
    ("query", "lifted"),
    [
        ("", frozenset()),
        ("?force=true", frozenset({"shrink"})),
        ("?force=1", frozenset()),
        ("?without_corrections=true", frozenset({"corrections"})),
    ],
)
async def test_reload_lifts_the_guard_that_a_parameter_names(
    office: Office, query: str, lifted: frozenset[Guard]
) -> None:
    await office.ask("POST", f"/v1/reload{query}")
    assert [lifted] == [job.lifted for job in office.jobs]


async def test_reload_without_waiting_is_accepted(office: Office) -> None:
    office.gate = Deferred()
    answer = await office.ask("POST", "/v1/reload?wait=false")
    assert (202, {"type": "accepted"}) == (answer.status, answer.json())
    check_headers(answer)
    office.gate.callback(None)
    assert "published" == (office.publisher.last or pytest.fail("no report")).outcome


@pytest.mark.parametrize("query", ["", "?wait=false"])
async def test_reload_is_logged_with_its_peer(office: Office, query: str) -> None:
    """The kernel names the peer (A1)."""
    with capturedLogs() as events:
        await office.ask("POST", f"/v1/reload{query}")
    (line, *_) = told(events)
    who = f"pid {os.getpid()}, uid {os.getuid()}, gid {os.getgid()}"
    assert f"reload asked for by {who}" == line


async def test_reload_continues_when_its_client_leaves(office: Office) -> None:
    """Nothing is logged as an error (A3)."""
    office.gate = Deferred()
    with capturedLogs() as events:
        client = socket.socket(socket.AF_UNIX)
        await deferToThread(client.connect, str(office.path))
        client.sendall(b"POST /v1/reload HTTP/1.1\r\nHost: reviewsd\r\n\r\n")
        while not office.jobs:
            await deferToThread(lambda: None)
        client.close()
        await office.ask("GET", "/v1/hub")  # the daemon has seen the disconnect
        office.gate.callback(None)
    assert "published" == (office.publisher.last or pytest.fail("no report")).outcome
    audit, published = told(events)
    assert audit.startswith("reload asked for by ")
    assert published.startswith("published ")
