"""Every answer of every read under httplint, the checker behind REDbot (S20).

Warnings that do not apply are listed in ``ACCEPTED`` with the reason; notes below a warning are ignored.
"""

import time
from collections.abc import Mapping

import pytest
from httplint import HttpRequestLinter, HttpResponseLinter, levels

from reviewsd.http1 import urls
from tests.support.daemon import BASE_URL, Daemon
from tests.support.raw import exchange

pytestmark = pytest.mark.processes

ACCEPTED = {
    # S11: clients may send an Authorization that is ignored, and shared caches would otherwise not store the
    # answers (RFC 9111 3.5)
    "STORE_PUBLIC_UNNECESSARY",
    # other hosts under that of base_url may not have https
    "HSTS_NO_SUBDOMAINS",
}

PATHS = [
    "/reviews.json",
    "/insights.json",
    "/api/feed.json",
    "/feed.xml",
    "/api/reviews/search",
    "/api/reviews/search?limit=3&min_rating=4",
    "/api/reviews/since/2025-01-01",
    "/api/reviews/since/2999-01-01",
    "/.well-known/openapi.json",
    "/healthz",
]

REQUESTS: list[tuple[str, Mapping[str, str], int]] = [
    ("GET", {}, 200),
    ("GET", {"Accept-Encoding": "gzip"}, 200),
    ("HEAD", {}, 200),
    ("HEAD", {"Accept-Encoding": "gzip"}, 200),
    ("GET", {"If-None-Match": "*"}, 304),
    ("GET", {"If-None-Match": "*", "Accept-Encoding": "gzip"}, 304),
    ("HEAD", {"If-None-Match": "*"}, 304),
    ("OPTIONS", {"Origin": "https://app.example", "Access-Control-Request-Method": "GET"}, 204),
    ("POST", {}, 405),
    ("GET", {"Accept-Encoding": "*;q=0"}, 406),
    ("GET", {"If-Match": '"x"'}, 412),
]


def ask(
    daemon: Daemon, method: str, path: str, headers: Mapping[str, str]
) -> tuple[HttpRequestLinter, bytes]:
    """Send a request, and return it for the checker, with the bytes of the answer."""
    fields = {"Host": "reviews.example.com", "User-Agent": "test", "Connection": "close", **headers}
    request = HttpRequestLinter()
    request.process_request_topline(method.encode(), f"{BASE_URL}{path}".encode(), b"1.1")
    request.process_headers([(name.encode(), value.encode()) for name, value in fields.items()])
    request.finish_content(complete=True)
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return request, exchange(daemon.port, "\r\n".join([*lines, "", ""]).encode())


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def complaints(request: HttpRequestLinter, answer: bytes) -> set[str]:
    """Return the names of the checker's warnings and errors."""
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    version, status, phrase = first.split(b" ", 2)
    response = HttpResponseLinter(start_time=time.time())
    response.request = request
    response.base_uri = request.uri or ""
    response.is_head_response = request.method == "HEAD"
    response.process_response_topline(version.removeprefix(b"HTTP/"), status, phrase)
    fields = (line.partition(b": ") for line in lines)
    response.process_headers([(name, value) for name, _, value in fields])
    response.feed_content(body)
    response.finish_content(complete=True)
    notes = [note for top in response.notes for note in (top, *top.subnotes)]
    return {type(note).__name__ for note in notes if note.level in {levels.WARN, levels.BAD}}


@pytest.mark.parametrize(("method", "headers", "status"), REQUESTS)
@pytest.mark.parametrize("path", PATHS)
def test_read_has_no_complaints(
    daemon: Daemon, path: str, method: str, headers: Mapping[str, str], status: int
) -> None:
    request, answer = ask(daemon, method, path, headers)
    # health is not conditional, computed answers have one coding
    inapplicable = {304, 412} if path == "/healthz" else set()
    if path == "/healthz" or path.startswith("/api/reviews"):
        inapplicable |= {406}
    assert (200 if status in inapplicable else status) == status_of(answer)
    assert complaints(request, answer) <= ACCEPTED


OTHERS = [
    *(("GET", urls.HUB, 200), ("HEAD", urls.HUB, 200), ("OPTIONS", urls.HUB, 204)),
    *(("POST", urls.HUB, 415), ("PUT", urls.HUB, 405)),
    *(("GET", urls.MCP, 405), ("HEAD", urls.MCP, 405), ("OPTIONS", urls.MCP, 204)),
    *(("POST", urls.MCP, 415), ("DELETE", urls.MCP, 400)),
    *(("GET", "/nope", 404), ("GET", "//", 404), ("GET", "/%zz", 400)),
    ("GET", "/api/reviews/search?limit=x", 400),
]


@pytest.mark.parametrize(("method", "path", "status"), OTHERS)
def test_hub_mcp_and_errors_have_no_complaints(
    daemon: Daemon, method: str, path: str, status: int
) -> None:
    preflight = {"Origin": BASE_URL, "Access-Control-Request-Method": "POST"}
    request, answer = ask(daemon, method, path, preflight if method == "OPTIONS" else {})
    assert status == status_of(answer)
    # a 400 is a complaint in itself
    itself = {"STATUS_BAD_REQUEST"} if status == 400 else set()
    assert complaints(request, answer) <= ACCEPTED | itself


def test_accepted_complaints_still_exist(daemon: Daemon) -> None:
    assert ACCEPTED == complaints(*ask(daemon, "GET", "/feed.xml", {}))


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        (b"Content-Length: ", b"Content-Length: 1"),
        (b"Last-Modified: ", b"Last-Modified: yesterday, "),
        (b'ETag: "', b"ETag: "),
        (b"Content-Type: application/json", b"Content-Type: json"),
        (b"max-age=60", b"max-age=sixty"),
        (b"\r\nDate: ", b"\r\nX-Date: "),
    ],
)
def test_checker_finds_planted_faults(daemon: Daemon, right: bytes, planted: bytes) -> None:
    request, answer = ask(daemon, "GET", "/api/feed.json", {})
    assert right in answer
    assert complaints(request, answer.replace(right, planted, 1)) - ACCEPTED
