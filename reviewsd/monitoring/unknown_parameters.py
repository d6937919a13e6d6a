"""Counts of search parameters that do not exist and are ignored (contract 3)."""

from collections import Counter
from typing import Final

from reviewsd.runtime.counters import Counts, key

NAME: Final = "unknown_parameters_total"
"""Name of the counts. They are no metric, because clients choose the labels."""

MAX_NAMES: Final = 20
"""Parameters with a count of their own."""

OTHERS: Final = "..."
"""Label of the count of all further parameters."""

_MAX_NAME: Final = 40  # bytes


class UnknownParameters:
    """Counts unknown parameters by name."""

    def __init__(self) -> None:
        self._counts = Counter[str]()

    def count(self, name: bytes) -> None:
        """Count a parameter; its name is the bytes of the request, with their escapes."""
        label = name[:_MAX_NAME].decode("ascii", "backslashreplace")
        if label not in self._counts and len(self._counts) >= MAX_NAMES:
            label = OTHERS
        self._counts[label] += 1

    def counts(self) -> Counts:
        """Return the counts."""
        return {key(NAME, label): number for label, number in self._counts.items()}


def named(counts: Counts) -> dict[str, int]:
    """Return the counts of unknown parameters among all counts, the most frequent first."""
    numbers = {
        key.partition(" ")[2]: int(number)
        for key, number in counts.items()
        if key.startswith(f"{NAME} ")
    }
    return dict(sorted(numbers.items(), key=lambda item: (-item[1], item[0])))
