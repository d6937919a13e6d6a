"""Requests for a reload, their runs and their reports (R6, R7)."""

import errno
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from twisted.internet.defer import CancelledError, Deferred, succeed
from twisted.internet.task import Clock
from twisted.logger import capturedLogs

from reviewsd.api.jobs import Guard, Step
from reviewsd.config.schema import Pages
from reviewsd.publish.compile_process import ChildError, StepObserver
from reviewsd.publish.messages import Job, Outcome
from reviewsd.publish.publication import publish
from reviewsd.publish.publisher import Publisher, Report
from reviewsd.publish.sources import fingerprint
from reviewsd.snapshot.layout import Fingerprint
from reviewsd.snapshot.snapshots import Snapshots
from tests.support.columns import review
from tests.support.limits import few_descriptors
from tests.support.publishing import Directories, texts

NONE: frozenset[Guard] = frozenset()
SHRINK: frozenset[Guard] = frozenset({"shrink"})


class Harness:
    """A Publisher that publishes in this process, at once or when ``release`` is called."""

    def __init__(self, directories: Directories, *, version: str = "1", held: bool = False) -> None:
        self.directories = directories
        self.jobs: list[Job] = []
        self.faults: list[Exception] = []
        self.published: Callable[[], object] = lambda: None
        self.snapshots = Snapshots(directories.snapshots)
        self.snapshots.refresh()
        self.clock = Clock()
        self.publisher = Publisher(
            directories.order, version, self.snapshots, self.look, self.run, self.clock
        )
        self._held = held
        self._gate: Deferred[None] = Deferred()

    def look(self) -> Awaitable[Fingerprint]:
        return succeed(fingerprint(self.directories.data))

    async def run(self, job: Job, progress: StepObserver) -> Outcome:
        self.jobs.append(job)
        if self._held:
            await self._gate
        if self.faults:
            raise self.faults.pop(0)
        outcome = publish(job, lambda stage, done, total: progress(Step(stage, done, total)))
        self.published()
        return outcome

    def release(self) -> None:
        """Let the run under way go on."""
        gate, self._gate = self._gate, Deferred()
        gate.callback(None)

    def reload(
        self, *, lifted: frozenset[Guard] = NONE, progress: Callable[[Step], None] | None = None
    ) -> list[Report]:
        """Ask for a reload; the report comes into the list."""
        reports: list[Report] = []
        report = self.publisher.reload(lifted=lifted, progress=progress)
        report.addCallback(reports.append)
        return reports

    def outcome(self, *, lifted: frozenset[Guard] = NONE) -> str:
        (report,) = self.reload(lifted=lifted)
        assert report is self.publisher.last
        return report.outcome


@pytest.fixture
def directories(tmp_path: Path) -> Directories:
    directories = Directories(tmp_path)
    directories.write(review("a"), review("b"))
    return directories


@pytest.fixture
def harness(directories: Directories) -> Harness:
    return Harness(directories)


# -- what is run


def test_unchanged_files_are_published_once(harness: Harness) -> None:
    with capturedLogs() as events:
        assert "published" == harness.outcome()
        assert "unchanged" == harness.outcome()
    assert 1 == len(harness.jobs)
    assert 2 == harness.snapshots.current.manifest.review_count
    (logged_text,) = texts(events)
    assert logged_text.startswith(f"published {harness.snapshots.current.revision}: 2 reviews in ")


def test_the_next_run_is_given_the_templates_that_were_compiled(directories: Directories) -> None:
    settings = replace(directories.order.settings, pages=Pages())
    directories.order = msgspec.structs.replace(directories.order, settings=settings)
    harness = Harness(directories)
    harness.outcome()
    directories.write(review("a"))
    harness.outcome()
    directories.write(review("a"), review("c"))
    harness.outcome()
    first, second, third = harness.jobs
    assert {} == first.bytecode
    assert any("home.html" in key for key in second.bytecode)
    assert second.bytecode == third.bytecode
    with_it = (directories.current / "page%2F").read_bytes()
    (directories.current / "manifest.json").unlink()
    assert "published" == Harness(directories).outcome(lifted=SHRINK)
    assert with_it == (directories.current / "page%2F").read_bytes()


def test_restart_publishes_nothing(harness: Harness, directories: Directories) -> None:
    harness.outcome()
    again = Harness(directories)
    assert "unchanged" == again.outcome()
    assert [] == again.jobs


def test_new_program_or_settings_republish(harness: Harness, directories: Directories) -> None:
    """The program may render differently, the settings do."""
    harness.outcome()
    newer = Harness(directories, version="2")
    assert "unchanged" == newer.outcome()  # as it happens: the bytes are the same
    assert 1 == len(newer.jobs)
    assert "unchanged" == newer.outcome()  # it is remembered
    assert 1 == len(newer.jobs)
    settings = replace(directories.order.settings, year=2024)
    directories.order = msgspec.structs.replace(directories.order, settings=settings)
    other = Harness(directories, version="2")
    assert "published" == other.outcome()
    assert 1 == len(other.jobs)


def test_a_damaged_snapshot_is_made_again(harness: Harness, directories: Directories) -> None:
    """Its manifest would say that nothing is to be done."""
    harness.outcome()
    (directories.current / "reviews.json").write_bytes(b"")
    again = Harness(directories)
    assert again.snapshots.empty
    assert "published" == again.outcome()
    assert 2 == again.snapshots.current.manifest.review_count


# -- observers


def test_requests_during_a_run_share_the_one_after_it(directories: Directories) -> None:
    """The running one may have read the files before they were changed."""
    harness = Harness(directories, held=True)
    first = harness.reload()
    second, third = harness.reload(), harness.reload(lifted=SHRINK)
    assert 1 == len(harness.jobs)
    directories.write(review("a"))
    harness.release()
    assert ["published"] == [report.outcome for report in first]
    assert [] == second
    assert [NONE, SHRINK] == [job.lifted for job in harness.jobs]
    harness.release()
    assert second[0] is third[0]
    assert 2 == len(harness.jobs)


def test_steps_are_told_to_those_who_wait_for_the_run(directories: Directories) -> None:
    harness = Harness(directories, held=True)
    first: list[Step] = []
    second: list[Step] = []
    harness.reload(progress=first.append)
    harness.reload(progress=second.append, lifted=SHRINK)
    harness.release()
    assert first != []
    assert [] == second
    received = len(first)
    harness.release()
    assert second != []
    assert received == len(first)


def test_cancelled_report_does_not_stop_the_run(directories: Directories) -> None:
    harness = Harness(directories, held=True)
    waiter = harness.publisher.reload()
    stays = harness.reload()
    given_up: list[type[BaseException] | None] = []
    waiter.addErrback(lambda failure: given_up.append(failure.type))
    waiter.cancel()
    assert [CancelledError] == given_up
    harness.release()
    assert 2 == harness.snapshots.current.manifest.review_count
    assert ["unchanged"] == [report.outcome for report in stays]


def test_observers_are_told_of_every_report(harness: Harness, directories: Directories) -> None:
    received: list[Report] = []
    harness.publisher.observe(received.append)
    harness.outcome()
    harness.outcome()
    (directories.data / "reviews.json").write_text("{")
    harness.outcome()
    assert ["published", "unchanged", "refused"] == [report.outcome for report in received]
    assert [True, True, False] == [report.good for report in received]


# -- what goes wrong


def test_refused_data_are_reported_unchanged(harness: Harness, directories: Directories) -> None:
    harness.outcome()
    good = harness.snapshots.current.revision
    (directories.data / "reviews.json").write_text("[]")
    (report,) = harness.reload()
    assert "refused" == report.outcome
    assert report.problems[0].startswith("reviews.json: ")
    assert good == harness.snapshots.current.revision
    since = harness.publisher.failing_since
    assert report.at == since
    harness.outcome()
    assert since == harness.publisher.failing_since  # since the first time
    directories.write(review("a"))
    assert "published" == harness.outcome()
    assert harness.publisher.failing_since is None


def test_data_put_back_as_it_was_is_good_again(harness: Harness, directories: Directories) -> None:
    """Its content is that of the snapshot, so nothing is published, and nothing is degraded."""
    harness.outcome()
    file = directories.data / "reviews.json"
    file.rename(directories.data / "kept")
    assert "refused" == harness.outcome()
    (directories.data / "kept").rename(file)
    assert "unchanged" == harness.outcome()
    assert harness.publisher.failing_since is None


def test_each_distinct_fault_is_logged_once(harness: Harness, directories: Directories) -> None:
    """R6: not at every reload"""
    harness.outcome()

    def new_warnings() -> int:
        with capturedLogs() as events:
            harness.outcome()
        return len([event for event in events if event["log_level"].name == "warn"])

    (directories.data / "reviews.json").write_text("[]")
    assert [1, 0, 0] == [new_warnings(), new_warnings(), new_warnings()]
    (directories.data / "reviews.json").write_text("{}")
    assert [1, 0] == [new_warnings(), new_warnings()]
    directories.write(review("a"))
    with capturedLogs() as events:
        harness.outcome()
        harness.outcome()
    again, published = texts(events)
    assert "the data is valid again" == again
    assert published.startswith("published ")
    (directories.data / "reviews.json").write_text("{}")
    assert [1, 0] == [new_warnings(), new_warnings()]  # it was good in between


def test_a_child_that_fails_is_a_failed_reload(harness: Harness, directories: Directories) -> None:
    harness.outcome()
    directories.write(review("a"))
    harness.faults.append(ChildError("publishing failed: OSError: disk full"))
    with capturedLogs() as events:
        (report,) = harness.reload()
    assert ("failed", ("publishing failed: OSError: disk full",)) == (
        report.outcome,
        report.problems,
    )
    (logged_text,) = texts(events)
    assert logged_text.startswith(
        "data failed, tried again in 1 s and so on; the last good data keeps serving: "
    )
    assert 2 == harness.snapshots.current.manifest.review_count
    assert "published" == harness.outcome()  # the next one may succeed


def test_first_publication_on_a_full_disk_says_so(harness: Harness) -> None:
    """Not that it was published and cannot be opened."""

    def fail(_: Step) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (report,) = harness.reload(progress=fail)
    assert "failed" == report.outcome
    assert report.problems[0].startswith("the disk is full: ")


def test_failure_is_retried_ever_later(harness: Harness, directories: Directories) -> None:
    """Until it succeeds; what is asked for meanwhile takes the place of the next try."""
    harness.outcome()
    directories.write(review("a"))
    harness.faults += [ChildError("disk full")] * 12
    harness.outcome()
    pauses = []
    while harness.faults:
        assert harness.publisher.retry_at is not None
        assert harness.publisher.last is not None
        assert harness.publisher.retry_at == harness.publisher.last.retry_at
        (call,) = harness.clock.getDelayedCalls()
        pauses.append(call.getTime() - harness.clock.seconds())
        harness.clock.advance(pauses[-1])
    assert [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] == pauses
    assert "published" == harness.outcome()
    assert ([], None) == (harness.clock.getDelayedCalls(), harness.publisher.retry_at)
    directories.write(review("b"))
    harness.faults.append(ChildError("disk full"))
    harness.outcome()
    harness.clock.advance(1)  # as the first time
    assert [] == harness.clock.getDelayedCalls()


def test_a_refusal_is_not_tried_again(harness: Harness, directories: Directories) -> None:
    """It lasts until the files change, which the watcher sees."""
    harness.outcome()
    directories.write(review("a"))
    harness.faults.append(ChildError("disk full"))
    harness.outcome()
    (directories.data / "reviews.json").write_text("[]")
    harness.clock.advance(1)
    assert harness.publisher.last is not None
    assert ("refused", None) == (harness.publisher.last.outcome, harness.publisher.last.retry_at)
    assert ([], None) == (harness.clock.getDelayedCalls(), harness.publisher.retry_at)


def test_retry_keeps_lifted_guards(harness: Harness, directories: Directories) -> None:
    """Another request in between removes the guard."""
    harness.outcome()
    harness.faults += [ChildError("disk full")] * 2
    harness.outcome(lifted=SHRINK)
    harness.clock.advance(1)
    directories.write(review("a"))
    harness.outcome()
    assert [NONE, SHRINK, SHRINK, NONE] == [job.lifted for job in harness.jobs]
    assert [] == harness.clock.getDelayedCalls()


def test_waiter_for_the_next_run_starts_none(harness: Harness, directories: Directories) -> None:
    received: list[Step] = []
    harness.faults.append(ChildError("disk full"))
    harness.outcome()
    reports: list[Report] = []
    harness.publisher.next_report(received.append).addCallback(reports.append)
    assert [] == reports
    harness.clock.advance(1)
    assert ["published"] == [report.outcome for report in reports]
    assert received != []


def test_snapshot_that_does_not_open_is_retried(harness: Harness, directories: Directories) -> None:
    """The daemon has no descriptor left, which says nothing of the snapshot."""
    harness.outcome()
    good = harness.snapshots.current.revision
    directories.write(review("a"))
    with ExitStack() as stack, capturedLogs() as events:
        harness.published = lambda: stack.enter_context(few_descriptors(0))
        assert "failed" == harness.outcome()
    harness.published = lambda: None
    assert good == harness.snapshots.current.revision
    assert any("Too many open files" in text for text in texts(events))
    harness.clock.advance(1)
    assert good != harness.snapshots.current.revision
    assert 1 == harness.snapshots.current.manifest.review_count


def test_bug_is_logged_and_reported(harness: Harness) -> None:
    harness.faults.append(ZeroDivisionError("oops"))
    with capturedLogs() as events:
        (report,) = harness.reload()
    assert "failed" == report.outcome
    assert ("publishing failed: ZeroDivisionError('oops')",) == report.problems
    assert ZeroDivisionError is events[0]["log_failure"].type
    assert "published" == harness.outcome()


def test_stopping_ends_the_run(directories: Directories) -> None:
    harness = Harness(directories, held=True)
    reports = harness.reload()
    stopped = Deferred.fromCoroutine(harness.publisher.stop())
    assert stopped.called
    assert [] == reports
    assert [] == harness.clock.getDelayedCalls()
    assert harness.publisher.last is None
