"""The operator's HTTP API on the UNIX socket, under ``/v1`` (security-and-operations.md 7).

The file mode of the socket controls access. A browser is refused all the same: it sends ``Origin``
or ``Sec-Fetch-*``, or a Host that is not ``reviewsd``. Each change leaves an audit line with the peer.

All routes are in one Klein app. The methods that answer declare them with ``route``.
"""

import re
import socket
import struct
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

import msgspec
from klein import Klein
from twisted.internet.unix import Server
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.resource import IResource, Resource
from twisted.web.server import Request, Site
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from reviewsd.http1 import problems
from reviewsd.http1.problems import Problem
from reviewsd.monitoring.metrics_site import BodilessSite
from reviewsd.store.transactions import StoreError

API = 1  # version of this API; raised when a client of the older one would misread it

_MAX_TEXT = 2048  # characters of a parameter: a callback has no more bytes (E1)
_PATH = re.compile(rb"[a-z0-9/-]*")  # Klein answers others in HTML

_Method = TypeVar("_Method", bound=Callable[..., Any])

_log = Logger()


class ProblemError(Exception):
    """Ends a route with a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def invalid(detail: str) -> ProblemError:
    """Return the error of a wrong parameter; the detail names it and the values it may have."""
    return ProblemError(Problem(400, "invalid-query", "Invalid Parameters", detail))


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
            return _respond_problem(request, problems.FORBIDDEN)
        if headers.getRawHeaders(b"host") != [b"reviewsd"]:
            return _respond_problem(request, problems.FOREIGN_HOST)
        if getattr(request, "has_body", False):
            return _respond_problem(request, problems.BODY_NOT_ALLOWED)
        if _PATH.fullmatch(request.path) is None:
            return _respond_problem(request, problems.NO_OPERATION)
        return int(self._app.render(request))


def _answer_error(request: Request, failure: Failure) -> bytes:
    """Answer an exception of a route; the only table of what they mean."""
    if request.startedWriting:  # the last line is missing, so the client sees that it broke off
        _log.failure("{path} broke off", failure, path=request.path)
        return b""
    match failure.value:
        case ProblemError(problem=problem):
            return _respond_problem(request, problem)
        case StoreError() as error:
            detail = f"The state store cannot be used now: {error}. The daemon's log has more."
            problem = Problem(503, "unavailable", "Service Unavailable", detail)
            return _respond_problem(request, problem)
        case MethodNotAllowed(valid_methods=methods):
            request.setHeader(b"Allow", ", ".join(sorted(methods or ())).encode())
            return _respond_problem(request, problems.NOT_ALLOWED)
        case HTTPException():
            return _respond_problem(request, problems.NO_OPERATION)
    _log.failure("answering {path} failed", failure, path=request.path)
    return _respond_problem(request, problems.INTERNAL)


def _respond_problem(request: Request, problem: Problem) -> bytes:
    body = problems.render("", problem)
    return respond_document(request, body, b"application/problem+json", problem.status)


def respond(request: Request, value: object, status: int = 200) -> bytes:
    """Respond with a value as JSON."""
    return respond_document(request, msgspec.json.encode(value), status=status)


def respond_document(
    request: Request, body: bytes, media_type: bytes = b"application/json", status: int = 200
) -> bytes:
    """Respond with a document that is rendered already."""
    request.setResponseCode(status)
    request.setHeader(b"Content-Type", media_type)
    request.setHeader(b"Content-Length", b"%d" % len(body))
    return body


def begin_lines(request: Request) -> Callable[[object], None]:
    """Begin a response of JSON lines; return what writes one. The route returns the last line."""
    request.setHeader(b"Content-Type", b"application/x-ndjson")
    return lambda event: request.write(line(event))  # does nothing when the client has left


def line(event: object) -> bytes:
    """Return an event as a JSON line."""
    return msgspec.json.encode(event) + b"\n"


def audit(request: Request, change: str) -> None:
    """Log a change with the peer that orders it, as the kernel knows it (A1).

    ``change`` has no path or query of a callback, and no control characters.
    """
    transport = cast("Server", request.channel.transport)
    size = struct.calcsize("3i")
    credentials = transport.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid, uid, gid = struct.unpack("3i", credentials)
    sentence = "{change} asked for by pid {pid}, uid {uid}, gid {gid}"
    _log.info(sentence, change=change, pid=pid, uid=uid, gid=gid)


def text(request: Request, name: str, max_length: int = _MAX_TEXT) -> str:
    """Return a parameter that may occur once, or '' without it."""
    values = texts(request, name, max_length)
    if len(values) > 1:
        raise invalid(f"{name}: given more than once.")
    return values[0] if values else ""


def texts(request: Request, name: str, max_length: int = _MAX_TEXT) -> list[str]:
    """Return a parameter's values; they are printable, so that they can be logged."""
    values = [value.decode(errors="replace") for value in request.args.get(name.encode(), [])]
    if not all(value.isprintable() and len(value) <= max_length for value in values):
        raise invalid(f"{name}: expected at most {max_length} characters, all of them printable.")
    return values
