"""The valid reviews of a file, newest first, as columns and offsets into the file.

A million objects, or a copy of the file, would take more memory than the file has bytes. A review is
therefore read from the file each time it is needed.
"""

import os
import weakref
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import count
from mmap import ACCESS_READ, mmap
from typing import Self, TypeAlias, TypeVar, overload

from msgspec import Raw

T = TypeVar("T")

Progress = Callable[[str, int, int], None]
"""Called with (stage, done, total) now and then during long work."""

_STEP = 10_000  # items between two calls of Progress

DIGEST = 16
"""Bytes of the digest of a review."""


def reported(items: Iterable[T], total: int, stage: str, progress: Progress) -> Iterator[T]:
    """Yield items, and report their progress now and then and at the end."""
    for done, item in enumerate(items):
        if done % _STEP == 0:
            progress(stage, done, total)
        yield item
    progress(stage, total, total)


class MappedFile(mmap):
    """A mapped file; small parts of it are read without a mapping.

    A slice of a mapping may take two megabytes of memory, the largest page, whatever its size.

    Args:
        descriptor: Descriptor of the file; the caller may close it afterwards.
        size: Bytes of the file.
    """

    _descriptor: int

    def __new__(cls, descriptor: int, size: int) -> Self:
        """Map a file."""
        mapped_file = super().__new__(cls, descriptor, size, access=ACCESS_READ)
        mapped_file._descriptor = os.dup(descriptor)
        weakref.finalize(mapped_file, os.close, mapped_file._descriptor)
        return mapped_file

    def read_at(self, begin: int, size: int) -> bytes:
        """Read a part of the file."""
        return os.pread(self._descriptor, size, begin)


RecordText: TypeAlias = bytes | MappedFile
"""The content of a file, in memory or mapped; a slice of it is bytes."""


def digest(raw: bytes | Raw | memoryview) -> bytes:
    """Return the digest of the text of a review."""
    return blake2b(raw, digest_size=DIGEST).digest()


class Records(Sequence[bytes]):
    """The texts of the reviews of a file; after ``sort`` date descending, then id descending (contract 3).

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
        # These stay in the order of the file.
        self._begins = array("Q")
        self._sizes = array("I")
        self._ratings = bytearray()
        self._digests = bytearray()
        self._order = array("I")
        self._replacements: Mapping[int, bytes] = {}

    @cached_property
    def places(self) -> dict[str, int]:
        """Positions by id after ``sort``; 0.1 GB for a million, so it is built on first use."""
        return dict(zip(self.ids, count(), strict=False))

    @cached_property
    def stars(self) -> Mapping[int, int]:
        """Number of reviews for each rating that occurs, after ``sort``."""
        return Counter(map(self._ratings.__getitem__, self._order))

    def append(
        self, review_id: str, day: int, updated: int, rating: int, begin: int, raw: Raw
    ) -> None:
        """Add a review.

        Args:
            review_id: Its id.
            day: Proleptic ordinal of its date.
            updated: When it changed last (``times.microseconds``).
            rating: Its stars.
            begin: Its offset in the file.
            raw: Its text.
        """
        self.ids.append(review_id)
        self.days.append(day)
        self.updated.append(updated)
        self._begins.append(begin)
        self._sizes.append(len(raw))
        self._ratings.append(rating)
        self._digests += digest(raw)

    def sort(self) -> None:
        """Sort the reviews, newest first."""
        by_day: dict[int, list[int]] = {}
        for number, day in enumerate(self.days):
            by_day.setdefault(day, []).append(number)
        self.days = array("i")
        ids, self.ids = self.ids, []
        for day in sorted(by_day, reverse=True):
            numbers = sorted(by_day[day], key=ids.__getitem__, reverse=True)
            self.days.extend([day] * len(numbers))
            self.ids += [ids[number] for number in numbers]
            self._order.extend(numbers)
        self.updated = array("q", map(self.updated.__getitem__, self._order))

    def corrected(
        self, changes: Mapping[int, bytes | None], updated: Mapping[int, int]
    ) -> "Records":
        """Return a copy with some reviews replaced or removed; ids, days and order stay.

        Args:
            changes: Replacement for the review at a position; None removes it.
            updated: New times of the last change, by position (``times.microseconds``).
        """
        copy = Records(self.text)
        positions = [place for place in range(len(self)) if changes.get(place, b"") is not None]
        copy.ids = [self.ids[position] for position in positions]
        copy.days = array("i", map(self.days.__getitem__, positions))
        copy.updated = array("q", (updated.get(place, self.updated[place]) for place in positions))
        copy._order = array("I", map(self._order.__getitem__, positions))
        copy._begins, copy._sizes, copy._ratings = self._begins, self._sizes, self._ratings
        copy._digests = bytearray(self._digests)
        copy._replacements = {
            self._order[position]: raw for position, raw in changes.items() if raw is not None
        }
        for number, raw in copy._replacements.items():
            copy._digests[number * DIGEST : (number + 1) * DIGEST] = digest(raw)
        return copy

    def by_change(self) -> "array[int]":
        """Return the positions, most recently changed review first."""
        newest = sorted(range(len(self)), key=self.updated.__getitem__, reverse=True)
        return array("I", newest)

    def digests(self, begin: int, end: int) -> bytes:
        """Return the joined digests of the reviews at positions ``begin`` to ``end - 1``."""
        offsets = [number * DIGEST for number in self._order[begin:end]]
        return b"".join([self._digests[offset : offset + DIGEST] for offset in offsets])

    def _raw(self, number: int) -> bytes:
        if number in self._replacements:
            return self._replacements[number]
        begin, size, text = self._begins[number], self._sizes[number], self.text
        if isinstance(text, MappedFile):
            return text.read_at(begin, size)
        return text[begin : begin + size]

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, position: int) -> bytes: ...
    @overload
    def __getitem__(self, position: slice) -> list[bytes]: ...
    def __getitem__(self, position: int | slice) -> bytes | list[bytes]:
        if isinstance(position, slice):
            return [*map(self._raw, self._order[position])]
        return self._raw(self._order[position])
