"""The operator's site: HTTP and JSON on a UNIX socket, under ``/v1`` (security-and-operations.md 7).

Who may open the socket is decided by its file mode. A browser cannot: it would send ``Origin`` or
``Sec-Fetch-*``, or a Host that is not ``reviewsd``. Changes leave an audit line that names the peer.
"""

import os
import re
import socket
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import cast

import msgspec
from klein import Klein
from twisted.internet.defer import Deferred
from twisted.internet.unix import Server
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.resource import IResource, Resource
from twisted.web.server import Request, Site
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from reviewsd.formats import problems
from reviewsd.formats.problems import Problem
from reviewsd.formats.publication import Step
from reviewsd.stores.publisher import Publisher, Report
from reviewsd.stores.snapshots import Snapshots

API = 1
"""Version of this interface; raised when a client of the older one would misread it."""

HOST = b"reviewsd"


_PLAIN = re.compile(rb"[a-z0-9/-]*")  # what our paths are made of
_JSON = b"application/json"
_NDJSON = b"application/x-ndjson"
_PROBLEM = b"application/problem+json"


class AdminSite:
    """Klein's routes for the operator.

    Args:
        snapshots: What is served.
        publisher: Reloads the data.
        about: What does not change while the daemon runs: version, addresses.
        now: The time, POSIX seconds.
    """

    _app = Klein()
    _log = Logger()

    def __init__(
        self,
        snapshots: Snapshots,
        publisher: Publisher,
        about: Mapping[str, object],
        now: Callable[[], float],
    ) -> None:
        self._snapshots = snapshots
        self._publisher = publisher
        self._about = about
        self._now = now
        self._started = now()

    def site(self) -> Site:
        """The factory for the socket."""
        return _Site(_Root(self._app.resource(), self._problem))

    @_app.route("/v1/ping", methods=["GET"])
    def ping(self, request: Request) -> bytes:
        """Whether the daemon answers."""
        return self._reply(request, 200, {"pong": True, "version": self._about["version"]})

    @_app.route("/v1/status", methods=["GET"])
    def status(self, request: Request) -> bytes:
        """What is served since when, and how the last reload went."""
        snapshot = self._snapshots.current
        last = self._publisher.last
        failing = self._publisher.failing_since
        return self._reply(
            request,
            200,
            {
                "api": API,
                **self._about,
                "pid": os.getpid(),
                "started_at": _moment(self._started),
                "uptime_seconds": round(self._now() - self._started, 1),
                "snapshot": {
                    "revision": snapshot.revision,
                    "published_at": _moment(snapshot.seen.published_at),
                    "review_count": snapshot.manifest.review_count,
                    "updated_at": snapshot.manifest.updated_at,
                    "insights": snapshot.manifest.insights,
                },
                "data": {
                    "dir": self._about["data_dir"],
                    "state": "ok" if failing is None else "degraded",
                    "last_reload": None if last is None else _report(last),
                    "failing_since": None if failing is None else _moment(failing),
                    "problems": [] if last is None else last.problems,
                },
            },
        )

    @_app.route("/v1/reload", methods=["POST"])
    async def reload(self, request: Request) -> bytes:
        """Load the data now: a JSON line for each step, and one for the outcome.

        With ``?wait=false`` only that it was asked for. A client that leaves does not stop it.
        """
        force = request.args.get(b"force") == [b"true"]
        self._audit(request, "reload")
        if request.args.get(b"wait") == [b"false"]:
            self._publisher.reload(force=force)
            return self._reply(request, 202, {"type": "accepted"})
        self._head(request, 200, _NDJSON)
        report = await self._publisher.reload(force=force, progress=_Steps(request).tell)
        snapshot = None if self._snapshots.empty else self._snapshots.current
        result = {
            "type": "result",
            **_report(report),
            "revision": None if snapshot is None else snapshot.revision,
            "review_count": None if snapshot is None else snapshot.manifest.review_count,
            "problems": report.problems,
        }
        return msgspec.json.encode(result) + b"\n"

    @_app.handle_errors(Exception)  # type: ignore[arg-type]  # Klein declares IRequest
    def problem(self, request: Request, failure: Failure) -> bytes:
        """Every error of a route, as the status it means."""
        match failure.value:
            case MethodNotAllowed(valid_methods=methods):
                allow = ", ".join(sorted(methods or ()))
                request.setHeader(b"Allow", allow.encode())
                return self._problem(request, problems.NOT_ALLOWED)
            case HTTPException():
                return self._problem(request, problems.NO_OPERATION)
        self._log.failure("answering {path} failed", failure, path=request.path)
        return self._problem(request, problems.INTERNAL)

    def _audit(self, request: Request, change: str) -> None:
        pid, uid, gid = _peer(request)
        self._log.info(
            "{change} asked for by pid {pid}, uid {uid}, gid {gid}",
            change=change,
            pid=pid,
            uid=uid,
            gid=gid,
        )

    def _problem(self, request: Request, problem: Problem) -> bytes:
        body = problems.render("", problem)
        self._head(request, problem.status, _PROBLEM)
        request.setHeader(b"Content-Length", b"%d" % len(body))
        return body

    def _reply(self, request: Request, status: int, value: object) -> bytes:
        body = msgspec.json.encode(value)
        self._head(request, status, _JSON)
        request.setHeader(b"Content-Length", b"%d" % len(body))
        return body

    def _head(self, request: Request, status: int, media_type: bytes) -> None:
        request.setResponseCode(status)
        request.setHeader(b"Content-Type", media_type)
        request.setHeader(b"Cache-Control", b"no-store")
        request.setHeader(b"Reviewsd-Api", b"%d" % API)
        request.setHeader(b"Reviewsd-Version", str(self._about["version"]).encode())


class _Root(Resource):
    """Turns browsers away (A2), and paths that Klein would answer in HTML.

    Args:
        routes: Klein's resource.
        problem: Answers with an error.
    """

    isLeaf = True

    def __init__(self, routes: IResource, problem: Callable[[Request, Problem], bytes]) -> None:
        super().__init__()
        self._routes = routes
        self._problem = problem

    def render(self, request: Request) -> bytes | int:
        """Answer, or let Klein answer."""
        headers = request.requestHeaders
        names = {name.lower() for name, _ in headers.getAllRawHeaders()}
        if b"origin" in names or any(name.startswith(b"sec-fetch-") for name in names):
            return self._problem(request, problems.FORBIDDEN)
        if headers.getRawHeaders(b"host") != [HOST]:
            return self._problem(request, problems.FOREIGN_HOST)
        if _PLAIN.fullmatch(request.path) is None:
            return self._problem(request, problems.NO_OPERATION)
        return int(self._routes.render(request))


class _Site(Site):
    displayTracebacks = False

    def log(self, request: object) -> None:
        """No access log: changes have their audit line."""


class _Steps:
    """Writes progress to a client until it leaves."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._open = True
        ended: Deferred[None] = request.notifyFinish()
        ended.addBoth(self._close)

    def _close(self, _: object) -> None:
        self._open = False

    def tell(self, step: Step) -> None:
        if self._open:
            self._request.write(msgspec.json.encode(step) + b"\n")


def _report(report: Report) -> dict[str, object]:
    return {
        "at": _moment(report.at),
        "outcome": report.outcome,
        "seconds": round(report.seconds, 3),
    }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), UTC).isoformat().replace("+00:00", "Z")


def _peer(request: Request) -> tuple[int, int, int]:
    """Process, user and group at the other end of the socket."""
    transport = cast("Server", request.channel.transport)
    connection = transport.socket
    credentials = connection.getsockopt(
        socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")
    )
    pid, uid, gid = struct.unpack("3i", credentials)
    return pid, uid, gid
