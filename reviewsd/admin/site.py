"""The operator's site: HTTP and JSON on a UNIX socket, under ``/v1`` (security-and-operations.md 7).

Who may open the socket is decided by its file mode. A browser cannot: it would send ``Origin`` or
``Sec-Fetch-*``, or a Host that is not ``reviewsd``. Changes leave an audit line that names the peer.
"""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from klein import Klein
from twisted.python.failure import Failure
from twisted.web.resource import IResource, Resource
from twisted.web.server import Request, Site

from reviewsd.admin import hub as admin_hub
from reviewsd.admin import probes as admin_probes
from reviewsd.admin.hub import HubRoutes
from reviewsd.admin.probes import ProbeRoutes
from reviewsd.admin.reload import Reloading
from reviewsd.admin.responses import API, AdminReplies, line
from reviewsd.api.jobs import JobLine, LastReload, ReloadResult
from reviewsd.api.status import DataState, DataStatus, Pong, SnapshotStatus, Status
from reviewsd.api.times import instant
from reviewsd.http1 import problems
from reviewsd.monitoring.unknown_parameters import named
from reviewsd.publish.publisher import Publisher, Report
from reviewsd.runtime.bodiless_site import BodilessSite
from reviewsd.runtime.counters import Counts
from reviewsd.runtime.tasks import TaskSet
from reviewsd.snapshot.snapshots import Snapshot, Snapshots
from reviewsd.websub.operator import Operator

HOST = b"reviewsd"

_PLAIN = re.compile(rb"[a-z0-9/-]*")  # what our paths are made of


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What does not change while the daemon runs."""

    version: str
    base_url: str
    listen: tuple[str, ...]
    data_dir: str


class AdminSite:
    """Klein's routes for the operator.

    Args:
        snapshots: What is served.
        publisher: Knows how the last reload of the data went.
        reloading: Reloads it.
        operator: Looks after the hub.
        about: What does not change while the daemon runs.
        now: The time, POSIX seconds.
        tasks: Owns what was ordered.
        counts: Returns the counts of the process.
    """

    _app = Klein()

    def __init__(
        self,
        snapshots: Snapshots,
        publisher: Publisher,
        reloading: Reloading,
        operator: Operator,
        about: About,
        now: Callable[[], float],
        tasks: TaskSet,
        counts: Callable[[], Counts] = dict,
    ) -> None:
        self._snapshots = snapshots
        self._publisher = publisher
        self._reloading = reloading
        self._operator = operator
        self._about = about
        self._now = now
        self._tasks = tasks
        self._counts = counts
        self._started = now()
        self._replies = AdminReplies(about.version)

    def site(
        self,
        probes: ProbeRoutes | None = None,
        more: Sequence[tuple[re.Pattern[bytes], IResource]] = (),
    ) -> Site:
        """The factory for the socket.

        Args:
            probes: What is asked all the time, if it may be.
            more: Further routes, and which paths are theirs.
        """
        hub = HubRoutes(self._operator, self._replies, self._about.base_url, self._tasks)
        others = [(admin_hub.PATHS, hub.resource()), *more]
        if probes is not None:
            others.append((admin_probes.PATHS, probes.resource()))
        return BodilessSite(_Root(self._app.resource(), others, self._replies))

    @_app.route("/v1/ping", methods=["GET"])
    def ping(self, request: Request) -> bytes:
        """Whether the daemon answers."""
        return self._replies.value(request, Pong(pong=True, version=self._about.version))

    @_app.route("/v1/status", methods=["GET"])
    async def status(self, request: Request) -> bytes:
        """What is served since when, how the last reload went, and how the hub is."""
        about = self._about
        status = Status(
            api=API,
            version=about.version,
            base_url=about.base_url,
            listen=about.listen,
            data_dir=about.data_dir,
            pid=os.getpid(),
            started_at=instant(self._started),
            uptime_seconds=round(self._now() - self._started, 1),
            snapshot=None if self._snapshots.empty else _snapshot(self._snapshots.current),
            data=self._data(),
            config=self._reloading.changes,
            hub=await self._operator.state(),
            unknown_parameters=named(self._counts()),
        )
        return self._replies.value(request, status)

    @_app.route("/v1/reload", methods=["POST"])
    async def reload(self, request: Request) -> bytes:
        """Read configuration and data now: a JSON line for each step, and one for the outcome.

        With ``?wait=false`` only that it was asked for. A client that leaves does not stop it.
        """
        force = request.args.get(b"force") == [b"true"]
        self._replies.audit(request, "reload")
        ordered = partial(self._tasks.outcome, "reload")
        if request.args.get(b"wait") == [b"false"]:
            ordered(self._reloading.reload(force=force))
            return self._replies.value(request, JobLine("accepted"), 202)
        lines = self._replies.lines(request)
        done = await ordered(self._reloading.reload(force=force, progress=lines.tell))
        snapshot = None if self._snapshots.empty else self._snapshots.current
        report, manifest = done.report, None if snapshot is None else snapshot.manifest
        result = ReloadResult(
            at=instant(report.at),
            outcome=report.outcome,
            seconds=round(report.seconds, 3),
            retry_at=_instant(report.retry_at),
            revision=None if snapshot is None else snapshot.revision,
            review_count=None if manifest is None else manifest.review_count,
            insights_origin=None if manifest is None else manifest.insights_origin,
            problems=report.problems,
            config=done.config,
        )
        return line(result)

    @_app.handle_errors(Exception)  # type: ignore[arg-type]  # Klein declares IRequest
    def problem(self, request: Request, failure: Failure) -> bytes:
        """Every error of a route, as the status it means."""
        return self._replies.failed(request, failure)

    def _data(self) -> DataStatus:
        publisher = self._publisher
        last, failing = publisher.last, publisher.failing_since
        return DataStatus(
            dir=self._about.data_dir,
            state=self._state(),
            last_reload=None if last is None else _last_reload(last),
            failing_since=_instant(failing),
            retry_at=_instant(publisher.retry_at),
            problems=() if last is None else last.problems,
        )

    def _state(self) -> DataState:
        if not self._snapshots.empty:
            return "ok" if self._publisher.failing_since is None else "degraded"
        if (last := self._publisher.last) is None:
            return "starting"
        return "failing" if last.outcome == "failed" else "waiting"


def _snapshot(snapshot: Snapshot) -> SnapshotStatus:
    manifest = snapshot.manifest
    updated_at = manifest.updated_at
    return SnapshotStatus(
        revision=snapshot.revision,
        published_at=instant(snapshot.seen.published_at),
        review_count=manifest.review_count,
        updated_at=None if updated_at is None else datetime.fromisoformat(updated_at),
        insights=manifest.insights,
        insights_origin=manifest.insights_origin,
    )


def _last_reload(report: Report) -> LastReload:
    return LastReload(
        at=instant(report.at), outcome=report.outcome, seconds=round(report.seconds, 3)
    )


def _instant(seconds: float | None) -> datetime | None:
    return None if seconds is None else instant(seconds)


class _Root(Resource):
    """Turns browsers away (A2), and paths that Klein would answer in HTML.

    Args:
        routes: Klein's resource for the daemon.
        others: Further ones, and which paths are theirs.
        replies: Answers with errors.
    """

    isLeaf = True

    def __init__(
        self,
        routes: IResource,
        others: Sequence[tuple[re.Pattern[bytes], IResource]],
        replies: AdminReplies,
    ) -> None:
        super().__init__()
        self._routes = routes
        self._others = others
        self._problem = replies.problem

    def render(self, request: Request) -> bytes | int:
        """Answer, or let Klein answer."""
        headers = request.requestHeaders
        names = {name.lower() for name, _ in headers.getAllRawHeaders()}
        if b"origin" in names or any(name.startswith(b"sec-fetch-") for name in names):
            return self._problem(request, problems.FORBIDDEN)
        if headers.getRawHeaders(b"host") != [HOST]:
            return self._problem(request, problems.FOREIGN_HOST)
        if getattr(request, "has_body", False):
            return self._problem(request, problems.NO_BODY)
        if _PLAIN.fullmatch(request.path) is None:
            return self._problem(request, problems.NO_OPERATION)
        theirs = (routes for paths, routes in self._others if paths.fullmatch(request.path))
        return int(next(theirs, self._routes).render(request))
