"""One table of routes, from which all else is made."""

import json

import pytest

from reviewsd.domain.reviews import Business
from reviewsd.http1 import urls
from reviewsd.http1.routes import ROUTES, route_of
from reviewsd.mcp import server as mcp_server
from reviewsd.publish.openapi import document
from reviewsd.web import websub
from reviewsd.web.answerers import answerers
from reviewsd.web.reads import Reads

UNDOCUMENTED = {urls.READY}
"""It is there only where ``server.readyz`` says so."""


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


def test_each_route_has_an_answerer_of_its_name() -> None:
    nobody = object.__new__(Reads)
    optional = {"hub", "mcp", "ready", "reviews_page", "review_page", "json_page", "atom_page"}
    assert {route.answerer for route in ROUTES} - optional == set(answerers(nobody))


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (b"/reviews.json", urls.REVIEWS),
        (b"/reviews%2Ejson", urls.REVIEWS),
        (b"/api/reviews/since/2025-01-31", f"{urls.SINCE}{{date}}"),
        (b"/api/reviews/since", f"{urls.API_REVIEW}{{id}}"),
        (b"/api/reviews/a%2Fb", f"{urls.API_REVIEW}{{id}}"),
        (b"/api/reviews/search", urls.SEARCH),
        (b"/api/reviews", None),
        (b"/api/feed/abc.json", urls.JSON_FEED_PAGE),
        (b"/feed/abc%2Exml", urls.ATOM_FEED_PAGE),
        (b"/feed/abc", None),
        (b"/", urls.HOME),
        (b"/mcp/", urls.MCP),
        (b"/api/websub/hub/", urls.HUB),
        (b"/mcp//", None),
        (b"/reviews.json/", None),
        (b"/%ff", None),
    ],
)
def test_the_route_of_a_path(path: bytes, found: str | None) -> None:
    route = route_of(path)
    assert found == (None if route is None else route.path)
