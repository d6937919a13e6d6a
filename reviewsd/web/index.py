"""Finds the method that answers a request.

Routes are declared on the classes that answer (``web.app``). ``RouteIndex`` makes an index of the rules of their
Klein applications at the start: fixed addresses are found in a dictionary, open ones by the text around their
segment. An address in another spelling is decoded first. It is answered only if it is exact: no doubled slashes, no
escaped ones, no dot segments (F18, S8).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Final
from urllib.parse import unquote_to_bytes

from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound
from werkzeug.routing import Rule

from reviewsd.domain.issues import InvalidParametersError
from reviewsd.http1 import problems
from reviewsd.http1.head import ASTERISK
from reviewsd.http1.request import METHODS, Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.http1.routes import Route
from reviewsd.runtime.turns import QueueFullError
from reviewsd.snapshot.snapshots import SnapshotError
from reviewsd.web.app import Answer, Answerer, AnyAnswer
from reviewsd.web.budgets import RETRY_SOON, MemoryFullError, TimeBudget

MAX_PATH = 1_024  # bytes of a path, escapes included; the longest one that is served has 400

_BROKEN_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True, eq=False)
class Endpoint:
    """A method that answers a route; the address is fixed, or has one segment that is not."""

    answer: Callable[..., AnyAnswer]
    route: Route
    methods: frozenset[bytes]
    prefix: bytes
    name: str  # of the segment; empty if the address is fixed
    suffix: bytes
    has_path: bool  # whether the segment may hold escaped slashes
    slashes: int  # in the address, without escaped ones

    def segment(self, path: bytes) -> bytes | None:
        """Return the segment of a path without escapes; None if the path is no such address."""
        if not (path.startswith(self.prefix) and path.endswith(self.suffix)):
            return None
        segment = path[len(self.prefix) : len(path) - len(self.suffix)]
        if not segment or segment.startswith(b"/"):
            return None
        is_one = self.has_path or (b"/" not in segment and segment not in {b".", b".."})
        return segment if is_one else None


class RouteIndex:
    """Finds the method that answers a request, and calls it; ``time`` limits how often clients read."""

    _log = Logger()

    def __init__(
        self, answerers: Iterable[Answerer], responses: Responses, time: TimeBudget | None = None
    ) -> None:
        self._responses = responses
        self._fixed: dict[bytes, Endpoint] = {}
        self._open: list[Endpoint] = []
        for answerer in answerers:
            app = answerer.app
            for rule in app.url_map.iter_rules():
                self._add(rule, getattr(answerer, rule.endpoint), app.routes[rule.rule])
        self._open.sort(key=lambda endpoint: len(endpoint.prefix), reverse=True)
        self.respond: Callable[[Request], Answer] = (
            self._respond if time is None else partial(self._respond_within, time)
        )

    def _add(self, rule: Rule, answer: Callable[..., AnyAnswer], route: Route) -> None:
        """Add a rule to the index."""
        methods = METHODS if rule.methods is None else map(str.encode, rule.methods)
        prefix, _, rest = rule.rule.partition("<")
        variable, _, suffix = rest.partition(">")
        endpoint = Endpoint(
            answer,
            route,
            frozenset(methods),
            prefix=prefix.encode(),
            name=variable.removeprefix("path:"),
            suffix=suffix.encode(),
            has_path=variable.startswith("path:"),
            slashes=rule.rule.count("/"),
        )
        if endpoint.name:
            self._open.append(endpoint)
        else:
            self._fixed[endpoint.prefix] = endpoint

    def _respond_within(self, time: TimeBudget, request: Request) -> Answer:
        """Answer a request if its client network may read now (S14)."""
        route = self.find(request.path)
        cost = 1 if route is None else route.cost
        if cost == 0:
            return self._respond(request)
        wait = time.charge(request, cost)
        if wait > 0:
            retry = ((b"Retry-After", b"%d" % ceil(wait)),)
            refusal = self._responses.problem(request, problems.TOO_MANY_READS, retry)
            return time.with_fields(refusal, request)
        answer = self._respond(request)
        if isinstance(answer, Deferred):
            return answer.addCallback(time.with_fields, request)
        return time.with_fields(answer, request)

    def _respond(self, request: Request) -> Answer:
        endpoint = self._fixed.get(request.path)
        try:
            if endpoint is not None and request.method in endpoint.methods:
                answer = endpoint.answer(request)
            else:
                answer = self._match_and_answer(request)
        except Exception:  # noqa: BLE001 - becomes a response; a bug is logged with its traceback
            return self._failed(Failure(), request)
        if isinstance(answer, Response):
            return answer
        waiting = answer if isinstance(answer, Deferred) else Deferred.fromCoroutine(answer)
        return waiting.addErrback(self._failed, request)

    def find(self, path: bytes) -> Route | None:
        """Return the route of a path, escapes included; None if there is none."""
        match = self._match(path)
        return None if match is None else match[0].route

    def _match_and_answer(self, request: Request) -> AnyAnswer:
        """Answer a request that is not for a fixed address; an ``HTTPException`` if it is not served."""
        method, path = request.method, request.path
        if method not in METHODS:
            return self._responses.problem(request, problems.NOT_IMPLEMENTED)
        match = self._match(path)
        if match is None:
            return self._answer_unknown(request)
        endpoint, values = match
        if method not in endpoint.methods:
            raise MethodNotAllowed(sorted(map(bytes.decode, endpoint.methods)))
        return endpoint.answer(request, **values)

    def _answer_unknown(self, request: Request) -> Response:
        """Answer a request for an address without a route."""
        method, path = request.method, request.path
        if path == ASTERISK and method == b"OPTIONS":
            return self._responses.options(("GET", "HEAD", "OPTIONS"))
        if _decoded(path) is None:
            return self._responses.problem(request, problems.BAD_ESCAPE)
        exact = path.removesuffix(b"/")
        lacks_segment = any(path == endpoint.prefix for endpoint in self._open)
        if (
            method in {b"GET", b"HEAD"}
            and exact != path
            and not lacks_segment
            and not exact.endswith(b"/")
        ):
            route = self.find(exact)
            if route is not None and route.methods is not None:
                return self._responses.moved(exact, request.query)
        raise NotFound

    def _match(self, path: bytes) -> tuple[Endpoint, Mapping[str, str]] | None:
        """Return the endpoint of a path, and the values in the path; None without one."""
        if (endpoint := self._fixed.get(path)) is not None:
            return endpoint, {}
        address = None if len(path) > MAX_PATH else _decoded(path)
        match = None if address is None else self._match_decoded(address)
        has_own_slashes = match is not None and path.count(b"/") == match[0].slashes
        return match if has_own_slashes else None

    def _match_decoded(self, address: bytes) -> tuple[Endpoint, Mapping[str, str]] | None:
        if (endpoint := self._fixed.get(address)) is not None:
            return endpoint, {}
        for candidate in self._open:
            if (segment := candidate.segment(address)) is not None:
                return candidate, {candidate.name: segment.decode()}
        return None

    def _failed(self, failure: Failure, request: Request) -> Response:
        """Return the response to an error of a route; a bug is logged."""
        problem = self._responses.problem
        match failure.value:
            case InvalidParametersError(issues=issues):
                return self._responses.invalid(request, issues)
            case MethodNotAllowed(valid_methods=methods):
                allowed = sorted({*(methods or ()), "OPTIONS"})
                if request.method == b"OPTIONS":
                    return self._responses.options(allowed)
                allow = ", ".join(allowed).encode()
                return problem(request, problems.NOT_ALLOWED, ((b"Allow", allow),))
            case HTTPException():
                return problem(request, problems.NOT_FOUND)
            case QueueFullError():
                return problem(request, problems.TOO_MANY_REQUESTS, (RETRY_SOON,))
            case MemoryFullError():
                return problem(request, problems.BUSY, (RETRY_SOON,))
            case SnapshotError():
                return problem(request, problems.UNAVAILABLE, (RETRY_SOON,))
            case CancelledError():  # the client has left
                failure.raiseException()
        self._log.failure("answering {path} failed", failure, path=request.path)
        return problem(request, problems.INTERNAL)


def _decoded(path: bytes) -> bytes | None:
    """Return a path without its escapes; None if they are broken, or not UTF-8."""
    if b"%" not in path:
        return path
    if _BROKEN_ESCAPE.search(path) is not None:
        return None
    decoded = unquote_to_bytes(path)
    try:
        decoded.decode()
    except UnicodeDecodeError:
        return None
    return decoded
