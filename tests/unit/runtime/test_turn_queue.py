"""Portions of work, one a turn of the reactor."""

from collections.abc import Callable

import pytest
from twisted.internet.task import Clock

from reviewsd.runtime.turns import PORTION_SECONDS, TurnQueue


class Reactor(Clock):
    """Makes the calls of a turn that were scheduled before it, as reactors do and Clock does not."""

    def turn(self) -> None:
        later, self.calls = self.calls, []
        for call in later:
            call.func()


class Rig:
    """Work that takes time on a clock that stands still otherwise."""

    def __init__(self) -> None:
        self.reactor = Reactor()
        self.turns = TurnQueue(self.reactor)
        self.done: list[str] = []

    def work(self, name: str, seconds: float = 0.0) -> Callable[[], None]:
        def work() -> None:
            self.reactor.rightNow += seconds
            self.done.append(name)

        return work

    def turn(self) -> list[str]:
        """Run one turn; return what was done in it."""
        self.done.clear()
        self.reactor.turn()
        return list(self.done)


def test_work_waits_for_the_next_turn() -> None:
    """Else it would run in the middle of its caller."""
    rig = Rig()
    rig.turns.add(rig.work("a"))
    assert [] == rig.done
    assert ["a"] == rig.turn()
    assert [] == rig.reactor.getDelayedCalls()


def test_turn_takes_one_portion() -> None:
    rig = Rig()
    for name in "abcde":
        rig.turns.add(rig.work(name, PORTION_SECONDS * 0.6))
    assert ["a", "b"] == rig.turn()
    rig.turns.add(rig.work("f"))
    assert ["c", "d"] == rig.turn()
    assert ["e", "f"] == rig.turn()
    assert [] == rig.reactor.getDelayedCalls()


def test_work_that_is_added_during_a_turn_comes_last() -> None:
    rig = Rig()
    rig.turns.add(lambda: rig.turns.add(rig.work("b")))
    rig.turns.add(rig.work("a"))
    assert ["a", "b"] == rig.turn()
    assert [] == rig.reactor.getDelayedCalls()


def test_removed_work_does_not_run() -> None:
    """A connection that is lost may be removed twice, and is no longer read."""
    rig = Rig()
    removed = rig.work("a")
    rig.turns.add(removed)
    rig.turns.add(rig.work("b"))
    rig.turns.remove(removed)
    rig.turns.remove(removed)
    assert ["b"] == rig.turn()


def test_queue_that_becomes_empty_cancels_its_turn() -> None:
    """Else the last connection that is lost would leave a timer behind."""
    rig = Rig()
    work = rig.work("a")
    rig.turns.add(work)
    rig.turns.remove(work)
    assert [] == rig.reactor.getDelayedCalls()
    rig.turns.add(work)
    assert ["a"] == rig.turn()


def test_work_that_waits_keeps_its_place_when_added_again() -> None:
    rig = Rig()
    work = rig.work("a")
    for function in (work, rig.work("b"), work):
        rig.turns.add(function)
    assert ["a", "b"] == rig.turn()


def test_bug_does_not_stop_other_work() -> None:
    rig = Rig()

    def fail() -> None:
        raise RuntimeError

    rig.turns.add(fail)
    rig.turns.add(rig.work("a"))
    with pytest.raises(RuntimeError):
        rig.turn()
    assert ["a"] == rig.turn()
