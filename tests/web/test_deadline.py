"""Deadlines that are put off far more often than they come."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.task import Clock

from reviewsd.web.deadline import Deadline


class Watched:
    """A deadline and when it has passed."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.passed: list[float] = []
        self.deadline = Deadline(
            self.clock,
            lambda: self.passed.append(self.clock.seconds()),
        )


def test_it_passes_once() -> None:
    watched = Watched()
    watched.deadline.move(5)

    watched.clock.advance(4)
    assert [] == watched.passed
    watched.clock.pump([1, 1, 60])
    assert [5] == watched.passed
    assert [] == watched.clock.getDelayedCalls()


def test_put_off_a_thousand_times_it_costs_one_delayed_call() -> None:
    watched = Watched()
    for _ in range(1_000):
        watched.deadline.move(60)
        assert 1 == len(watched.clock.getDelayedCalls())
        watched.clock.advance(1)

    watched.clock.pump([58, 1])
    assert [1_059] == watched.passed


def test_it_can_come_sooner() -> None:
    watched = Watched()
    watched.deadline.move(60)
    watched.deadline.move(1)

    watched.clock.advance(1)
    assert [1] == watched.passed


def test_it_can_be_called_off_and_set_again() -> None:
    watched = Watched()
    watched.deadline.move(2)
    watched.deadline.move(None)
    watched.clock.advance(2)
    assert [] == watched.passed
    watched.deadline.move(2)

    watched.clock.advance(2)
    assert [4] == watched.passed


def test_cancelled_it_leaves_nothing_behind() -> None:
    watched = Watched()
    watched.deadline.cancel()
    watched.deadline.move(2)
    watched.deadline.cancel()

    assert [] == watched.clock.getDelayedCalls()
    watched.deadline.move(2)
    watched.clock.advance(2)
    assert [2] == watched.passed


@given(st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(1, 20)), max_size=30))
def test_it_passes_exactly_when_it_was_last_moved_to(moves: list[tuple[int, int | None]]) -> None:
    watched, expected = Watched(), list[float]()
    due: float | None = None
    for wait, period in [*moves, (30, None)]:
        for _ in range(wait):
            watched.clock.advance(1)
            if due is not None and watched.clock.seconds() == due:
                expected.append(due)
                due = None
        watched.deadline.move(period)
        due = None if period is None else watched.clock.seconds() + period

    assert expected == watched.passed
