"""Computed work has a share of each turn of the reactor, and clients take turns."""

from collections import Counter
from collections.abc import Generator
from itertools import groupby
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.base import DelayedCall
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock

from reviewsd.runtime.turns import (
    FEW,
    MAX_WAITING,
    SLICE_SECONDS,
    TURN_SECONDS,
    CooperativeScheduler,
    QueueFullError,
)

MS = 0.001
STEP = SLICE_SECONDS / 2


class Bench:
    """A scheduler with a clock that advances only during work."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.scheduler = CooperativeScheduler(self.clock, lambda client: client.partition("/")[0])
        self.log: list[str] = []
        """The name of the work of each step, in order."""
        self.turns: list[float] = []
        """Seconds of work in each turn of the reactor."""

    def work(self, name: str, *lengths: float, fails: bool = False) -> Generator[None, None, str]:
        """Return work with steps of these lengths in seconds."""
        try:
            for seconds in lengths:
                self.clock.rightNow += seconds
                self.log.append(name)
                yield
            if fails:
                raise ZeroDivisionError
        finally:
            self.log.append(f"{name} ended")
        return name

    def run(
        self, client: str, *lengths: float, name: str = "", fails: bool = False
    ) -> "str | Deferred[str]":
        steps = self.work(name or client, *lengths, fails=fails)
        return self.scheduler.run(steps, lambda: client)

    def wait(self, client: str, *lengths: float, name: str = "", fails: bool = False) -> "Waiter":
        """Run work that must wait for its turn."""
        result = self.run(client, *lengths, name=name, fails=fails)
        assert isinstance(result, Deferred)
        return Waiter(result)

    def occupy(self) -> None:
        """Use up the turn, so that further work must wait."""
        assert isinstance(self.run("occupier", TURN_SECONDS), Deferred)

    def turn(self) -> float:
        """Run one turn as the reactor does: calls that are added belong to the next."""
        before = self.now
        calls = cast("list[DelayedCall]", [*self.clock.getDelayedCalls()])
        for call in calls:
            function = call.func
            call.cancel()
            function()  # a Clock would also call what this adds
        self.turns.append(self.now - before)
        return self.now - before

    def all_turns(self) -> None:
        while self.clock.getDelayedCalls():
            self.turn()

    @property
    def now(self) -> float:
        return self.clock.seconds()

    @property
    def order(self) -> list[str]:
        """The names of the steps in order, without repetitions."""
        steps = (name for name in self.log if not name.endswith(" ended"))
        return [name for name, _ in groupby(steps)]


class Waiter:
    """A caller that waits for work, and its result."""

    def __init__(self, done: "Deferred[str]") -> None:
        self.result: object = None
        self._done = done
        done.addCallbacks(self._succeed, self._fail)

    def _succeed(self, result: str) -> None:
        self.result = result

    def _fail(self, failure: object) -> None:
        self.result = failure.type  # type: ignore[attr-defined]

    def cancel(self) -> None:
        self._done.cancel()


@pytest.fixture
def bench() -> Bench:
    return Bench()


# At once ------------------------------------------------------------------------------------------


def test_short_work_runs_at_once(bench: Bench) -> None:
    assert "a" == bench.run("a")
    assert "a" == bench.run("a", *3 * [MS / 10])
    assert [] == bench.clock.getDelayedCalls()


def test_work_that_fails_at_once_raises(bench: Bench) -> None:
    with pytest.raises(ZeroDivisionError):
        bench.run("a", MS, fails=True)


def test_work_that_runs_at_once_counts_against_the_turn(bench: Bench) -> None:
    """Many short jobs in one turn take as long as a long one."""
    results = [bench.run(str(number), MS) for number in range(20)]
    at_once = sum(isinstance(result, str) for result in results)
    assert TURN_SECONDS / MS - 1 <= at_once <= TURN_SECONDS / MS + 1
    bench.all_turns()
    assert max(bench.turns) <= TURN_SECONDS + MS
    assert 20 == sum(name.endswith("ended") for name in bench.log)


def test_each_turn_has_its_own_budget(bench: Bench) -> None:
    for _ in range(50):
        assert isinstance(bench.run("a", MS), str)
        assert isinstance(bench.run("a", MS), str)
        bench.all_turns()


# Turns of the reactor -----------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"), st.lists(st.floats(0, 2 * MS), max_size=12), st.booleans()
        ),
        max_size=30,
    )
)
def test_turn_stays_within_budget_with_any_work(jobs: list[tuple[str, list[float], bool]]) -> None:
    bench = Bench()
    bench.occupy()
    waiting = [bench.wait(client, *lengths, fails=fails) for client, lengths, fails in jobs]
    bench.all_turns()

    assert max(bench.turns) <= TURN_SECONDS + 2 * MS
    expected = [ZeroDivisionError if fails else client for client, _, fails in jobs]
    assert expected == [waiter.result for waiter in waiting]
    steps = Counter(name for name in bench.log if name in "abc")
    step_counts = Counter[str]()
    for client, lengths, _ in jobs:
        step_counts[client] += len(lengths)
    assert +step_counts == steps
    assert 0 == bench.scheduler.waiting


def test_callback_may_add_work(bench: Bench) -> None:
    """The next request of a client is often read when its response is written."""
    bench.occupy()
    done = bench.run("a", MS)
    assert isinstance(done, Deferred)
    more: list[object] = []
    done.addCallback(lambda _: more.append(bench.run("a", MS, name="next")))
    bench.all_turns()
    assert isinstance(more[0], Deferred)
    assert ["occupier", "a", "next"] == bench.order


# Clients ------------------------------------------------------------------------------------------


def test_clients_take_turns_independent_of_their_number_of_jobs(bench: Bench) -> None:
    bench.occupy()
    for _ in range(FEW):
        bench.wait("greedy", *4 * [STEP])
    for client in ("b", "c"):
        bench.wait(client, *4 * [STEP])
    bench.all_turns()
    assert ["occupier", *2 * ["greedy", "b", "c"], "greedy"] == bench.order


@pytest.mark.parametrize(
    ("greedy", "single"),
    [("greedy", "other"), ("greedy/{}", "other"), ("a/greedy", "a/other")],
    ids=["client", "group", "in one group"],
)
def test_single_job_is_served_before_a_flood(bench: Bench, greedy: str, single: str) -> None:
    """Beside 128 jobs it takes less than twice as long as alone.

    Those may be of one client, or of a group: a /48 has 65,536 client networks.
    """
    bench.occupy()
    for number in range(128):
        bench.wait(greedy.format(number), *20 * [MS])
    bench.turn()
    before = bench.now
    job = bench.wait(single, *20 * [MS])
    while job.result is None:
        bench.turn()

    assert bench.now - before < 2 * 20 * MS + 4 * SLICE_SECONDS
    assert bench.scheduler.waiting > 100


def test_client_with_longer_steps_has_fewer_of_them(bench: Bench) -> None:
    bench.occupy()
    bench.wait("long", *10 * [2 * SLICE_SECONDS])
    short = bench.wait("short", *100 * [SLICE_SECONDS / 10])
    while short.result is None:
        bench.turn()
    counts = Counter(bench.log)
    assert 4 <= counts["long"] <= 6


def test_jobs_of_one_client_take_turns(bench: Bench) -> None:
    """Many people may share an address."""
    bench.occupy()
    slow = bench.wait("a", *50 * [MS], name="slow")
    quick = bench.wait("a", MS, name="quick")
    while quick.result is None:
        bench.turn()
    assert slow.result is None


def test_queue_of_a_client_is_bounded(bench: Bench) -> None:
    bench.occupy()
    for _ in range(MAX_WAITING):
        bench.wait("a", MS)
    with pytest.raises(QueueFullError):
        bench.run("a", MS)
    bench.wait("b", MS)
    assert MAX_WAITING + 2 == bench.scheduler.waiting  # and the occupier
    bench.turn()
    bench.turn()
    bench.wait("a", MS)


# Cancellations and failures -----------------------------------------------------------------------


@pytest.mark.parametrize("begun", [True, False])
def test_cancelled_work_is_dropped(bench: Bench, *, begun: bool) -> None:
    bench.occupy()
    leaving = bench.wait("a", *20 * [MS], name="dropped")
    staying = bench.wait("a", MS, name="kept")
    if begun:
        bench.turn()
    done = bench.log.count("dropped")
    leaving.cancel()
    bench.all_turns()

    assert CancelledError is leaving.result
    assert "kept" == staying.result
    assert done == bench.log.count("dropped")
    assert begun == ("dropped ended" in bench.log)  # what was begun has cleaned up
    assert 0 == bench.scheduler.waiting


def test_callback_may_cancel_other_work(bench: Bench) -> None:
    """A connection may be lost while a response is written."""
    bench.occupy()
    first = bench.run("a", MS)
    assert isinstance(first, Deferred)
    waiters = [bench.wait(client, MS) for client in "ab"]

    def cancel_all(_: object) -> None:
        for waiter in waiters:
            waiter.cancel()

    first.addCallback(cancel_all)
    bench.all_turns()

    assert [CancelledError, CancelledError] == [waiter.result for waiter in waiters]
    assert 0 == bench.scheduler.waiting
