"""Searches the texts of a segment of the reviews, by the index that ``snapshot.suffix_array`` writes."""

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import accumulate, islice, pairwise
from mmap import mmap

from pyroaring import BitMap

from reviewsd.snapshot.numbering import SEGMENT

HEADER = 32  # bytes: suffixes, block, stride and bitmaps as numbers of 64 bits

STEP = 16_384  # numbers that are added to a bitmap between two yields
STEP_BYTES = 1 << 20  # bytes that are scanned between two yields, if texts have the average length
FEW = 64  # with at most this many candidates, texts are scanned without the index

Text = bytes | mmap  # slices of both are bytes


class Segment:
    """A segment: consecutive reviews and the index of their texts.

    Args:
        first: The position of the newest review.
        shift: The difference of a number and its position.
        texts: The texts of all segments.
        offsets: The offset of each of them, by position, and one for the end.
        size: The number of reviews in this segment.
        index: The file of its index; None if it is small.
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
        self.first, self.end, self.shift = first, first + size, shift
        self._texts, self._offsets = texts, offsets
        self._begin = offsets[first]
        usual = max(1, (offsets[self.end] - self._begin) // size)
        self._step = max(1, STEP_BYTES // usual)  # texts
        self._index = None if index is None else _SegmentFile(index)

    def matching(
        self, needle: bytes, candidates: Iterable[int], count: int
    ) -> Generator[None, None, BitMap]:
        """Return the numbers of reviews with a casefolded text, complete for ``count`` candidates."""
        if self._index is None or count <= FEW:
            return BitMap((yield from self._scan(needle, iter(candidates))))
        index, texts, begin, size = self._index, self._texts, self._begin, len(needle)

        def key(place: int) -> bytes:
            return texts[begin + place : begin + place + size]

        samples = index.samples
        low = bisect_left(samples, needle, key=key)
        high = bisect_right(samples, needle, low, key=key)
        origin = self.first + self.shift
        border = (origin + place for place in index.border(low, high))
        outside = yield from self._scan(needle, border)
        inside = yield from index.between(low, high)
        return BitMap(outside) | inside.shift(origin)

    def _scan(
        self, needle: bytes, candidates: Iterator[int]
    ) -> Generator[None, None, "array[int]"]:
        """Return the candidates with a text, by a scan of their texts."""
        texts, offsets, shift = self._texts, self._offsets, self.shift
        matches = array("I")
        while some := list(islice(candidates, self._step)):
            matches.extend(
                [n for n in some if needle in texts[offsets[n - shift] : offsets[n - shift + 1]]]
            )
            if len(some) == self._step:
                yield
        return matches


class _SegmentFile:
    """The parts of the file of an index."""

    def __init__(self, content: "memoryview[int]") -> None:
        suffixes, self._block, self._stride, bitmaps = content[:HEADER].cast("Q")
        samples = -(-suffixes // self._block)
        sizes = (8 * bitmaps, 8 * (bitmaps + 1), 4 * samples, 2 * suffixes)
        ends = accumulate(sizes, initial=HEADER)
        keys, bounds, offsets, documents = (content[begin:end] for begin, end in pairwise(ends))
        self._keys, self._ends = keys.cast("Q"), bounds.cast("Q")
        self.samples, self._documents = offsets.cast("I"), documents.cast("H")
        self._bitmaps = content[HEADER + sum(sizes) :]

    def border(self, low: int, high: int) -> Sequence[int]:
        """Return the reviews of the suffixes in the blocks at both ends of a range of samples."""
        documents, block = self._documents, self._block
        before = documents[max(0, low - 1) * block : low * block].tolist()
        if high == low:
            return before
        return before + documents[(high - 1) * block : high * block].tolist()

    def between(self, low: int, high: int) -> Generator[None, None, BitMap]:
        """Return the reviews of the suffixes from the first to the last of a range of samples."""
        if high <= low:
            return BitMap()
        stride = self._stride
        begin, end = low * self._block, (high - 1) * self._block
        first, last = -(-begin // stride), end // stride
        if first < last and (bitmap := self._bitmap(first << 32 | last)) is not None:
            before = self._documents[begin : first * stride]
            return bitmap | bitmap_of(before, self._documents[last * stride : end])
        bitmap = BitMap()
        for at in range(begin, end, STEP):
            bitmap |= bitmap_of(self._documents[at : min(at + STEP, end)])
            yield
        return bitmap

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
    """Return a bitmap of 16-bit places, without a Python object for each."""
    narrow = b"".join(parts)
    wide = bytearray(2 * len(narrow))
    wide[_LOW::4], wide[_LOW + 1 :: 4] = narrow[::2], narrow[1::2]
    places = array("I", wide)
    if len(places) < _MANY:
        return BitMap(places)
    # Inserting into a sorted array takes ten times as long as setting a bit. Roaring uses bits for containers with
    # more than 4,096 members and no long runs, so dummies are added.
    bitmap = _DUMMIES.copy()
    bitmap.update(places)
    return bitmap & _REAL
