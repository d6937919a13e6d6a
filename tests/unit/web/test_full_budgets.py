"""Requests beyond a budget are refused, and others are answered (S5)."""

import json
from collections.abc import Generator
from dataclasses import dataclass
from typing import cast

import pytest
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from reviewsd.http1 import problems, urls
from reviewsd.http1.hosts import Hosts, Origins
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.mcp.server import AnswerRoom, McpAnswer, McpServer
from reviewsd.runtime.tasks import TaskSet
from reviewsd.runtime.turns import MAX_WAITING
from reviewsd.snapshot.snapshots import Snapshot, Snapshots
from reviewsd.store.ended_sessions import EndedSessions
from reviewsd.web.budgets import PART, SMALL, TOTAL, own_size
from reviewsd.web.mcp import AccessRules, McpRoute
from reviewsd.web.probes import Probes
from reviewsd.web.reads import COPIED, Reads
from tests.support.budgets import budgets
from tests.support.columns import review
from tests.support.connections import MemorySite, ask, serving
from tests.support.publishing import Directories
from tests.support.raw import ReceivedResponse, responses

BASE_URL = "https://reviews.example"
REPLIES = Responses(BASE_URL, "public", lambda: 0.0)
CLIENT, OTHER = "192.0.2.1", "198.51.100.1"
POST = (
    ask(urls.MCP, "Content-Type: application/json", "Content-Length: 40", method="POST")
    + b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
)


class LargeAnswers(McpServer):
    """Answers each message with a large body."""

    def __init__(self) -> None:
        pass

    def post(
        self, _request: Request, _snapshot: Snapshot, _now: float, _room: AnswerRoom
    ) -> Generator[None, None, McpAnswer]:
        yield
        return McpAnswer(200, (b'"%b"' % (SMALL * b"x"),))


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory: pytest.TempPathFactory) -> Snapshots:
    """Return a hundred reviews of 2,000 characters, half of them with three stars."""
    directories = Directories(tmp_path_factory.mktemp("house"))
    directories.write(
        *(review(f"r{at:03}", rating=3 + at % 2, text=2_000 * "x") for at in range(100))
    )
    directories.publish()
    snapshots = Snapshots(directories.snapshots)
    snapshots.refresh()
    return snapshots


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """A site with little time and memory left."""

    snapshots: Snapshots
    total: int = TOTAL
    occupied: int = 0
    """Computations that the client has waiting."""

    def ask(self, data: bytes, client: str) -> ReceivedResponse | None:
        """Return the response to a request; None if it waits."""
        clock = Clock()
        shared = budgets(RunningClock() if self.occupied else clock, total=self.total)
        for _ in range(self.occupied):
            waiting = shared.time.run(Request(b"GET", b"/", client=CLIENT), endless())
            assert isinstance(waiting, Deferred)
        reads = Reads(self.snapshots, REPLIES, shared)
        ended = cast("EndedSessions", None)
        rules = AccessRules(
            origins=Origins(BASE_URL), hosts=Hosts(BASE_URL, ["a"]), may_end=lambda _: 0.0
        )
        route = McpRoute(
            LargeAnswers(), self.snapshots, ended, rules, REPLIES, shared, TaskSet(), lambda: 0.0
        )
        server = serving(clock, reads, route, Probes(REPLIES), responses=REPLIES)
        line = MemorySite(server).send(data, client)
        line.leave()
        received = responses(line.value())
        return received[0] if received else None


class RunningClock(Clock):
    """A clock on which all work takes seconds."""

    def seconds(self) -> float:
        self.rightNow += 1
        return super().seconds()


def endless() -> Generator[None, None, None]:
    while True:
        yield


LARGE = ask(f"{urls.SEARCH}?limit=100")


@pytest.mark.parametrize("data", [LARGE, POST], ids=["search", "MCP"])
def test_client_with_too_much_waiting_gets_429(snapshots: Snapshots, data: bytes) -> None:
    harness = Harness(snapshots=snapshots, occupied=MAX_WAITING)
    refused = harness.ask(data, CLIENT)
    assert refused is not None
    assert 429 == refused.status
    assert ["5"] == refused.values("Retry-After")
    document = json.loads(refused.body)
    if data is POST:
        assert (-32603, None) == (document["error"]["code"], document["id"])
        assert "wait for their answers" in document["error"]["message"]
    else:
        kind = problems.TOO_MANY_REQUESTS.kind
        assert f"{BASE_URL}/developers/errors#{kind}" == document["type"]
    assert harness.ask(data, OTHER) is None  # it waits for its turn


def test_documents_do_not_wait(snapshots: Snapshots) -> None:
    harness = Harness(snapshots=snapshots, occupied=MAX_WAITING, total=0)
    for path in (urls.HEALTH, urls.REVIEWS, urls.JSON_FEED, f"{urls.SINCE}2025-01-01"):
        answer = harness.ask(ask(path), CLIENT)
        assert answer is not None
        assert 200 == answer.status


def test_message_without_memory_is_503(snapshots: Snapshots) -> None:
    refused = Harness(snapshots=snapshots, total=0).ask(POST, CLIENT)
    assert refused is not None
    assert 503 == refused.status
    assert ["5"] == refused.values("Retry-After")
    assert ["Origin"] == refused.values("Vary")
    document = json.loads(refused.body)
    assert (-32603, None) == (document["error"]["code"], document["id"])
    assert "try again" in document["error"]["message"]


@pytest.mark.parametrize("query", ["limit=100", "limit=50&rating=3", "limit=9&rating=3"])
def test_records_of_a_large_search_are_views(snapshots: Snapshots, query: str) -> None:
    """A search takes at most 16 KiB of memory, whatever the length of reviews."""
    reply = Reads(snapshots, REPLIES, budgets(Clock())).search(
        Request(b"GET", urls.SEARCH.encode(), query.encode())
    )
    assert isinstance(reply, Response)
    size = sum(map(len, reply.body))
    assert size > COPIED
    assert own_size(reply.body) < (len(reply.body) + 1) * PART
    assert reply.reserve is None
    answer = Harness(snapshots=snapshots, total=0).ask(ask(f"{urls.SEARCH}?{query}"), CLIENT)
    assert answer is not None
    assert b"".join(reply.body) == answer.body
    page = json.loads(answer.body)
    assert page["returned"] == len(page["reviews"]) == int(query.split("&", maxsplit=1)[0][6:])
