"""The loop of attempts: nothing is lost, no host delays another, and an idle hub does nothing (H2, H8)."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import deferLater
from twisted.logger import capturedLogs

from reviewsd.store.rows import Claim, Due, Pair
from reviewsd.store.transactions import StoreError
from reviewsd.websub.rate_limits import MAX_FAILURES, Backoffs
from reviewsd.websub.scheduler import BATCH_SECONDS, MAX_ROWS, RELEASE_SECONDS, Scheduler
from reviewsd.websub.slots import IDLE_PER_PLACE, Slot, Slots
from tests.support.hub import Time, no_bugs, result_of
from tests.support.outbound import Upload

PER_HOST = 3
PLACES = 8
DONE = float("inf")


@dataclass
class Row:
    """Something to attempt."""

    host: str
    due_at: float = 0.0
    """DONE when it has been attempted."""
    active: bool = True
    claimed: bool = False


@dataclass(frozen=True)
class RowResult:
    id: int
    retry_after: float | None = None
    """Seconds until it is due again; None: it is done."""


class MemoryWork:
    """Rows in memory; an attempt takes as long as its host takes."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self.rows: dict[int, Row] = {}
        self.seconds: dict[str, float] = {}
        self.busy_hosts: set[str] = set()
        self.faults = 0
        self.latency = 0.0
        self.look_ups = self.writes = self.releases = 0
        self.stolen: set[int] = set()
        """Rows that another node claims after they were found."""
        self.begun: list[tuple[float, int]] = []
        self.running: list[str] = []

    def add(self, host: str, count: int = 1, due_at: float = 0.0, *, active: bool = True) -> None:
        for _ in range(count):
            self.rows[len(self.rows)] = Row(host, due_at, active)

    @property
    def done(self) -> list[int]:
        return [number for number, row in self.rows.items() if row.due_at == DONE]

    async def find_due(
        self, limit: int, excluded_hosts: Collection[str]
    ) -> tuple[Sequence[Due], float | None]:
        self.look_ups += 1
        await self._use_store()
        now = self._time.clock.seconds()
        due = [
            Due(id=number, host=row.host, active=row.active)
            for number, row in sorted(self.rows.items(), key=lambda item: (item[1].due_at, item[0]))
            if row.due_at <= now and not row.claimed and row.host not in excluded_hosts
        ]
        later = [row.due_at - now for row in self.rows.values() if now < row.due_at < DONE]
        return due[:limit], min(later, default=None)

    async def settle_and_claim(
        self, results: Sequence[RowResult], due: Sequence[Due]
    ) -> Sequence[Claim]:
        self.writes += 1
        await self._use_store()
        now = self._time.clock.seconds()
        for result in results:
            row = self.rows[result.id]
            row.claimed = False
            row.due_at = DONE if result.retry_after is None else now + result.retry_after
        claims = []
        for number in self.stolen:
            self.rows[number].due_at = DONE
        for entry in due:
            row = self.rows[entry.id]
            if row.due_at <= now and not row.claimed:
                row.claimed = True
                claims.append(Claim(id=entry.id, token="", pair=Pair(1, "", entry.host)))
        return claims

    async def run(self, claim: Claim, slot: Slot) -> RowResult:
        self.begun.append((self._time.clock.seconds(), claim.id))
        self.running.append(claim.pair.host)
        if claim.pair.host in self.busy_hosts:
            slot.watch(Upload(has_work=True), self._time.clock.seconds())
        try:
            seconds = self.seconds.get(claim.pair.host, 0.0)
            await (deferLater(self._time.clock, seconds) if seconds else succeed(None))
        finally:
            self.running.remove(claim.pair.host)
        return RowResult(claim.id)

    def release(self, claim: Claim) -> RowResult:
        self.releases += 1
        return RowResult(claim.id, 0.0)

    async def _use_store(self) -> None:
        if self.look_ups + self.writes > 20_000:
            raise AssertionError("it runs in circles")
        if self.latency:
            await deferLater(self._time.clock, self.latency)
        if self.faults:
            self.faults -= 1
            raise StoreError("disk I/O error")


class CountingSlots(Slots):
    """Slots that count how often they were asked for one."""

    tries = 0

    def try_enter(self, due: Due) -> Slot | None:
        self.tries += 1
        return super().try_enter(due)


@dataclass
class Rig:
    time: Time
    work: MemoryWork
    scheduler: Scheduler[Claim, RowResult]
    slots: CountingSlots
    backoffs: Backoffs = field(default_factory=Backoffs)

    def back_off(self, host: str) -> None:
        """Leave a host no slot for its new pairs, until it is forgiven."""
        for _ in range(MAX_FAILURES):
            self.backoffs.record_failure(host, self.time.clock.seconds())
        for _ in range(12):  # to a day
            seconds = self.backoffs.seconds_left(host, self.time.clock.seconds())
            self.backoffs.record_failure(host, self.time.clock.seconds() + seconds)


def build(places: int = PLACES, offset: float = 0.0) -> Rig:
    time = Time()
    work, backoffs = MemoryWork(time), Backoffs()
    slots = CountingSlots(time.clock, places, PER_HOST, 1_000, backoffs)
    scheduler = Scheduler("attempts", time.clock, work, slots, offset=lambda: offset)
    return Rig(time, work, scheduler, slots, backoffs)


@contextmanager
def scheduling(places: int = PLACES, offset: float = 0.0) -> Iterator[Rig]:
    """A scheduler that is stopped at the end, and leaves nothing behind."""
    rig = build(places, offset)
    with no_bugs():
        yield rig
        stopped = Deferred.fromCoroutine(rig.scheduler.stop(0.0))
        rig.time.advance(RELEASE_SECONDS)
        assert stopped.called
        assert [] == rig.time.clock.getDelayedCalls()


@pytest.fixture
def rig() -> Iterator[Rig]:
    with scheduling() as rig:
        yield rig


# What is due --------------------------------------------------------------------------------------


def test_full_host_is_tried_once_for_all_of_its_rows(rig: Rig) -> None:
    """A fan-out has up to a thousand rows of one host due, and goes through them after each response."""
    rig.work.add("a", MAX_ROWS - 1)
    rig.work.add("b")
    rig.work.seconds["a"] = 60.0

    rig.scheduler.start()
    rig.time.advance(1.0)

    assert [MAX_ROWS - 1] == rig.work.done
    assert rig.slots.tries < MAX_ROWS / 10


def test_attempt_that_ends_meanwhile_does_not_delay_the_next_row(rig: Rig) -> None:
    """Its end wakes the scheduler, and the pause that it cuts off must not begin again."""
    rig.work.add("a", due_at=40.0)
    for number in range(5):
        rig.work.add(f"b{number}")
        rig.work.seconds[f"b{number}"] = 7.0 * (number + 1)
    rig.scheduler.start()

    rig.time.advance(100.0)

    assert (40.0, 0) in rig.work.begun


def test_wake_is_noticed_at_any_moment(rig: Rig) -> None:
    """During a query, a write, or a pause."""
    rig.work.latency = 0.1
    rig.scheduler.start()
    for moment in range(40):
        rig.time.advance(0.03 * moment)
        rig.work.add(f"h{moment}")
        rig.scheduler.wake()
        rig.time.advance(0.5)
        assert moment + 1 == len(rig.work.done)


@pytest.mark.parametrize("latency", [0.0, 0.1])
@pytest.mark.parametrize("moment", [0.0, 0.05, 0.1, 0.13, 0.14, 0.16])
def test_claim_begins_when_place_becomes_free_at_any_moment(
    rig: Rig, latency: float, moment: float
) -> None:
    """During a query, or while results are awaited: the claim waited for the end of another attempt."""
    rig.work.latency = latency
    for number in range(PLACES + 5):
        rig.work.add(f"h{number}")
        rig.work.seconds[f"h{number}"] = 20.0
    rig.scheduler.start()
    rig.time.advance(2 * latency + moment)

    rig.scheduler.wake()
    rig.time.advance(1.0)

    assert PLACES + 5 == len(rig.work.begun)


@pytest.mark.parametrize(
    ("offset", "order"), [(0.0, [0, 1, 2, 3]), (0.5, [2, 3, 0, 1]), (0.99, [3, 0, 1, 2])]
)
def test_node_begins_at_its_offset(offset: float, order: list[int]) -> None:
    """Only one node gets a row, so nodes begin with different rows."""
    with scheduling(offset=offset) as rig:
        for number in range(4):
            rig.work.add(f"h{number}")
        rig.scheduler.start()
        rig.time.advance(1.0)
        assert order == [number for _, number in rig.work.begun]


def test_rows_that_another_node_claimed_are_queried_again(rig: Rig) -> None:
    """Before, every write asked for the next of those that others had claimed long ago."""
    for number in range(100):
        rig.work.add(f"h{number}")
    rig.work.stolen = set(range(95))

    rig.scheduler.start()
    rig.time.advance(1.0)

    assert list(range(95, 100)) == [number for _, number in rig.work.begun]
    assert 5 >= rig.work.writes


# Slots --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hosts", "rows", "seconds"),
    [(1, MAX_ROWS + 500, 2 * BATCH_SECONDS), (10, MAX_ROWS // 10, 2.0)],
    ids=["query", "slots"],
)
def test_hanging_hosts_that_fill_the_query_do_not_delay_another(
    rig: Rig, hosts: int, rows: int, seconds: float
) -> None:
    """The rows behind a full query are found as soon as slots are idle, not after MAX_PAUSE."""
    for number in range(hosts):
        rig.work.add(f"hanging {number}", rows)
        rig.work.seconds[f"hanging {number}"] = 1000.0
    rig.work.add("healthy")
    rig.scheduler.start()

    rig.time.advance(seconds)

    assert [hosts * rows] == rig.work.done


def test_backed_off_hosts_that_fill_queries_do_not_delay_another(rig: Rig) -> None:
    """They have no slot, and no attempt under way (H3)."""
    for host in ("x", "y", "z"):
        rig.back_off(host)
        rig.work.add(host, MAX_ROWS, active=False)
    rig.work.add("healthy")
    rig.scheduler.start()
    rig.time.advance(0.0)
    assert [3 * MAX_ROWS] == rig.work.done

    look_ups = rig.work.look_ups
    rig.time.advance(600.0)
    assert rig.work.look_ups - look_ups <= 10 * 4


def test_freed_slot_is_for_rows_that_were_skipped(rig: Rig) -> None:
    """However far down the list they are."""
    rig.back_off("x")
    rig.work.add("x", 2 * MAX_ROWS, active=False)
    rig.work.add("healthy")
    rig.work.seconds = {"healthy": 30.0}
    rig.scheduler.start()
    rig.time.advance(1.0)
    assert [2 * MAX_ROWS] == [number for _, number in rig.work.begun]

    rig.backoffs.record_success("x")
    rig.slots.freed()
    rig.time.advance(0.0)
    assert (1.0, 0) in rig.work.begun


def test_full_slots_cause_no_busy_loop() -> None:
    """A row is due soon, and there is no slot for it: all attempts that may hang do."""
    peak = (1 + IDLE_PER_PLACE) * PLACES
    with scheduling() as rig:
        for number in range(peak):
            rig.work.add(f"h{number}")
            rig.work.seconds[f"h{number}"] = 30.0
        rig.work.add("late", due_at=5.0)
        rig.scheduler.start()
        rig.time.advance(4.0)
        assert peak == rig.scheduler.running

        assert 3 >= count_calls(rig, 25.0)
        rig.time.advance(5.0)
        late = [at for at, number in rig.work.begun if number == peak]
        assert [30.0] == late


def count_calls(rig: Rig, seconds: float) -> int:
    """Let time go by, and count the delayed calls."""
    clock, calls = rig.time.clock, 0
    end = clock.seconds() + seconds
    while True:
        next_call = min((call.getTime() for call in clock.getDelayedCalls()), default=end)
        if next_call >= end or calls > 1000:
            clock.advance(max(0.0, end - clock.seconds()))
            return calls
        clock.advance(max(0.0, next_call - clock.seconds()))
        calls += 1


# Pause --------------------------------------------------------------------------------------------


def test_pause_causes_no_busy_loop(rig: Rig) -> None:
    rig.work.add("a", due_at=0.001)
    rig.scheduler.start()
    rig.scheduler.pause()
    assert 11 >= count_calls(rig, 600.0)
    assert [] == rig.work.begun


# A store that fails -------------------------------------------------------------------------------


def test_failing_store_is_used_once_a_second(rig: Rig) -> None:
    rig.work.add("a", 6)
    rig.work.faults = 10**6
    rig.scheduler.start()
    rig.time.advance(60.0)
    assert rig.work.look_ups <= 61


# Stop ---------------------------------------------------------------------------------------------


def test_stop_ends_in_time_when_the_store_fails(rig: Rig) -> None:
    rig.work.add("a", 5)
    rig.work.seconds["a"] = 1.0
    rig.scheduler.start()
    rig.time.advance(0.5)
    rig.work.faults = 10**6

    stopped = Deferred.fromCoroutine(rig.scheduler.stop(20.0))
    rig.time.advance(20.0 + RELEASE_SECONDS)

    assert stopped.called


@pytest.mark.parametrize("moment", [0.1, 0.5, 0.9, 1.7, 1.9, 2.1])
def test_stop_leaves_no_claim_at_any_moment(rig: Rig, moment: float) -> None:
    """During a write or an attempt: a claim that stays behind counts as a death."""
    rig.work.add("a", 5)
    rig.work.seconds["a"] = 1.0
    rig.work.latency = 0.4
    rig.scheduler.start()
    rig.time.advance(moment)

    stopped = Deferred.fromCoroutine(rig.scheduler.stop(0.0))
    rig.time.advance(RELEASE_SECONDS)

    assert stopped.called
    assert not any(row.claimed for row in rig.work.rows.values())
    ended = [number for at, number in rig.work.begun if at + 1.0 <= moment]
    assert ended == rig.work.done


class BrokenWork(MemoryWork):
    """Has a bug."""

    async def run(self, claim: Claim, slot: Slot) -> RowResult:
        if claim.id == 0:
            raise ZeroDivisionError
        return await super().run(claim, slot)


def test_bug_in_an_attempt_leaves_its_place_to_others() -> None:
    time = Time()
    work = BrokenWork(time)
    work.add("a", 5)
    scheduler = Scheduler(
        "attempts", time.clock, work, Slots(time.clock, 1, PER_HOST, 16, Backoffs())
    )
    with capturedLogs() as events:
        scheduler.start()
        time.advance(5.0)
    assert 1 == len([event for event in events if "log_failure" in event])
    assert [1, 2, 3, 4] == work.done
    assert 0 == scheduler.running
    result_of(scheduler.stop(0.0))


# Claims made ahead --------------------------------------------------------------------------------


def test_pause_releases_claims_made_ahead() -> None:
    with scheduling(places=2) as rig:
        rig.work.add("a", 3)
        rig.work.add("b", 3)
        rig.work.seconds = {"a": 1.0, "b": 1.0}
        rig.work.busy_hosts = {"a", "b"}
        rig.scheduler.start()
        rig.time.advance(0.5)

        rig.scheduler.pause()
        rig.time.advance(0.1)

        assert 2 == sum(row.claimed for row in rig.work.rows.values())
        rig.time.advance(5.0)
        assert 2 == len(rig.work.begun)


def test_claim_is_released_before_another_node_could_take_it() -> None:
    """A claim lasts for 90 s, and an attempt for 60 s at most (D5)."""
    with scheduling(places=2) as rig:
        rig.work.add("a", 2)
        rig.work.add("b", 2)
        rig.work.seconds = {"a": 60.0, "b": 60.0}
        rig.work.busy_hosts = {"a", "b"}
        rig.scheduler.start()
        rig.time.advance(59.0)
        assert 4 == sum(row.claimed for row in rig.work.rows.values())

        rig.time.advance(300.0)

        assert [0, 1, 2, 3] == sorted(rig.work.done)
        assert all(at >= 60.0 for at, _ in rig.work.begun[2:])
        assert rig.work.releases >= 1


def test_row_under_way_is_not_attempted_twice(rig: Rig) -> None:
    """A wall clock that jumped shows a claim as lapsed while its attempt lives (I4)."""
    rig.work.add("a")
    rig.work.seconds = {"a": 50.0}
    rig.scheduler.start()
    rig.time.advance(1.0)
    rig.work.rows[0].claimed = False

    rig.scheduler.wake()
    rig.time.advance(10.0)

    assert 1 == len(rig.work.begun)
