"""Search parameters that do not exist: they are ignored, and counted for the operator (contract 3)."""

from collections import Counter
from typing import Final

from reviewsd.runtime.counters import Counts, key

NAME: Final = "unknown_parameters_total"
"""Under which they are counted, each with its name; no metric, since strangers invent names."""

MAX_NAMES: Final = 20
"""That are told apart."""

OTHERS: Final = "..."
"""The name of all further ones."""

_LONGEST: Final = 40  # bytes of a name


class UnknownParameters:
    """Counts them."""

    def __init__(self) -> None:
        self._counts = Counter[str]()

    def count(self, name: bytes) -> None:
        """One was given; its name is as it came, escapes and all."""
        shown = name[:_LONGEST].decode("ascii", "backslashreplace")
        if shown not in self._counts and len(self._counts) >= MAX_NAMES:
            shown = OTHERS
        self._counts[shown] += 1

    def counts(self) -> Counts:
        """How often each was given."""
        return {key(NAME, name): number for name, number in self._counts.items()}


def named(counts: Counts) -> dict[str, int]:
    """Return the counts of parameters among all counts, the most frequent first."""
    found = {
        label: int(number)
        for each, number in counts.items()
        for name, _, label in [each.partition(" ")]
        if name == NAME
    }
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
