"""The operator's HTTP API on the UNIX socket, under ``/v1`` (security-and-operations.md 7).

The file mode of the socket controls access. A browser is refused all the same: it sends ``Origin``
or ``Sec-Fetch-*``, or a Host that is not ``reviewsd``. Each change leaves an audit line with the peer.

All routes are in one Klein app. The classes that answer declare them, as a method of HTTP, a path and a
function.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from klein import Klein
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.resource import IResource, Resource
from twisted.web.server import Request, Site
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from reviewsd.admin.responses import AdminResponses, ProblemError
from reviewsd.http1 import problems
from reviewsd.http1.problems import Problem
from reviewsd.runtime.bodiless_site import BodilessSite
from reviewsd.store.transactions import StoreError

HOST = b"reviewsd"

Route = tuple[str, str, Callable[..., Any]]
"""A method of HTTP, a path, and the function that answers."""

_PATH = re.compile(rb"[a-z0-9/-]*")  # Klein answers others in HTML
_STORE = Problem(503, "unavailable", "Service Unavailable", "")

_log = Logger()


def admin_site(routes: Iterable[Route], responses: AdminResponses) -> Site:
    """Return the site for the socket, with all routes of the operator."""
    app = Klein()
    for method, path, answer in routes:
        app.route(path, methods=[method])(answer)

    def answer_error(request: Request, failure: Failure) -> bytes:
        return _answer_error(request, failure, responses)

    app.handle_errors(Exception)(answer_error)  # type: ignore[arg-type]  # Klein declares IRequest
    return BodilessSite(_Root(app.resource(), responses))


class _Root(Resource):
    """Refuses browsers (A2), request bodies, and paths that Klein would answer in HTML."""

    isLeaf = True

    def __init__(self, app: IResource, responses: AdminResponses) -> None:
        super().__init__()
        self._app = app
        self._problem = responses.problem

    def render(self, request: Request) -> bytes | int:
        """Answer a refused request, or let Klein answer."""
        headers = request.requestHeaders
        names = {name.lower() for name, _ in headers.getAllRawHeaders()}
        if b"origin" in names or any(name.startswith(b"sec-fetch-") for name in names):
            return self._problem(request, problems.FORBIDDEN)
        if headers.getRawHeaders(b"host") != [HOST]:
            return self._problem(request, problems.FOREIGN_HOST)
        if getattr(request, "has_body", False):
            return self._problem(request, problems.NO_BODY)
        if _PATH.fullmatch(request.path) is None:
            return self._problem(request, problems.NO_OPERATION)
        return int(self._app.render(request))


def _answer_error(request: Request, failure: Failure, responses: AdminResponses) -> bytes:
    """Answer an exception of a route; the only table of what they mean."""
    if request.startedWriting:  # the last line is missing, so the client sees that it broke off
        _log.failure("{path} broke off", failure, path=request.path)
        return b""
    match failure.value:
        case ProblemError(problem=problem):
            return responses.problem(request, problem)
        case StoreError() as error:
            detail = f"The state store cannot be used now: {error}. The daemon's log has more."
            return responses.problem(request, replace(_STORE, detail=detail))
        case MethodNotAllowed(valid_methods=methods):
            request.setHeader(b"Allow", ", ".join(sorted(methods or ())).encode())
            return responses.problem(request, problems.NOT_ALLOWED)
        case HTTPException():
            return responses.problem(request, problems.NO_OPERATION)
    _log.failure("answering {path} failed", failure, path=request.path)
    return responses.problem(request, problems.INTERNAL)
