"""The valid reviews of a file, newest first, where they stand in it.

Kept as columns: a million objects would take more memory than the file has bytes. So does a copy of
the file, which is why a review is cut out of it when it is asked for.
"""

import os
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import count
from mmap import ACCESS_READ, mmap
from typing import NamedTuple, Protocol, Self, TypeAlias, overload

from msgspec import Raw, Struct

Progress = Callable[[str, int, int], None]
"""Called with (stage, done, total) now and then during long work."""

DIGEST = 16
"""Bytes of the digest of a review."""


class MappedFile(mmap):
    """A file that is mapped, and read where only parts of it are wanted here and there.

    A slice of a mapping may take two megabytes of memory, the largest page, whatever its size.

    Args:
        descriptor: Of the file; it may be closed.
        size: Bytes of the file.
    """

    _descriptor: int

    def __new__(cls, descriptor: int, size: int) -> Self:
        """Map a file."""
        made = super().__new__(cls, descriptor, size, access=ACCESS_READ)
        made._descriptor = os.dup(descriptor)
        weakref.finalize(made, os.close, made._descriptor)
        return made

    def read_at(self, begin: int, size: int) -> bytes:
        """A part of it."""
        return os.pread(self._descriptor, size, begin)


RecordText: TypeAlias = bytes | MappedFile
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
    updated: bytes
    """64-bit integers: when each changed last (``times.microseconds``)."""
    stars: dict[int, int]
    """Number of reviews for each rating that occurs."""
    latest: int
    """Ordinal of the latest review or reply date; 0 where there is no review."""
    digests: bytes
    """Of each review (``digest``), joined."""


class KnownRuns(Protocol):
    """Runs of reviews that were found valid before, and those of this time."""

    def find(self, key: bytes, /) -> RunFacts | None:
        """The facts of the run whose text has that digest; None where it is not known."""

    def keep(self, key: bytes, facts: RunFacts, /) -> None:
        """Note those of a valid run."""


def digest(raw: bytes | Raw | memoryview) -> bytes:
    """Stands for the text of a review, or of many."""
    return blake2b(raw, digest_size=DIGEST).digest()


class Records(Sequence[Record]):
    """All of them, once they are sorted: date descending, then id descending (contract 3).

    Args:
        text: The file.
    """

    def __init__(self, text: RecordText) -> None:
        self.text = text
        self.days = array("i")
        """Proleptic ordinals of the dates."""
        self.updated = array("q")
        """When each changed last (``times.microseconds``)."""
        self.ids: list[str] = []
        # These in the order of the file: where each begins, how many bytes it has, and its digest.
        self._begins = array("Q")
        self._sizes = array("I")
        self._digests = bytearray()
        self._order = array("I")
        self._corrected: Mapping[int, bytes] = {}  # what is served in place of a part of the file

    @cached_property
    def places(self) -> dict[str, int]:
        """By id the position, once they are sorted. Made when it is asked for: 0.1 GB for a million."""
        return dict(zip(self.ids, count(), strict=False))

    def extend(self, facts: RunFacts, begins: Iterable[int], sizes: Iterable[int]) -> None:
        """More of them: what is known of them, where each begins in the file, and how many bytes it has."""
        self.ids.extend(facts.ids)
        self.updated.frombytes(facts.updated)
        self.days.extend(facts.days)
        self._begins.extend(begins)
        self._sizes.extend(sizes)
        self._digests += facts.digests

    def sort(self) -> None:
        """Put the newest first."""
        by_day: dict[int, list[int]] = {}
        for number, day in enumerate(self.days):
            by_day.setdefault(day, []).append(number)
        self.days = array("i")
        ids, self.ids = self.ids, []
        for day in sorted(by_day, reverse=True):
            numbers = sorted(by_day[day], key=ids.__getitem__, reverse=True)
            self.days.extend([day] * len(numbers))
            self.ids += [ids[each] for each in numbers]
            self._order.extend(numbers)
        self.updated = array("q", map(self.updated.__getitem__, self._order))

    def corrected(
        self, changes: Mapping[int, bytes | None], updated: Mapping[int, int]
    ) -> "Records":
        """Return the reviews with some replaced or left out; their ids, days and order stay.

        Args:
            changes: By position what takes the place of a review; None leaves it out.
            updated: By position when it changed last (``times.microseconds``), where that has changed.
        """
        made = Records(self.text)
        positions = [each for each in range(len(self)) if changes.get(each, b"") is not None]
        made.ids = [self.ids[each] for each in positions]
        made.days = array("i", map(self.days.__getitem__, positions))
        made.updated = array("q", (updated.get(each, self.updated[each]) for each in positions))
        made._order = array("I", map(self._order.__getitem__, positions))
        made._begins, made._sizes = self._begins, self._sizes
        made._digests = bytearray(self._digests)
        made._corrected = {
            self._order[position]: raw for position, raw in changes.items() if raw is not None
        }
        for number, raw in made._corrected.items():
            made._digests[number * DIGEST : (number + 1) * DIGEST] = digest(raw)
        return made

    def by_change(self) -> "array[int]":
        """Return the positions, the review that changed last first."""
        newest = sorted(range(len(self)), key=self.updated.__getitem__, reverse=True)
        return array("I", newest)

    def digests(self, begin: int, end: int) -> bytes:
        """Those of the reviews from a position to the one before another, joined."""
        places = [number * DIGEST for number in self._order[begin:end]]
        return b"".join([self._digests[at : at + DIGEST] for at in places])

    def raws(self, begin: int, end: int) -> Iterator[bytes]:
        """The reviews from a position to the one before another, as they stand in the file."""
        for number in self._order[begin:end]:
            yield self._raw(number)

    def _raw(self, number: int) -> bytes:
        if number in self._corrected:
            return self._corrected[number]
        begin, size, text = self._begins[number], self._sizes[number], self.text
        if isinstance(text, MappedFile):
            return text.read_at(begin, size)
        return text[begin : begin + size]

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, position: int) -> Record: ...
    @overload
    def __getitem__(self, position: slice) -> list[Record]: ...
    def __getitem__(self, position: int | slice) -> Record | list[Record]:
        if isinstance(position, slice):
            return [self[each] for each in range(*position.indices(len(self)))]
        return Record(self.days[position], self.ids[position], self._raw(self._order[position]))
