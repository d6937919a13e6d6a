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

API = 1
"""Version of this API; raised when a client of the older one would misread it."""

_JSON = b"application/json"
_NDJSON = b"application/x-ndjson"
_PROBLEM = b"application/problem+json"


class ProblemError(Exception):
    """Ends a route with a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


class AdminResponses:
    """Makes responses and audit lines.

    Args:
        version: The version of the program.
    """

    _log = Logger()

    def __init__(self, version: str) -> None:
        self._version = version.encode()

    def value(self, request: Request, value: object, status: int = 200) -> bytes:
        """Respond with a value as JSON."""
        return self.document(request, msgspec.json.encode(value), status=status)

    def document(
        self, request: Request, body: bytes, media_type: bytes = _JSON, status: int = 200
    ) -> bytes:
        """Respond with a document that is rendered already."""
        self._set_head(request, status, media_type)
        request.setHeader(b"Content-Length", b"%d" % len(body))
        return body

    def problem(self, request: Request, problem: Problem) -> bytes:
        """Respond with an error."""
        return self.document(request, problems.render("", problem), _PROBLEM, status=problem.status)

    def stream(self, request: Request, size: int, media_type: bytes) -> None:
        """Begin a response of a known size; the route writes its body."""
        self._set_head(request, 200, media_type)
        request.setHeader(b"Content-Length", b"%d" % size)

    def lines(self, request: Request) -> "Lines":
        """Begin a response of JSON lines; the route returns the last one."""
        self._set_head(request, 200, _NDJSON)
        return Lines(request)

    def audit(self, request: Request, change: str) -> None:
        """Log a change with the peer that orders it, as the kernel knows it (A1).

        Args:
            request: The order.
            change: What is changed; without the path or query of a callback, or control characters.
        """
        pid, uid, gid = _peer(request)
        self._log.info(
            "{change} asked for by pid {pid}, uid {uid}, gid {gid}",
            change=change,
            pid=pid,
            uid=uid,
            gid=gid,
        )

    def _set_head(self, request: Request, status: int, media_type: bytes) -> None:
        request.setResponseCode(status)
        request.setHeader(b"Content-Type", media_type)
        request.setHeader(b"Cache-Control", b"no-store")
        request.setHeader(b"Reviewsd-Api", b"%d" % API)
        request.setHeader(b"Reviewsd-Version", self._version)


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


def _peer(request: Request) -> tuple[int, int, int]:
    """Return the process, user and group at the other end of the socket."""
    transport = cast("Server", request.channel.transport)
    connection = transport.socket
    credentials = connection.getsockopt(
        socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")
    )
    pid, uid, gid = struct.unpack("3i", credentials)
    return pid, uid, gid
