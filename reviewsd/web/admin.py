"""The operator's site: HTTP and JSON on a UNIX socket, under ``/v1`` (security-and-operations.md 7).

Who may open the socket is decided by its file mode. A browser cannot: it would send ``Origin`` or
``Sec-Fetch-*``, or a Host that is not ``reviewsd``. Changes leave an audit line that names the peer.
"""

import os
import re
from collections.abc import Callable, Mapping

from klein import Klein
from twisted.python.failure import Failure
from twisted.web.resource import IResource, Resource
from twisted.web.server import Request, Site

from reviewsd.formats import problems
from reviewsd.stores.publisher import Publisher, Report
from reviewsd.stores.snapshots import Snapshots
from reviewsd.tasks import TaskSet
from reviewsd.web import admin_hub
from reviewsd.web.admin_hub import HubRoutes, Operator
from reviewsd.web.admin_replies import API, AdminReplies, line, moment, wire

HOST = b"reviewsd"

_PLAIN = re.compile(rb"[a-z0-9/-]*")  # what our paths are made of


class AdminSite:
    """Klein's routes for the operator.

    Args:
        snapshots: What is served.
        publisher: Reloads the data.
        operator: Looks after the hub.
        about: What does not change while the daemon runs: version, addresses.
        now: The time, POSIX seconds.
        tasks: Owns what was ordered.
    """

    _app = Klein()

    def __init__(
        self,
        snapshots: Snapshots,
        publisher: Publisher,
        operator: Operator,
        about: Mapping[str, object],
        now: Callable[[], float],
        tasks: TaskSet,
    ) -> None:
        self._snapshots = snapshots
        self._publisher = publisher
        self._operator = operator
        self._about = about
        self._now = now
        self._tasks = tasks
        self._started = now()
        self._replies = AdminReplies(str(about["version"]))

    def site(self) -> Site:
        """The factory for the socket."""
        base_url = str(self._about["base_url"])
        hub = HubRoutes(self._operator, self._replies, base_url, self._tasks)
        return _Site(_Root(self._app.resource(), hub.resource(), self._replies))

    @_app.route("/v1/ping", methods=["GET"])
    def ping(self, request: Request) -> bytes:
        """Whether the daemon answers."""
        return self._replies.value(request, {"pong": True, "version": self._about["version"]})

    @_app.route("/v1/status", methods=["GET"])
    async def status(self, request: Request) -> bytes:
        """What is served since when, how the last reload went, and how the hub is."""
        snapshot = self._snapshots.current
        last = self._publisher.last
        failing = self._publisher.failing_since
        return self._replies.value(
            request,
            {
                "api": API,
                **self._about,
                "pid": os.getpid(),
                "started_at": moment(self._started),
                "uptime_seconds": round(self._now() - self._started, 1),
                "snapshot": {
                    "revision": snapshot.revision,
                    "published_at": moment(snapshot.seen.published_at),
                    "review_count": snapshot.manifest.review_count,
                    "updated_at": snapshot.manifest.updated_at,
                    "insights": snapshot.manifest.insights,
                },
                "data": {
                    "dir": self._about["data_dir"],
                    "state": "ok" if failing is None else "degraded",
                    "last_reload": None if last is None else _report(last),
                    "failing_since": None if failing is None else moment(failing),
                    "problems": [] if last is None else last.problems,
                },
                "hub": wire(await self._operator.state()),
            },
        )

    @_app.route("/v1/reload", methods=["POST"])
    async def reload(self, request: Request) -> bytes:
        """Load the data now: a JSON line for each step, and one for the outcome.

        With ``?wait=false`` only that it was asked for. A client that leaves does not stop it.
        """
        force = request.args.get(b"force") == [b"true"]
        self._replies.audit(request, "reload")
        if request.args.get(b"wait") == [b"false"]:
            self._publisher.reload(force=force)
            return self._replies.value(request, {"type": "accepted"}, 202)
        lines = self._replies.lines(request)
        report = await self._publisher.reload(force=force, progress=lines.tell)
        snapshot = None if self._snapshots.empty else self._snapshots.current
        result = {
            "type": "result",
            **_report(report),
            "revision": None if snapshot is None else snapshot.revision,
            "review_count": None if snapshot is None else snapshot.manifest.review_count,
            "problems": report.problems,
        }
        return line(result)

    @_app.handle_errors(Exception)  # type: ignore[arg-type]  # Klein declares IRequest
    def problem(self, request: Request, failure: Failure) -> bytes:
        """Every error of a route, as the status it means."""
        return self._replies.failed(request, failure)


class _Root(Resource):
    """Turns browsers away (A2), and paths that Klein would answer in HTML.

    Args:
        routes: Klein's resource for the daemon.
        hub: The one for the hub.
        replies: Answers with errors.
    """

    isLeaf = True

    def __init__(self, routes: IResource, hub: IResource, replies: AdminReplies) -> None:
        super().__init__()
        self._routes = routes
        self._hub = hub
        self._problem = replies.problem

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
        routes = self._hub if admin_hub.PATHS.fullmatch(request.path) else self._routes
        return int(routes.render(request))


class _Site(Site):
    displayTracebacks = False

    def log(self, request: object) -> None:
        """No access log: changes have their audit line."""


def _report(report: Report) -> dict[str, object]:
    return {
        "at": moment(report.at),
        "outcome": report.outcome,
        "seconds": round(report.seconds, 3),
    }
