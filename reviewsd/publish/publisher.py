"""Has the data published, and knows how that went.

The watcher, ``reviewsctl reload``, SIGHUP and the start all call ``Publisher.reload``. It compares
first: files whose signature is that of the current snapshot are not even read. Requests that come
while a run is under way share one run after it, since the running one may have read the files
before they were changed.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger

from reviewsd.publish.publication import Job, Order, Outcome, Published, Refused, Step, Unchanged
from reviewsd.publish.sources import Signature
from reviewsd.publish.compile_process import ChildError, Progress
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.runtime.tasks import TaskSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How one reload went."""

    outcome: str
    """``published``, ``unchanged``, ``refused`` (the data) or ``failed`` (we, or the disk)."""
    problems: tuple[str, ...] = ()
    """Why it was refused or failed, a line each."""
    at: float
    """When it ended, POSIX seconds."""
    seconds: float

    @property
    def good(self) -> bool:
        """Whether what is served is what the files say."""
        return self.outcome in {"published", "unchanged"}


class Publisher:
    """Publishes the data directory into the snapshots.

    Args:
        order: What to publish.
        version: Of the program: another one may render differently.
        snapshots: Told to look for what was published.
        look: Takes the signature of the data directory.
        run: Does the job: ``child.run``.
    """

    _log = Logger()

    def __init__(
        self,
        order: Order,
        version: str,
        snapshots: Snapshots,
        look: Callable[[], Awaitable[Signature]],
        run: Callable[[Job, Progress], Awaitable[Outcome]],
    ) -> None:
        self._order = order
        self._version = version
        self._snapshots = snapshots
        self._look = look
        self._run = run
        self._tasks = TaskSet()
        self._busy = False
        self._waiting: list[tuple[Deferred[Report], Progress | None]] = []
        self._forced = False
        self._observers: list[Callable[[Report], None]] = []
        self._told: tuple[str, ...] = ()  # the problems that the log already knows
        self.last: Report | None = None
        """The latest report."""
        self.succeeded_at: float | None = None
        """When what is served was last what the files say, POSIX seconds."""
        self.failing_since: float | None = None
        """Since when the files cannot be published, POSIX seconds."""

    def observe(self, observer: Callable[[Report], None]) -> None:
        """Have each report told."""
        self._observers.append(observer)

    def use(self, order: Order) -> None:
        """Publish so from the next run on."""
        self._order = order

    def reload(self, *, force: bool = False, progress: Progress | None = None) -> Deferred[Report]:
        """Publish what the files say now.

        Args:
            force: Although many reviews are gone (``data.max_shrink``).
            progress: Told how far the run is.

        Returns:
            The report. Cancelling it does not stop the run.
        """
        report: Deferred[Report] = Deferred()
        self._waiting.append((report, progress))
        self._forced |= force
        if not self._busy:
            self._busy = True
            self._tasks.start("publish", self._work())
        return report

    async def stop(self) -> None:
        """End a run that is under way; what it was to publish is found again at the next start."""
        await self._tasks.stop()

    async def _work(self) -> None:
        try:
            while self._waiting:
                waiting, self._waiting = self._waiting, []
                forced, self._forced = self._forced, False
                listeners = [progress for _, progress in waiting if progress is not None]
                report = await self._publish(forced, listeners)
                for waiter, _ in waiting:
                    waiter.callback(report)
        finally:
            self._busy = False

    async def _publish(self, forced: bool, listeners: list[Progress]) -> Report:  # noqa: FBT001  ours
        def tell(step: Step) -> None:
            for listener in listeners:
                listener(step)

        began = time.monotonic()
        outcome, problems = _told(Unchanged(""))
        try:
            if forced or not await self._up_to_date():
                self._snapshots.discard_damaged()
                job = Job(order=self._order, version=self._version, now=time.time(), force=forced)
                outcome, problems = _told(await self._run(job, tell))
                self._snapshots.refresh()
        except ChildError as error:
            outcome, problems = "failed", (str(error),)
        except CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - logged; whoever waits must hear something
            self._log.failure("publishing failed")
            outcome, problems = "failed", (f"publishing failed: {error!r}",)
        report = Report(
            outcome=outcome, problems=problems, at=time.time(), seconds=time.monotonic() - began
        )
        self._note(report)
        return report

    async def _up_to_date(self) -> bool:
        if self._snapshots.empty:
            return False
        seen = self._snapshots.current.seen
        return (
            seen.recipe == self._order.recipe(self._version)
            and seen.signature == await self._look()
        )

    def _note(self, report: Report) -> None:
        self.last = report
        if report.good:
            self.failing_since = None
            self.succeeded_at = report.at
            self._told = ()
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
            if report.problems != self._told:  # each distinct error once, not at every reload
                self._told = report.problems
                self._log.warn(
                    "data {outcome}; the last good data keeps serving: {problems}",
                    outcome=report.outcome,
                    problems="; ".join(report.problems),
                    type="load",
                )
        for observer in self._observers:
            observer(report)


def _told(outcome: Outcome) -> tuple[str, tuple[str, ...]]:
    match outcome:
        case Published():
            return "published", ()
        case Unchanged():
            return "unchanged", ()
        case Refused():
            return "refused", outcome.problems
