"""The hub's address through a real socket, over a hub of ours that only reads forms.

Sources: contract 5; W8, W9, W24; H16; S2, S6, S7, S11 to S13, S15.
"""

import http.client
import socket
import struct
from collections.abc import AsyncIterator, Mapping, Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import NamedTuple, cast
from urllib.parse import urlencode

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet import reactor
from twisted.internet.address import IPv4Address, UNIXAddress
from twisted.internet.defer import CancelledError, Deferred, maybeDeferred
from twisted.internet.interfaces import IReactorTCP, IReactorTime
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.internet.threads import deferToThread
from twisted.logger import LogEvent, capturedLogs

from reviewsd.config.schema import Lease
from reviewsd.domain.callback import CallbackPolicy
from reviewsd.http1.problems import HUB_MAX_BODY
from reviewsd.http1.responses import Responses
from reviewsd.runtime.tasks import TaskSet
from reviewsd.server.listener import ConnectionFactory
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.store.transactions import StoreError
from reviewsd.web.clients import ClientNetworks
from reviewsd.web.index import RouteIndex
from reviewsd.web.probes import Probes
from reviewsd.web.reads import Reads
from reviewsd.web.websub import HubRoute
from reviewsd.websub.form import HubRequestError, parse_request
from reviewsd.websub.requests import HubResponse
from tests.support.budgets import budgets
from tests.support.columns import review
from tests.support.connections import public_server
from tests.support.publishing import Directories
from tests.support.waiting import until

PATH = "/api/websub/hub"
BASE_URL = "https://reviews.example.net"
REPLIES = Responses(BASE_URL, "public, max-age=60")
POLICY = CallbackPolicy(own_host="reviews.example.net", own_ports=frozenset({443}))
FORM = "application/x-www-form-urlencoded"
FIELDS = {
    "hub.mode": "subscribe",
    "hub.topic": "/feed.xml",
    "hub.callback": "https://sub.example.org/cb",
}
BODY = urlencode(FIELDS).encode()
ALLOW = "GET, HEAD, OPTIONS, POST"
TOO_LARGE = b"the body must have at most 8192 bytes, and none with GET\n"
CHUNKED = {"Transfer-Encoding": "chunked"}

HEADERS = {
    "Server": "reviewsd",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Strict-Transport-Security": "max-age=31536000",
}
PLAIN = HEADERS | {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"}


class Received(NamedTuple):
    body: bytes
    content_type: bytes | None
    client: str


class FormHub:
    """Reads forms, accepts what it can read, and remembers."""

    help_text = "How to subscribe:\nPOST a form."

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.ended: list[str] = []
        self.error: Exception | None = None
        self.answer = HubResponse(status=202, text="accepted")
        self.gate: Deferred[None] | None = None

    async def receive(self, body: bytes, content_type: bytes | None, client: str) -> HubResponse:
        self.received.append(Received(body, content_type, client))
        if self.gate is not None:
            try:
                await self.gate
            except CancelledError:
                self.ended.append("cancelled")
                raise
        self.ended.append("done")
        if self.error is not None:
            raise self.error
        try:
            parse_request(body, content_type, BASE_URL, Lease(), POLICY)
        except HubRequestError as error:
            return HubResponse(status=error.status, text=error.text)
        return self.answer


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


def server(
    snapshots: Snapshots, clock: IReactorTime, route: HubRoute | None = None
) -> ConnectionFactory:
    """A site of which the hub is all that counts."""
    reads = Reads(snapshots, REPLIES, budgets(clock))
    probes = Probes(REPLIES)
    answerers = (reads, probes) if route is None else (reads, probes, route)
    routes = RouteIndex(answerers, REPLIES)
    return public_server(routes, REPLIES, clock)


class Harness:
    """A hub with its door on a port of loopback."""

    def __init__(self, place: Path) -> None:
        directories = Directories(place)
        directories.write(review("a"))
        self.snapshots = Snapshots(directories.snapshots)
        self.hub = FormHub()
        self.tasks = TaskSet()
        networks = ClientNetworks([ip_network("127.0.0.0/8")])
        route = HubRoute(self.hub, REPLIES, self.tasks, networks)
        clock = cast("IReactorTime", reactor)
        self.server = server(self.snapshots, clock, route)
        self.listening = cast("IReactorTCP", reactor).listenTCP(
            0,
            self.server,  # type: ignore[arg-type]  # declared before factories were generic
            interface="127.0.0.1",
        )
        self.port = cast("IPv4Address", self.listening.getHost()).port

    async def close(self) -> None:
        await maybeDeferred(self.listening.stopListening)
        await self.server.connections.drain()
        await self.tasks.stop()

    async def ask(
        self,
        method: str = "POST",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        path: str = PATH,
    ) -> Answer:
        """One request; a POST has the media type of a form unless it is said otherwise."""
        sent = {"Content-Type": FORM} if method == "POST" else {}
        answer: Answer = await deferToThread(
            self._ask, method, path, {**sent, **(headers or {})}, body
        )
        return answer

    def _ask(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_accept_encoding=True)
            for name, value in headers.items():
                for each in value.split("|"):
                    connection.putheader(name, each)
            chunked = headers.get("Transfer-Encoding") == "chunked"
            if body is not None and not chunked:
                connection.putheader("Content-Length", str(len(body)))
            content = body if body is None or not chunked else _pieces(body)
            connection.endheaders(content, encode_chunked=chunked)
            response = connection.getresponse()
            received = dict(response.getheaders())
            assert len(received) == len(response.getheaders()), "a header came twice"
            return Answer(response.status, received, response.read())
        finally:
            connection.close()

    async def raw(self, *pieces: bytes) -> bytes:
        """Send bytes, each time waiting for an answer; all that comes until the connection ends."""
        answered: bytes = await deferToThread(self._raw, *pieces)
        return answered

    def _raw(self, *pieces: bytes) -> bytes:
        received = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            for piece in pieces:
                connection.sendall(piece)
                received += connection.recv(65_536)
            while data := connection.recv(65_536):
                received += data
        return received


def _pieces(body: bytes) -> list[bytes]:
    return [body[at : at + 4096] for at in range(0, len(body), 4096)]


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def harness(tmp_path: Path) -> AsyncIterator[Harness]:
    harness = Harness(tmp_path)
    with capturedLogs() as events:
        yield harness
        await harness.close()
    assert [] == failures(events)


def failures(events: Sequence[LogEvent]) -> list[LogEvent]:
    """Tracebacks; a test that expects one has its own capture and takes it out."""
    return [event for event in events if "log_failure" in event and "expected" not in event]


def check(answer: Answer, status: int, text: bytes) -> None:
    """The answer is this text, with just the headers of every answer of the hub."""
    assert (status, text) == (answer.status, answer.body)
    varying = {"Date", "Content-Length", "Connection", "Retry-After", "Allow"}
    assert PLAIN == {name: value for name, value in answer.headers.items() if name not in varying}
    assert str(len(text)) == answer.headers["Content-Length"]


# Methods ------------------------------------------------------------------------------------------


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_post_is_given_to_the_hub_and_answered_what_it_says(harness: Harness) -> None:
    check(await harness.ask(body=BODY), 202, b"accepted\n")

    assert [Received(BODY, FORM.encode(), "127.0.0.1/32")] == harness.hub.received


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("status", [400, 403, 429, 503])
async def test_a_refusal_comes_with_its_reason_and_when_to_try_again(
    harness: Harness, status: int
) -> None:
    harness.hub.answer = HubResponse(status=status, text="h\u00e9 is blocked", retry_after=7)
    answer = await harness.ask(body=BODY)

    check(answer, status, "h\u00e9 is blocked\n".encode())
    assert "7" == answer.headers["Retry-After"]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_get_tells_how_to_subscribe_and_head_its_headers(harness: Harness) -> None:
    """W24."""
    get, head = await harness.ask("GET"), await harness.ask("HEAD")

    check(get, 200, b"How to subscribe:\nPOST a form.\n")
    assert (200, b"") == (head.status, head.body)
    assert get.headers.keys() == head.headers.keys()
    assert get.headers["Content-Length"] == head.headers["Content-Length"]
    assert [] == harness.hub.received


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_options_names_the_methods_and_lets_no_browser_in(harness: Harness) -> None:
    """S7, S12."""
    preflight = {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}
    answer = await harness.ask("OPTIONS", preflight)

    assert (204, b"") == (answer.status, answer.body)
    assert HEADERS | {"Allow": ALLOW, "Date": answer.headers["Date"]} == answer.headers


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE", "QUERY"])
@pytest.mark.parametrize("body", [None, BODY])
async def test_another_method_is_a_405_that_names_those_there_are(
    harness: Harness, method: str, body: bytes | None
) -> None:
    answer = await harness.ask(method, body=body)

    check(answer, 405, b"this is asked with POST; GET explains how\n")
    assert ALLOW == answer.headers["Allow"]
    assert [] == harness.hub.received


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("BREW", PATH, 501),
        ("post", PATH, 400),
        ("POST", f"{PATH}//", 404),
        ("POST", "/api/websub", 404),
        ("POST", "/api//websub/hub", 404),
        ("POST", "/api/websub%2Fhub", 404),
        ("POST", "/api/websub/hub%ff", 400),
        ("POST", "/reviews.json", 405),
    ],
)
async def test_what_is_not_the_hub_is_answered_as_ever(
    harness: Harness, method: str, path: str, status: int
) -> None:
    answer = await harness.ask(method, body=BODY, path=path)

    assert (status, "application/json") == (answer.status, answer.headers["Content-Type"])
    assert [] == harness.hub.received


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_trailing_slash_is_the_hubs_address_too(harness: Harness) -> None:
    """A redirect would make many clients repeat the POST as a GET."""
    check(await harness.ask(body=BODY, path=f"{PATH}/"), 202, b"accepted\n")
    check(await harness.ask(body=9_000 * b"a", path=f"{PATH}/"), 413, TOO_LARGE)
    check(await harness.ask("GET", path=f"{PATH}/"), 200, b"How to subscribe:\nPOST a form.\n")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_parameters_of_the_hubs_own_address_count_for_nothing(harness: Harness) -> None:
    """H16."""
    answer = await harness.ask(body=b"", path=f"{PATH}?{urlencode(FIELDS)}")

    check(answer, 400, b"hub.mode: must be given\n")


# Forms --------------------------------------------------------------------------------------------


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        (FORM, 202),
        ("Application/X-WWW-Form-Urlencoded; Charset=UTF-8", 202),
        (f"{FORM}; charset=utf-16", 202),
        ("multipart/form-data; boundary=b", 415),
        ("multipart/form-data", 415),
        ("application/json", 415),
        ("\xff", 415),
        ("", 415),
        (f"{FORM}|{FORM}", 415),
    ],
)
async def test_a_form_has_one_media_type(harness: Harness, content_type: str, status: int) -> None:
    answer = await harness.ask(headers={"Content-Type": content_type}, body=BODY)

    text = b"accepted\n" if status == 202 else f"Content-Type must be {FORM}\n".encode()
    check(answer, status, text)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_without_a_media_type_it_is_no_form(harness: Harness) -> None:
    head = f"POST {PATH} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"

    assert (await harness.raw(head.encode())).startswith(b"HTTP/1.1 415 ")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("headers", [{}, CHUNKED], ids=["length", "chunks"])
@pytest.mark.parametrize(
    ("body", "text"),
    [
        (BODY + b"&" + BODY, b"hub.mode: must be given once\n"),
        (BODY + b"&hub.secret=%00&hub.secret=", b"hub.secret: must be given once\n"),
        (BODY + b"&x=%ff", b"the form must be UTF-8\n"),
        (BODY + b"&x=\xff\xfe", b"the form must be UTF-8\n"),
        (BODY + b"&x=%", b"the form has a broken percent-escape\n"),
        (BODY.replace(b"subscribe", b"subscribe%00"), b"hub.mode: must be"),
        (BODY.replace(b"subscribe", b"subscribe\0"), b"hub.mode: must be"),
        (BODY.replace(b"feed.xml", b"feed.xml%0D%0A"), b"hub.topic: must be one of"),
        (BODY.replace(b"feed.xml", b"feed.xml\r\n"), b"hub.topic: must be one of"),
        (BODY + b"%0D%0AX-Evil:+1", b"hub.callback: "),
        (BODY + b"<script>", b"hub.callback: "),
        (b"", b"hub.mode: must be given\n"),
        (b"&" * 8000, b"the form must have at most 32 fields\n"),
        (b"--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--b--", b"hub.mode: must be"),
    ],
)  # fmt: skip
async def test_a_form_that_is_wrong_is_a_400_in_one_line(
    harness: Harness, headers: Mapping[str, str], body: bytes, text: bytes
) -> None:
    answer = await harness.ask(headers=headers, body=body)

    assert answer.body.startswith(text)
    check(answer, 400, answer.body)
    assert answer.body.decode().removesuffix("\n").isprintable()
    assert b"<" not in answer.body
    assert "X-Evil" not in answer.headers


# Bodies -------------------------------------------------------------------------------------------


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("headers", [{}, CHUNKED], ids=["length", "chunks"])
async def test_8_kib_is_the_cap(harness: Harness, headers: Mapping[str, str]) -> None:
    """S2. What follows the first byte too many is not kept."""
    body = (BODY + b"&x=").ljust(HUB_MAX_BODY, b"x")
    check(await harness.ask(headers=headers, body=body), 202, b"accepted\n")
    check(await harness.ask(headers=headers, body=body + b"x"), 413, TOO_LARGE)

    assert [body] == [each.body for each in harness.hub.received]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("headers", [{}, CHUNKED], ids=["length", "chunks"])
@pytest.mark.parametrize(
    "body",
    [b"&".join(b"f%d=1" % n for n in range(20_000)), BODY.ljust(8 * 1024 * 1024, b"x")],
    ids=["20,000 fields", "8 MiB"],
)
async def test_far_too_much_is_answered_although_its_sender_only_sends(
    harness: Harness, headers: Mapping[str, str], body: bytes
) -> None:
    """``http.client`` sends all before it reads: a reset connection would be all that it sees."""
    answer = await harness.ask(headers=headers, body=body)

    check(answer, 413, TOO_LARGE)
    assert "close" == answer.headers["Connection"]
    assert [] == harness.hub.received


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize(
    "path", [PATH, f"{PATH}?a=b", "/api/websub/%68ub", f"http://reviews.example.net{PATH}"]
)
async def test_the_cap_is_that_of_the_path_however_it_is_spelt(harness: Harness, path: str) -> None:
    check(await harness.ask(body=BODY, path=path), 202, b"accepted\n")
    check(await harness.ask(body=9000 * b"x", path=path), 413, TOO_LARGE)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("headers", [{}, CHUNKED], ids=["length", "chunks"])
async def test_a_get_has_no_body(harness: Harness, method: str, headers: Mapping[str, str]) -> None:
    answer = await harness.ask(method, headers, body=b"x")

    text = b"" if method == "HEAD" else TOO_LARGE
    assert (413, text) == (answer.status, answer.body)
    assert "text/plain; charset=utf-8" == answer.headers["Content-Type"]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("path", ["/reviews.json", "/nope"])
async def test_other_addresses_keep_their_cap_and_their_json(harness: Harness, path: str) -> None:
    read_past = await harness.ask(body=65_536 * b"x", path=path)
    refused = await harness.ask(body=65_537 * b"x", path=path)
    chunked = await harness.ask(headers=CHUNKED, body=65_537 * b"x", path=path)

    assert read_past.status in {404, 405}
    assert [413, 413] == [refused.status, chunked.status]
    assert "application/json" == refused.headers["Content-Type"] == chunked.headers["Content-Type"]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_client_that_waits_for_leave_to_send_gets_it(harness: Harness) -> None:
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\n"
        f"Content-Type: {FORM}\r\nContent-Length: {len(BODY)}\r\n\r\n"
    )
    answered = await harness.raw(head.encode(), BODY)

    assert answered.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\n")
    assert answered.endswith(b"\r\n\r\naccepted\n")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_or_is_refused_before_it_has_sent_anything(harness: Harness) -> None:
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 8193\r\n\r\n"
    )
    answered = await harness.raw(head.encode())

    assert answered.startswith(b"HTTP/1.1 413 ")
    assert answered.endswith(TOO_LARGE)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_one_connection_may_ask_again_and_again(harness: Harness) -> None:
    """The room for one body is not what the one before has left."""
    body = (BODY + b"&x=").ljust(HUB_MAX_BODY, b"x")
    head = f"POST {PATH} HTTP/1.1\r\nHost: a\r\nContent-Type: {FORM}\r\n".encode()
    length = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    last = b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    answered = await harness.raw(2 * length + 2 * chunked + last)

    assert 4 == answered.count(b"HTTP/1.1 202 ") == answered.count(b"accepted\n")
    assert answered.endswith(b'{"status":"ok"}')
    assert 4 * [body] == [each.body for each in harness.hub.received]


# Clients ------------------------------------------------------------------------------------------


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        ("203.0.113.9", "203.0.113.9/32"),
        ("198.51.100.1, 203.0.113.9", "203.0.113.9/32"),
        ("198.51.100.1|203.0.113.9|127.0.0.5", "203.0.113.9/32"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("\xff", "127.0.0.1/32"),
        ("", "127.0.0.1/32"),
    ],
)
async def test_the_client_is_whom_a_trusted_proxy_speaks_for(
    harness: Harness, forwarded: str, client: str
) -> None:
    """S6, as its network (H1)."""
    await harness.ask(headers={"X-Forwarded-For": forwarded}, body=BODY)

    assert [client] == [each.client for each in harness.hub.received]


def test_over_a_unix_socket_there_is_no_peer_to_name(tmp_path: Path) -> None:
    hub = FormHub()
    route = HubRoute(hub, REPLIES, TaskSet(), ClientNetworks())
    public = server(Snapshots(tmp_path), Clock(), route)
    connection = public.buildProtocol(None)
    connection.makeConnection(StringTransport(peerAddress=UNIXAddress(None)))
    connection.dataReceived(f"POST {PATH} HTTP/1.0\r\n\r\n".encode())

    assert [Received(b"", None, "local")] == hub.received


def test_a_forwarded_header_from_a_stranger_is_ignored_and_told_once(tmp_path: Path) -> None:
    """S6."""
    hub = FormHub()
    route = HubRoute(hub, REPLIES, TaskSet(), ClientNetworks())
    public = server(Snapshots(tmp_path), Clock(), route)
    ask = f"POST {PATH} HTTP/1.0\r\nX-Forwarded-For: 198.51.100.9\r\n\r\n".encode()
    with capturedLogs() as events:
        for _ in range(2):
            connection = public.buildProtocol(None)
            connection.makeConnection(
                StringTransport(peerAddress=IPv4Address("TCP", "192.0.2.7", 1))
            )
            connection.dataReceived(ask)

    assert ["192.0.2.7/32"] * 2 == [each.client for each in hub.received]
    (told,) = (each for each in events if each["log_namespace"].startswith("reviewsd.web"))
    assert "192.0.2.7" == told["host"]


# What goes wrong ----------------------------------------------------------------------------------


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_store_that_fails_is_a_503_to_come_back_from(harness: Harness) -> None:
    harness.hub.error = StoreError("the disk is full")
    with capturedLogs() as events:
        answer = await harness.ask(body=BODY)

    check(answer, 503, b"the hub cannot store requests at the moment; please try again later\n")
    assert "60" == answer.headers["Retry-After"]
    ours = [each for each in events if each["log_namespace"].startswith("reviewsd.web")]
    assert [harness.hub.error] == [event["error"] for event in ours]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_bug_is_a_500_that_tells_nothing_and_is_logged(harness: Harness) -> None:
    harness.hub.error = ValueError("secret")
    with capturedLogs() as events:
        answer = await harness.ask(body=BODY)

    check(answer, 500, b"the hub failed; its log says why\n")
    (logged,) = failures(events)
    assert harness.hub.error is logged["log_failure"].value
    logged["expected"] = True


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
@pytest.mark.parametrize("error", [None, StoreError("the disk is full")])
async def test_a_client_that_leaves_stops_nothing(
    harness: Harness, error: Exception | None
) -> None:
    """W8: what it asked for is kept. Klein has cancelled the route, and nobody is told."""
    harness.hub.gate = Deferred()
    harness.hub.error = error
    connection = socket.create_connection(("127.0.0.1", harness.port))
    connection.sendall(f"POST {PATH} HTTP/1.0\r\nContent-Length: 1\r\n\r\nx".encode())
    await until(lambda: harness.hub.received)

    linger = struct.pack("ii", 1, 0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)  # close by a reset
    connection.close()
    await until(lambda: not harness.server.connections.open)
    assert [] == harness.hub.ended
    harness.hub.gate.callback(None)

    assert ["done"] == harness.hub.ended
    assert set() == harness.tasks._running


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_is_still_under_way_at_the_end_is_stopped_in_order(harness: Harness) -> None:
    harness.hub.gate = Deferred()
    connection = socket.create_connection(("127.0.0.1", harness.port))
    connection.sendall(f"POST {PATH} HTTP/1.0\r\nContent-Length: 1\r\n\r\nx".encode())
    await until(lambda: harness.hub.received)
    reset = struct.pack("ii", 1, 0)  # an end alone would say that the client still listens
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
    connection.close()
    await until(lambda: not harness.server.connections.open)

    await harness.tasks.stop()

    assert ["cancelled"] == harness.hub.ended


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_client_that_leaves_while_it_sends_asks_for_nothing(harness: Harness) -> None:
    with socket.create_connection(("127.0.0.1", harness.port)) as connection:
        connection.sendall(f"POST {PATH} HTTP/1.1\r\nContent-Length: 100\r\n\r\nx".encode())
        await until(lambda: harness.server.connections.open)
    await until(lambda: not harness.server.connections.open)

    assert [] == harness.hub.received


def test_a_site_without_a_hub_has_nothing_there(tmp_path: Path) -> None:
    connection = server(Snapshots(tmp_path), Clock()).buildProtocol(None)
    transport = StringTransport()
    connection.makeConnection(transport)
    connection.dataReceived(f"POST {PATH} HTTP/1.0\r\n\r\n".encode())

    assert transport.value().startswith(b"HTTP/1.1 404 Not Found\r\n")
