"""The operator's site: HTTP and JSON on a UNIX socket, under ``/v1`` (security-and-operations.md 7).

Who may open the socket is decided by its file mode. A browser cannot: it would send ``Origin`` or
``Sec-Fetch-*``, or a Host that is not ``reviewsd``. Changes leave an audit line that names the peer.
"""

import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from klein import Klein
from msgspec import Struct
from msgspec.structs import asdict
from twisted.python.failure import Failure
from twisted.web.resource import IResource, Resource
from twisted.web.server import Request, Site

from reviewsd.admin import hub as admin_hub
from reviewsd.admin import probes as admin_probes
from reviewsd.admin.hub import HubRoutes, Operator
from reviewsd.admin.probes import ProbeRoutes
from reviewsd.admin.responses import API, AdminReplies, line, moment, wire
from reviewsd.http1 import problems
from reviewsd.monitoring.unknown_parameters import named
from reviewsd.publish.compile_process import Progress
from reviewsd.publish.publisher import Publisher, Report
from reviewsd.runtime.counters import Counts
from reviewsd.runtime.half_closed import HalfClosedChannel
from reviewsd.runtime.tasks import TaskSet
from reviewsd.snapshot.snapshots import Snapshot, Snapshots

HOST = b"reviewsd"

_PLAIN = re.compile(rb"[a-z0-9/-]*")  # what our paths are made of


class Worker(Protocol):
    """A process that answers beside the main one."""

    @property
    def pid(self) -> int:
        """Of the process."""

    @property
    def started_at(self) -> float:
        """POSIX seconds."""

    @property
    def restarts(self) -> int:
        """How many it has replaced."""


class Changes(Struct, frozen=True, kw_only=True):
    """What came of the configuration when it was read again: dotted keys, and faults."""

    applied: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    """These wait for a restart of the daemon."""
    problems: tuple[str, ...] = ()
    """Lines to print, each fault with its place; then nothing was changed."""


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What a reload has done."""

    report: Report
    config: Changes


class Reloading(Protocol):
    """Reads the configuration and the data again."""

    @property
    def changes(self) -> Changes:
        """What came of the configuration when it was read last."""

    async def reload(self, *, force: bool = ..., progress: Progress | None = ...) -> Reloaded:
        """Do so.

        Args:
            force: Although many reviews are gone.
            progress: Told how far the data is.
        """


async def _nothing() -> Counts:
    return {}


@dataclass(frozen=True, slots=True)
class Processes:
    """What is known of all processes of the daemon."""

    workers: Callable[[], Sequence[Worker]] = tuple
    """Those that serve at the moment."""
    counts: Callable[[], Awaitable[Counts]] = _nothing
    """What they count, added up."""


class AdminSite:
    """Klein's routes for the operator.

    Args:
        snapshots: What is served.
        publisher: Knows how the last reload of the data went.
        reloading: Reloads it.
        operator: Looks after the hub.
        about: What does not change while the daemon runs: version, addresses.
        now: The time, POSIX seconds.
        tasks: Owns what was ordered.
        processes: What is known of all of them.
    """

    _app = Klein()

    def __init__(
        self,
        snapshots: Snapshots,
        publisher: Publisher,
        reloading: Reloading,
        operator: Operator,
        about: Mapping[str, object],
        now: Callable[[], float],
        tasks: TaskSet,
        processes: Processes | None = None,
    ) -> None:
        self._snapshots = snapshots
        self._publisher = publisher
        self._reloading = reloading
        self._operator = operator
        self._about = about
        self._now = now
        self._tasks = tasks
        self._processes = processes or Processes()
        self._started = now()
        self._replies = AdminReplies(str(about["version"]))

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
        base_url = str(self._about["base_url"])
        hub = HubRoutes(self._operator, self._replies, base_url, self._tasks)
        others = [(admin_hub.PATHS, hub.resource()), *more]
        if probes is not None:
            others.append((admin_probes.PATHS, probes.resource()))
        return _Site(_Root(self._app.resource(), others, self._replies))

    @_app.route("/v1/ping", methods=["GET"])
    def ping(self, request: Request) -> bytes:
        """Whether the daemon answers."""
        return self._replies.value(request, {"pong": True, "version": self._about["version"]})

    @_app.route("/v1/status", methods=["GET"])
    async def status(self, request: Request) -> bytes:
        """What is served since when, how the last reload went, and how the hub is."""
        snapshot = self._snapshots.current
        last = self._publisher.last
        failing, retry = self._publisher.failing_since, self._publisher.retry_at
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
                    "insights_origin": _origin(snapshot),
                },
                "data": {
                    "dir": self._about["data_dir"],
                    "state": "ok" if failing is None else "degraded",
                    "last_reload": None if last is None else _report(last),
                    "failing_since": None if failing is None else moment(failing),
                    "retry_at": None if retry is None else moment(retry),
                    "problems": [] if last is None else last.problems,
                },
                "config": asdict(self._reloading.changes),
                "hub": wire(await self._operator.state()),
                "unknown_parameters": named(await self._processes.counts()),
                "workers": [
                    {
                        "pid": worker.pid,
                        "started_at": moment(worker.started_at),
                        "restarts": worker.restarts,
                    }
                    for worker in self._processes.workers()
                ],
            },
        )

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
            return self._replies.value(request, {"type": "accepted"}, 202)
        lines = self._replies.lines(request)
        done = await ordered(self._reloading.reload(force=force, progress=lines.tell))
        snapshot = None if self._snapshots.empty else self._snapshots.current
        retry = done.report.retry_at
        result = {
            "type": "result",
            **_report(done.report),
            "retry_at": None if retry is None else moment(retry),
            "revision": None if snapshot is None else snapshot.revision,
            "review_count": None if snapshot is None else snapshot.manifest.review_count,
            "insights_origin": None if snapshot is None else _origin(snapshot),
            "problems": done.report.problems,
            "config": asdict(done.config),
        }
        return line(result)

    @_app.handle_errors(Exception)  # type: ignore[arg-type]  # Klein declares IRequest
    def problem(self, request: Request, failure: Failure) -> bytes:
        """Every error of a route, as the status it means."""
        return self._replies.failed(request, failure)


def _origin(snapshot: Snapshot) -> dict[str, object] | None:
    """Where the insights are from."""
    origin = snapshot.manifest.insights_origin
    return None if origin is None else asdict(origin)


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


class _Request(Request):
    """One whose body is not kept: all parameters are in the query.

    Twisted would keep it whole, however long it is, and read a form in the reactor: 1.7 s for 10 MB.
    """

    has_body = False

    def handleContentChunk(self, data: bytes) -> None:
        """Drop it."""
        self.has_body = self.has_body or bool(data)


class _Site(Site):
    displayTracebacks = False
    protocol = HalfClosedChannel  # type: ignore[assignment]  # declared for the wrapper that knows HTTP/2
    requestFactory = _Request

    def log(self, request: object) -> None:
        """No access log: changes have their audit line."""


def _report(report: Report) -> dict[str, object]:
    return {
        "at": moment(report.at),
        "outcome": report.outcome,
        "seconds": round(report.seconds, 3),
    }
