"""A segment of the reviews as search reads it: which of them have a piece of text.

What stands in the index is written, and explained, in ``snapshot.suffix_array``.
"""

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from mmap import mmap

from pyroaring import BitMap

from reviewsd.snapshot.numbering import SEGMENT

HEADER = 4  # numbers of 64 bits: suffixes, block, stride, bitmaps

STEP = 16_384
"""Numbers that are made a bitmap between two yields."""

STEP_BYTES = 1 << 20
"""Bytes of texts that are looked at between two yields, where they are of usual length."""

FEW = 64
"""Reviews whose texts are looked at sooner than the index."""

Text = bytes | mmap
"""What is sliced to bytes."""


class Segment:
    """Some neighbouring reviews.

    Args:
        first: The position of the newest.
        shift: What a number has more than a position.
        texts: Of all segments.
        offsets: Where each text begins, by position; one more for the end.
        size: How many reviews there are.
        index: The file; None where there is none, as in small segments.
    """

    def __init__(
        self,
        first: int,
        shift: int,
        texts: Text,
        offsets: Sequence[int],
        size: int,
        index: "memoryview[int] | None",
    ) -> None:
        self.first, self.end = first, first + size
        """Positions."""
        self.shift = shift
        self._texts, self._offsets = texts, offsets
        self._begin = offsets[first]
        usual = max(1, (offsets[self.end] - self._begin) // size)
        self._step = max(1, STEP_BYTES // usual)  # texts
        self._index = None if index is None else _SegmentFile(index)

    def having(
        self, needle: bytes, candidates: Iterable[int], count: int
    ) -> Generator[None, None, BitMap]:
        """The reviews that have a piece of text, among candidates at least.

        Args:
            needle: The piece, casefolded.
            candidates: Numbers.
            count: How many of them.
        """
        if self._index is None or count <= FEW:
            return BitMap((yield from self._looked_up(needle, iter(candidates))))
        index, texts, begin, size = self._index, self._texts, self._begin, len(needle)

        def key(place: int) -> bytes:
            return texts[begin + place : begin + place + size]

        samples = index.samples
        low = bisect_left(samples, needle, key=key)
        high = bisect_right(samples, needle, low, key=key)
        origin = self.first + self.shift
        border = (origin + place for place in index.border(low, high))
        found = yield from self._looked_up(needle, border)
        inside = yield from index.between(low, high)
        return BitMap(found) | inside.shift(origin)

    def _looked_up(
        self, needle: bytes, candidates: Iterator[int]
    ) -> Generator[None, None, "array[int]"]:
        """Those of some numbers whose texts have a piece of text."""
        texts, offsets, shift = self._texts, self._offsets, self.shift
        found = array("I")
        while some := list(islice(candidates, self._step)):
            found.extend(
                [n for n in some if needle in texts[offsets[n - shift] : offsets[n - shift + 1]]]
            )
            if len(some) == self._step:
                yield
        return found


class _SegmentFile:
    """The file of a segment, in parts."""

    def __init__(self, content: "memoryview[int]") -> None:
        suffixes, block, stride, bitmaps = content[: 8 * HEADER].cast("Q")
        self._block, self._stride = block, stride
        at = 8 * HEADER

        def take(size: int) -> "memoryview[int]":
            nonlocal at
            at += size
            return content[at - size : at]

        self._keys = take(8 * bitmaps).cast("Q")
        self._ends = take(8 * (bitmaps + 1)).cast("Q")
        self.samples = take(-(-suffixes // block) * 4).cast("I")
        self._documents = take(2 * suffixes).cast("H")
        self._bitmaps = content[at:]

    def border(self, low: int, high: int) -> Sequence[int]:
        """The reviews of the suffixes before a range of samples, and after its last one."""
        documents, block = self._documents, self._block
        before = documents[max(0, low - 1) * block : low * block].tolist()
        if high == low:
            return before
        return before + documents[(high - 1) * block : high * block].tolist()

    def between(self, low: int, high: int) -> Generator[None, None, BitMap]:
        """The reviews of the suffixes from the first to the last of a range of samples."""
        if high <= low:
            return BitMap()
        stride = self._stride
        begin, end = low * self._block, (high - 1) * self._block
        first, last = -(-begin // stride), end // stride
        if first < last and (known := self._bitmap(first << 32 | last)) is not None:
            before = self._documents[begin : first * stride]
            return known | bitmap_of(before, self._documents[last * stride : end])
        found = BitMap()
        for at in range(begin, end, STEP):
            found |= bitmap_of(self._documents[at : min(at + STEP, end)])
            yield
        return found

    def _bitmap(self, key: int) -> BitMap | None:
        row = bisect_left(self._keys, key)
        if row == len(self._keys) or self._keys[row] != key:
            return None
        begin, end = self._ends[row : row + 2]
        return BitMap.deserialize(self._bitmaps[begin:end])  # type: ignore[arg-type]  # copies it


_LOW = 0 if sys.byteorder == "little" else 2

_MANY = 256  # numbers

_DUMMIES = BitMap([*range(SEGMENT, 1 << 16, 2), SEGMENT + 1])
_REAL = BitMap(range(SEGMENT))


def bitmap_of(*parts: "memoryview[int]") -> BitMap:
    """A bitmap of 16-bit places, made without a Python object for each."""
    narrow = b"".join(parts)
    wide = bytearray(2 * len(narrow))
    wide[_LOW::4], wide[_LOW + 1 :: 4] = narrow[::2], narrow[1::2]
    places = array("I", wide)
    if len(places) < _MANY:
        return BitMap(places)
    # To insert into a sorted array takes ten times as long as to set a bit. Roaring keeps as bits what has more
    # than 4,096 members and no long runs, as the dummies.
    found = _DUMMIES.copy()
    found.update(places)
    return found & _REAL
