"""Segments, and the numbers of their reviews.

The reviews are divided into segments of at most 57,344, each with an index of its own
(``snapshot.suffix_array``). They are divided from the oldest review on, so that new ones change only
the newest segment, and the index of every other can be taken over by the next publication.

A *position* counts all reviews, newest first. A *number* has the segment in its upper bits and the
place within it in the lower 16. Numbers ascend as positions do. Roaring keeps a segment in one container, and
its index stays the same when newer segments come before it.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

SEGMENT = 14 << 12
"""Reviews of a segment at most: 8,192 fewer than numbers (``text_index.bitmap_of`` says what for)."""

SEGMENT_BYTES = 1 << 25
"""Of its texts, unless it has a single one: what sorts them takes 9 times as much memory."""


def divided(count: int) -> list[int]:
    """How many reviews each segment has by their number alone, newest first."""
    newest = count % SEGMENT
    return [newest] * bool(newest) + [SEGMENT] * (count // SEGMENT)


def fitting(sizes: Sequence[int], limit: int | None = None) -> list[int]:
    """How many reviews each segment has where the texts of one are too large, newest first.

    Args:
        sizes: Of the texts of all its reviews, in bytes, newest first.
        limit: Bytes of a segment.
    """
    limit = SEGMENT_BYTES if limit is None else limit
    if sum(sizes) <= limit:
        return [len(sizes)]
    counts, total = [0], 0
    for size in reversed(sizes):
        if counts[-1] and total + size > limit:
            counts.append(0)
            total = 0
        counts[-1] += 1
        total += size
    return counts[::-1]


class Numbering:
    """Turns positions into numbers and back.

    Args:
        sizes: How many reviews each segment has, newest first.
    """

    def __init__(self, sizes: Iterable[int]) -> None:
        self.begins = [0, *accumulate(sizes)]
        """The position of the first review of each segment; one more for the end."""
        last = max(1, len(self.begins) - 1)
        self.shifts = [(at << 16) - self.begins[at] for at in range(last)]
        """By segment: what its numbers have more than its positions."""

    def number(self, position: int) -> int:
        """Of a review; of the end of all too."""
        segment = bisect_right(self.begins, position) - 1
        return position + self.shifts[min(segment, len(self.shifts) - 1)]

    def positions(self, numbers: Sequence[int]) -> Sequence[int]:
        """Of the reviews of some numbers."""
        shifts = self.shifts
        if len(shifts) == 1:  # they are the same
            return numbers
        return [number - shifts[number >> 16] for number in numbers]

    def position(self, number: int) -> int:
        """Of the review of a number."""
        return number - self.shifts[number >> 16]
