"""The routes of the daemon itself: status, reload, probes, backup, test messages."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import msgspec
from msgspec.structs import replace
from twisted.protocols.basic import FileSender
from twisted.web.server import Request

from reviewsd.admin.app import (
    API,
    ProblemError,
    audit,
    begin_lines,
    line,
    respond,
    respond_document,
    route,
    text,
)
from reviewsd.admin.reload import Reloading
from reviewsd.api.jobs import Guard, JobLine, LastReload, ReloadResult, instant
from reviewsd.api.status import DataState, DataStatus, NoticeTests, SnapshotStatus, Status
from reviewsd.http1.problems import Problem
from reviewsd.monitoring.health import Readiness
from reviewsd.monitoring.metrics import CONTENT_TYPE, Metrics
from reviewsd.notices.notices import Notices
from reviewsd.publish.publisher import Publisher
from reviewsd.runtime.tasks import TaskSet
from reviewsd.snapshot.snapshots import Snapshot, Snapshots
from reviewsd.store.backup import IN_POSTGRESQL, Backups
from reviewsd.websub.operator import Operator

_GUARDS_BY_PARAMETER: dict[bytes, Guard] = {
    b"force": "shrink",
    b"without_corrections": "corrections",
}

_SHARED = Problem(
    409,
    "shared-store",
    "Not Here",
    IN_POSTGRESQL,
)


@dataclass(eq=False, kw_only=True)
class DaemonRoutes:
    """The routes of the daemon itself."""

    version: str
    installed_at: float
    """When this program was installed, POSIX seconds."""
    base_url: str
    listen: tuple[str, ...]
    data_dir: str
    snapshots: Snapshots
    publisher: Publisher
    reloading: Reloading
    operator: Operator
    now: Callable[[], float]
    """Returns POSIX seconds."""
    tasks: TaskSet
    """Owns the reloads."""

    def __post_init__(self) -> None:
        self._started = self.now()

    @route("GET", "/v1/status")
    async def status(self, request: Request) -> bytes:
        """Return the data that is served, the result of the last reload, and the state of the hub."""
        status = Status(
            api=API,
            version=self.version,
            installed_at=instant(self.installed_at),
            base_url=self.base_url,
            listen=self.listen,
            data_dir=self.data_dir,
            pid=os.getpid(),
            started_at=instant(self._started),
            uptime_seconds=round(self.now() - self._started, 1),
            snapshot=None if self.snapshots.empty else _snapshot(self.snapshots.current),
            data=self._data(),
            config=self.reloading.changes,
            hub=await self.operator.state(),
        )
        return respond(request, status)

    @route("POST", "/v1/reload")
    async def reload(self, request: Request) -> bytes:
        """Read configuration and data again; a client that leaves does not stop it.

        The response has a JSON line for each step and one for the outcome; with ``?wait=false`` it is
        an acknowledgement. ``?force=true`` and ``?without_corrections=true`` lift a guard each.
        """
        guards = _GUARDS_BY_PARAMETER.items()
        lifted = frozenset(guard for name, guard in guards if request.args.get(name) == [b"true"])
        audit(request, "reload")
        ordered = partial(self.tasks.run_detached, "reload")
        if request.args.get(b"wait") == [b"false"]:
            ordered(self.reloading.reload(lifted=lifted))
            return respond(request, JobLine("accepted"), 202)
        progress = begin_lines(request)
        report = await ordered(self.reloading.reload(lifted=lifted, progress=progress))
        snapshot = None if self.snapshots.empty else self.snapshots.current
        manifest = None if snapshot is None else snapshot.manifest
        result = ReloadResult(
            at=instant(report.at),
            outcome=report.outcome,
            seconds=round(report.seconds, 3),
            retry_at=_instant(report.retry_at),
            revision=None if snapshot is None else snapshot.revision,
            review_count=None if manifest is None else manifest.review_count,
            insights_origin=None if manifest is None else manifest.insights_origin,
            problems=report.problems,
            config=self.reloading.changes,
        )
        return line(result)

    def _data(self) -> DataStatus:
        last, last_reload = self.publisher.last, None
        if last is not None:
            seconds = round(last.seconds, 3)
            last_reload = LastReload(at=instant(last.at), outcome=last.outcome, seconds=seconds)
        return DataStatus(
            dir=self.data_dir,
            state=self._state(),
            last_reload=last_reload,
            failing_since=_instant(self.publisher.failing_since),
            retry_at=_instant(self.publisher.retry_at),
            problems=() if last is None else last.problems,
        )

    def _state(self) -> DataState:
        if not self.snapshots.empty:
            return "ok" if self.publisher.failing_since is None else "degraded"
        if (last := self.publisher.last) is None:
            return "starting"
        return "failing" if last.outcome == "failed" else "waiting"


def _snapshot(snapshot: Snapshot) -> SnapshotStatus:
    manifest = snapshot.manifest
    updated_at = manifest.updated_at
    return SnapshotStatus(
        revision=snapshot.revision,
        published_at=instant(snapshot.build.published_at),
        review_count=manifest.review_count,
        newest_review=snapshot.records.cursor_at(0).date if manifest.review_count else None,
        updated_at=None if updated_at is None else datetime.fromisoformat(updated_at),
        insights=manifest.insights,
        insights_origin=manifest.insights_origin,
    )


def _instant(seconds: float | None) -> datetime | None:
    return None if seconds is None else instant(seconds)


@dataclass(frozen=True, slots=True)
class ProbeRoutes:
    """The routes that monitoring polls (O9, O10)."""

    readiness: Readiness
    metrics: Metrics

    @route("GET", "/v1/health")
    def health(self, request: Request) -> bytes:
        """Return that the reactor answers."""
        return respond(request, {"status": "ok"})

    @route("GET", "/v1/ready")
    def ready(self, request: Request) -> bytes:
        """Return whether the service should be sent clients; 503 if not."""
        status, document = self.readiness.answer()
        return respond_document(request, document, status=status)

    @route("GET", "/v1/metrics")
    async def metrics_text(self, request: Request) -> bytes:
        """Return all metrics."""
        return respond_document(request, await self.metrics.text(), CONTENT_TYPE)


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceRoutes:
    """The routes for backups (D12, A3) and test messages (notices.md 5).

    A backup is streamed, so the client owns the file and chooses its path, whatever the daemon may write to.
    Its contents are in the header field ``Reviewsd-Backup``, as JSON.
    """

    backups: Backups | None
    """None if the store is shared."""
    keys: Sequence[str]
    """The locations of the keys that belong to a backup, for people."""
    notices: Notices | None
    """None without a target."""
    tasks: TaskSet

    @route("POST", "/v1/backup")
    async def backup(self, request: Request) -> bytes:
        """Send the store as it is now."""
        if self.backups is None:
            raise ProblemError(_SHARED)
        audit(request, "backup")
        file, contents = await self.backups.make()
        with file:
            header = msgspec.json.encode(replace(contents, keys=tuple(self.keys)))
            request.setHeader(b"Reviewsd-Backup", header)
            request.setHeader(b"Content-Type", b"application/vnd.sqlite3")
            request.setHeader(b"Content-Length", b"%d" % contents.bytes)
            await FileSender().beginFileTransfer(file, request)
        return b""

    @route("POST", "/v1/notify/test")
    async def test_notices(self, request: Request) -> bytes:
        """Send a test message: ``?name=`` names a target; without it all get one."""
        name = text(request, "name")
        audit(request, f"a test message to {name or 'all targets'}")
        if self.notices is None:
            raise _no_target(
                "no targets under notify; if the file has them now, restart reviewsd (docs/how-to/notices.md)"
            )
        tests = await self.tasks.run_detached("test message", self.notices.test(name))
        if not tests:
            names = ", ".join(self.notices.targets)
            raise _no_target(
                f'no target "{name}"; there are: {names}; restart reviewsd if the file has more now.'
            )
        return respond(request, NoticeTests(tests=tuple(tests)))


def _no_target(missing: str) -> ProblemError:
    detail = f"The configuration that the daemon was started with has {missing}"
    return ProblemError(Problem(404, "no-target", "No Such Target", detail))
