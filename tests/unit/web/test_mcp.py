"""The MCP endpoint's door through a real socket, before a server of ours that only remembers.

Sources: mcp.md 2a-4 to 2a-11, 2a-25, 2b-2, 2b-5, 2c, 3, 7; S2, S12, S13. What the real server
answers is tested in tests/mcp.
"""

import http.client
import json
import socket
import struct
from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import NamedTuple, cast

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet import reactor
from twisted.internet.address import IPv4Address, UNIXAddress
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.interfaces import IReactorTCP, IReactorTime
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.internet.threads import deferToThread
from twisted.logger import LogEvent, capturedLogs

from reviewsd.http1.hosts import Hosts, Origins
from reviewsd.http1.negotiation import MAX_PREFERENCES
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Responses
from reviewsd.mcp.jsonrpc import NULL
from reviewsd.mcp.revisions import HANDSHAKE
from reviewsd.mcp.server import ENDED, NO_ROOM, AnswerRoom, McpAnswer, refusal
from reviewsd.mcp.sessions import Session
from reviewsd.runtime.tasks import TaskSet
from reviewsd.server.listener import ConnectionFactory
from reviewsd.snapshot.snapshots import Snapshot, Snapshots
from reviewsd.store.transactions import StoreError
from reviewsd.web.index import RouteIndex
from reviewsd.web.mcp import AccessRules, McpRoute
from reviewsd.web.reads import Reads
from reviewsd.websub.rate_limits import TokenBuckets
from tests.support.budgets import budgets
from tests.support.columns import review
from tests.support.connections import public_server
from tests.support.publishing import Directories
from tests.support.waiting import until

BASE_URL = "https://reviews.example.net"
REPLIES = Responses(BASE_URL, "public, max-age=60")
MAX_BODY = 2048
JSON = "application/json"
BODY = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
PONG = b'{"jsonrpc":"2.0","id":1,"result":{}}'
SESSION = Session(revision=HANDSHAKE[-1], expires=1_800_000_000, digest=b"d" * 32)
ALLOW = "POST, DELETE, OPTIONS"
CHUNKED = {"Transfer-Encoding": "chunked"}
EXPOSED = "Mcp-Session-Id, Retry-After"

ALWAYS = {
    "Server": "reviewsd",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Strict-Transport-Security": "max-age=31536000",
    "Cache-Control": "no-store",
    "Vary": "Origin",
}


class Scribe:
    """Knows no protocol: answers what it was told to, and remembers what was posted."""

    def __init__(self) -> None:
        self.posted: list[Request] = []
        self.answer = McpAnswer(200, (PONG,))
        self.ending: Session | McpAnswer = SESSION
        self.error: Exception | None = None
        self.steps = 0

    def post(
        self, posted: Request, _snapshot: Snapshot, _now: float, _room: AnswerRoom
    ) -> Generator[None, None, McpAnswer]:
        self.posted.append(posted)
        for _ in range(self.steps):
            yield
        if self.error is not None:
            raise self.error
        return self.answer

    def delete(self, posted: Request, _now: float) -> Session | McpAnswer:
        self.posted.append(posted)
        return self.ending

    def fault(self, _posted: Request) -> McpAnswer:
        return McpAnswer(500, (b'{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"?"}}',))


class Book:
    """Where ended sessions are kept."""

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


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


def server(
    snapshots: Snapshots, clock: IReactorTime, route: McpRoute | None = None
) -> ConnectionFactory:
    """A site of which the MCP endpoint is all that counts."""
    reads = Reads(snapshots, REPLIES, budgets(clock))
    routes = RouteIndex((reads,) if route is None else (reads, route), REPLIES)
    return public_server(
        routes,
        REPLIES,
        clock,
        mcp_body=MAX_BODY,
    )


class Harness:
    """An MCP endpoint with its door on a port of loopback."""

    def __init__(self, published: Path, *, ends: int = 100) -> None:
        snapshots = Snapshots(published)
        snapshots.refresh()
        self.server, self.book, self.tasks = Scribe(), Book(), TaskSet()
        buckets = TokenBuckets(ends, 86_400.0)
        rules = AccessRules(
            origins=Origins(BASE_URL, ["https://app.example.com"]),
            hosts=Hosts(BASE_URL, ["reviews.internal"]),
            max_body=MAX_BODY,
            may_end=lambda network: buckets.take(network, 0.0),
        )
        clock = cast("IReactorTime", reactor)
        self.route = McpRoute(
            self.server,
            snapshots,
            self.book,
            rules,
            REPLIES,
            budgets(clock, [ip_network("127.0.0.0/8")]),
            self.tasks,
            lambda: 0.0,
        )
        self.public = server(snapshots, clock, self.route)
        self.listening = cast("IReactorTCP", reactor).listenTCP(
            0,
            self.public,  # type: ignore[arg-type]  # declared before factories were generic
            interface="127.0.0.1",
        )
        self.port = cast("IPv4Address", self.listening.getHost()).port

    async def close(self) -> None:
        await maybeDeferred(self.listening.stopListening)
        await self.public.connections.drain()
        await self.tasks.stop()

    async def ask(
        self,
        method: str = "POST",
        headers: Mapping[str, str | Sequence[str]] | None = None,
        body: bytes | None = None,
    ) -> Reply:
        """One request; a POST has a message and its type unless it is said otherwise."""
        sent: dict[str, str | Sequence[str]] = {"Host": f"localhost:{self.port}"}
        if method == "POST":
            sent["Content-Type"] = JSON
            body = BODY if body is None else body
        sent |= headers or {}
        reply: Reply = await deferToThread(self._ask, method, sent, body)
        return reply

    def _ask(
        self, method: str, headers: Mapping[str, str | Sequence[str]], body: bytes | None
    ) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, "/mcp", skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                for each in [value] if isinstance(value, str) else value:
                    connection.putheader(name, each)
            if body is not None and "Transfer-Encoding" not in headers:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body, encode_chunked="Transfer-Encoding" in headers)
            response = connection.getresponse()
            found = Reply(response.status, dict(response.headers.items()), response.read())
        finally:
            connection.close()
        names = [name.lower() for name in dict(response.headers.items())]
        assert len(names) == len(set(names))
        return found

    async def say(self, data: bytes, then: bytes = b"") -> bytes:
        """Send bytes as they are, and others when the first were answered; all that comes back."""
        answer: bytes = await deferToThread(self._say, data, then)
        return answer

    def _say(self, data: bytes, then: bytes) -> bytes:
        received = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(data)
            if then:
                received += connection.recv(65_536)
                connection.sendall(then)
            while piece := connection.recv(65_536):
                received += piece
        return received


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Snapshots of one review, for all tests: they only read them."""
    directories = Directories(tmp_path_factory.mktemp("published"))
    directories.write(review("a"))
    directories.publish()
    return directories.snapshots


@pytest_twisted.async_yield_fixture()  # type: ignore[untyped-decorator] # has no stubs
async def harness(published: Path) -> AsyncIterator[Harness]:
    harness = Harness(published)
    yield harness
    await harness.close()


def refused(reply: Reply, status: int, code: int = -32600) -> str:
    """Checks that it is a refusal; what it says."""
    assert status == reply.status
    error = json.loads(reply.body)
    assert ["jsonrpc", "id", "error"] == list(error)
    assert (None, code) == (error["id"], error["error"]["code"])
    assert JSON == reply.headers["Content-Type"]
    assert str(len(reply.body)) == reply.headers["Content-Length"]
    assert ALWAYS.items() <= reply.headers.items()
    return str(error["error"]["message"])


# What comes through -----------------------------------------------------------------------------


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_message_is_carried_there_and_its_answer_back(harness: Harness) -> None:
    reply = await harness.ask()

    assert (200, PONG) == (reply.status, reply.body)
    date = {"Date": reply.headers["Date"]}
    length = {"Content-Length": str(len(PONG)), "Content-Type": JSON}
    assert ALWAYS | length | date == reply.headers
    assert [BODY] == [posted.body for posted in harness.server.posted]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_the_fields_of_the_protocol_are_carried_with_every_value(harness: Harness) -> None:
    """One that was sent twice is refused by whoever knows it (2b-6)."""
    await harness.ask(
        headers={
            "mcp-session-id": "a",
            "MCP-PROTOCOL-VERSION": ["2025-06-18", "2026-07-28"],
            "Mcp-Method": "ping",
            "mcp-name": "caf\u00e9",
        }
    )

    (posted,) = harness.server.posted
    assert (b"a",) == posted.lines(b"mcp-session-id")
    assert (b"2025-06-18", b"2026-07-28") == posted.lines(b"mcp-protocol-version")
    assert (b"ping",) == posted.lines(b"mcp-method")
    assert ("caf\u00e9".encode("latin-1"),) == posted.lines(b"mcp-name")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_wants_no_answer_is_202_and_nothing_else(harness: Harness) -> None:
    """2a-4; revv#145: a type or a body of an empty answer confuses clients."""
    harness.server.answer = McpAnswer(202)
    reply = await harness.ask()

    assert (202, b"") == (reply.status, reply.body)
    assert "0" == reply.headers["Content-Length"]
    assert "Content-Type" not in reply.headers


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_headers_of_the_protocol_come_back(harness: Harness) -> None:
    harness.server.answer = McpAnswer(200, (PONG,), ((b"Mcp-Session-Id", b"abc"),))
    reply = await harness.ask()
    assert "abc" == reply.headers["Mcp-Session-Id"]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_long_answer_in_parts_and_steps_comes_whole(harness: Harness) -> None:
    harness.server.answer = McpAnswer(200, (b'"', memoryview(b"x" * 200_000), b'"'))
    harness.server.steps = 3
    assert b'"' + b"x" * 200_000 + b'"' == (await harness.ask()).body


# HTTP's own rules -------------------------------------------------------------------------------


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "TRACE", "QUERY"])
async def test_other_methods_are_405(harness: Harness, method: str) -> None:
    """2a-9: mcp-proxy#62, reconnect storms after any other answer to GET."""
    reply = await harness.ask(method, {"Accept": "text/event-stream", "Mcp-Session-Id": "x"})

    assert "POST" in refused(reply, 405)
    assert ALLOW == reply.headers["Allow"]
    assert [] == harness.server.posted


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_head_is_405_without_a_body(harness: Harness) -> None:
    reply = await harness.ask("HEAD")
    assert (405, b"", ALLOW) == (reply.status, reply.body, reply.headers["Allow"])


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize(
    "content_type",
    [JSON, "APPLICATION/Json", "application/json; charset=utf-8", "application/json ;x=y"],
)
async def test_json_is_taken_however_it_is_spelt(harness: Harness, content_type: str) -> None:
    assert 200 == (await harness.ask(headers={"Content-Type": content_type})).status


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "",
        "application/jsonp",
        "application/json, text/plain",
        "application/x-www-form-urlencoded",
        [JSON, JSON],
    ],
)
async def test_another_type_is_415(harness: Harness, content_type: str | Sequence[str]) -> None:
    """2a-25. A page may send a form or plain text anywhere without asking first."""
    reply = await harness.ask(headers={"Content-Type": content_type})
    assert JSON in refused(reply, 415)
    assert [] == harness.server.posted


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_an_accept_that_is_too_long_is_not_read(harness: Harness) -> None:
    accept = f"text/html{MAX_PREFERENCES * ','}"
    assert 200 == (await harness.ask(headers={"Content-Type": JSON, "Accept": accept})).status


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_who_excludes_json_is_told_406(harness: Harness) -> None:
    reply = await harness.ask(headers={"Accept": ["text/html", "text/event-stream"]})
    assert "Accept" in refused(reply, 406)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_refusals_come_in_their_order(harness: Harness) -> None:
    """2b-2: the first that fails answers, so one thing after the other can be put right."""
    faults: dict[str, str | Sequence[str]] = {
        "Origin": "https://evil.example",
        "Host": "evil.example",
        "Content-Type": "text/plain",
        "Accept": "text/html",
    }
    large = b"x" * (MAX_BODY + 1)
    statuses = []
    for _ in range(len(faults) + 1):
        statuses.append((await harness.ask("POST", faults, large)).status)
        if faults:
            faults.pop(next(iter(faults)))
    assert [403, 421, 415, 406, 413] == statuses
    method = await harness.ask("PUT", {"Content-Type": "text/plain"}, large)
    assert 405 == method.status


# Size -------------------------------------------------------------------------------------------


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("headers", [{}, CHUNKED])
async def test_a_body_may_have_its_greatest_size(
    harness: Harness, headers: Mapping[str, str]
) -> None:
    body = b"x" * MAX_BODY
    assert 200 == (await harness.ask(headers=headers, body=body)).status
    assert [body] == [posted.body for posted in harness.server.posted]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("headers", [{}, CHUNKED])
@pytest.mark.parametrize("size", [MAX_BODY + 1, 5_000_000])
async def test_more_is_413_and_is_not_kept(
    harness: Harness, headers: Mapping[str, str], size: int
) -> None:
    """Told before all of it has come; who is still sending reads it all the same."""
    origin = {"Origin": BASE_URL}
    reply = await harness.ask(headers={**headers, **origin}, body=b"x" * size)

    message = refused(reply, 413)
    assert f"{MAX_BODY} bytes (server.max_body.mcp)" in message
    assert "close" == reply.headers["Connection"]
    assert BASE_URL == reply.headers["Access-Control-Allow-Origin"]
    assert [] == harness.server.posted


HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_leave_to_send_is_given(harness: Harness) -> None:
    fields = b"Connection: close\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"
    answer = await harness.say(HEAD + fields, b"x")
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_leave_to_send_too_much_is_not_given(harness: Harness) -> None:
    fields = b"Expect: 100-continue\r\nContent-Length: 999999\r\n\r\n"
    answer = await harness.say(HEAD + fields)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert 1 == answer.count(b"HTTP/1.1")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_follows_too_much_is_no_request(harness: Harness) -> None:
    inner = HEAD + b"Content-Length: 1\r\n\r\nx"
    chunks = b"Transfer-Encoding: chunked\r\n\r\n801\r\n" + b"x" * 0x801 + b"\r\n0\r\n\r\n" + inner
    answer = await harness.say(HEAD + chunks)
    assert 1 == answer.count(b"HTTP/1.1")
    assert [] == harness.server.posted


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_one_connection_carries_many_messages(harness: Harness) -> None:
    one = HEAD + b"Content-Length: 1\r\n\r\nx"
    last = HEAD + b"Connection: close\r\nContent-Length: 1\r\n\r\ny"
    answer = await harness.say(one + one + last)
    assert 3 == answer.count(b"HTTP/1.1 200 OK")
    assert [b"x", b"x", b"y"] == [posted.body for posted in harness.server.posted]


# Origins and names ------------------------------------------------------------------------------


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("origin", [BASE_URL, "https://app.example.com", "http://localhost:6274"])
@pytest.mark.parametrize("status", [200, 202, 400, 404])
async def test_a_page_that_may_ask_can_read_every_answer(
    harness: Harness, origin: str, status: int
) -> None:
    """typescript-sdk#713: a session id that is not exposed is not seen."""
    harness.server.answer = McpAnswer(status, () if status == 202 else (PONG,))
    reply = await harness.ask(headers={"Origin": origin})

    assert status == reply.status
    assert origin == reply.headers["Access-Control-Allow-Origin"]
    assert EXPOSED == reply.headers["Access-Control-Expose-Headers"]
    assert "Origin" == reply.headers["Vary"]
    assert "Access-Control-Allow-Credentials" not in reply.headers


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("origin", ["https://evil.example", "null", [BASE_URL, BASE_URL]])
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE", "OPTIONS"])
async def test_a_page_that_may_not_ask_is_403_whatever_it_does(
    harness: Harness, method: str, origin: str | Sequence[str]
) -> None:
    with capturedLogs() as events:
        replies = [await harness.ask(method, {"Origin": origin}) for _ in range(2)]

    for reply in replies:
        assert "mcp.allowed_origins" in refused(reply, 403)
        assert "Access-Control-Allow-Origin" not in reply.headers
    assert [] == harness.server.posted
    assert ["mcp.allowed_origins"] == [event["setting"] for event in ours(events)]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_preflight_says_all_that_a_page_may_send(harness: Harness) -> None:
    asked = {"Origin": BASE_URL, "Access-Control-Request-Method": "POST"}
    reply = await harness.ask("OPTIONS", asked)

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


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_foreign_name_is_421_on_loopback(harness: Harness) -> None:
    """DNS rebinding: the page of evil.example, whose name now leads here."""
    with capturedLogs() as events:
        reply = await harness.ask(headers={"Host": "evil.example"})

    assert "server.allowed_hosts" in refused(reply, 421)
    assert ["evil.example"] == [event["name"] for event in ours(events)]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_the_status_421_has_its_phrase(harness: Harness) -> None:
    """Python and RFC 9110 agree on it."""
    foreign = HEAD.replace(b"localhost", b"evil.example")
    answer = await harness.say(foreign + b"Connection: close\r\nContent-Length: 1\r\n\r\nx")
    assert answer.startswith(b"HTTP/1.1 421 Misdirected Request\r\n")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("host", ["127.0.0.1", "reviews.example.net", "reviews.internal:80"])
async def test_the_own_names_are_served(harness: Harness, host: str) -> None:
    assert 200 == (await harness.ask(headers={"Host": host})).status


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
def test_elsewhere_localhost_is_a_stranger_too(
    published: Path, peer: IPv4Address | UNIXAddress, host: bytes, field: bytes, status: int
) -> None:
    """S3, S12."""
    scribe, clock = Scribe(), Clock()
    snapshots = Snapshots(published)
    snapshots.refresh()
    rules = AccessRules(
        origins=Origins(BASE_URL), hosts=Hosts(BASE_URL), max_body=MAX_BODY, may_end=lambda _: 0.0
    )
    route = McpRoute(
        scribe, snapshots, Book(), rules, REPLIES, budgets(clock), TaskSet(), lambda: 0.0
    )
    connection = server(snapshots, clock, route).buildProtocol(None)
    transport = StringTransport(peerAddress=peer)
    connection.makeConnection(transport)
    connection.dataReceived(
        HEAD.replace(b"localhost", host) + field + b"Content-Length: 1\r\n\r\nx"
    )

    assert transport.value().startswith(b"HTTP/1.1 %d " % status)


# The end of a session ---------------------------------------------------------------------------


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_session_is_ended_for_good_before_that_is_said(harness: Harness) -> None:
    reply = await harness.ask("DELETE", {"Mcp-Session-Id": "abc"})

    assert (204, b"") == (reply.status, reply.body)
    assert ENDED.status == reply.status
    assert (b"abc",) == harness.server.posted[0].lines(b"mcp-session-id")
    assert [(SESSION.digest, SESSION.expires)] == harness.book.ended


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_session_that_is_none_is_not_ended(harness: Harness) -> None:
    harness.server.ending = refusal(404, "no")
    assert "no" == refused(await harness.ask("DELETE"), 404)
    assert [] == harness.book.ended


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_too_many_ended_sessions_are_405(harness: Harness) -> None:
    harness.book.full = True
    reply = await harness.ask("DELETE")
    refused(reply, 405)
    assert b"".join(NO_ROOM.body) == reply.body
    assert 1 == harness.route.refused  # mcp.md 6: a metric counts


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_one_client_cannot_take_all_the_room_for_ended_sessions(published: Path) -> None:
    """Each one is kept for up to 30 days; others go on ending theirs."""
    harness = Harness(published, ends=2)
    try:
        client, other = {"X-Forwarded-For": "192.0.2.7"}, {"X-Forwarded-For": "192.0.2.8"}
        assert [204, 204] == [(await harness.ask("DELETE", client)).status for _ in range(2)]
        harness.server.ending = refusal(404, "no")
        refused(await harness.ask("DELETE", client), 404)  # what ends nothing is not counted
        harness.server.ending = SESSION
        reply = await harness.ask("DELETE", client)
        refused(reply, 429, -32603)
        assert 0 < int(reply.headers["Retry-After"]) <= 86_400 / 2
        assert 204 == (await harness.ask("DELETE", other)).status
        assert (3, 1) == (len(harness.book.ended), harness.route.refused)
    finally:
        await harness.close()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize(("error", "status"), [(StoreError("full"), 503), (ValueError("bug"), 500)])
async def test_a_session_that_cannot_be_ended_now_goes_on(
    harness: Harness, error: Exception, status: int
) -> None:
    harness.book.error = error
    with capturedLogs() as events:
        reply = await harness.ask("DELETE")

    refused(reply, status, -32603)
    assert ("60" if status == 503 else None) == reply.headers.get("Retry-After")
    assert 1 == len(ours(events))


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_client_that_leaves_has_its_session_ended(harness: Harness) -> None:
    harness.book.gate = Deferred()
    connection = socket.create_connection(("127.0.0.1", harness.port))
    connection.sendall(b"DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await until(lambda: harness.server.posted)
    linger = struct.pack("ii", 1, 0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)  # close by a reset
    connection.close()
    await until(lambda: not harness.public.connections.open)
    assert [] == harness.book.ended
    harness.book.gate.callback(None)

    assert 1 == len(harness.book.ended)


# What goes wrong --------------------------------------------------------------------------------


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_bug_is_a_500_that_tells_nothing_and_is_logged(harness: Harness) -> None:
    """2a-13: with the id of the request, and no traceback."""
    harness.server.error = ValueError("secret")
    with capturedLogs() as events:
        reply = await harness.ask(headers={"Origin": BASE_URL})

    error = json.loads(reply.body)
    assert (500, 1, -32603) == (reply.status, error["id"], error["error"]["code"])
    assert BASE_URL == reply.headers["Access-Control-Allow-Origin"]
    assert b"secret" not in reply.body
    assert [harness.server.error] == [event["log_failure"].value for event in ours(events)]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_without_data_it_is_to_be_tried_again(tmp_path: Path) -> None:
    harness = Harness(tmp_path)
    try:
        reply = await harness.ask()
    finally:
        await harness.close()
    refused(reply, 503, -32603)
    assert "5" == reply.headers["Retry-After"]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_fails_before_the_server_is_asked_is_a_problem(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hosts, "allow", lambda *_, **__: 1 // 0)
    with capturedLogs() as events:
        reply = await harness.ask()

    assert (500, 500) == (reply.status, json.loads(reply.body)["status"])
    assert ["answering {path} failed"] == [each["log_format"] for each in ours(events)]
    assert b"ZeroDivision" not in reply.body


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("path", [b"/%6dcp", b"/mcp/", b"/%6dcp/"])
async def test_another_spelling_of_the_path_is_answered_alike(
    harness: Harness, path: bytes
) -> None:
    """Clients follow no redirect with a POST: the official one says only "Session terminated"."""
    head = HEAD + b"Connection: close\r\nContent-Length: 40\r\n\r\n"
    answers = [await harness.say(each + BODY) for each in (head.replace(b"/mcp", path), head)]

    assert answers[0].endswith(PONG)
    assert _undated(answers[0]) == _undated(answers[1])


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_trailing_slash_refuses_too_much_in_the_protocols_form(harness: Harness) -> None:
    head = HEAD.replace(b"/mcp", b"/mcp/") + b"Connection: close\r\n"
    answer = await harness.say(head + b"Content-Length: %d\r\n\r\n" % (MAX_BODY + 1))

    assert b"HTTP/1.1 413 " == answer[:13]
    assert b"jsonrpc" in answer


def _undated(answer: bytes) -> list[bytes]:
    return [line for line in answer.split(b"\r\n") if not line.startswith(b"Date: ")]


def test_a_site_without_mcp_has_nothing_there(tmp_path: Path) -> None:
    connection = server(Snapshots(tmp_path), Clock()).buildProtocol(None)
    transport = StringTransport()
    connection.makeConnection(transport)
    connection.dataReceived(b"POST /mcp HTTP/1.0\r\n\r\n")

    assert transport.value().startswith(b"HTTP/1.1 404 Not Found\r\n")
    assert NULL not in transport.value()


def ours(events: Sequence[LogEvent]) -> list[LogEvent]:
    """What the route has logged."""
    return [each for each in events if each["log_namespace"].startswith("reviewsd.web")]
