"""Counts of search parameters that do not exist and are ignored (contract 3)."""

from collections import Counter
from typing import Final

MAX_NAMES: Final = 20  # parameters with a count of their own
OTHERS: Final = "..."  # the count of all further parameters
_MAX_NAME: Final = 40  # bytes


class UnknownParameters:
    """Counts unknown parameters by name; they are no metric, because clients choose the names."""

    def __init__(self) -> None:
        self._counts = Counter[str]()

    def count(self, name: bytes) -> None:
        """Count a parameter; its name is the bytes of the request, with their escapes."""
        label = name[:_MAX_NAME].decode("ascii", "backslashreplace")
        if label not in self._counts and len(self._counts) >= MAX_NAMES:
            label = OTHERS
        self._counts[label] += 1

    def counts(self) -> dict[str, int]:
        """Return the counts, the most frequent first."""
        return dict(sorted(self._counts.items(), key=lambda item: (-item[1], item[0])))
