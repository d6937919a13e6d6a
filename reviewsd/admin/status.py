"""The routes of the daemon itself: ``/v1/status``, ``reload``."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from twisted.web.server import Request

from reviewsd.admin.app import API, route
from reviewsd.admin.reload import Reloading
from reviewsd.admin.responses import audit, begin_lines, line, respond
from reviewsd.api.jobs import Guard, JobLine, LastReload, ReloadResult
from reviewsd.api.status import DataState, DataStatus, SnapshotStatus, Status
from reviewsd.api.times import instant
from reviewsd.monitoring.unknown_parameters import named
from reviewsd.publish.publisher import Publisher, Report
from reviewsd.runtime.counters import Counts
from reviewsd.runtime.tasks import TaskSet
from reviewsd.snapshot.snapshots import Snapshot, Snapshots
from reviewsd.websub.operator import Operator

_GUARDS: dict[bytes, Guard] = {b"force": "shrink", b"without_corrections": "corrections"}
"""By parameter of a reload: the guard that it lifts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Facts that do not change while the daemon runs."""

    version: str
    base_url: str
    listen: tuple[str, ...]
    data_dir: str


class DaemonRoutes:
    """The routes of the daemon.

    Args:
        snapshots: The data that is served.
        publisher: Knows the result of the last reload of the data.
        reloading: Reloads configuration and data.
        operator: Knows the state of the hub.
        about: Facts that do not change.
        now: The time, POSIX seconds.
        tasks: Own the reloads.
        counts: Returns the counters of the process.
    """

    def __init__(
        self,
        *,
        snapshots: Snapshots,
        publisher: Publisher,
        reloading: Reloading,
        operator: Operator,
        about: About,
        now: Callable[[], float],
        tasks: TaskSet,
        counts: Callable[[], Counts],
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

    @route("GET", "/v1/status")
    async def status(self, request: Request) -> bytes:
        """Return the data that is served, the result of the last reload, and the state of the hub."""
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
        ordered = partial(self._tasks.outcome, "reload")
        if request.args.get(b"wait") == [b"false"]:
            ordered(self._reloading.reload(lifted=lifted))
            return respond(request, JobLine("accepted"), 202)
        lines = begin_lines(request)
        report = await ordered(self._reloading.reload(lifted=lifted, progress=lines.write))
        snapshot = None if self._snapshots.empty else self._snapshots.current
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
            config=self._reloading.changes,
        )
        return line(result)

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
        newest_review=snapshot.records.cursor_at(0).date if manifest.review_count else None,
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
