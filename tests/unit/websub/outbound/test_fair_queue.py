"""Portions of work, one a turn of the reactor."""

from collections.abc import Callable

import pytest
from twisted.internet.task import Clock

from reviewsd.websub.outbound.fair_queue import PORTION_SECONDS, FairQueue


class Reactor(Clock):
    """Does in a turn what was asked for before it, as reactors do and Clock does not."""

    def turn(self) -> None:
        later, self.calls = self.calls, []
        for call in later:
            call.func()


class Rig:
    """Work that takes time on a clock that otherwise stands still."""

    def __init__(self) -> None:
        self.reactor = Reactor()
        self.turns = FairQueue(self.reactor)
        self.done: list[str] = []

    def work(self, name: str, seconds: float = 0.0) -> Callable[[], None]:
        def work() -> None:
            self.reactor.rightNow += seconds
            self.done.append(name)

        return work

    def turn(self) -> list[str]:
        """What is done in one turn."""
        self.done.clear()
        self.reactor.turn()
        return list(self.done)


def test_nothing_runs_at_once() -> None:
    """Else who adds would be run into, in the middle of something."""
    rig = Rig()
    rig.turns.add(rig.work("a"))
    assert [] == rig.done
    assert ["a"] == rig.turn()
    assert [] == rig.reactor.getDelayedCalls()


def test_small_work_runs_together_in_its_order() -> None:
    rig = Rig()
    for name in "abc":
        rig.turns.add(rig.work(name))
    assert ["a", "b", "c"] == rig.turn()


def test_a_turn_takes_a_portion() -> None:
    rig = Rig()
    for name in "abcde":
        rig.turns.add(rig.work(name, PORTION_SECONDS * 0.6))
    assert ["a", "b"] == rig.turn()
    rig.turns.add(rig.work("f"))
    assert ["c", "d"] == rig.turn()
    assert ["e", "f"] == rig.turn()
    assert [] == rig.reactor.getDelayedCalls()


def test_what_is_added_meanwhile_comes_last() -> None:
    rig = Rig()
    rig.turns.add(lambda: rig.turns.add(rig.work("b")))
    rig.turns.add(rig.work("a"))
    assert ["a", "b"] == rig.turn()
    assert [] == rig.reactor.getDelayedCalls()


def test_a_bug_stops_nobody_else() -> None:
    rig = Rig()

    def fail() -> None:
        raise RuntimeError

    rig.turns.add(fail)
    rig.turns.add(rig.work("a"))
    with pytest.raises(RuntimeError):
        rig.turn()
    assert ["a"] == rig.turn()
