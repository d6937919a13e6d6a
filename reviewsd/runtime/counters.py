"""Counters, durations and gauges of the process (security-and-operations.md O9).

A key is the name and the values of the labels in one string. Names of numbers that only grow end in
``_total``, ``_bucket`` or ``_sum``, as in Prometheus; every other number is a gauge, such as open
connections. There are no locks: all counting is done in the reactor's thread.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the buckets of durations, in seconds; the last bucket has none."""

QUICK = BOUNDS[0]
"""Upper bound of the first bucket in seconds, whose count is that of all minus the slower ones."""

BUCKETS = (*map(str, BOUNDS), "+Inf")
"""The bounds as labels."""

Counts = Mapping[str, float]


def key(name: str, *labels: str) -> str:
    """Return the key of a number; the values of labels have no blanks."""
    return " ".join((name, *labels))


class Durations:
    """A histogram of durations.

    A hot path adds to ``count`` and ``seconds`` itself, and calls ``slow`` for durations above ``QUICK``.
    """

    __slots__ = ("_slow_buckets", "count", "seconds")

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0
        self._slow_buckets = [0] * len(BUCKETS)

    def add(self, seconds: float) -> None:
        """Count a duration."""
        self.count += 1
        self.seconds += seconds
        if seconds > QUICK:
            self.slow(seconds)

    def slow(self, seconds: float) -> None:
        """Count a duration above ``QUICK`` in its bucket."""
        self._slow_buckets[bisect_left(BOUNDS, seconds)] += 1

    def counts(self, name: str, *labels: str) -> dict[str, float]:
        """Return the sum, and for each bound the number of durations up to it."""
        counts = {key(f"{name}_sum", *labels): self.seconds}
        cumulative = self.count - sum(self._slow_buckets)
        for bound, number in zip(BUCKETS, self._slow_buckets, strict=True):
            cumulative += number
            counts[key(f"{name}_bucket", *labels, bound)] = cumulative
        return counts


class Counters:
    """All counts of the process."""

    def __init__(self) -> None:
        self._counts = Counter[str]()
        self._durations: defaultdict[str, Durations] = defaultdict(Durations)
        self._sources: list[Callable[[], Counts]] = []

    def count(self, name: str, *labels: str) -> None:
        """Add one to a counter.

        Args:
            name: A name that ends in ``_total``.
            labels: Values from closed sets, never text of a client.
        """
        self._counts[key(name, *labels)] += 1

    def measure(self, name: str, seconds: float) -> None:
        """Add a duration to the histogram of a name."""
        self._durations[name].add(seconds)

    def include(self, *sources: Callable[[], Counts]) -> None:
        """Add functions that return further counts."""
        self._sources += sources

    def counts(self) -> dict[str, float]:
        """Return all counts."""
        histograms = [durations.counts(name) for name, durations in self._durations.items()]
        return merged(self._counts, *histograms, *(source() for source in self._sources))


def merged(*counts: Counts) -> dict[str, float]:
    """Return the sums of several counts, gauges included."""
    sums: dict[str, float] = {}
    for numbers in counts:
        for name, number in numbers.items():
            sums[name] = sums.get(name, 0) + number
    return sums
