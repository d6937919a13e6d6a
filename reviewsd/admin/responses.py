"""How every route of the admin socket answers (security-and-operations.md A1, A3)."""

import socket
import struct
from dataclasses import replace
from typing import cast

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.unix import Server
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.server import Request
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from reviewsd.http1 import problems
from reviewsd.http1.problems import Problem
from reviewsd.store.transactions import StoreError

API = 1
"""Version of this interface; raised when a client of the older one would misread it."""

_JSON = b"application/json"
_NDJSON = b"application/x-ndjson"
_PROBLEM = b"application/problem+json"
_STORE = Problem(503, "unavailable", "Service Unavailable", "")


class ProblemError(Exception):
    """Ends a route with a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


class AdminReplies:
    """Answers, problems and audit lines.

    Args:
        version: Of the program.
    """

    _log = Logger()

    def __init__(self, version: str) -> None:
        self._version = version.encode()

    def value(self, request: Request, value: object, status: int = 200) -> bytes:
        """A JSON document."""
        return self._whole(request, status, _JSON, msgspec.json.encode(value))

    def document(
        self, request: Request, body: bytes, media_type: bytes = _JSON, status: int = 200
    ) -> bytes:
        """A document that is rendered already."""
        return self._whole(request, status, media_type, body)

    def stream(self, request: Request, size: int, media_type: bytes) -> None:
        """Begin an answer of so many bytes; the route writes them."""
        self._head(request, 200, media_type)
        request.setHeader(b"Content-Length", b"%d" % size)

    def lines(self, request: Request) -> "Lines":
        """Begin an answer that is a JSON line for each event; the route returns the last one."""
        self._head(request, 200, _NDJSON)
        return Lines(request)

    def problem(self, request: Request, problem: Problem) -> bytes:
        """An error."""
        return self._whole(request, problem.status, _PROBLEM, problems.render("", problem))

    def failed(self, request: Request, failure: Failure) -> bytes:
        """The one table from a route's exception to its answer."""
        if request.startedWriting:  # lines without the last one: the client sees that it broke off
            self._log.failure("{path} broke off", failure, path=request.path)
            return b""
        match failure.value:
            case ProblemError(problem=problem):
                return self.problem(request, problem)
            case StoreError() as error:
                detail = f"The state store cannot be used now: {error}. The daemon's log has more."
                return self.problem(request, replace(_STORE, detail=detail))
            case MethodNotAllowed(valid_methods=methods):
                allow = ", ".join(sorted(methods or ()))
                request.setHeader(b"Allow", allow.encode())
                return self.problem(request, problems.NOT_ALLOWED)
            case HTTPException():
                return self.problem(request, problems.NO_OPERATION)
        self._log.failure("answering {path} failed", failure, path=request.path)
        return self.problem(request, problems.INTERNAL)

    def audit(self, request: Request, change: str) -> None:
        """Who changes something, by the kernel's word (A1).

        Args:
            request: The order.
            change: What is ordered: no path or query of a callback, no control characters.
        """
        pid, uid, gid = _peer(request)
        self._log.info(
            "{change} asked for by pid {pid}, uid {uid}, gid {gid}",
            change=change,
            pid=pid,
            uid=uid,
            gid=gid,
        )

    def _whole(self, request: Request, status: int, media_type: bytes, body: bytes) -> bytes:
        self._head(request, status, media_type)
        request.setHeader(b"Content-Length", b"%d" % len(body))
        return body

    def _head(self, request: Request, status: int, media_type: bytes) -> None:
        request.setResponseCode(status)
        request.setHeader(b"Content-Type", media_type)
        request.setHeader(b"Cache-Control", b"no-store")
        request.setHeader(b"Reviewsd-Api", b"%d" % API)
        request.setHeader(b"Reviewsd-Version", self._version)


class Lines:
    """Writes events to a client until it leaves."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._open = True
        ended: Deferred[None] = request.notifyFinish()
        ended.addBoth(self._close)

    def tell(self, event: object) -> None:
        """Write one of them."""
        if self._open:
            self._request.write(line(event))

    def _close(self, _: object) -> None:
        self._open = False


def line(event: object) -> bytes:
    """An event as a JSON line."""
    return msgspec.json.encode(event) + b"\n"


def _peer(request: Request) -> tuple[int, int, int]:
    """Process, user and group at the other end of the socket."""
    transport = cast("Server", request.channel.transport)
    connection = transport.socket
    credentials = connection.getsockopt(
        socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")
    )
    pid, uid, gid = struct.unpack("3i", credentials)
    return pid, uid, gid
