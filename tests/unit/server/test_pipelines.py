"""Whose turn it is, where several requests have come at once."""

from collections.abc import Iterator

import pytest
from twisted.internet.task import Clock
from twisted.logger import capturedLogs

from reviewsd.runtime.cooperative import TURN_SECONDS
from reviewsd.server.pipelines import Pipelines


class Reactor(Clock):
    """A clock of which one turn is one call."""

    def turn(self) -> None:
        """What waits now, and not what it leaves for the next turn."""
        for call in self.getDelayedCalls():
            call.reset(0)
        waiting, self.calls = self.calls, []
        for call in waiting:
            call.called = 1
            call.func(*call.args, **call.kw)


class Connection:
    """One with so many requests that have come."""

    def __init__(self, pipelines: Pipelines, requests: int) -> None:
        self.pipelines = pipelines
        self.requests = requests
        self.answered = 0
        self.aborted = False
        pipelines.put_off(self.go_on, self.abort)

    def go_on(self) -> None:
        self.answered += 1
        if self.answered < self.requests:
            self.pipelines.put_off(self.go_on, self.abort)

    def abort(self) -> None:
        self.aborted = True


class Broken(Connection):
    """One that has a bug."""

    def go_on(self) -> None:
        raise ZeroDivisionError


@pytest.fixture
def reactor() -> Iterator[Reactor]:
    reactor = Reactor()
    yield reactor
    assert [] == reactor.getDelayedCalls()


def timer_of(step: float) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += step


def test_all_together_have_a_few_milliseconds_of_a_turn_and_each_one_request(
    reactor: Reactor,
) -> None:
    pipelines = Pipelines(reactor, timer_of(TURN_SECONDS / 10).__next__)
    connections = [Connection(pipelines, 3) for _ in range(7)]
    answered = []
    while reactor.getDelayedCalls():
        reactor.turn()
        counts = [each.answered for each in connections]
        assert max(counts) - min(counts) <= 1
        answered.append(sum(counts))

    assert 3 * 7 == answered[-1]
    assert max(after - before for before, after in zip([0, *answered], answered, strict=False)) < 11


def test_one_that_is_lost_does_not_go_on(reactor: Reactor) -> None:
    pipelines = Pipelines(reactor, timer_of(0).__next__)
    lost, other = Connection(pipelines, 1), Connection(pipelines, 1)
    pipelines.forget(lost.go_on)
    pipelines.forget(lost.go_on)
    reactor.turn()
    assert [0, 1] == [lost.answered, other.answered]

    again = Connection(pipelines, 1)
    pipelines.forget(again.go_on)
    assert [] == reactor.getDelayedCalls()


def test_a_bug_ends_one_connection_and_is_logged(reactor: Reactor) -> None:
    pipelines = Pipelines(reactor, timer_of(0).__next__)
    broken, other = Broken(pipelines, 1), Connection(pipelines, 1)
    with capturedLogs() as events:
        reactor.turn()
    (event,) = events
    assert isinstance(event["log_failure"].value, ZeroDivisionError)
    assert [True, False] == [broken.aborted, other.aborted]
    assert 1 == other.answered
