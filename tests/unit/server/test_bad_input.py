"""What is not a proper request: always an error of the one shape, never a 500, HTML or a traceback.

Sources: contract 2 and 3; security-and-operations.md S2, S3, S7, S8, S15, S16, F7, F18.
"""

import json
from collections.abc import Iterator
from http.client import responses
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.logger import LogEvent, capturedLogs

from reviewsd.http1.negotiation import MAX_PREFERENCES
from reviewsd.http1.responses import Responses
from reviewsd.snapshot.snapshots import Snapshot, SnapshotError, Snapshots
from reviewsd.web.index import RouteIndex
from reviewsd.web.probes import Probes
from reviewsd.web.reads import Reads
from tests.support.budgets import budgets
from tests.support.connections import public_server
from tests.support.daemon import BASE_URL, Answer, Daemon

pytestmark = pytest.mark.processes

SEARCH = "/api/reviews/search"
SINCE = "/api/reviews/since/"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One for all; no request of this module may make it log more than that it started."""
    with Daemon(tmp_path_factory.mktemp("daemon")) as running:
        yield running
        start = ("published", "serving", "notify systemd", "to be delivered", "in the last minute")
        assert [] == [line for line in running.lines if not any(word in line for word in start)]


def check_problem(answer: Answer, status: int, *, issues: bool = False) -> Any:  # noqa: ANN401  JSON
    """The error is one, of the one shape; returns it."""
    assert status == answer.status
    assert "application/json" == answer.headers["Content-Type"]
    assert "no-store" == answer.headers["Cache-Control"]
    assert "*" == answer.headers["Access-Control-Allow-Origin"]
    assert "nosniff" == answer.headers["X-Content-Type-Options"]
    assert "reviewsd" == answer.headers["Server"]
    assert str(len(answer.body)) == answer.headers["Content-Length"]
    problem = answer.json()
    members = {"type", "title", "status", "detail"} | ({"issues"} if issues else set())
    assert members == problem.keys()
    assert status == problem["status"]
    assert problem["type"].startswith(f"{BASE_URL}/developers/errors#")
    return problem


def paths_of(problem: Any) -> list[list[str]]:  # noqa: ANN401  JSON
    return [issue["path"] for issue in problem["issues"]]


# Parameters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "code", "path"),
    [
        ("rating=6", "too_big", "rating"),
        ("rating=0", "too_small", "rating"),
        ("rating=4.5", "invalid_type", "rating"),
        ("rating=five", "invalid_type", "rating"),
        ("rating=1_0", "invalid_type", "rating"),
        ("rating=%205", "invalid_type", "rating"),
        ("rating=%2B5", "invalid_type", "rating"),
        ("rating=+5", "invalid_type", "rating"),
        ("rating=%EF%BC%95", "invalid_type", "rating"),  # full-width 5
        ("rating=%D9%A5", "invalid_type", "rating"),  # Arabic-Indic 5
        ("rating=5&rating=5", "invalid_type", "rating"),
        ("min_rating=5.1", "too_big", "min_rating"),
        ("min_rating=0.9", "too_small", "min_rating"),
        ("min_rating=nan", "invalid_type", "min_rating"),
        ("min_rating=inf", "invalid_type", "min_rating"),
        ("since=2025-02-30", "invalid_format", "since"),
        ("since=20250101", "invalid_format", "since"),
        ("since=2025-W01-1", "invalid_format", "since"),
        ("since=0000-01-01", "invalid_format", "since"),
        ("since=2025-1-1", "invalid_format", "since"),
        ("since=%EF%BC%92025-01-01", "invalid_format", "since"),
        ("until=2025-13-01", "invalid_format", "until"),
        ("until=2025-01-01T00:00:00Z", "invalid_format", "until"),
        ("query=" + 201 * "a", "too_big", "query"),
        ("query=%ff", "invalid_format", "query"),
        ("query=%zz", "invalid_format", "query"),
        ("query=%", "invalid_format", "query"),
        ("query=%ED%A0%80", "invalid_format", "query"),  # a surrogate in UTF-8
        ("mentions_technician=a&mentions_technician=b", "invalid_type", "mentions_technician"),
        ("mentions_service=%c3%28", "invalid_format", "mentions_service"),
        ("limit=0", "too_small", "limit"),
        ("limit=101", "too_big", "limit"),
        ("limit=-1", "too_small", "limit"),
        ("limit=" + 5000 * "9", "too_big", "limit"),
        ("limit=-" + 5000 * "9", "too_small", "limit"),
        ("limit=1e2", "invalid_type", "limit"),
        ("limit=0x10", "invalid_type", "limit"),
        ("q=boiler", "unrecognized_keys", "q"),
        ("rating%00=1", "unrecognized_keys", "rating\0"),
        ("limit%5B%5D=9", "unrecognized_keys", "limit[]"),
        ("cursor=abc", "invalid_format", "cursor"),
        ("cursor=%00", "invalid_format", "cursor"),
        ("cursor=" + 5000 * "A", "invalid_format", "cursor"),
    ],
)
def test_a_wrong_parameter_is_a_400_that_names_it(
    daemon: Daemon, query: str, code: str, path: str
) -> None:
    problem = check_problem(daemon.get(f"{SEARCH}?{query}"), 400, issues=True)

    assert f"{BASE_URL}/developers/errors#invalid-query" == problem["type"]
    assert [(code, [path])] == [(issue["code"], issue["path"]) for issue in problem["issues"]]
    assert problem["issues"][0]["message"].replace('"', "").startswith(f"{path} ")


def test_a_number_out_of_bounds_tells_the_bound(daemon: Daemon) -> None:
    problem = check_problem(daemon.get(f"{SEARCH}?limit=500"), 400, issues=True)

    assert {
        "code": "too_big",
        "path": ["limit"],
        "message": "limit must be at most 100, got 500",
        "maximum": 100,
        "inclusive": True,
    } == problem["issues"][0]


def test_all_wrong_parameters_are_named_at_once(daemon: Daemon) -> None:
    query = "cursor=!&limit=x&since=y&until=z&rating=9&min_rating=0&query=" + 300 * "q"
    problem = check_problem(daemon.get(f"{SEARCH}?{query}&mentions_service=%"), 400, issues=True)

    wrong = ["rating", "min_rating", "since", "until", "query", "mentions_service", "limit"]
    assert [[name] for name in [*wrong, "cursor"]] == paths_of(problem)


@pytest.mark.parametrize(
    "query",
    [
        "utm_source=x&utm_source=y",
        "%ff=1&%zz=2&=&&&",
        "%00%5B=1",
        "query=&mentions_technician=&rating=&since=&limit=&cursor=&q=",
        "rating=5.0&min_rating=1e0&limit=20.00",
        "%6cimit=20",
        "a=" + 10_000 * "b",
        "&".join(f"p{n}=1" for n in range(1500)),
        "callback=%3Cscript%3E",
        "query=%00",
        "query=%F0%9F%98%80",
    ],
)
def test_what_is_unknown_or_empty_is_no_error(daemon: Daemon, query: str) -> None:
    assert 200 == daemon.get(f"{SEARCH}?{query}").status


@pytest.mark.parametrize(
    "date",
    [
        "2025-02-30",
        "20250101",
        "2025-1-1",
        "0000-01-01",
        "%EF%BC%92025-01-01",
        "yesterday",
        "%00",
        "2025-01-01%20",
        "2025-01-01%0a",
        "%3Cscript%3E",
        "%C3%BC",
    ],
)
def test_what_is_no_date_is_a_400_that_names_it(daemon: Daemon, date: str) -> None:
    problem = check_problem(daemon.get(SINCE + date), 400, issues=True)

    assert [["date"]] == paths_of(problem)
    assert "invalid_format" == problem["issues"][0]["code"]


# Paths --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/nope",
        "/nope/",
        "/reviews.json//",
        "//reviews.json/",
        "//reviews.json",
        "//",
        "/./reviews.json",
        "/../reviews.json",
        "/x/../reviews.json",
        "/%2e/reviews.json",
        "/x/%2e%2E/reviews.json",
        "/x/.%2e/reviews.json",
        "/api%2Ffeed.json",
        "/api%2ffeed.json",
        "/api//feed.json",
        "/api//feed.json/",
        "/x/../reviews.json/",
        "/reviews.json%2F",
        "/REVIEWS.JSON",
        "/reviews.json%00",
        "/%00",
        "/reviews.json;v=1",
        "/api/reviews/search/x/",
        "/api/reviews/search/x",
        "/api/reviews/since/2025-01-01/x/",
        "/api/reviews/since/2025-01-01%2F",
        "/api/reviews/since/2025-01-01/x",
        "/%C3%BC",
        "/%F0%9F%98%80",
        "/*",
        "/<script>alert(1)</script>",
        "/%3Cscript%3E",
        "/" + 10_000 * "a",
        "/" + 5_000 * "a/",
    ],
)
def test_an_address_that_is_not_exactly_one_is_a_404_that_names_the_main_ones(
    daemon: Daemon, path: str
) -> None:
    problem = check_problem(daemon.get(path), 404)

    assert f"{BASE_URL}/developers/errors#not-found" == problem["type"]
    for known in ("/reviews.json", "/feed.xml", SEARCH, "/.well-known/openapi.json"):
        assert known in problem["detail"]
    assert "script" not in problem["detail"]


@pytest.mark.parametrize(
    "path",
    ["/%", "/%f", "/%zz", "/%ff", "/%c3%28", "/%ED%A0%80", "/%C0%AF", "/reviews.json%", "/%u0041"],
)
def test_a_broken_escape_in_the_path_is_a_400(daemon: Daemon, path: str) -> None:
    problem = check_problem(daemon.get(path), 400)

    assert f"{BASE_URL}/developers/errors#bad-request" == problem["type"]
    assert "percent-escape" in problem["detail"]


def test_an_escaped_path_is_the_same_path(daemon: Daemon) -> None:
    """RFC 3986 6.2.2.2: escaping an unreserved character changes nothing."""
    plain, escaped = daemon.get("/reviews.json"), daemon.get("/%72eviews%2Ejson")

    assert 200 == escaped.status
    assert plain.headers["ETag"] == escaped.headers["ETag"]


# The wire -----------------------------------------------------------------------------------------

END = b"\r\nConnection: close\r\n\r\n"
HEAD = b" HTTP/1.1\r\nHost: localhost"


def split(data: bytes) -> list[Answer]:
    """The responses that arrived on one connection; every one says how long it is."""
    answers = []
    while data:
        head, _, data = data.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        message = Answer(int(status.split()[1]), headers_of(lines), b"").headers
        assert "Transfer-Encoding" not in message
        length = int(message.get("Content-Length", 0))
        answers.append(Answer(int(status.split()[1]), message, data[:length]))
        data = data[length:]
    return answers


def headers_of(lines: list[str]) -> Any:  # noqa: ANN401  http.client's type is not public
    from http.client import HTTPMessage  # noqa: PLC0415

    message = HTTPMessage()
    for line in lines:
        name, _, value = line.partition(": ")
        message[name] = value
    return message


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        pytest.param(b"GARBAGE\r\n\r\n", 400, id="one word"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", 400, id="TLS"),
        pytest.param(b"GET /healthz\r\n\r\n", 400, id="HTTP/0.9"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, id="HTTP/2"),
        pytest.param(b"GET /healthz HTTP/9.9" + END, 400, id="HTTP/9.9"),
        pytest.param(b"GET  /healthz" + HEAD + END, 400, id="two spaces"),
        pytest.param(b"GET\t/healthz" + HEAD + END, 400, id="tab"),
        pytest.param(b"GET /a\0b" + HEAD + END, 400, id="NUL in target"),
        pytest.param(b"GET /\xff" + HEAD + END, 400, id="raw byte in target"),
        pytest.param(b"GET /\x80" + HEAD + END, 400, id="raw byte that Twisted let pass"),
        pytest.param(b"GET /healthz?\x80" + HEAD + END, 400, id="raw byte in query"),
        pytest.param(b"GET /healthz" + HEAD + b"\r\nA b: c" + END, 400, id="blank in field name"),
        pytest.param(b"GET /healthz" + HEAD + b"\r\nno colon" + END, 400, id="no colon"),
        pytest.param(b"GET /healthz" + HEAD + b"\r\nA: b\0c" + END, 400, id="NUL in field value"),
        pytest.param(
            b"GET /healthz" + HEAD + b"\r\nContent-Length: -1" + END, 400, id="negative length"
        ),
        pytest.param(
            b"GET /healthz" + HEAD + b"\r\nContent-Length: " + 5000 * b"1" + END,
            400,
            id="length of 5,000 digits",
        ),
        pytest.param(
            b"GET /healthz" + HEAD + b"\r\nContent-Length: 1\r\nContent-Length: 1" + END,
            400,
            id="two lengths",
        ),
        pytest.param(
            b"POST /healthz" + HEAD + b"\r\nContent-Length: 1\r\nTransfer-Encoding: chunked" + END,
            400,
            id="length and chunks",
        ),
        pytest.param(
            b"GET /healthz" + HEAD + b"\r\nTransfer-Encoding: gzip, chunked" + END,
            400,
            id="unknown transfer coding",
        ),
        pytest.param(b"CONNECT a:1" + HEAD + END, 400, id="CONNECT"),
        pytest.param(b"CONNECT /healthz" + HEAD + END, 400, id="CONNECT to a path"),
        pytest.param(b"GET *?x" + HEAD + END, 400, id="GET *?x"),
        pytest.param(b"OPTIONS *?x" + HEAD + END, 400, id="OPTIONS *?x"),
        pytest.param(b"GET healthz" + HEAD + END, 400, id="target without a slash"),
        pytest.param(b"GET *" + HEAD + END, 400, id="GET *"),
        pytest.param(b"get /healthz" + HEAD + END, 400, id="lower-case method"),
        pytest.param(b"BREW /healthz" + HEAD + END, 501, id="unknown method"),
        pytest.param(b"PROPFIND /nope" + HEAD + END, 501, id="unknown method, unknown path"),
        pytest.param(b"GET /" + 16_400 * b"a" + HEAD + END, 414, id="long target"),
        pytest.param(b"GET /healthz" + HEAD + b"\r\nA: " + 16_400 * b"a" + END, 431, id="long"),
        pytest.param(b"GET /healthz" + HEAD + 600 * b"\r\nA: b" + END, 431, id="600 fields"),
        pytest.param(
            b"GET /healthz" + HEAD + 20 * (b"\r\nA: " + 900 * b"b") + END, 431, id="18 kB of fields"
        ),
        pytest.param(
            b"GET /healthz" + HEAD + b"\r\nContent-Length: 3" + END + b"abc", 413, id="body"
        ),
        pytest.param(
            b"GET /healthz" + HEAD + b"\r\nTransfer-Encoding: chunked" + END + b"3\r\nabc\r\n0\r\n\r\n",
            413,
            id="chunked body",
        ),
        pytest.param(
            b"GET /healthz" + HEAD + b"\r\nContent-Length: 3\r\nExpect: 100-continue" + END,
            413,
            id="announced body",
        ),
        pytest.param(
            b"POST /reviews.json" + HEAD + b"\r\nContent-Length: 200000000" + END,
            413,
            id="huge body",
        ),
        pytest.param(
            b"POST /reviews.json" + HEAD + b"\r\nTransfer-Encoding: chunked" + END
            + 5 * (b"4000\r\n" + 16_384 * b"a" + b"\r\n"),
            413,
            id="endless body",
        ),
        pytest.param(
            b"POST /reviews.json" + HEAD + b"\r\nContent-Length: 2" + END + b"{}", 405, id="POST"
        ),
    ],
)  # fmt: skip
def test_what_is_no_request_for_a_read_is_answered_once_and_the_connection_closed(
    daemon: Daemon, request_bytes: bytes, status: int
) -> None:
    (answer,) = split(daemon.raw(request_bytes))  # which ends when the connection does

    check_problem(answer, status)
    assert "close" == answer.headers["Connection"]


def test_the_refusal_of_a_head_request_has_no_body(daemon: Daemon) -> None:
    """RFC 9110 9.3.2; a body would be taken for the next response."""
    data = daemon.raw(b"HEAD /healthz" + HEAD + b"\r\nContent-Length: 3" + END + b"abc")

    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 413 ")
    assert b"" == body


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *((host, 400) for host in (b"\xff", b"a b<script>", b"[::1", b"a/b", b"a@b", b"a:b")),
        *((host, 421) for host in (b"a..b", 70 * b"a" + b".example", b"xn--a", b"evil.example")),
    ],
    ids=repr,
)
def test_what_is_no_name_of_the_service_is_refused(
    daemon: Daemon, host: bytes, status: int
) -> None:
    """S3: DNS rebinding."""
    (answer,) = split(daemon.raw(b"GET /feed.xml HTTP/1.1\r\nHost: " + host + END))

    check_problem(answer, status)
    assert (status == 421) == ("server.allowed_hosts" in answer.json()["detail"])


def test_two_names_are_none(daemon: Daemon) -> None:
    (answer,) = split(daemon.raw(b"GET /feed.xml" + HEAD + b"\r\nHost: localhost" + END))

    check_problem(answer, 400)


def test_health_is_asked_by_any_name(daemon: Daemon) -> None:
    (answer,) = split(daemon.raw(b"GET /healthz HTTP/1.1\r\nHost: evil.example" + END))

    assert 200 == answer.status


@pytest.mark.parametrize(
    "host",
    [
        b"localhost",
        b"LocalHost:1",
        b"127.0.0.1:8080",
        b"[::1]",
        b"reviews.example.com",
        b"Reviews.Example.com:80",
    ],
)
def test_the_host_of_a_request_changes_nothing_of_the_answer(daemon: Daemon, host: bytes) -> None:
    (answer,) = split(daemon.raw(b"GET /feed.xml HTTP/1.1\r\nHost: " + host + END))

    plain = daemon.get("/feed.xml")
    assert 200 == answer.status
    assert plain.headers["Link"] == answer.headers["Link"]
    assert plain.body == answer.body


@pytest.mark.parametrize(
    ("target", "path"),
    [
        (b"http://reviews.example.com/healthz", "/healthz"),
        (
            b"HTTPS://Reviews.Example.com:8443/api/reviews/search?limit=1",
            "/api/reviews/search?limit=1",
        ),
        (b"http://localhost/reviews.json//", "/reviews.json//"),
        (b"http://localhost?limit=1", "/?limit=1"),
        (b"http://localhost", "/"),
    ],
)
def test_a_target_in_absolute_form_means_its_path(daemon: Daemon, target: bytes, path: str) -> None:
    """RFC 9112 3.2.2: a server accepts it, though only proxies are sent it."""
    (absolute,) = split(daemon.raw(b"GET " + target + HEAD + END))
    origin = daemon.get(path)

    assert (origin.status, origin.body) == (absolute.status, absolute.body)


def test_options_of_the_server_names_the_methods(daemon: Daemon) -> None:
    (answer,) = split(daemon.raw(b"OPTIONS *" + HEAD + END))

    assert 204 == answer.status
    assert "GET, HEAD, OPTIONS" == answer.headers["Allow"]
    assert "reviewsd" == answer.headers["Server"]


@pytest.mark.parametrize("path", [b"/healthz", b"/feed.xml"])
@pytest.mark.parametrize(("version", "status"), [(b"1.0", 200), (b"1.1", 400)])
def test_only_http_1_0_needs_no_host(
    daemon: Daemon, path: bytes, version: bytes, status: int
) -> None:
    """RFC 9112 3.2."""
    data = daemon.raw(b"GET " + path + b" HTTP/" + version + END)

    (answer,) = split(data)
    assert data.startswith(b"HTTP/1.1 %d " % status)
    assert "close" == answer.headers["Connection"]


def test_the_name_in_an_absolute_target_counts(daemon: Daemon) -> None:
    (answer,) = split(daemon.raw(b"GET http://evil.example/feed.xml" + HEAD + END))

    check_problem(answer, 421)


def test_pipelined_requests_are_answered_in_order(daemon: Daemon) -> None:
    requests = [b"/reviews.json", b"/healthz", b"/nope", b"/api/reviews/since/2025-01-01"]
    data = b"".join(b"GET " + path + HEAD + b"\r\n\r\n" for path in requests)
    answers = split(daemon.raw(data + b"GET /healthz" + HEAD + END))

    assert [200, 200, 404, 200, 200] == [answer.status for answer in answers]
    assert "reviews" in answers[0].json()
    assert {"status": "ok"} == answers[1].json()
    assert "2025-01-01" == answers[3].json()["since"]


def test_nothing_is_answered_after_a_refusal(daemon: Daemon) -> None:
    """What follows it may be its body: to take it for a request is request smuggling."""
    body = b"GET /healthz" + HEAD + END
    length = b"\r\nContent-Length: %d" % len(body)
    answers = split(daemon.raw(b"GET /healthz" + HEAD + length + b"\r\n\r\n" + body))

    assert [413] == [answer.status for answer in answers]


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", '"}<b>', "\r\nX: y", "\u2028", "\0"])
def test_what_was_sent_comes_back_only_inside_json_strings(daemon: Daemon, text: str) -> None:
    from urllib.parse import quote  # noqa: PLC0415

    problem = check_problem(daemon.get(f"{SEARCH}?since={quote(text)}"), 400, issues=True)

    assert f'since must be a date as YYYY-MM-DD, got "{text}"' == problem["issues"][0]["message"]


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (None, "application/json"),
        ("", "application/json"),
        ("*/*", "application/json"),
        ("application/*", "application/json"),
        ("application/json", "application/json"),
        ("application/problem+json", "application/problem+json"),
        ("APPLICATION/PROBLEM+JSON", "application/problem+json"),
        ("application/problem+json, */*;q=0.1", "application/problem+json"),
        ("application/problem+json, application/json;q=0.9", "application/problem+json"),
        ("application/problem+json;q=0.5, application/json", "application/json"),
        ("application/problem+json, application/json", "application/json"),
        ("application/json, application/problem+json", "application/json"),
        ("application/problem+json;q=0, */*", "application/json"),
        ("application/problem+json;q=0", "application/json"),
        ("application/xml;q=0.9, application/problem+json;q=0.2", "application/problem+json"),
        (";;;, =, /, \xff;q=x", "application/json"),
        ("application/problem+json;q=7", "application/json"),
        (f"application/problem+json;{MAX_PREFERENCES * ' '}q=1", "application/json"),  # not read
    ],
)
@pytest.mark.parametrize("path", ["/nope", f"{SEARCH}?limit=x", "/%zz"])
def test_problem_json_is_sent_only_where_accept_prefers_it(
    daemon: Daemon, path: str, accept: str | None, media_type: str
) -> None:
    answer = daemon.get(path, {} if accept is None else {"Accept": accept})

    assert media_type == answer.headers["Content-Type"]
    assert "Accept" == answer.headers["Vary"]
    assert {"type", "title", "status", "detail"} <= answer.json().keys()


@pytest.mark.parametrize("accept", ["text/html,application/xhtml+xml,*/*;q=0.8", "text/html"])
def test_a_browser_gets_a_page_where_there_is_nothing_and_json_else(
    daemon: Daemon, accept: str
) -> None:
    answers = [
        daemon.get(path, {"Accept": accept}) for path in ("/nope", "/%zz", f"{SEARCH}?limit=x")
    ]
    kinds = ["text/html; charset=utf-8", "application/json", "application/json"]
    assert kinds == [answer.headers["Content-Type"] for answer in answers]
    assert {"Accept"} == {answer.headers["Vary"] for answer in answers}


# Our own mistakes ---------------------------------------------------------------------------------


class Failing(Snapshots):
    """Snapshots of which reading the current one raises."""

    def __init__(self, error: Exception) -> None:
        super().__init__(Path("nowhere"))
        self._error = error

    @property
    def current(self) -> Snapshot:
        raise self._error


def ask(snapshots: Snapshots, path: bytes) -> tuple[bytes, list[LogEvent]]:
    """What a site in this process answers, and what it logs."""
    clock = Clock()
    replies = Responses(BASE_URL, "public, max-age=60", lambda: 1_760_000_000.0)
    reads = Reads(snapshots, replies, budgets(clock))
    routes = RouteIndex((reads, Probes(replies)), replies)
    server = public_server(routes, replies, clock)
    connection, transport = server.buildProtocol(None), StringTransport()
    with capturedLogs() as events:
        connection.makeConnection(transport)
        connection.dataReceived(b"GET " + path + HEAD + END)
    return transport.value(), [event for event in events if "log_failure" in event]


@pytest.mark.parametrize("path", [b"/api/reviews/search?limit=1", b"/api/reviews/since/2025-01-01"])
def test_a_failing_route_is_a_500_that_tells_nothing_and_is_logged(path: bytes) -> None:
    error = ValueError("secret </b>")
    data, failures = ask(Failing(error), path)

    (answer,) = split(data)
    problem = check_problem(answer, 500)
    assert f"{BASE_URL}/developers/errors#internal" == problem["type"]
    assert responses[500] == problem["title"]
    assert b"secret" not in data
    assert [error] == [event["log_failure"].value for event in failures]
    assert ["answering {path} failed"] == [event["log_format"] for event in failures]


@pytest.mark.parametrize("path", [b"/reviews.json", b"/api/reviews/search?limit=1"])
def test_before_the_first_publication_reads_are_503_and_come_back_later(path: bytes) -> None:
    data, failures = ask(Failing(SnapshotError("none")), path)

    (answer,) = split(data)
    check_problem(answer, 503)
    assert "5" == answer.headers["Retry-After"]
    assert [] == failures


def test_health_needs_no_data() -> None:
    data, _ = ask(Failing(SnapshotError("none")), b"/healthz")

    (answer,) = split(data)
    assert {"status": "ok"} == json.loads(answer.body)
