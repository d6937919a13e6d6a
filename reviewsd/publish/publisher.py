"""Has the data published, and knows how that went.

The watcher, ``reviewsctl reload``, SIGHUP and the start all call ``Publisher.reload``. It compares
first: files whose fingerprint is that of the current snapshot are not even read. Requests that come
while a run is under way share one run after it, since the running one may have read the files
before they were changed.

What the data is refused for lasts until the files change. Everything else may pass: the disk is full,
there is no descriptor left, the child was killed. Then the publisher tries again by itself, after a pause
that grows, until the data is published or refused.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from reviewsd.api.jobs import Guard, ReloadOutcome, Step
from reviewsd.publish.compile_process import ChildError, StepObserver
from reviewsd.publish.messages import (
    Job,
    Outcome,
    PublicationFailed,
    PublicationOrder,
    Published,
    Refused,
    Unchanged,
)
from reviewsd.runtime.counters import Counts
from reviewsd.runtime.tasks import TaskSet
from reviewsd.snapshot.layout import Fingerprint
from reviewsd.snapshot.snapshots import Snapshots

RETRY_FIRST, RETRY_MOST = 1.0, 300.0
"""The first and the longest pause before a failed publication is tried again, seconds; it doubles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How one reload went."""

    outcome: ReloadOutcome
    """The data is refused; what may pass has failed."""
    problems: tuple[str, ...] = ()
    """Why it was refused or failed, a line each."""
    at: float
    """When it ended, POSIX seconds."""
    seconds: float
    retry_at: float | None = None
    """When it is tried again, POSIX seconds; only where it failed."""

    @property
    def good(self) -> bool:
        """Whether what is served is what the files say."""
        return self.outcome in {"published", "unchanged"}


_Waiter = tuple[Deferred[Report], StepObserver | None]

_UNOPENED = "published, but it cannot be opened; the log says why"


class Publisher:
    """Publishes the data directory into the snapshots.

    Args:
        order: What to publish.
        version: Of the program: another one may render differently.
        snapshots: Told to look for what was published.
        look: Takes the fingerprint of the data directory.
        run: Does the job: ``compile_process.run``.
        clock: To try again.
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
        self._next: list[_Waiter] = []  # for whom no run is started
        self._lifted: frozenset[Guard] = frozenset()
        self._bytecode: dict[str, bytes] = {}  # for the next run, which would compile it again
        self._observers: list[Callable[[Report], None]] = []
        self._logged: tuple[str, ...] = ()  # the problems that the log already knows
        self._retry: IDelayedCall | None = None
        self._pause = RETRY_FIRST
        self.last: Report | None = None
        """The latest report."""
        self.succeeded_at: float | None = None
        """When what is served was last what the files say, POSIX seconds."""
        self.failing_since: float | None = None
        """Since when the files cannot be published, POSIX seconds."""
        self.retry_at: float | None = None
        """When a failed publication is tried again, POSIX seconds; None where none waits for it."""

    def gauges(self) -> Counts:
        """Return the outcome and the times of the last publications for the metrics (O9)."""
        gauges = {
            "data_last_reload_successful": None if self.last is None else float(self.last.good),
            "data_last_reload_success_timestamp_seconds": self.succeeded_at,
            "data_retry_timestamp_seconds": self.retry_at,
        }
        return {name: value for name, value in gauges.items() if value is not None}

    def observe(self, observer: Callable[[Report], None]) -> None:
        """Have each report told."""
        self._observers.append(observer)

    def use(self, order: PublicationOrder) -> None:
        """Publish so from the next run on."""
        self._order = order

    def reload(
        self, *, lifted: frozenset[Guard] = frozenset(), progress: StepObserver | None = None
    ) -> Deferred[Report]:
        """Publish what the files say now.

        Args:
            lifted: Guards that let the data pass this time.
            progress: Told how far the run is.

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
        """What the next run comes to; call it while one is to come (``retry_at``)."""
        report: Deferred[Report] = Deferred()
        self._next.append((report, progress))
        return report

    async def stop(self) -> None:
        """End a run that is under way; what it was to publish is found again at the next start."""
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
        outcome, problems = _logged(Unchanged(""))
        try:
            if lifted or not await self._up_to_date():
                outcome, problems = _logged(await self._run_child(lifted, tell))
                self._snapshots.refresh()
                if outcome != "refused" and self._snapshots.stale:
                    outcome, problems = "failed", (_UNOPENED,)
        except ChildError as error:
            outcome, problems = "failed", (str(error),)
        except OSError as error:
            outcome, problems = "failed", (f"publishing failed: {error.strerror}",)
        except CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - logged; whoever waits must hear something
            self._log.failure("publishing failed")
            outcome, problems = "failed", (f"publishing failed: {error!r}",)
        if outcome == "failed":
            self._plan_retry(lifted)
        else:
            self._pause = RETRY_FIRST
        report = Report(
            outcome=outcome,
            problems=problems,
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
        result = await self._run(job, progress)
        if isinstance(result, Published | Unchanged):
            self._bytecode = result.bytecode or self._bytecode
            self._note_insights(result)
        return result

    def _note_insights(self, outcome: Published | Unchanged) -> None:
        """Log a fault of the analyser; the data is published without insights (insights.md 2)."""
        if outcome.insights_fault:
            self._log.error(
                "no insights could be made, the reviews are served without:\n{traceback}",
                traceback=outcome.insights_fault,
                type="load",
            )

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
        seen = self._snapshots.current.seen
        return (
            seen.build_key == self._order.build_key(self._version)
            and seen.fingerprint == await self._look()
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
                self._log.info(
                    "published {revision}: {reviews} reviews in {seconds} s",
                    revision=self._snapshots.current.revision,
                    reviews=self._snapshots.current.manifest.review_count,
                    seconds=round(report.seconds, 2),
                    type="load",
                )
        else:
            self.failing_since = self.failing_since or report.at
            if report.problems != self._logged:  # each distinct error once, not at every reload
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


def _logged(outcome: Outcome) -> tuple[ReloadOutcome, tuple[str, ...]]:
    match outcome:
        case Published():
            return "published", ()
        case Unchanged():
            return "unchanged", ()
        case Refused():
            return "refused", outcome.problems
        case PublicationFailed():
            return "failed", (outcome.problem,)
