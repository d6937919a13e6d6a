"""The routes that the classes declare: documented, found in any spelling, answered with their methods."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import capturedLogs

from reviewsd.domain.reviews import Business
from reviewsd.http1 import urls
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.mcp import server as mcp_server
from reviewsd.publish.openapi import document
from reviewsd.web import websub
from reviewsd.web.app import PublicApp
from reviewsd.web.index import MAX_PATH, RouteIndex
from tests.support.routes import ROUTES, find

RESPONSES = Responses("https://a.example", "public", lambda: 0.0)
UNDOCUMENTED = {urls.READY}
"""It is there only if ``server.readyz`` says so."""


def test_each_route_is_documented_with_its_methods() -> None:
    """The methods of an answerer that decides them itself stand in its Allow."""
    described = json.loads(document.render("https://a.example", Business(name="Acme")))["paths"]
    decided = {urls.HUB: websub.METHODS, urls.MCP: mcp_server.ALLOW[1].decode().split(", ")}
    routed = {
        route.path: set(route.methods or decided[route.path]) - {"HEAD", "OPTIONS"}
        for route in ROUTES
        if not route.page and route.path not in UNDOCUMENTED
    }
    assert routed == {path: {name.upper() for name in item} for path, item in described.items()}


def test_main_addresses_are_routes() -> None:
    assert set(urls.MAIN) <= {route.path for route in ROUTES if not route.page}


@pytest.mark.parametrize(
    ("path", "route"),
    [
        (b"/reviews.json", urls.REVIEWS),
        (b"/reviews%2Ejson", urls.REVIEWS),
        (b"/%72eviews%2ejson", urls.REVIEWS),
        (b"/api/reviews/since/2025-01-31", f"{urls.SINCE}{{date}}"),
        (b"/api/reviews/since/%32025-01-31", f"{urls.SINCE}{{date}}"),
        (b"/api/reviews/since", f"{urls.API_REVIEW}{{id}}"),
        (b"/api/reviews/a%2Fb", f"{urls.API_REVIEW}{{id}}"),
        (b"/api/reviews/%2F%2F", None),
        (b"/api/reviews/a%0Ab", f"{urls.API_REVIEW}{{id}}"),
        (b"/api/reviews/a//b", None),
        (b"/api/reviews/a/b", None),
        (b"/r/a/b", None),
        (b"/api/reviews", None),
        (b"/api/feed/abc.json", "/api/feed/{cursor}.json"),
        (b"/feed/abc%2Exml", "/feed/{cursor}.xml"),
        (b"/feed/abc", None),
        (b"/feed/.xml", None),
        (b"/r/..", f"{urls.REVIEW}{{id}}"),
        (b"/api/reviews/since/..", None),
        (b"/api/reviews/since/a%2Fb", None),
        (b"/api%2Ffeed.json", None),
        (b"/sitemap-2.xml", f"{urls.SITEMAP_PART}{{part}}"),
        (b"/", urls.HOME),
        (b"/mcp/", urls.MCP),
        (b"/api/websub/hub/", urls.HUB),
        (b"//reviews.json", None),
        (b"/%2F%72eviews.json", None),
        (b"/./reviews.json", None),
        (b"/x/%2e%2e/reviews.json", None),
        (b"/x/../reviews.json", None),
        (b"/REVIEWS.JSON", None),
        (b"/reviews.json%00", None),
        (b"/reviews.json;v=1", None),
        (b"/api/reviews/search/x", None),
        (b"/r/%zz", None),
        (b"/r/" + (MAX_PATH - 3) * b"a", f"{urls.REVIEW}{{id}}"),
        (b"/r/" + (MAX_PATH - 2) * b"a", None),
        (b"", None),
    ],
)
def test_route_of_a_path(path: bytes, route: str | None) -> None:
    match = find(path)
    assert route == (None if match is None else match.path)


class Recorder:
    """Answers with the values in the address."""

    app = PublicApp()

    @app.route("/fixed")
    @app.route("/<segment>.json")
    @app.route("/id/<path:segment>")
    def show(self, _request: Request, segment: str = "") -> Response:
        return RESPONSES.plain(200, segment)

    @app.route("/any", methods=None)
    async def show_method(self, request: Request) -> Response:
        return RESPONSES.plain(200, request.method.decode())

    @app.route("/waiting")
    def wait(self, _request: Request) -> Deferred[Response]:
        return Deferred()

    @app.route("/bug")
    def fail(self, _request: Request) -> Response:
        raise ZeroDivisionError("secret")

    @app.route("/late-bug")
    async def fail_later(self, _request: Request) -> Response:
        raise ZeroDivisionError("secret")


INDEX = RouteIndex([Recorder()], RESPONSES)


def respond(method: str, path: str, query: str = "") -> Response:
    """Return the response to a request; a coroutine is run to its end."""
    answer = INDEX.respond(Request(method.encode(), path.encode(), query.encode()))
    if isinstance(answer, Deferred):
        responses: list[Response] = []
        answer.addCallback(responses.append)
        (answer,) = responses
    return answer


def body(response: Response) -> str:
    return b"".join(response.body).decode().removesuffix("\n")


def escape(text: str) -> str:
    """Escape every byte."""
    return "".join(f"%{byte:02x}" for byte in text.encode())


SEGMENTS = st.text(st.characters(codec="ascii", min_codepoint=33), min_size=1, max_size=8)


@given(SEGMENTS.filter(lambda text: not set(text) & set("/%?#") and text not in {".", ".."}))
def test_segment_is_found_with_and_without_escapes(segment: str) -> None:
    for path, escaped in (
        (f"/{segment}.json", f"/{escape(segment)}.json"),
        (f"/id/{segment}", f"/id/{escape(segment)}"),
    ):
        assert segment == body(respond("GET", path)) == body(respond("GET", escaped))


@pytest.mark.parametrize(
    ("method", "path", "status", "field"),
    [
        ("GET", "/fixed", 200, ""),
        ("HEAD", "/fixed", 200, ""),
        ("POST", "/fixed", 405, "Allow: GET, HEAD, OPTIONS"),
        ("QUERY", "/a.json", 405, "Allow: GET, HEAD, OPTIONS"),
        ("OPTIONS", "/fixed", 204, "Allow: GET, HEAD, OPTIONS"),
        ("OPTIONS", "*", 204, "Allow: GET, HEAD, OPTIONS"),
        ("GET", "*", 404, ""),
        ("FOO", "/fixed", 501, ""),
        ("FOO", "/nothing", 501, ""),
        ("GET", "/nothing", 404, ""),
        ("POST", "/nothing", 404, ""),
        ("GET", "/%zz", 400, ""),
        ("GET", "/%ED%A0%80", 400, ""),
        ("GET", "/%u0041", 400, ""),
        ("GET", "/id/%ff", 400, ""),
        ("GET", "/fixed/", 308, "Location: /fixed?a=b"),
        ("HEAD", "/id/a%2Fb/", 308, "Location: /id/a%2Fb?a=b"),
        ("POST", "/fixed/", 404, ""),
        ("GET", "/id/", 404, ""),
        ("GET", "/fixed//", 404, ""),
        ("GET", "/id/a/b/", 404, ""),
        ("GET", "/any//", 404, ""),
    ],
)
def test_status_of_a_request(method: str, path: str, status: int, field: str) -> None:
    response = respond(method, path, "a=b")
    assert status == response.status
    assert field in response.block.decode()


@pytest.mark.parametrize("path", ["/any", "/any/", "/%61ny"])
@pytest.mark.parametrize("method", ["GET", "OPTIONS", "POST", "DELETE", "QUERY"])
def test_route_without_methods_gets_each_known_one(method: str, path: str) -> None:
    assert method == body(respond(method, path))


@pytest.mark.parametrize("path", ["/bug", "/late-bug"])
def test_failing_route_is_500_without_details_and_logged_once(path: str) -> None:
    with capturedLogs() as events:
        response = respond("GET", path)
    problem = json.loads(body(response))
    assert (500, "https://a.example/developers/errors#internal") == (
        response.status,
        problem["type"],
    )
    assert "secret" not in body(response)
    (event,) = (event for event in events if "log_failure" in event)
    assert (path.encode(), ZeroDivisionError) == (event["path"], event["log_failure"].type)
    assert "answering {path} failed" == event["log_format"]


def test_cancelled_route_is_no_error() -> None:
    """The client has left."""
    answer = INDEX.respond(Request(b"GET", b"/waiting"))
    assert isinstance(answer, Deferred)
    failures: list[type] = []
    keep: Callable[..., None] = lambda failure: failures.append(failure.type)  # noqa: E731
    with capturedLogs() as events:
        answer.addErrback(keep)
        answer.cancel()
    assert [CancelledError] == failures
    assert [] == [event for event in events if "log_failure" in event]
