"""The site behind all connections: host names, limits of bodies, refusals, the begin of each head, counts (O9).

Counting a response costs one look-up and two additions. Only known routes and methods have rows of their own, so
that a client cannot make new ones.
"""

import time
from collections import Counter
from functools import lru_cache
from http import HTTPStatus
from time import perf_counter
from typing import Protocol

from twisted.internet.defer import Deferred

from reviewsd.http1 import problems
from reviewsd.http1.hosts import Hosts
from reviewsd.http1.parser import Cap
from reviewsd.http1.preconditions import http_date
from reviewsd.http1.problems import HUB_MAX_BODY, MCP_MAX_BODY, Problem
from reviewsd.http1.request import METHODS, Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.http1.routes import BodyRule, Route
from reviewsd.runtime.counters import QUICK, Durations, key, merged

Answer = Response | Deferred[Response]

OTHER = "other"
"""The label of all unknown routes, and of all unknown methods."""

_MCP_CAP = Cap(MCP_MAX_BODY, problems.CONTENT_TOO_LARGE, truncates=True)
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
    """Answers requests by the routes, refuses requests that are not for the routes, and counts both.

    Args:
        routes: Answer the requests.
        responses: Makes the refusals.
        hosts: The host names that are served.
    """

    def __init__(self, routes: Routes, responses: Responses, hosts: Hosts) -> None:
        self._routes = routes
        self._responses = responses
        self._is_served = lru_cache(maxsize=64)(hosts.allow)
        self._second = 0
        self._prefixes: dict[int, bytes] = {}
        self._durations: dict[tuple[bytes, bytes, int], Durations] = {}  # by path, method, status
        self._refusals = Counter[str]()

    def respond(self, request: Request) -> Answer:
        """Answer a request, now or later; cancelling a Deferred stops the work."""
        if self._is_served(request.authority, loopback=request.loopback):
            return self._routes.respond(request)
        route = self._routes.find(request.path)
        if route is not None and route.any_host:
            return self._routes.respond(request)
        if route is not None and route.body is BodyRule.FORM:
            return self._responses.refusal(problems.HUB_MISDIRECTED)
        return self._responses.problem(request, problems.MISDIRECTED)

    def refuse(self, problem: Problem) -> Response:
        """Count and return the response to malformed bytes."""
        self._refusals[problem.kind] += 1
        return self._responses.refusal(problem)

    def internal_error(self) -> Response:
        """Return the response to a request that could not be answered."""
        return self._responses.refusal(problems.INTERNAL)

    def cap(self, method: bytes, path: bytes) -> Cap:
        """Return the limit of the body of a request (S2)."""
        route = self._routes.find(path)
        body = BodyRule.IGNORED if route is None else route.body
        if body is BodyRule.JSON:
            return _MCP_CAP
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

    def count(self, request: Request, status: int, began: float) -> None:
        """Count the response to a request that was complete at a time of ``perf_counter``."""
        seconds = perf_counter() - began
        try:
            durations = self._durations[request.path, request.method, status]
        except KeyError:
            durations = self._row(request, status)
        durations.count += 1
        durations.seconds += seconds
        if seconds > QUICK:
            durations.slow(seconds)

    def _row(self, request: Request, status: int) -> Durations:
        """Return the row of a response if its path is new, or not that of a fixed route."""
        route = self._routes.find(request.path)
        path = b"" if route is None else route.path.encode()
        row = (path, request.method if request.method in METHODS else b"", status)
        return self._durations.setdefault(row, Durations())

    def counts(self) -> dict[str, float]:
        """Return the numbers of responses and refusals, and the durations (O9)."""
        counts: dict[str, float] = {
            key("rejected_total", kind): number for kind, number in self._refusals.items()
        }
        rows = []
        for (path, method, status), durations in self._durations.items():
            route = path.decode() or OTHER
            counts[key("requests_total", route, method.decode() or OTHER, str(status))] = (
                durations.count
            )
            rows.append(durations.counts("request_duration_seconds", route))
        return merged(counts, *rows)
