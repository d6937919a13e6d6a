"""The MCP endpoint in memory, in front of a server that records requests.

Sources: mcp.md 2a-4 to 2a-11, 2a-25, 2b-2, 2b-5, 2c, 3, 7; S2, S12, S13. The protocol is tested in tests/unit/mcp.
"""

import json
from collections.abc import Generator, Mapping, Sequence
from ipaddress import ip_network
from pathlib import Path

import pytest
from twisted.internet.address import IPv4Address, UNIXAddress
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.logger import LogEvent, capturedLogs

from reviewsd.http1 import urls
from reviewsd.http1.hosts import Hosts, Origins
from reviewsd.http1.problems import MCP_MAX_BODY
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Responses
from reviewsd.mcp.jsonrpc import NULL
from reviewsd.mcp.revisions import HANDSHAKE
from reviewsd.mcp.server import ENDED, NO_ROOM, AnswerRoom, McpAnswer, McpServer, refusal
from reviewsd.mcp.sessions import Session
from reviewsd.runtime.tasks import TaskSet
from reviewsd.snapshot.snapshots import Snapshot, Snapshots
from reviewsd.store.ended_sessions import EndedSessions
from reviewsd.store.transactions import StoreError
from reviewsd.web.mcp import AccessRules, McpRoute
from reviewsd.web.probes import Probes
from reviewsd.websub.rate_limits import TokenBuckets
from tests.support.budgets import budgets
from tests.support.columns import review
from tests.support.connections import MemorySite, exchanged, serving
from tests.support.publishing import Directories
from tests.support.raw import SECURITY, ReceivedResponse

BASE_URL = "https://reviews.example.net"
REPLIES = Responses(BASE_URL, "public, max-age=60")
JSON = "application/json"
BODY = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
PONG = b'{"jsonrpc":"2.0","id":1,"result":{}}'
SESSION = Session(revision=HANDSHAKE[-1], expires=1_800_000_000, digest=b"d" * 32)
ALLOW = "POST, DELETE, OPTIONS"
EXPOSED = "Mcp-Session-Id, Retry-After"

Fields = Mapping[str, str | Sequence[str]]

ALWAYS = SECURITY | {"Cache-Control": "no-store", "Vary": "Origin"}


class RecordingServer(McpServer):
    """Returns a fixed answer, and records the requests."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answer = McpAnswer(200, (PONG,))
        self.ending: Session | McpAnswer = SESSION
        self.error: Exception | None = None
        self.steps = 0

    def post(
        self, request: Request, _snapshot: Snapshot, _now: float, _room: AnswerRoom
    ) -> Generator[None, None, McpAnswer]:
        self.requests.append(request)
        for _ in range(self.steps):
            yield
        if self.error is not None:
            raise self.error
        return self.answer

    def delete(self, request: Request, _now: float) -> Session | McpAnswer:
        self.requests.append(request)
        return self.ending

    def fault(self, _request: Request) -> McpAnswer:
        return McpAnswer(500, (b'{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"?"}}',))


class RecordingSessions(EndedSessions):
    """Records the ended sessions."""

    def __init__(self) -> None:
        self.ended: list[tuple[bytes, int]] = []
        self.gate: Deferred[None] | None = None
        self.full = False
        self.error: Exception | None = None

    async def end(self, digest: bytes, expires: int) -> bool:
        if self.gate is not None:
            await self.gate
        if self.error is not None:
            raise self.error
        if not self.full:
            self.ended.append((digest, expires))
        return not self.full


class Harness(MemorySite):
    """An MCP endpoint on a port of loopback."""

    def __init__(self, published: Path, *, ends: int = 100) -> None:
        snapshots = Snapshots(published)
        snapshots.refresh()
        self.server, self.sessions, self.tasks = RecordingServer(), RecordingSessions(), TaskSet()
        buckets = TokenBuckets(ends, 86_400.0)
        rules = AccessRules(
            origins=Origins(BASE_URL, ["https://app.example.com"]),
            hosts=Hosts(BASE_URL, ["reviews.internal"]),
            may_end=lambda network: buckets.take(network, 0.0),
        )
        clock = Clock()
        self.route = McpRoute(
            self.server,
            snapshots,
            self.sessions,
            rules,
            REPLIES,
            budgets(clock, [ip_network("127.0.0.0/8")]),
            self.tasks,
            lambda: 0.0,
        )
        super().__init__(serving(clock, self.route, responses=REPLIES))

    def ask(
        self, method: str = "POST", headers: Fields | None = None, body: bytes | None = None
    ) -> ReceivedResponse:
        """Send a request; by default a POST has a message and its type."""
        fields: dict[str, str | Sequence[str]] = {"Host": "localhost:8080"}
        if method == "POST":
            fields["Content-Type"] = JSON
            body = BODY if body is None else body
        return self.request(method, urls.MCP, fields | dict(headers or {}), body)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return snapshots of one review, which all tests read."""
    directories = Directories(tmp_path_factory.mktemp("published"))
    directories.write(review("a"))
    directories.publish()
    return directories.snapshots


@pytest.fixture
def harness(published: Path) -> Harness:
    return Harness(published)


def refused(reply: ReceivedResponse, status: int, code: int = -32600) -> str:
    """Check that a reply is a refusal, and return its message."""
    assert status == reply.status
    error = json.loads(reply.body)
    assert ["jsonrpc", "id", "error"] == list(error)
    assert (None, code) == (error["id"], error["error"]["code"])
    assert JSON == reply.headers["Content-Type"]
    assert str(len(reply.body)) == reply.headers["Content-Length"]
    assert ALWAYS.items() <= reply.headers.items()
    return str(error["error"]["message"])


# Messages ---------------------------------------------------------------------------------------


def test_message_reaches_the_server_and_its_answer_the_client(harness: Harness) -> None:
    reply = harness.ask()
    assert (200, PONG) == (reply.status, reply.body)
    date = {"Date": reply.headers["Date"]}
    length = {"Content-Length": str(len(PONG)), "Content-Type": JSON}
    assert ALWAYS | length | date == reply.headers
    assert [BODY] == [request.body for request in harness.server.requests]


def test_fields_of_the_protocol_reach_the_server_with_every_value(harness: Harness) -> None:
    """The server refuses a repeated field (2b-6)."""
    harness.ask(
        headers={
            "mcp-session-id": "a",
            "MCP-PROTOCOL-VERSION": ["2025-06-18", "2026-07-28"],
            "Mcp-Method": "ping",
            "mcp-name": "caf\u00e9",
        }
    )

    (request,) = harness.server.requests
    assert (b"a",) == request.lines(b"mcp-session-id")
    assert (b"2025-06-18", b"2026-07-28") == request.lines(b"mcp-protocol-version")
    assert (b"ping",) == request.lines(b"mcp-method")
    assert ("caf\u00e9".encode("latin-1"),) == request.lines(b"mcp-name")


def test_empty_answer_is_202_without_type_and_body(harness: Harness) -> None:
    """2a-4; revv#145: a type or a body of an empty answer confuses clients."""
    harness.server.answer = McpAnswer(202)
    reply = harness.ask()
    assert (202, b"") == (reply.status, reply.body)
    assert "0" == reply.headers["Content-Length"]
    assert "Content-Type" not in reply.headers


def test_headers_of_the_protocol_reach_the_client(harness: Harness) -> None:
    harness.server.answer = McpAnswer(200, (PONG,), ((b"Mcp-Session-Id", b"abc"),))
    reply = harness.ask()
    assert "abc" == reply.headers["Mcp-Session-Id"]


def test_long_answer_in_parts_and_steps_is_complete(harness: Harness) -> None:
    harness.server.answer = McpAnswer(200, (b'"', memoryview(b"x" * 200_000), b'"'))
    harness.server.steps = 3
    assert b'"' + b"x" * 200_000 + b'"' == harness.ask().body


# HTTP's own rules -------------------------------------------------------------------------------


EVENTS: Fields = {"Accept": "text/event-stream", "Mcp-Session-Id": "x"}
REFUSALS: list[tuple[str, Fields, int, str]] = [
    *((method, EVENTS, 405, "POST") for method in ("GET", "PUT", "PATCH", "TRACE", "QUERY")),
    ("POST", {"Content-Type": "text/plain"}, 415, JSON),
    ("POST", {"Content-Type": ""}, 415, JSON),
    ("POST", {"Content-Type": "application/jsonp"}, 415, JSON),
    ("POST", {"Content-Type": "application/json, text/plain"}, 415, JSON),
    ("POST", {"Content-Type": [JSON, JSON]}, 415, JSON),
    ("POST", {"Accept": ["text/html", "text/event-stream"]}, 406, "Accept"),
]


@pytest.mark.parametrize(("method", "headers", "status", "words"), REFUSALS)
def test_request_that_is_no_message_is_refused(
    harness: Harness, method: str, headers: Fields, status: int, words: str
) -> None:
    """2a-9: mcp-proxy#62, reconnect storms after any other answer to GET.

    2a-25: a page may send a form or plain text anywhere without a preflight.
    """
    reply = harness.ask(method, headers)

    assert words in refused(reply, status)
    assert (ALLOW if status == 405 else None) == reply.headers.get("Allow")
    assert [] == harness.server.requests


@pytest.mark.parametrize("content_type", ["APPLICATION/Json", "application/json ;x=y"])
def test_media_type_is_json_in_any_spelling(harness: Harness, content_type: str) -> None:
    assert 200 == harness.ask(headers={"Content-Type": content_type}).status


def test_refusals_have_an_order(harness: Harness) -> None:
    """2b-2: the first check that fails decides."""
    faults: dict[str, str | Sequence[str]] = {
        "Origin": "https://evil.example",
        "Host": "evil.example",
        "Content-Type": "text/plain",
        "Accept": "text/html",
    }
    large = b"x" * (MCP_MAX_BODY + 1)
    statuses = []
    for _ in range(len(faults) + 1):
        statuses.append(harness.ask("POST", faults, large).status)
        if faults:
            faults.pop(next(iter(faults)))
    assert [403, 421, 415, 406, 413] == statuses
    method = harness.ask("PUT", {"Content-Type": "text/plain"}, large)
    assert 405 == method.status


# Size -------------------------------------------------------------------------------------------


def test_too_large_body_is_413_that_a_page_can_read(harness: Harness) -> None:
    """Lengths and chunks up to the limit and above are in tests/wire_corpus."""
    reply = harness.ask(headers={"Origin": BASE_URL}, body=b"x" * (MCP_MAX_BODY + 1))
    message = refused(reply, 413)
    assert f"{MCP_MAX_BODY} bytes" in message
    assert "close" == reply.headers["Connection"]
    assert BASE_URL == reply.headers["Access-Control-Allow-Origin"]
    assert [] == harness.server.requests


HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


# Origins and names ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (BASE_URL, 200),
        (BASE_URL, 202),
        ("https://app.example.com", 400),
        ("http://localhost:6274", 404),
    ],
)
def test_allowed_page_can_read_every_answer(harness: Harness, origin: str, status: int) -> None:
    """typescript-sdk#713: a session id that is not exposed is not seen."""
    harness.server.answer = McpAnswer(status, () if status == 202 else (PONG,))
    reply = harness.ask(headers={"Origin": origin})
    assert status == reply.status
    assert origin == reply.headers["Access-Control-Allow-Origin"]
    assert EXPOSED == reply.headers["Access-Control-Expose-Headers"]
    assert "Origin" == reply.headers["Vary"]
    assert "Access-Control-Allow-Credentials" not in reply.headers


@pytest.mark.parametrize(
    ("method", "origin"),
    [
        ("POST", "https://evil.example"),
        ("POST", [BASE_URL, BASE_URL]),
        ("GET", "https://evil.example"),
        ("DELETE", "null"),
        ("OPTIONS", "https://evil.example"),
    ],
)
def test_other_origin_is_403(harness: Harness, method: str, origin: str | Sequence[str]) -> None:
    with capturedLogs() as events:
        replies = [harness.ask(method, {"Origin": origin}) for _ in range(2)]
    for reply in replies:
        assert "mcp.allowed_origins" in refused(reply, 403)
        assert "Access-Control-Allow-Origin" not in reply.headers
    assert [] == harness.server.requests
    assert ["mcp.allowed_origins"] == [event["setting"] for event in ours(events)]


def test_preflight_lists_methods_and_fields(harness: Harness) -> None:
    preflight = {"Origin": BASE_URL, "Access-Control-Request-Method": "POST"}
    reply = harness.ask("OPTIONS", preflight)

    assert (204, b"") == (reply.status, reply.body)
    fields = "Content-Type, Accept, MCP-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name"
    expected = {
        "Allow": ALLOW,
        "Access-Control-Allow-Origin": BASE_URL,
        "Access-Control-Allow-Methods": ALLOW,
        "Access-Control-Allow-Headers": f"{fields}, Last-Event-ID, traceparent, tracestate, baggage",
        "Access-Control-Max-Age": "86400",
        **ALWAYS,
    }
    assert expected.items() <= reply.headers.items()


def test_other_host_name_is_421_on_loopback(harness: Harness) -> None:
    """DNS rebinding: evil.example resolves to this machine."""
    with capturedLogs() as events:
        reply = harness.ask(headers={"Host": "evil.example"})
    assert "server.allowed_hosts" in refused(reply, 421)
    assert ["evil.example"] == [event["name"] for event in ours(events)]


@pytest.mark.parametrize(
    "peer", [IPv4Address("TCP", "192.0.2.1", 80), UNIXAddress("/run/http.sock")]
)
@pytest.mark.parametrize(
    ("host", "field", "status"),
    [
        (b"reviews.example.net", b"", 200),
        (b"reviews.example.net", b"Origin: http://localhost:6274\r\n", 403),
        (b"evil.example", b"", 421),
        (b"localhost", b"", 421),
    ],
)
def test_localhost_is_refused_on_other_listeners(
    published: Path, peer: IPv4Address | UNIXAddress, host: bytes, field: bytes, status: int
) -> None:
    head = HEAD.replace(b"localhost", host) + field
    server = serving(Clock(), Harness(published).route)
    answer = exchanged(server, head + b"Content-Length: 1\r\n\r\nx", peer)
    assert answer.startswith(b"HTTP/1.1 %d " % status)


# The end of a session ---------------------------------------------------------------------------


def test_session_is_ended_before_204(harness: Harness) -> None:
    reply = harness.ask("DELETE", {"Mcp-Session-Id": "abc"})
    assert (204, b"") == (reply.status, reply.body)
    assert ENDED.status == reply.status
    assert (b"abc",) == harness.server.requests[0].lines(b"mcp-session-id")
    assert [(SESSION.digest, SESSION.expires)] == harness.sessions.ended


def test_unknown_session_is_not_ended(harness: Harness) -> None:
    harness.server.ending = refusal(404, "no")
    assert "no" == refused(harness.ask("DELETE"), 404)
    assert [] == harness.sessions.ended


def test_too_many_ended_sessions_are_405(harness: Harness) -> None:
    harness.sessions.full = True
    reply = harness.ask("DELETE")
    refused(reply, 405)
    assert b"".join(NO_ROOM.body) == reply.body
    assert 1 == harness.route.refused_ends  # mcp.md 6: a metric counts


def test_ends_of_sessions_are_limited_by_client(published: Path) -> None:
    """An ended session is stored for up to 30 days, and other clients must be able to end theirs."""
    harness = Harness(published, ends=2)
    client, second = {"X-Forwarded-For": "192.0.2.7"}, {"X-Forwarded-For": "192.0.2.8"}
    assert [204, 204] == [harness.ask("DELETE", client).status for _ in range(2)]
    harness.server.ending = refusal(404, "no")
    refused(harness.ask("DELETE", client), 404)  # a refusal ends nothing and is not counted
    harness.server.ending = SESSION
    reply = harness.ask("DELETE", client)
    refused(reply, 429, -32603)
    assert 0 < int(reply.headers["Retry-After"]) <= 86_400 / 2
    assert 204 == harness.ask("DELETE", second).status
    assert (3, 1) == (len(harness.sessions.ended), harness.route.refused_ends)


@pytest.mark.parametrize(("error", "status"), [(StoreError("full"), 503), (ValueError("bug"), 500)])
def test_session_stays_if_its_end_fails(harness: Harness, error: Exception, status: int) -> None:
    harness.sessions.error = error
    with capturedLogs() as events:
        reply = harness.ask("DELETE")
    refused(reply, status, -32603)
    assert ("60" if status == 503 else None) == reply.headers.get("Retry-After")
    assert 1 == len(ours(events))


def test_session_is_ended_although_its_client_leaves(harness: Harness) -> None:
    harness.sessions.gate = Deferred()
    harness.send(b"DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n").leave()
    assert (1, []) == (len(harness.server.requests), harness.sessions.ended)
    harness.sessions.gate.callback(None)
    assert 1 == len(harness.sessions.ended)


# Failures ---------------------------------------------------------------------------------------


def test_bug_is_500_without_details_and_is_logged(harness: Harness) -> None:
    """2a-13: with the id of the request, and no traceback."""
    harness.server.error = ValueError("secret")
    with capturedLogs() as events:
        reply = harness.ask(headers={"Origin": BASE_URL})
    error = json.loads(reply.body)
    assert (500, 1, -32603) == (reply.status, error["id"], error["error"]["code"])
    assert BASE_URL == reply.headers["Access-Control-Allow-Origin"]
    assert b"secret" not in reply.body
    assert [harness.server.error] == [event["log_failure"].value for event in ours(events)]


def test_message_is_503_without_data(tmp_path: Path) -> None:
    reply = Harness(tmp_path).ask()
    refused(reply, 503, -32603)
    assert "5" == reply.headers["Retry-After"]


@pytest.mark.parametrize("path", [b"/%6dcp", b"/mcp/", b"/%6dcp/"])
def test_other_spelling_of_the_path_is_the_same_endpoint(harness: Harness, path: bytes) -> None:
    """Clients follow no redirect with a POST: the official one says only "Session terminated"."""
    head = HEAD + b"Connection: close\r\nContent-Length: 40\r\n\r\n"
    answers = [harness.send(text + BODY).value() for text in (head.replace(b"/mcp", path), head)]
    assert answers[0].endswith(PONG)
    assert _undated(answers[0]) == _undated(answers[1])


def test_too_large_body_with_trailing_slash_is_refused_as_json_rpc(harness: Harness) -> None:
    head = HEAD.replace(b"/mcp", b"/mcp/") + b"Connection: close\r\n"
    answer = harness.send(head + b"Content-Length: %d\r\n\r\n" % (MCP_MAX_BODY + 1)).value()
    assert b"HTTP/1.1 413 " == answer[:13]
    assert b"jsonrpc" in answer


def _undated(answer: bytes) -> list[bytes]:
    return [line for line in answer.split(b"\r\n") if not line.startswith(b"Date: ")]


def test_site_without_mcp_is_404() -> None:
    answer = exchanged(serving(Clock(), Probes(REPLIES)), b"POST /mcp HTTP/1.0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 404 Not Found\r\n")
    assert NULL not in answer


def ours(events: Sequence[LogEvent]) -> list[LogEvent]:
    """Return the log events of the route."""
    return [event for event in events if event["log_namespace"].startswith("reviewsd.web")]
