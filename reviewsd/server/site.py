"""The site behind all connections: host names, limits of bodies, refusals, the begin of each head.

``PublicSite`` knows no connection. A request goes through :meth:`PublicSite.respond` to the routes, and its response back.
"""

import time
from http import HTTPStatus
from typing import Protocol

from twisted.internet.defer import Deferred

from reviewsd.http1 import problems
from reviewsd.http1.hosts import Hosts
from reviewsd.http1.parser import Cap
from reviewsd.http1.preconditions import http_date
from reviewsd.http1.problems import HUB_MAX_BODY, Problem
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.http1.routes import BodyRule, Route
from reviewsd.server.traffic import Traffic

Answer = Response | Deferred[Response]

_NO_BODY = Cap(0, problems.CONTENT_TOO_LARGE)
_NO_HUB_BODY = Cap(0, problems.HUB_CONTENT_TOO_LARGE)
_HUB_CAP = Cap(HUB_MAX_BODY, problems.HUB_CONTENT_TOO_LARGE)
_IGNORED = Cap(65_536, problems.CONTENT_TOO_LARGE)
"""A body that is skipped, so that a POST to a read is answered with 405; a larger one is refused."""

_BODILESS = frozenset((b"GET", b"HEAD"))
_PHRASES = {413: "Content Too Large", 414: "URI Too Long"}  # of RFC 9110


class Routes(Protocol):
    """The routes of the site."""

    def respond(self, request: Request, /) -> Answer:
        """Answer a request, now or later; the Deferred is cancelled if the client leaves."""

    def find(self, path: bytes, /) -> Route | None:
        """Return the route of a path, escapes included; None if there is none."""


class PublicSite:
    """Answers requests by the routes, and refuses what the routes must not see.

    Args:
        routes: Answer the requests.
        responses: Makes the refusals.
        hosts: The host names that are served; None for all.
        mcp_body: The most bytes of a body for the MCP endpoint.
    """

    def __init__(
        self, routes: Routes, responses: Responses, hosts: Hosts | None, mcp_body: int
    ) -> None:
        self.traffic = Traffic(routes.find)
        self._routes = routes
        self._responses = responses
        self._hosts = hosts
        self._mcp_cap = Cap(mcp_body, problems.CONTENT_TOO_LARGE, truncates=True)
        self._second = 0
        self._prefixes: dict[int, bytes] = {}

    def respond(self, request: Request) -> Answer:
        """Answer a request, now or later; cancelling a Deferred stops the work."""
        hosts = self._hosts
        if hosts is None or hosts.allow(request.authority, loopback=request.loopback):
            return self._routes.respond(request)
        route = self._routes.find(request.path)
        if route is not None and route.any_host:
            return self._routes.respond(request)
        if route is not None and route.body is BodyRule.FORM:
            return self._responses.refusal(problems.HUB_MISDIRECTED)
        return self._responses.problem(request, problems.MISDIRECTED)

    def refuse(self, problem: Problem) -> Response:
        """Count and return the response to bytes that are no request."""
        self.traffic.refused(problem)
        return self._responses.refusal(problem)

    def internal_error(self) -> Response:
        """Return the response to a request whose answer failed."""
        return self._responses.refusal(problems.INTERNAL)

    def cap(self, method: bytes, path: bytes) -> Cap:
        """Return what may come in the body of a request (S2)."""
        route = self._routes.find(path)
        body = BodyRule.IGNORED if route is None else route.body
        if body is BodyRule.JSON:
            return self._mcp_cap
        is_form = body is BodyRule.FORM
        if method in _BODILESS:
            return _NO_HUB_BODY if is_form else _NO_BODY
        return _HUB_CAP if is_form else _IGNORED

    def prefix(self, status: int) -> bytes:
        """Return the begin of a head: status line, Server and Date, made once a second."""
        second = int(time.time())
        if second != self._second:
            self._second = second
            self._prefixes.clear()
        prefix = self._prefixes.get(status)
        if prefix is None:
            phrase = _PHRASES.get(status) or HTTPStatus(status).phrase
            line = b"HTTP/1.1 %d %b" % (status, phrase.encode())
            prefix = b"%b\r\nServer: reviewsd\r\nDate: %b\r\n" % (line, http_date(second))
            self._prefixes[status] = prefix
        return prefix
