"""The hub's address in memory, in front of a hub that only parses forms.

Sources: contract 5; W8, W9, W24; H16; S2, S6, S7, S11 to S13, S15.
"""

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_network
from typing import NamedTuple
from urllib.parse import urlencode

import pytest
from twisted.internet.address import IPv4Address, UNIXAddress
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.logger import LogEvent, capturedLogs

from reviewsd.domain.callback import CallbackPolicy
from reviewsd.http1.responses import Responses
from reviewsd.runtime.tasks import TaskSet
from reviewsd.store.transactions import StoreError
from reviewsd.web.budgets import ClientNetworks
from reviewsd.web.probes import Probes
from reviewsd.web.websub import HubRoute
from reviewsd.websub.requests import HubRequestError, HubRequests, HubResponse, parse_request
from tests.support.connections import MemorySite, ask, exchanged, serving
from tests.support.raw import SECURITY, ReceivedResponse

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
TOO_LARGE = b"the body must have at most 8192 bytes, and a GET has none\n"

PLAIN = SECURITY | {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"}


class Received(NamedTuple):
    body: bytes
    content_type: bytes | None
    client: str


class FormHub(HubRequests):
    """Parses and records forms, and accepts those without an error."""

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
            parse_request(body, content_type, BASE_URL, 864_000, POLICY)
        except HubRequestError as error:
            return HubResponse(status=error.status, text=error.text)
        return self.answer


class Harness(MemorySite):
    """A hub on a port of loopback."""

    def __init__(self) -> None:
        self.hub, self.tasks = FormHub(), TaskSet()
        networks = ClientNetworks([ip_network("127.0.0.0/8")])
        route = HubRoute(self.hub, REPLIES, self.tasks, networks)
        clock = Clock()
        super().__init__(serving(clock, route, responses=REPLIES))

    def ask(
        self,
        method: str = "POST",
        headers: Mapping[str, str | Sequence[str]] | None = None,
        body: bytes | None = None,
        path: str = PATH,
    ) -> ReceivedResponse:
        """Send a request; by default a POST has the media type of a form."""
        fields = {"Content-Type": FORM} if method == "POST" else {}
        return self.request(method, path, fields | dict(headers or {}), body)


@pytest.fixture
def harness() -> Iterator[Harness]:
    with capturedLogs() as events:
        yield Harness()
    assert [] == failures(events)


def failures(events: Sequence[LogEvent]) -> list[LogEvent]:
    """Return the log events with a traceback that no test expects."""
    return [event for event in events if "log_failure" in event and "expected" not in event]


def check(answer: ReceivedResponse, status: int, text: bytes) -> None:
    """Check that an answer has this text, and exactly the headers of the hub."""
    assert (status, text) == (answer.status, answer.body)
    varying = {"Date", "Content-Length", "Connection", "Retry-After", "Allow"}
    assert PLAIN == {name: value for name, value in answer.headers.items() if name not in varying}
    assert str(len(text)) == answer.headers["Content-Length"]


# Methods ------------------------------------------------------------------------------------------


def test_post_reaches_the_hub_and_its_answer_the_client(harness: Harness) -> None:
    check(harness.ask(body=BODY), 202, b"accepted\n")
    assert [Received(BODY, FORM.encode(), "127.0.0.1/32")] == harness.hub.received


@pytest.mark.parametrize("status", [400, 403, 429, 503])
def test_refusal_has_its_reason_and_retry_after(harness: Harness, status: int) -> None:
    harness.hub.answer = HubResponse(status=status, text="h\u00e9 is blocked", retry_after=7)
    answer = harness.ask(body=BODY)
    check(answer, status, "h\u00e9 is blocked\n".encode())
    assert "7" == answer.headers["Retry-After"]


def test_get_returns_instructions_and_head_their_headers(harness: Harness) -> None:
    """W24."""
    get, head = harness.ask("GET"), harness.ask("HEAD")
    check(get, 200, b"How to subscribe:\nPOST a form.\n")
    assert (200, b"") == (head.status, head.body)
    assert get.headers.keys() == head.headers.keys()
    assert get.headers["Content-Length"] == head.headers["Content-Length"]
    assert [] == harness.hub.received


def test_options_lists_methods_without_cors(harness: Harness) -> None:
    """S7, S12."""
    preflight = {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}
    answer = harness.ask("OPTIONS", preflight)
    assert (204, b"") == (answer.status, answer.body)
    assert SECURITY | {"Allow": ALLOW, "Date": answer.headers["Date"]} == answer.headers


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE", "QUERY"])
def test_other_method_is_405_with_allow(harness: Harness, method: str) -> None:
    answer = harness.ask(method, body=BODY)
    check(answer, 405, b"this is asked with POST; GET explains how\n")
    assert ALLOW == answer.headers["Allow"]
    assert [] == harness.hub.received


def test_parameters_in_the_query_are_ignored(harness: Harness) -> None:
    """H16."""
    answer = harness.ask(body=b"", path=f"{PATH}?{urlencode(FIELDS)}")
    check(answer, 400, b"hub.mode: must be given\n")


# Bodies -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", [f"{PATH}/", f"{PATH}?a=b", "/api/websub/%68ub", f"http://reviews.example.net{PATH}"]
)
def test_any_spelling_of_the_path_is_the_hub_with_its_limit(harness: Harness, path: str) -> None:
    """A redirect from the slash would make many clients repeat the POST as a GET."""
    check(harness.ask(body=BODY, path=path), 202, b"accepted\n")
    check(harness.ask(body=9000 * b"x", path=path), 413, TOO_LARGE)


# Clients ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        (["198.51.100.1", "203.0.113.9", "127.0.0.5"], "203.0.113.9/32"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
    ],
)
def test_client_is_that_of_a_trusted_proxy(
    harness: Harness, forwarded: str | Sequence[str], client: str
) -> None:
    """S6, as its network (H1)."""
    harness.ask(headers={"X-Forwarded-For": forwarded}, body=BODY)
    assert [client] == [form.client for form in harness.hub.received]


def test_client_of_a_unix_socket_is_local() -> None:
    hub = FormHub()
    server = serving(Clock(), HubRoute(hub, REPLIES, TaskSet(), ClientNetworks()))
    exchanged(server, ask(PATH, method="POST", version="1.0"), UNIXAddress(None))
    assert [Received(b"", None, "local")] == hub.received


def test_forwarded_header_of_an_untrusted_peer_is_ignored_and_logged_once() -> None:
    """S6."""
    hub = FormHub()
    server = serving(Clock(), HubRoute(hub, REPLIES, TaskSet(), ClientNetworks()))
    data = ask(PATH, "X-Forwarded-For: 198.51.100.9", method="POST", version="1.0")
    with capturedLogs() as events:
        for _ in range(2):
            exchanged(server, data, IPv4Address("TCP", "192.0.2.7", 1))

    assert ["192.0.2.7/32"] * 2 == [form.client for form in hub.received]
    (warning,) = (event for event in events if event["log_namespace"].startswith("reviewsd.web"))
    assert "192.0.2.7" == warning["host"]


# Failures -----------------------------------------------------------------------------------------


def test_failing_store_is_503_with_retry_after(harness: Harness) -> None:
    harness.hub.error = StoreError("the disk is full")
    with capturedLogs() as events:
        answer = harness.ask(body=BODY)
    check(answer, 503, b"the hub cannot store requests at the moment; please try again later\n")
    assert "60" == answer.headers["Retry-After"]
    warnings = [event for event in events if event["log_namespace"].startswith("reviewsd.web")]
    assert [harness.hub.error] == [warning["error"] for warning in warnings]


def test_bug_is_500_without_details_and_is_logged(harness: Harness) -> None:
    harness.hub.error = ValueError("secret")
    with capturedLogs() as events:
        answer = harness.ask(body=BODY)
    check(answer, 500, b"the hub failed; its log says why\n")
    (logged,) = failures(events)
    assert harness.hub.error is logged["log_failure"].value
    logged["expected"] = True


def leave_early(harness: Harness) -> Deferred[None]:
    """Send a form, and leave before the hub answers, which it does when the Deferred fires."""
    gate = harness.hub.gate = Deferred()
    harness.send(ask(PATH, "Content-Length: 1", method="POST") + b"x").leave()
    assert (1, []) == (len(harness.hub.received), harness.hub.ended)
    return gate


@pytest.mark.parametrize("error", [None, StoreError("the disk is full")])
def test_request_of_a_lost_client_is_stored(harness: Harness, error: Exception | None) -> None:
    """W8: the request is stored although its route is cancelled."""
    harness.hub.error = error
    leave_early(harness).callback(None)
    assert ["done"] == harness.hub.ended
    assert set() == harness.tasks._running


def test_request_under_way_is_cancelled_when_tasks_stop(harness: Harness) -> None:
    leave_early(harness)
    Deferred.fromCoroutine(harness.tasks.stop())
    assert ["cancelled"] == harness.hub.ended


def test_site_without_a_hub_is_404() -> None:
    answer = exchanged(serving(Clock(), Probes(REPLIES)), ask(PATH, method="POST", version="1.0"))
    assert answer.startswith(b"HTTP/1.1 404 Not Found\r\n")
