"""Computed work shares the reactor: so much in a turn, clients in turn, whoever leaves takes his away."""

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

from reviewsd.runtime.cooperative import (
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
    """A scheduler whose time goes by only where work takes it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.clock = Clock()
        self.scheduler = CooperativeScheduler(
            self.clock, lambda: self.now, lambda client: client.partition("/")[0]
        )
        self.log: list[str] = []
        """What was done, in order: the name of the work for each of its steps."""
        self.turns: list[float] = []
        """Seconds of work in each turn of the reactor."""

    def work(self, name: str, *lengths: float, fails: bool = False) -> Generator[None, None, str]:
        """Steps of so many seconds."""
        try:
            for seconds in lengths:
                self.now += seconds
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

    def wait(self, client: str, *lengths: float, name: str = "", fails: bool = False) -> "Waits":
        """Run work that has to wait for its turn."""
        found = self.run(client, *lengths, name=name, fails=fails)
        assert isinstance(found, Deferred)
        return Waits(found)

    def occupy(self) -> None:
        """Use up the turn, so that what is asked for from now on has to wait."""
        assert isinstance(self.run("occupier", TURN_SECONDS), Deferred)

    def turn(self) -> float:
        """One turn of the reactor, as it makes it; what is due meanwhile is due in the next."""
        before = self.now
        calls = cast("list[DelayedCall]", self.clock.getDelayedCalls())
        for call in calls:
            function = call.func
            call.cancel()
            function()  # a Clock would go on with what this adds
        self.turns.append(self.now - before)
        return self.now - before

    def all_turns(self) -> None:
        while self.clock.getDelayedCalls():
            self.turn()

    @property
    def order(self) -> list[str]:
        """The names of all work in the order of its steps, neighbours of one name as one."""
        steps = (name for name in self.log if not name.endswith(" ended"))
        return [name for name, _ in groupby(steps)]


class Waits:
    """Who waits for some work, and what comes of it."""

    def __init__(self, done: "Deferred[str]") -> None:
        self.result: object = None
        self._done = done
        done.addCallbacks(self._succeed, self._fail)

    def _succeed(self, result: str) -> None:
        self.result = result

    def _fail(self, failure: object) -> None:
        self.result = failure.type  # type: ignore[attr-defined]

    def leave(self) -> None:
        self._done.cancel()


@pytest.fixture
def bench() -> Bench:
    return Bench()


# At once ------------------------------------------------------------------------------------------


def test_what_is_short_is_done_at_once(bench: Bench) -> None:
    assert "a" == bench.run("a")
    assert "a" == bench.run("a", *3 * [MS / 10])
    assert [] == bench.clock.getDelayedCalls()


def test_what_fails_at_once_raises(bench: Bench) -> None:
    with pytest.raises(ZeroDivisionError):
        bench.run("a", MS, fails=True)


def test_nobody_is_asked_who_he_is_where_nothing_waits(bench: Bench) -> None:
    def client() -> str:
        raise AssertionError("asked")

    assert "a" == bench.scheduler.run(bench.work("a", MS), client)


def test_what_is_done_at_once_has_no_more_of_a_turn_than_the_rest(bench: Bench) -> None:
    """Many short answers in one turn are as long as a long one."""
    made = [bench.run(str(number), MS) for number in range(20)]
    at_once = sum(isinstance(each, str) for each in made)
    assert TURN_SECONDS / MS - 1 <= at_once <= TURN_SECONDS / MS + 1
    bench.all_turns()

    assert max(bench.turns) <= TURN_SECONDS + MS
    assert 20 == sum(name.endswith("ended") for name in bench.log)


def test_a_turn_that_is_over_is_forgotten(bench: Bench) -> None:
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
def test_a_turn_has_a_budget_and_all_work_is_done_once(
    asked: list[tuple[str, list[float], bool]],
) -> None:
    bench = Bench()
    bench.occupy()
    waiting = [bench.wait(client, *lengths, fails=fails) for client, lengths, fails in asked]
    bench.all_turns()

    assert max(bench.turns) <= TURN_SECONDS + 2 * MS
    expected = [ZeroDivisionError if fails else client for client, _, fails in asked]
    assert expected == [each.result for each in waiting]
    steps = Counter(name for name in bench.log if name in "abc")
    wanted = Counter[str]()
    for client, lengths, _ in asked:
        wanted[client] += len(lengths)
    assert +wanted == steps
    assert 0 == bench.scheduler.waiting


def test_work_goes_on_turn_after_turn_without_a_pause(bench: Bench) -> None:
    bench.occupy()
    bench.wait("a", *40 * [MS])
    bench.all_turns()

    assert 10 <= len(bench.turns) <= 12
    assert min(bench.turns[:10]) >= TURN_SECONDS


def test_what_is_asked_for_while_others_wait_does_not_go_before_them(bench: Bench) -> None:
    bench.occupy()
    bench.wait("a", MS)
    bench.wait("b", MS)
    bench.all_turns()
    assert ["occupier", "a", "b"] == bench.order


def test_an_answer_may_ask_for_more(bench: Bench) -> None:
    """A client's next request is often read when its answer is written."""
    bench.occupy()
    done = bench.run("a", MS)
    assert isinstance(done, Deferred)
    more: list[object] = []
    done.addCallback(lambda _: more.append(bench.run("a", MS, name="next")))
    bench.all_turns()

    assert isinstance(more[0], Deferred)
    assert ["occupier", "a", "next"] == bench.order


# Clients ------------------------------------------------------------------------------------------


def test_clients_take_turns_however_much_each_asks_for(bench: Bench) -> None:
    bench.occupy()
    for _ in range(FEW):
        bench.wait("greedy", *4 * [STEP])
    for client in ("b", "c"):
        bench.wait(client, *4 * [STEP])
    bench.all_turns()

    assert ["occupier", "greedy", "b", "c", "greedy", "b", "c", "greedy"] == bench.order


def test_who_asks_for_one_thing_has_most_of_it_done_first(bench: Bench) -> None:
    """Of two clients one has 128 under way: the other waits less than twice as long as alone."""
    bench.occupy()
    for _ in range(128):
        bench.wait("greedy", *20 * [MS])
    bench.turn()
    before = bench.now
    other = bench.wait("other", *20 * [MS])
    while other.result is None:
        bench.turn()

    assert bench.now - before < 2 * 20 * MS


def test_clients_of_one_group_delay_others_no_more_than_one_client_does(bench: Bench) -> None:
    """Somebody with a /48 is 65,536 clients."""
    bench.occupy()
    for number in range(128):
        bench.wait(f"greedy/{number}", *20 * [MS])
    bench.turn()
    before = bench.now
    other = bench.wait("other", *20 * [MS])
    while other.result is None:
        bench.turn()

    assert bench.now - before < 2 * 20 * MS


def test_clients_of_one_group_take_turns(bench: Bench) -> None:
    """However much their neighbours ask for."""
    bench.occupy()
    for _ in range(128):
        bench.wait("a/greedy", *20 * [MS])
    before = bench.now
    other = bench.wait("a/other", *20 * [MS])
    while other.result is None:
        bench.turn()

    assert bench.now - before < 2 * 20 * MS + 4 * SLICE_SECONDS
    assert 129 > bench.scheduler.waiting > 100


def test_long_steps_are_made_up_for(bench: Bench) -> None:
    """Whoever's steps are longer has fewer of them."""
    bench.occupy()
    bench.wait("long", *10 * [2 * SLICE_SECONDS])
    short = bench.wait("short", *100 * [SLICE_SECONDS / 10])
    while short.result is None:
        bench.turn()
    counts = Counter(bench.log)

    assert 4 <= counts["long"] <= 6


def test_a_clients_own_work_takes_turns_too(bench: Bench) -> None:
    """Many people may share an address."""
    bench.occupy()
    slow = bench.wait("a", *50 * [MS], name="slow")
    quick = bench.wait("a", MS, name="quick")
    while quick.result is None:
        bench.turn()

    assert slow.result is None


def test_a_clients_queue_has_an_end(bench: Bench) -> None:
    bench.occupy()
    for _ in range(MAX_WAITING):
        bench.wait("a", MS)
    with pytest.raises(QueueFullError):
        bench.run("a", MS)
    bench.wait("b", MS)
    assert MAX_WAITING + 2 == bench.scheduler.waiting  # and who occupies it
    bench.turn()
    bench.turn()
    bench.wait("a", MS)


# Those who leave, and what fails ------------------------------------------------------------------


@pytest.mark.parametrize("begun", [True, False])
def test_the_work_of_who_leaves_is_dropped(bench: Bench, *, begun: bool) -> None:
    bench.occupy()
    leaving = bench.wait("a", *20 * [MS], name="dropped")
    staying = bench.wait("a", MS, name="kept")
    if begun:
        bench.turn()
    done = bench.log.count("dropped")
    leaving.leave()
    bench.all_turns()

    assert CancelledError is leaving.result
    assert "kept" == staying.result
    assert done == bench.log.count("dropped")
    assert begun == ("dropped ended" in bench.log)  # what was begun has cleaned up
    assert 0 == bench.scheduler.waiting


def test_an_answer_may_end_other_work(bench: Bench) -> None:
    """A connection that is lost while an answer is written takes others with it."""
    bench.occupy()
    first = bench.run("a", MS)
    assert isinstance(first, Deferred)
    others = [bench.wait(client, MS) for client in "ab"]

    def leave(_: object) -> None:
        for each in others:
            each.leave()

    first.addCallback(leave)
    bench.all_turns()

    assert [CancelledError, CancelledError] == [each.result for each in others]
    assert 0 == bench.scheduler.waiting


@pytest.mark.parametrize("client", ["a", "b"])
def test_what_fails_stops_nobody_else(bench: Bench, client: str) -> None:
    bench.occupy()
    failing = bench.wait("a", MS, fails=True)
    other = bench.wait(client, MS)
    bench.all_turns()

    assert ZeroDivisionError is failing.result
    assert client == other.result


def test_an_error_in_who_waits_stops_nobody_else(bench: Bench) -> None:
    bench.occupy()
    first = bench.run("a", MS)
    assert isinstance(first, Deferred)
    caught: list[object] = []

    def fail(_: object) -> None:
        raise ZeroDivisionError

    first.addCallback(fail)
    first.addErrback(lambda failure: caught.append(failure.type))
    other = bench.wait("b", MS)
    bench.all_turns()

    assert [ZeroDivisionError] == caught
    assert "b" == other.result
