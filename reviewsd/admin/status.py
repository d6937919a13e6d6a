"""The routes of the daemon itself: ``/v1/status``, ``reload``, ``health``, ``ready``, ``metrics``."""

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from twisted.web.server import Request

from reviewsd.admin.app import API, audit, begin_lines, line, respond, respond_document, route
from reviewsd.admin.reload import Reloading
from reviewsd.api.jobs import Guard, JobLine, LastReload, ReloadResult
from reviewsd.api.status import DataState, DataStatus, SnapshotStatus, Status
from reviewsd.api.times import instant
from reviewsd.monitoring.health import Readiness
from reviewsd.monitoring.metrics import CONTENT_TYPE, Metrics
from reviewsd.publish.publisher import Publisher
from reviewsd.runtime.tasks import TaskSet
from reviewsd.snapshot.snapshots import Snapshot, Snapshots
from reviewsd.websub.operator import Operator

_GUARDS: dict[bytes, Guard] = {b"force": "shrink", b"without_corrections": "corrections"}
"""By parameter of a reload: the guard that it lifts."""


@dataclass(eq=False, kw_only=True)
class DaemonRoutes:
    """The routes of the daemon itself."""

    version: str
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
    unknown_parameters: Counter[str]

    def __post_init__(self) -> None:
        self._started = self.now()

    @route("GET", "/v1/status")
    async def status(self, request: Request) -> bytes:
        """Return the data that is served, the result of the last reload, and the state of the hub."""
        counts = self.unknown_parameters.items()
        status = Status(
            api=API,
            version=self.version,
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
            unknown_parameters=dict(sorted(counts, key=lambda item: (-item[1], item[0]))),
        )
        return respond(request, status)

    @route("POST", "/v1/reload")
    async def reload(self, request: Request) -> bytes:
        """Read configuration and data again; a client that leaves does not stop it.

        The response has a JSON line for each step and one for the outcome; with ``?wait=false`` it is
        an acknowledgement. ``?force=true`` and ``?without_corrections=true`` lift a guard each.
        """
        lifted = frozenset(
            guard for name, guard in _GUARDS.items() if request.args.get(name) == [b"true"]
        )
        audit(request, "reload")
        ordered = partial(self.tasks.outcome, "reload")
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
        published_at=instant(snapshot.seen.published_at),
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
    async def text(self, request: Request) -> bytes:
        """Return all metrics."""
        return respond_document(request, await self.metrics.text(), CONTENT_TYPE)
