"""Publishes the data on request, retries, and reports the outcome.

The watcher, ``reviewsctl reload``, SIGHUP and the start all call ``Publisher.reload``. Files with the
fingerprint of the current snapshot are not read. Requests during a run share the next run, because the
running one may have read the files before they changed.

Invalid data stays refused until the files change. Other failures may pass: a full disk, too many open
files, a killed child. The publisher retries after these, at growing intervals, until the data is
published or refused.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from reviewsd.api.jobs import Guard, ReloadOutcome, Step
from reviewsd.api.texts import counted
from reviewsd.publish.compile_process import ChildError, StepObserver
from reviewsd.publish.messages import Job, Outcome, PublicationOrder
from reviewsd.runtime.counters import Counts
from reviewsd.runtime.tasks import TaskSet
from reviewsd.snapshot.layout import Fingerprint
from reviewsd.snapshot.snapshots import Snapshots

RETRY_FIRST, RETRY_MOST = 1.0, 300.0
"""The first and the longest delay before a retry, in seconds; it doubles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of a reload."""

    outcome: ReloadOutcome
    """Invalid data is "refused"; failures that may pass are "failed"."""
    problems: tuple[str, ...] = ()
    """The reasons, one line each."""
    at: float
    """Time of the end, POSIX seconds."""
    seconds: float
    retry_at: float | None = None
    """Time of the next retry, POSIX seconds; only after a failure."""

    @property
    def good(self) -> bool:
        """Whether the current snapshot has the content of the files."""
        return self.outcome in {"published", "unchanged"}


_Waiter = tuple[Deferred[Report], StepObserver | None]

_UNOPENED = "published, but it cannot be opened; the log says why"


class Publisher:
    """Publishes the data directory into the snapshots.

    Args:
        order: The files to publish, and the settings.
        version: Version of the program; another one may render differently.
        snapshots: Refreshed after each run.
        look: Takes the fingerprint of the data directory.
        run: Runs the job: ``compile_process.run``.
        clock: Schedules retries.
    """

    _log = Logger()

    def __init__(
        self,
        order: PublicationOrder,
        version: str,
        snapshots: Snapshots,
        look: Callable[[], Awaitable[Fingerprint]],
        run: Callable[[Job, StepObserver], Awaitable[Outcome]],
        clock: IReactorTime,
    ) -> None:
        self._order = order
        self._version = version
        self._snapshots = snapshots
        self._look = look
        self._run = run
        self._clock = clock
        self._tasks = TaskSet()
        self._busy = False
        self._waiting: list[_Waiter] = []
        self._next: list[_Waiter] = []  # waiters that start no run
        self._lifted: frozenset[Guard] = frozenset()
        self._bytecode: dict[str, bytes] = {}  # saves the next run from compiling templates
        self._observers: list[Callable[[Report], None]] = []
        self._logged: tuple[str, ...] = ()  # the problems logged last
        self._left_out: tuple[str, ...] = ()  # the pictures logged last
        self._retry: IDelayedCall | None = None
        self._pause = RETRY_FIRST
        self.last: Report | None = None
        """The latest report."""
        self.succeeded_at: float | None = None
        """Time of the last good report, POSIX seconds."""
        self.failing_since: float | None = None
        """Time of the first failure since the last good report, POSIX seconds."""
        self.retry_at: float | None = None
        """Time of the next retry, POSIX seconds; None if none is scheduled."""

    def gauges(self) -> Counts:
        """Return the outcome and the times of the last publications for the metrics (O9)."""
        gauges = {
            "data_last_reload_successful": None if self.last is None else float(self.last.good),
            "data_last_reload_success_timestamp_seconds": self.succeeded_at,
            "data_retry_timestamp_seconds": self.retry_at,
        }
        return {name: value for name, value in gauges.items() if value is not None}

    def observe(self, observer: Callable[[Report], None]) -> None:
        """Call ``observer`` with each report."""
        self._observers.append(observer)

    def use(self, order: PublicationOrder) -> None:
        """Replace the order from the next run on."""
        self._order = order

    def reload(
        self, *, lifted: frozenset[Guard] = frozenset(), progress: StepObserver | None = None
    ) -> Deferred[Report]:
        """Publish the current files.

        Args:
            lifted: Guards that are off in the next run.
            progress: Called with the steps of the run.

        Returns:
            The report. Cancelling it does not stop the run.
        """
        report: Deferred[Report] = Deferred()
        self._waiting.append((report, progress))
        self._lifted |= lifted
        if not self._busy:
            self._busy = True
            self._tasks.start("publish", self._work())
        return report

    def next_report(self, progress: StepObserver) -> Deferred[Report]:
        """Return the report of the next run without starting one; call it only before a retry (``retry_at``)."""
        report: Deferred[Report] = Deferred()
        self._next.append((report, progress))
        return report

    async def stop(self) -> None:
        """Stop a run; the next start publishes its files."""
        self._drop_retry()
        await self._tasks.stop()

    async def _work(self) -> None:
        try:
            while self._waiting:
                self._drop_retry()
                waiting, self._waiting, self._next = self._waiting + self._next, [], []
                lifted, self._lifted = self._lifted, frozenset()
                listeners = [progress for _, progress in waiting if progress is not None]
                report = await self._publish(lifted, listeners)
                for waiter, _ in waiting:
                    waiter.callback(report)
        finally:
            self._busy = False

    async def _publish(self, lifted: frozenset[Guard], listeners: list[StepObserver]) -> Report:
        def tell(step: Step) -> None:
            for listener in listeners:
                listener(step)

        began = time.monotonic()
        outcome = Outcome(result="unchanged")
        try:
            if lifted or not await self._up_to_date():
                outcome = await self._run_child(lifted, tell)
                self._snapshots.refresh()
                if outcome.result in {"published", "unchanged"} and self._snapshots.stale:
                    outcome = _failed(_UNOPENED)
        except ChildError as error:
            outcome = _failed(str(error))
        except OSError as error:
            outcome = _failed(f"publishing failed: {error.strerror}")
        except CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - logged, and reported to the waiters
            self._log.failure("publishing failed")
            outcome = _failed(f"publishing failed: {error!r}")
        if outcome.result == "failed":
            self._plan_retry(lifted)
        else:
            self._pause = RETRY_FIRST
        report = Report(
            outcome=outcome.result,
            problems=outcome.problems,
            at=time.time(),
            seconds=time.monotonic() - began,
            retry_at=self.retry_at,
        )
        self._note(report)
        return report

    async def _run_child(self, lifted: frozenset[Guard], progress: StepObserver) -> Outcome:
        self._snapshots.discard_damaged()
        job = Job(
            order=self._order,
            version=self._version,
            now=time.time(),
            lifted=lifted,
            bytecode=self._bytecode,
        )
        outcome = await self._run(job, progress)
        if outcome.result in {"published", "unchanged"}:
            self._bytecode = outcome.bytecode or self._bytecode
            self._note_insights(outcome)
            self._note_pictures(outcome)
        return outcome

    def _note_insights(self, outcome: Outcome) -> None:
        """Log a fault of the analyser; the data is published without insights (insights.md 2)."""
        if outcome.insights_fault:
            self._log.error(
                "no insights could be made, the reviews are served without:\n{traceback}",
                traceback=outcome.insights_fault,
                type="load",
            )

    def _note_pictures(self, outcome: Outcome) -> None:
        """Log the pictures that are left out, once until they change."""
        for finding in outcome.left_out:
            if finding not in self._left_out:
                self._log.warn("{finding}", finding=finding, type="load")
        self._left_out = outcome.left_out

    def _plan_retry(self, lifted: frozenset[Guard]) -> None:
        self._retry = self._clock.callLater(self._pause, partial(self.reload, lifted=lifted))
        self.retry_at = time.time() + self._pause
        self._pause = min(2 * self._pause, RETRY_MOST)

    def _drop_retry(self) -> None:
        if self._retry is not None and self._retry.active():
            self._retry.cancel()
        self._retry = self.retry_at = None

    async def _up_to_date(self) -> bool:
        if self._snapshots.empty or self._snapshots.deleted:
            return False
        build = self._snapshots.current.build
        return (
            build.build_key == self._order.build_key(self._version)
            and build.fingerprint == await self._look()
        )

    def _note(self, report: Report) -> None:
        self.last = report
        if report.good:
            if self.failing_since is not None:
                self._log.info("the data is valid again", type="load")
            self.failing_since = None
            self.succeeded_at = report.at
            self._logged = ()
            if report.outcome == "published":
                count = self._snapshots.current.manifest.review_count
                self._log.info(
                    "published {revision}: {count} in {seconds} s",
                    revision=self._snapshots.current.revision,
                    count=counted(count, "review"),
                    reviews=count,
                    seconds=round(report.seconds, 2),
                    type="load",
                )
        else:
            self.failing_since = self.failing_since or report.at
            if report.problems != self._logged:  # log an error once, not at every reload
                self._logged = report.problems
                again = ""
                if report.retry_at is not None:
                    again = f", tried again in {report.retry_at - report.at:.0f} s and so on"
                self._log.warn(
                    "data {outcome}{again}; {served}: {problems}",
                    outcome=report.outcome,
                    served=_NOTHING if self._snapshots.empty else _LAST_GOOD,
                    again=again,
                    problems="; ".join(report.problems),
                    type="load",
                )
        for observer in self._observers:
            observer(report)


_LAST_GOOD = "the last good data keeps serving"
_NOTHING = "nothing is served yet"


def _failed(problem: str) -> Outcome:
    return Outcome(result="failed", problems=(problem,))
