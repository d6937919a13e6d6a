"""A process is taken for dead when it was looked at in vain for long enough, and not before."""

import pytest

from reviewsd.workers.heartbeat import Heartbeat, Rhythm

RHYTHM = Rhythm()


class Patient:
    """A process that answers or does not."""

    def __init__(self) -> None:
        self.asked = 0
        self.heartbeat = Heartbeat(RHYTHM, self._ask)

    def _ask(self) -> None:
        self.asked += 1

    def lives_for(self, most: float = 1_000) -> float:
        """Seconds until it is given up."""
        seconds = 0.0
        while self.heartbeat.look():
            seconds += RHYTHM.beat
            assert seconds < most
        return seconds


@pytest.mark.parametrize("before", [1, 2, 100])
def test_one_that_falls_silent_is_replaced_within_thirty_seconds(before: int) -> None:
    patient = Patient()
    for _ in range(before):
        assert patient.heartbeat.look()
        patient.heartbeat.answered()
    assert RHYTHM.silence <= patient.lives_for() <= RHYTHM.silence + RHYTHM.beat < 30 - 5


def test_the_first_answer_may_take_longer() -> None:
    assert RHYTHM.birth <= Patient().lives_for() <= RHYTHM.birth + RHYTHM.beat


def test_one_question_is_asked_at_a_time() -> None:
    patient = Patient()
    patient.lives_for()
    assert 1 == patient.asked
    patient.heartbeat.answered()
    assert patient.heartbeat.look()
    assert 2 == patient.asked


def test_an_answer_at_the_last_moment_counts() -> None:
    patient = Patient()
    patient.heartbeat.look()
    patient.heartbeat.answered()
    for _ in range(10):
        for _ in range(round(RHYTHM.silence / RHYTHM.beat)):
            assert patient.heartbeat.look()
        patient.heartbeat.answered()
        assert 0 == patient.heartbeat.silent
