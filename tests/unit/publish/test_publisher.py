"""Who asks for a reload, what is run for it, and who hears how it went (R6, R7)."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from twisted.internet.defer import CancelledError, Deferred, succeed
from twisted.internet.task import Clock
from twisted.logger import LogEvent, capturedLogs, formatEvent

from reviewsd.publish.compile_process import ChildError, Progress
from reviewsd.publish.job import Job, Outcome, Step
from reviewsd.publish.publication import publish
from reviewsd.publish.publisher import Publisher, Report
from reviewsd.publish.sources import signature
from reviewsd.snapshot.layout import Fingerprint
from reviewsd.snapshot.snapshots import Snapshots
from tests.support.columns import review
from tests.support.limits import few_descriptors
from tests.support.publishing import House


class Shop:
    """A Publisher that publishes in this process, at once or when ``release`` is called."""

    def __init__(self, house: House, *, version: str = "1", held: bool = False) -> None:
        self.house = house
        self.jobs: list[Job] = []
        self.faults: list[Exception] = []
        self.published: Callable[[], object] = lambda: None
        self.snapshots = Snapshots(house.snapshots)
        self.snapshots.refresh()
        self.clock = Clock()
        self.publisher = Publisher(
            house.order, version, self.snapshots, self.look, self.run, self.clock
        )
        self._held = held
        self._gate: Deferred[None] = Deferred()

    def look(self) -> Awaitable[Fingerprint]:
        return succeed(signature(self.house.data))

    async def run(self, job: Job, progress: Progress) -> Outcome:
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
        self, *, force: bool = False, progress: Callable[[Step], None] | None = None
    ) -> list[Report]:
        """Ask for a reload; the report comes into the list."""
        reports: list[Report] = []
        asked = self.publisher.reload(force=force, progress=progress)
        asked.addCallback(reports.append)
        return reports

    def outcome(self, *, force: bool = False) -> str:
        (report,) = self.reload(force=force)
        assert report is self.publisher.last
        return report.outcome


@pytest.fixture
def house(tmp_path: Path) -> House:
    house = House(tmp_path)
    house.write(review("a"), review("b"))
    return house


@pytest.fixture
def shop(house: House) -> Shop:
    return Shop(house)


def texts(events: Sequence[LogEvent]) -> list[str]:
    return [formatEvent(event) for event in events]


# -- what is run


def test_it_publishes_once_and_then_only_looks(shop: Shop) -> None:
    with capturedLogs() as events:
        assert "published" == shop.outcome()
        assert "unchanged" == shop.outcome()
    assert 1 == len(shop.jobs)
    assert 2 == shop.snapshots.current.manifest.review_count
    (said,) = texts(events)
    assert said.startswith(f"published {shop.snapshots.current.revision}: 2 reviews in ")


def test_a_restart_is_no_reason_to_run(shop: Shop, house: House) -> None:
    shop.outcome()
    again = Shop(house)
    assert "unchanged" == again.outcome()
    assert [] == again.jobs


def test_touched_files_are_read_once(shop: Shop, house: House) -> None:
    shop.outcome()
    (house.data / "reviews.json").touch()
    assert ["unchanged", "unchanged"] == [shop.outcome(), shop.outcome()]
    assert 2 == len(shop.jobs)


def test_new_data_are_published(shop: Shop, house: House) -> None:
    shop.outcome()
    house.write(review("a"))
    assert "published" == shop.outcome()
    assert 1 == shop.snapshots.current.manifest.review_count


def test_another_program_or_other_settings_publish_the_same_files_anew(
    shop: Shop, house: House
) -> None:
    """The program may render differently, the settings do."""
    shop.outcome()
    newer = Shop(house, version="2")
    assert "unchanged" == newer.outcome()  # as it happens: the bytes are the same
    assert 1 == len(newer.jobs)
    assert "unchanged" == newer.outcome()
    assert 1 == len(newer.jobs)


def test_force_always_runs_and_is_not_remembered(shop: Shop, house: House) -> None:
    shop.outcome()
    assert "unchanged" == shop.outcome(force=True)
    house.write(review("a"))
    shop.outcome()
    assert [False, True, False] == [job.force for job in shop.jobs]


def test_a_damaged_snapshot_is_made_again(shop: Shop, house: House) -> None:
    """Its manifest would say that nothing is to be done."""
    shop.outcome()
    (house.current / "reviews.json").write_bytes(b"")
    again = Shop(house)
    assert again.snapshots.empty
    assert "published" == again.outcome()
    assert 2 == again.snapshots.current.manifest.review_count


# -- who hears


def test_requests_during_a_run_share_the_one_after_it(house: House) -> None:
    """The running one may have read the files before they were changed."""
    shop = Shop(house, held=True)
    first = shop.reload()
    second, third = shop.reload(), shop.reload(force=True)
    assert 1 == len(shop.jobs)
    house.write(review("a"))
    shop.release()
    assert ["published"] == [report.outcome for report in first]
    assert [] == second
    assert [False, True] == [job.force for job in shop.jobs]
    shop.release()
    assert second[0] is third[0]
    assert 2 == len(shop.jobs)


def test_steps_are_told_to_those_who_wait_for_the_run(house: House) -> None:
    shop = Shop(house, held=True)
    first: list[Step] = []
    second: list[Step] = []
    shop.reload(progress=first.append)
    shop.reload(progress=second.append, force=True)
    shop.release()
    assert first != []
    assert [] == second
    told = len(first)
    shop.release()
    assert second != []
    assert told == len(first)


def test_who_gives_up_waiting_does_not_stop_the_run(house: House) -> None:
    """A3"""
    shop = Shop(house, held=True)
    left = shop.publisher.reload()
    stays = shop.reload()
    given_up: list[type[BaseException] | None] = []
    left.addErrback(lambda failure: given_up.append(failure.type))
    left.cancel()
    assert [CancelledError] == given_up
    shop.release()
    assert 2 == shop.snapshots.current.manifest.review_count
    assert ["unchanged"] == [report.outcome for report in stays]


def test_observers_are_told_of_every_report(shop: Shop, house: House) -> None:
    told: list[Report] = []
    shop.publisher.observe(told.append)
    shop.outcome()
    shop.outcome()
    (house.data / "reviews.json").write_text("{")
    shop.outcome()
    assert ["published", "unchanged", "refused"] == [report.outcome for report in told]
    assert [True, True, False] == [report.good for report in told]


# -- what goes wrong


def test_refused_data_are_reported_and_nothing_changes(shop: Shop, house: House) -> None:
    shop.outcome()
    good = shop.snapshots.current.revision
    (house.data / "reviews.json").write_text("[]")
    (report,) = shop.reload()
    assert "refused" == report.outcome
    assert report.problems[0].startswith("reviews.json: ")
    assert good == shop.snapshots.current.revision
    since = shop.publisher.failing_since
    assert report.at == since
    shop.outcome()
    assert since == shop.publisher.failing_since  # since the first time
    house.write(review("a"))
    assert "published" == shop.outcome()
    assert shop.publisher.failing_since is None


def test_each_distinct_fault_is_logged_once(shop: Shop, house: House) -> None:
    """R6: not at every reload"""
    shop.outcome()

    def said() -> int:
        with capturedLogs() as events:
            shop.outcome()
        return len([event for event in events if event["log_level"].name == "warn"])

    (house.data / "reviews.json").write_text("[]")
    assert [1, 0, 0] == [said(), said(), said()]
    (house.data / "reviews.json").write_text("{}")
    assert [1, 0] == [said(), said()]
    house.write(review("a"))
    assert 0 == said()
    (house.data / "reviews.json").write_text("{}")
    assert [1, 0] == [said(), said()]  # it was good in between


def test_a_child_that_fails_is_a_failed_reload(shop: Shop, house: House) -> None:
    shop.outcome()
    house.write(review("a"))
    shop.faults.append(ChildError("publishing failed: OSError: disk full"))
    with capturedLogs() as events:
        (report,) = shop.reload()
    assert ("failed", ("publishing failed: OSError: disk full",)) == (
        report.outcome,
        report.problems,
    )
    (said,) = texts(events)
    assert said.startswith(
        "data failed, tried again in 1 s and so on; the last good data keeps serving: "
    )
    assert 2 == shop.snapshots.current.manifest.review_count
    assert "published" == shop.outcome()  # the next one may succeed


def test_a_failure_is_tried_again_after_a_pause_that_grows(shop: Shop, house: House) -> None:
    """Until it succeeds; what is asked for meanwhile takes the place of the next try."""
    shop.outcome()
    house.write(review("a"))
    shop.faults += [ChildError("disk full")] * 12
    shop.outcome()
    pauses = []
    while shop.faults:
        assert shop.publisher.retry_at is not None
        assert shop.publisher.last is not None
        assert shop.publisher.retry_at == shop.publisher.last.retry_at
        (call,) = shop.clock.getDelayedCalls()
        pauses.append(call.getTime() - shop.clock.seconds())
        shop.clock.advance(pauses[-1])
    assert [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] == pauses
    assert "published" == shop.outcome()
    assert ([], None) == (shop.clock.getDelayedCalls(), shop.publisher.retry_at)
    house.write(review("b"))
    shop.faults.append(ChildError("disk full"))
    shop.outcome()
    shop.clock.advance(1)  # as the first time
    assert [] == shop.clock.getDelayedCalls()


def test_a_refusal_is_not_tried_again(shop: Shop, house: House) -> None:
    """It lasts until the files change, which the watcher sees."""
    shop.outcome()
    house.write(review("a"))
    shop.faults.append(ChildError("disk full"))
    shop.outcome()
    (house.data / "reviews.json").write_text("[]")
    shop.clock.advance(1)
    assert shop.publisher.last is not None
    assert ("refused", None) == (shop.publisher.last.outcome, shop.publisher.last.retry_at)
    assert ([], None) == (shop.clock.getDelayedCalls(), shop.publisher.retry_at)


def test_what_was_forced_is_forced_again(shop: Shop, house: House) -> None:
    """But not where somebody asks for something else in between."""
    shop.outcome()
    shop.faults += [ChildError("disk full")] * 2
    shop.outcome(force=True)
    shop.clock.advance(1)
    house.write(review("a"))
    shop.outcome()
    assert [False, True, True, False] == [job.force for job in shop.jobs]
    assert [] == shop.clock.getDelayedCalls()


def test_who_waits_for_the_next_run_starts_none(shop: Shop, house: House) -> None:
    told: list[Step] = []
    shop.faults.append(ChildError("disk full"))
    shop.outcome()
    reports: list[Report] = []
    shop.publisher.next_report(told.append).addCallback(reports.append)
    assert [] == reports
    shop.clock.advance(1)
    assert ["published"] == [report.outcome for report in reports]
    assert told != []


def test_what_is_published_and_cannot_be_opened_is_tried_again(shop: Shop, house: House) -> None:
    """The daemon has no descriptor left, which says nothing of the snapshot."""
    shop.outcome()
    good = shop.snapshots.current.revision
    house.write(review("a"))
    with ExitStack() as stack, capturedLogs() as events:
        shop.published = lambda: stack.enter_context(few_descriptors(0))
        assert "failed" == shop.outcome()
    shop.published = lambda: None
    assert good == shop.snapshots.current.revision
    assert any("Too many open files" in text for text in texts(events))
    shop.clock.advance(1)
    assert good != shop.snapshots.current.revision
    assert 1 == shop.snapshots.current.manifest.review_count


def test_a_bug_is_logged_and_leaves_nobody_waiting(shop: Shop) -> None:
    shop.faults.append(ZeroDivisionError("oops"))
    with capturedLogs() as events:
        (report,) = shop.reload()
    assert "failed" == report.outcome
    assert ("publishing failed: ZeroDivisionError('oops')",) == report.problems
    assert ZeroDivisionError is events[0]["log_failure"].type
    assert "published" == shop.outcome()


def test_stopping_ends_the_run(house: House) -> None:
    shop = Shop(house, held=True)
    reports = shop.reload()
    stopped = Deferred.fromCoroutine(shop.publisher.stop())
    assert stopped.called
    assert [] == reports
    assert [] == shop.clock.getDelayedCalls()
    assert shop.publisher.last is None


def test_outcomes_that_are_good() -> None:
    reports = [
        Report(outcome=outcome, at=0.0, seconds=0.0)
        for outcome in ("published", "unchanged", "refused", "failed")
    ]
    assert [True, True, False, False] == [report.good for report in reports]
    assert () == reports[0].problems
