"""Responses and audit lines of the routes on the admin socket (A1, A3)."""

import socket
import struct
from typing import cast

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.unix import Server
from twisted.logger import Logger
from twisted.web.server import Request

from reviewsd.http1 import problems
from reviewsd.http1.problems import Problem

_JSON = b"application/json"
_NDJSON = b"application/x-ndjson"
_PROBLEM = b"application/problem+json"

_log = Logger()


class ProblemError(Exception):
    """Ends a route with a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def respond(request: Request, value: object, status: int = 200) -> bytes:
    """Respond with a value as JSON."""
    return respond_document(request, msgspec.json.encode(value), status=status)


def respond_document(
    request: Request, body: bytes, media_type: bytes = _JSON, status: int = 200
) -> bytes:
    """Respond with a document that is rendered already."""
    begin_stream(request, len(body), media_type, status)
    return body


def respond_problem(request: Request, problem: Problem) -> bytes:
    """Respond with an error."""
    return respond_document(request, problems.render("", problem), _PROBLEM, problem.status)


def begin_stream(request: Request, size: int, media_type: bytes, status: int = 200) -> None:
    """Begin a response of a known size; the route writes its body."""
    request.setResponseCode(status)
    request.setHeader(b"Content-Type", media_type)
    request.setHeader(b"Content-Length", b"%d" % size)


def begin_lines(request: Request) -> "Lines":
    """Begin a response of JSON lines; the route returns the last one."""
    request.setHeader(b"Content-Type", _NDJSON)
    return Lines(request)


def audit(request: Request, change: str) -> None:
    """Log a change with the peer that orders it, as the kernel knows it (A1).

    Args:
        request: The order.
        change: What is changed; without the path or query of a callback, or control characters.
    """
    transport = cast("Server", request.channel.transport)
    size = struct.calcsize("3i")
    credentials = transport.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid, uid, gid = struct.unpack("3i", credentials)
    _log.info(
        "{change} asked for by pid {pid}, uid {uid}, gid {gid}",
        change=change,
        pid=pid,
        uid=uid,
        gid=gid,
    )


class Lines:
    """Writes JSON lines to a client until it leaves."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._open = True
        finished: Deferred[None] = request.notifyFinish()
        finished.addBoth(self._close)

    def write(self, event: object) -> None:
        """Write an event as a line."""
        if self._open:
            self._request.write(line(event))

    def _close(self, _: object) -> None:
        self._open = False


def line(event: object) -> bytes:
    """Return an event as a JSON line."""
    return msgspec.json.encode(event) + b"\n"
