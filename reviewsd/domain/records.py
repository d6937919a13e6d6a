"""The valid reviews of a file, newest first, where they stand in it.

Kept as columns: a million objects would take more memory than the file has bytes. So does a copy of
the file, which is why a review is cut out of it when it is asked for.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from mmap import mmap
from typing import NamedTuple, Protocol, TypeAlias, overload

from msgspec import Struct

RecordText: TypeAlias = bytes | mmap
"""The content of a file, in memory or mapped; a slice of it is bytes."""


class Record(NamedTuple):
    """One valid review as it stands in the file."""

    day: int
    """Proleptic ordinal of its date."""
    id: str
    raw: bytes


class RunFacts(Struct, frozen=True, array_like=True, gc=False):
    """What is to be known of neighbouring reviews of a file, all valid, in the order of the file."""

    ids: list[str]
    days: list[int]
    """Proleptic ordinals of the dates."""
    stars: dict[int, int]
    """Number of reviews for each rating that occurs."""
    latest: int
    """Ordinal of the latest review or reply date; 0 where there is no review."""


class KnownRuns(Protocol):
    """Runs of reviews that were found valid before, and those of this time."""

    def find(self, key: bytes, /) -> RunFacts | None:
        """The facts of the run whose text has that digest; None where it is not known."""

    def keep(self, key: bytes, facts: RunFacts, /) -> None:
        """Note those of a valid run."""


class Records(Sequence[Record]):
    """All of them, once they are sorted: date descending, then id descending (contract 3).

    Args:
        text: The file.
    """

    def __init__(self, text: RecordText) -> None:
        self.text = text
        self.days = array("i")
        """Proleptic ordinals of the dates."""
        self.ids: list[str] = []
        self.places: dict[str, int] = {}
        """By id: the number of the item in the file; once they are sorted, the position here."""
        self._begins = array("Q")
        self._sizes = array("I")

    def extend(
        self, ids: Iterable[str], days: Iterable[int], begins: Iterable[int], sizes: Iterable[int]
    ) -> None:
        """More of them: ids, ordinals of dates, where each begins in the file, and how many bytes it has."""
        self.ids.extend(ids)
        self.days.extend(days)
        self._begins.extend(begins)
        self._sizes.extend(sizes)

    def sort(self) -> None:
        """Put the newest first."""
        order = sorted(range(len(self)), key=self.ids.__getitem__, reverse=True)
        order.sort(key=self.days.__getitem__, reverse=True)
        self.ids = [self.ids[each] for each in order]
        self.days = array("i", [self.days[each] for each in order])
        self._begins = array("Q", [self._begins[each] for each in order])
        self._sizes = array("I", [self._sizes[each] for each in order])
        self.places.update((each, position) for position, each in enumerate(self.ids))

    def raws(self, begin: int, end: int) -> Iterator[bytes]:
        """The reviews from a position to the one before another, as they stand in the file."""
        text = self.text
        for at, size in zip(self._begins[begin:end], self._sizes[begin:end], strict=True):
            yield text[at : at + size]

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, position: int) -> Record: ...
    @overload
    def __getitem__(self, position: slice) -> list[Record]: ...
    def __getitem__(self, position: int | slice) -> Record | list[Record]:
        if isinstance(position, slice):
            return [self[each] for each in range(*position.indices(len(self)))]
        begin = self._begins[position]
        raw = self.text[begin : begin + self._sizes[position]]
        return Record(self.days[position], self.ids[position], raw)
