"""Counts of what happens, for whoever asks how much of it there was (security-and-operations.md O9).

Everything is a number under a name and the values of its labels, in one string. What only grows has a
name that ends in ``_total``, ``_bucket`` or ``_sum``, as in Prometheus; every other name is a level, such
as open connections.

There are no locks: what counts, counts in the reactor's thread.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds; the upper ends of the buckets that durations are sorted into, but for the last one."""

QUICK = BOUNDS[0]
"""Seconds; what takes less is in the first bucket, which is not even counted."""

Counts = Mapping[str, float]

_BUCKETS = (*map(str, BOUNDS), "+Inf")


def key(name: str, *labels: str) -> str:
    """What a number is found under; the values of labels have no blanks."""
    return " ".join((name, *labels))


class Durations:
    """How often something was done, and how long it took.

    Whoever is in a hurry adds to ``count`` and ``seconds`` himself, and calls ``slow`` for what was not
    quick.
    """

    __slots__ = ("_slow", "count", "seconds")

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0
        self._slow = [0] * (len(BOUNDS) + 1)

    def add(self, seconds: float) -> None:
        """Count one measurement."""
        self.count += 1
        self.seconds += seconds
        if seconds > QUICK:
            self.slow(seconds)

    def slow(self, seconds: float) -> None:
        """Put a measurement above ``QUICK`` into its bucket."""
        self._slow[bisect_left(BOUNDS, seconds)] += 1

    def counts(self, name: str, *labels: str) -> dict[str, float]:
        """Under each bucket's bound the number of those that took at most so long; and the sum."""
        counts = {key(f"{name}_sum", *labels): self.seconds}
        within = self.count - sum(self._slow)
        for bound, more in zip(_BUCKETS, self._slow, strict=True):
            within += more
            counts[key(f"{name}_bucket", *labels, bound)] = within
        return counts


class Counters:
    """What one process counts."""

    def __init__(self) -> None:
        self._counts = Counter[str]()
        self._durations: dict[str, Durations] = {}
        self._sources: list[Callable[[], Counts]] = []

    def count(self, name: str, *labels: str) -> None:
        """Something happened once more.

        Args:
            name: Ends in ``_total``.
            labels: Values from closed sets: never what a stranger says.
        """
        self._counts[key(name, *labels)] += 1

    def measure(self, name: str, seconds: float) -> None:
        """Something took so long."""
        durations = self._durations.get(name)
        if durations is None:
            durations = self._durations[name] = Durations()
        durations.add(seconds)

    def include(self, source: Callable[[], Counts]) -> None:
        """Have what others count in their own way told with the rest."""
        self._sources.append(source)

    def counts(self) -> dict[str, float]:
        """All of it, as it is now."""
        measured = [each.counts(name) for name, each in self._durations.items()]
        return merged(self._counts, *measured, *(source() for source in self._sources))


def merged(*snapshots: Counts) -> dict[str, float]:
    """The sums of several counts."""
    sums: dict[str, float] = {}
    for snapshot in snapshots:
        for name, number in snapshot.items():
            sums[name] = sums.get(name, 0) + number
    return sums
