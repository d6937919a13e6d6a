"""Work is done at once as long as it is short; what takes longer lets others have their turn."""

import time
from collections.abc import Generator

import pytest
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock

from reviewsd.web.steps import STEP_SECONDS, in_steps


def work(*lengths: float, made: list[object] | None = None) -> Generator[None, None, str]:
    """Steps of some seconds each."""
    for number, seconds in enumerate(lengths):
        time.sleep(seconds)
        if made is not None:
            made.append(number)
        yield
    return "done"


def failing(*lengths: float) -> Generator[None, None, str]:
    yield from work(*lengths)
    raise ZeroDivisionError


def test_who_is_done_soon_needs_no_deferred() -> None:
    clock = Clock()

    assert "done" == in_steps(work(), clock)
    assert "done" == in_steps(work(0, 0, 0), clock)
    assert [] == clock.getDelayedCalls()


def test_what_is_raised_soon_is_raised_at_once() -> None:
    with pytest.raises(ZeroDivisionError):
        in_steps(failing(0), Clock())


def test_others_have_their_turn_whenever_the_time_is_up() -> None:
    clock, made = Clock(), list[object]()
    done = in_steps(work(STEP_SECONDS, STEP_SECONDS, 0, 0, made=made), clock)
    assert isinstance(done, Deferred)
    done.addCallback(made.append)
    clock.callLater(0, made.append, "another")
    assert [0] == made
    clock.advance(0)

    assert [0, 1, "another", 2, 3, "done"] == made
    assert [] == clock.getDelayedCalls()


def test_what_is_raised_later_fails_the_deferred() -> None:
    clock, caught = Clock(), list[object]()
    done = in_steps(failing(STEP_SECONDS), clock)
    assert isinstance(done, Deferred)
    done.addErrback(lambda failure: caught.append(failure.type))
    clock.advance(0)

    assert [ZeroDivisionError] == caught


def test_who_waits_can_give_up() -> None:
    clock, caught, made = Clock(), list[object](), list[object]()
    done = in_steps(work(STEP_SECONDS, 0, made=made), clock)
    assert isinstance(done, Deferred)
    done.addErrback(lambda failure: caught.append(failure.type))
    done.cancel()

    assert [CancelledError] == caught
    assert [] == clock.getDelayedCalls()
    assert [0] == made
