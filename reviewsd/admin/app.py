"""The operator's HTTP API on the UNIX socket, under ``/v1`` (security-and-operations.md 7).

The file mode of the socket controls access. A browser is refused all the same: it sends ``Origin``
or ``Sec-Fetch-*``, or a Host that is not ``reviewsd``. Each change leaves an audit line with the peer.

All routes are in one Klein app. The methods that answer declare them with ``route``.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

from klein import Klein
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.resource import IResource, Resource
from twisted.web.server import Request, Site
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from reviewsd.admin.responses import ProblemError, respond_problem
from reviewsd.http1 import problems
from reviewsd.http1.problems import Problem
from reviewsd.runtime.bodiless_site import BodilessSite
from reviewsd.store.transactions import StoreError

API = 1
"""Version of this API; raised when a client of the older one would misread it."""

HOST = b"reviewsd"

_PATH = re.compile(rb"[a-z0-9/-]*")  # Klein answers others in HTML
_STORE = Problem(503, "unavailable", "Service Unavailable", "")

_log = Logger()


_Method = TypeVar("_Method", bound=Callable[..., Any])


def route(method: str, path: str) -> Callable[[_Method], _Method]:
    """Declare that a method answers a method of HTTP and a path."""

    def declare(function: _Method) -> _Method:
        function.route = (method, path)  # type: ignore[attr-defined]  # read by ``admin_site``
        return function

    return declare


def admin_site(owners: Iterable[object], version: str) -> Site:
    """Return the site for the socket, with all routes of the operator.

    Args:
        owners: Objects with methods that declare a route.
        version: The version of the program.
    """
    app = Klein()
    for owner in owners:
        for name, function in vars(type(owner)).items():
            if declared := getattr(function, "route", None):
                method, path = declared
                app.route(path, methods=[method])(getattr(owner, name))

    app.handle_errors(Exception)(_answer_error)  # type: ignore[arg-type]  # Klein declares IRequest
    return BodilessSite(_Root(app.resource(), version))


class _Root(Resource):
    """Refuses browsers (A2), request bodies, and paths that Klein would answer in HTML."""

    isLeaf = True

    def __init__(self, app: IResource, version: str) -> None:
        super().__init__()
        self._app = app
        self._version = version.encode()

    def render(self, request: Request) -> bytes | int:
        """Answer a refused request, or let Klein answer."""
        request.setHeader(b"Cache-Control", b"no-store")
        request.setHeader(b"Reviewsd-Api", b"%d" % API)
        request.setHeader(b"Reviewsd-Version", self._version)
        headers = request.requestHeaders
        names = {name.lower() for name, _ in headers.getAllRawHeaders()}
        if b"origin" in names or any(name.startswith(b"sec-fetch-") for name in names):
            return respond_problem(request, problems.FORBIDDEN)
        if headers.getRawHeaders(b"host") != [HOST]:
            return respond_problem(request, problems.FOREIGN_HOST)
        if getattr(request, "has_body", False):
            return respond_problem(request, problems.NO_BODY)
        if _PATH.fullmatch(request.path) is None:
            return respond_problem(request, problems.NO_OPERATION)
        return int(self._app.render(request))


def _answer_error(request: Request, failure: Failure) -> bytes:
    """Answer an exception of a route; the only table of what they mean."""
    if request.startedWriting:  # the last line is missing, so the client sees that it broke off
        _log.failure("{path} broke off", failure, path=request.path)
        return b""
    match failure.value:
        case ProblemError(problem=problem):
            return respond_problem(request, problem)
        case StoreError() as error:
            detail = f"The state store cannot be used now: {error}. The daemon's log has more."
            return respond_problem(request, replace(_STORE, detail=detail))
        case MethodNotAllowed(valid_methods=methods):
            request.setHeader(b"Allow", ", ".join(sorted(methods or ())).encode())
            return respond_problem(request, problems.NOT_ALLOWED)
        case HTTPException():
            return respond_problem(request, problems.NO_OPERATION)
    _log.failure("answering {path} failed", failure, path=request.path)
    return respond_problem(request, problems.INTERNAL)
