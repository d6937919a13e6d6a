"""Whether another process of the daemon still answers: neither stopped, nor stuck in something (O3).

It is asked again and again over its link, and answers from the loop that does all its work. What counts
is how often the main process has looked in vain, not how much time has gone by: after the main process
was stuck itself, or the machine was suspended, the clock says that everybody has been silent for long,
although the answers are there and were only not read. Between two looks all that has come is read.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """How often is looked, and how long may be looked in vain."""

    beat: float = 2.5
    """Seconds between two looks."""
    silence: float = 20.0
    """Seconds without an answer after which a process is taken for dead: with a beat more, and what it
    takes to replace it, less than 30."""
    birth: float = 60.0
    """The same for its first answer, which may wait until all is imported."""


class Heartbeat:
    """Of one process.

    Args:
        rhythm: How often, and how long.
        ask: Asks it for a sign of life.
    """

    def __init__(self, rhythm: Rhythm, ask: Callable[[], None]) -> None:
        self._rhythm = rhythm
        self._ask = ask
        self._alive = False  # whether it has ever answered
        self._unanswered = False  # and has not answered yet
        self._missed = 0  # looks in vain since then

    @property
    def silent(self) -> float:
        """Seconds, roughly, in which it owed an answer."""
        return self._missed * self._rhythm.beat

    def answered(self) -> None:
        """It has given a sign of life."""
        self._alive, self._unanswered, self._missed = True, False, 0

    def look(self) -> bool:
        """Look whether it has answered, and ask again if so; returns whether it lives."""
        if self._unanswered:
            self._missed += 1
        else:
            self._unanswered = True
            self._ask()
        return self.silent < (self._rhythm.silence if self._alive else self._rhythm.birth)
