"""Segments, and the numbers of their reviews.

Each segment has an index of its own (``snapshot.suffix_array``). The division starts at the oldest review, so that
new reviews change only the newest segment, and the next publication reuses the indexes of the others.

A *position* counts all reviews, newest first. A *number* has the segment in its upper bits and the place within it
in the lower 16, so a segment is one container of Roaring. Numbers ascend with positions.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

SEGMENT = 14 << 12  # most reviews: 8,192 fewer than numbers, because of ``text_index.bitmap_of``
SEGMENT_BYTES = 1 << 25  # most bytes of texts of several reviews; sorting takes 9 times as much


def divided(count: int) -> list[int]:
    """Return the number of reviews in each segment, newest first, by their count alone."""
    newest = count % SEGMENT
    return [newest] * bool(newest) + [SEGMENT] * (count // SEGMENT)


def fitting(sizes: Sequence[int]) -> list[int]:
    """Divide a segment with texts of these sizes; return the number of reviews in each part."""
    if sum(sizes) <= SEGMENT_BYTES:
        return [len(sizes)]
    counts, total = [0], 0
    for size in reversed(sizes):
        if counts[-1] and total + size > SEGMENT_BYTES:
            counts.append(0)
            total = 0
        counts[-1] += 1
        total += size
    return counts[::-1]


class Numbering:
    """Turns positions into numbers and back."""

    def __init__(self, sizes: Iterable[int]) -> None:
        self.begins = [0, *accumulate(sizes)]
        """The position of the first review of each segment, and one for the end."""
        segments = range(max(1, len(self.begins) - 1))
        self.shifts = [(segment << 16) - self.begins[segment] for segment in segments]
        """The difference of numbers and positions in each segment."""

    def number(self, position: int) -> int:
        """Return the number of a position, or of the end of all."""
        segment = bisect_right(self.begins, position) - 1
        return position + self.shifts[min(segment, len(self.shifts) - 1)]

    def positions(self, numbers: Sequence[int]) -> Sequence[int]:
        """Return the positions of numbers."""
        shifts = self.shifts
        if len(shifts) == 1:  # positions and numbers are equal
            return numbers
        return [number - shifts[number >> 16] for number in numbers]

    def position(self, number: int) -> int:
        """Return the position of a number."""
        return number - self.shifts[number >> 16]
