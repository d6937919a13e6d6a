"""A route's coroutine is driven by hand until it waits; then it goes on as any other would."""

import pytest
from twisted.internet.defer import CancelledError, Deferred

from reviewsd.web.steps import promptly


async def after(*awaited: Deferred[int]) -> list[int | str]:
    """Results and errors, in their order."""
    found: list[int | str] = []
    for each in awaited:
        try:
            found.append(await each)
        except ZeroDivisionError as error:
            found.append(str(error))
    return found


def test_who_does_not_wait_needs_no_deferred() -> None:
    assert [] == promptly(after())


def test_what_is_raised_before_the_first_wait_is_raised_at_once() -> None:
    async def work() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        promptly(work())


def test_who_waits_goes_on_with_each_result_and_error() -> None:
    waits: list[Deferred[int]] = [Deferred() for _ in range(4)]
    done = promptly(after(*waits))
    assert isinstance(done, Deferred)
    found: list[object] = []
    done.addBoth(found.append)

    waits[1].errback(ZeroDivisionError("early"))
    waits[0].callback(0)
    waits[2].errback(ZeroDivisionError("late"))
    assert [] == found
    waits[3].callback(3)

    assert [[0, "early", "late", 3]] == found


def test_who_waits_can_be_cancelled() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await waited
        finally:
            ended.append("ended")

    waited: Deferred[None] = Deferred()
    done = promptly(work())
    assert isinstance(done, Deferred)
    caught: list[object] = []
    done.addErrback(lambda failure: caught.append(failure.type))

    done.cancel()

    assert (["ended"], [CancelledError]) == (ended, caught)
