"""Writes the index of a segment's texts, which finds the reviews with a text without a scan.

All suffixes of all texts of the segment are sorted. The suffixes with a common prefix are then adjacent, and
two bisections find them. The index has the review of each suffix (the document array, Muthukrishnan 2002: 2
bytes), and the offset of one suffix in ``BLOCK`` (the samples). The suffixes between the last sample and the end
of a range are looked up in the texts (``snapshot.text_index``).

Frequent texts have long ranges. So every ``stride``-th suffix is a mark. Each maximal set of adjacent marks with
a common prefix, longer than that of the marks around them, has the reviews between them as a Roaring bitmap.
These are the inner nodes of a suffix tree of the marks. There are fewer of them than marks, and the marks in
the range of any text are exactly one of them.

This module runs only in the publishing process. It calls libdivsufsort without the Python part of
``pydivsufsort``, which imports numpy in a tenth of a second: too long for data of a thousand reviews.

    header      suffixes, block, stride, bitmaps: numbers of 64 bits, as are the next two
    keys        first mark << 32 | last mark, of each bitmap, ascending
    ends        the offset 0, then the end of each bitmap
    samples     32 bits
    documents   16 bits: places in the segment, ascending within a block
    bitmaps     of places, as CRoaring serializes them
"""

import ctypes
import importlib.util
from array import array
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate, chain, pairwise, repeat
from pathlib import Path
from typing import TypeAlias

from pyroaring import BitMap

from reviewsd.snapshot.layout import File, Writer
from reviewsd.snapshot.text_index import bitmap_of

BLOCK = 8  # suffixes for each sample; a search looks up two blocks in the texts

STRIDE = 256, 32
"""Suffixes for each mark: at least the first number, and the reviews divided by the second, rounded up to a
power of two. A search makes a bitmap of less than two strides; shorter ones need more bitmaps on disk."""

SEPARATOR = 0xFF  # ends each text of the text column: a byte that UTF-8 never contains
MAX_PREFIX = 4_096  # bytes; longer than any text in a query
LARGE = 1 << 21  # bytes of texts from which numpy is used

_PART = 1 << 20  # suffixes
_NO_MEMORY = -2  # returned by divsufsort

Positions: TypeAlias = "array[int] | memoryview[int]"


class SortError(Exception):
    """The sorter failed."""


def stride_of(reviews: int) -> int:
    """Return the stride of a segment with a number of reviews."""
    least, share = STRIDE
    return 1 << (max(least, reviews // share) - 1).bit_length()


def write(folder: Path, name: str, texts: bytes, sizes: Sequence[int]) -> File:
    """Write the index of a segment with ``folded`` texts, joined, and the size of each.

    Raises:
        SortError: The texts cannot be sorted.
    """
    order = sort(texts)
    stride = stride_of(len(sizes))
    documents, ascending = _documents(order, sizes, stride)
    bitmaps = sorted(_bitmaps(texts, order[::stride], ascending, stride))
    writer = Writer(folder, name)
    writer.write(array("Q", [len(order), BLOCK, stride, len(bitmaps)]).tobytes())
    writer.write(array("Q", [key for key, _ in bitmaps]).tobytes())
    sizes_of_bitmaps = (len(bitmap) for _, bitmap in bitmaps)
    writer.write(array("Q", accumulate(sizes_of_bitmaps, initial=0)).tobytes())
    writer.write(order[::BLOCK].tobytes())
    writer.write(memoryview(documents).cast("B"))
    for _, bitmap in bitmaps:
        writer.write(bitmap)
    return writer.close()


def sort(texts: bytes) -> "array[int]":
    """Return the offsets of all suffixes in their sorted order.

    Raises:
        SortError: The texts are too long for 32 bits.
    """
    if len(texts) >= 1 << 31:
        raise SortError(f"{len(texts)} bytes of texts are too many")
    order = array("i", [0]) * len(texts)
    failure = _divsufsort()(texts, order.buffer_info()[0], len(texts))
    if failure:
        raise MemoryError if failure == _NO_MEMORY else SortError(f"divsufsort returned {failure}")
    return order


@cache
def _divsufsort() -> "ctypes._NamedFuncPointer":
    """Return the C function, which releases the GIL while it runs."""
    package = importlib.util.find_spec("pydivsufsort")
    places = [] if package is None else package.submodule_search_locations or []
    libraries = sorted(chain.from_iterable(Path(at).glob("libdivsufsort.*") for at in places))
    if not libraries:
        raise SortError("pydivsufsort is not installed, or without its library")
    function = ctypes.CDLL(str(libraries[0])).divsufsort
    function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int32]
    function.restype = ctypes.c_int32
    return function


def _documents(
    order: "array[int]", sizes: Sequence[int], stride: int
) -> tuple[Positions, Positions]:
    """Return the review of each suffix, sorted in each block, and sorted in each stride."""
    if len(order) < LARGE:
        owners = list(chain.from_iterable(map(repeat, range(len(sizes)), sizes)))
        documents = array("H", map(owners.__getitem__, order))
        return documents, documents
    import numpy as np  # noqa: PLC0415  takes a tenth of a second, for large data alone

    owner = np.repeat(np.arange(len(sizes), dtype=np.uint16), np.asarray(sizes, np.int64))
    documents_of_blocks = np.empty(len(order), np.uint16)
    for begin in range(0, len(order), _PART):  # numpy uses 64 bits for each index
        part = slice(begin, begin + _PART)
        documents_of_blocks[part] = owner[np.frombuffer(order, np.int32)[part]]
    ascending = documents_of_blocks.copy()
    for size, rows in ((BLOCK, documents_of_blocks), (stride, ascending)):
        # not kind="stable": equal numbers are interchangeable, and rows of eight take a sixth of the time
        rows[: len(rows) // size * size].reshape(-1, size).sort(axis=1)
    return memoryview(documents_of_blocks.data), memoryview(ascending.data)


def _bitmaps(
    texts: bytes, marks: "array[int]", documents: Positions, stride: int
) -> Iterator[tuple[int, bytes]]:
    """Return the bitmap of each set of marks with a common prefix, by its key."""
    places = memoryview(documents)
    # A stack of nested sets that are not complete: length of the prefix, first mark, reviews.
    open_sets: list[tuple[int, int, BitMap]] = []
    prefixes = chain((_common_prefix(texts, *pair) for pair in pairwise(marks)), [0])
    for mark, common in enumerate(prefixes):
        first, within = mark, BitMap()
        while open_sets and open_sets[-1][0] > common:
            _, first, ended = open_sets.pop()
            ended |= within
            ended.run_optimize()
            yield first << 32 | mark, ended.serialize()
            within = ended
        if not common:
            continue
        if not open_sets or open_sets[-1][0] < common:
            open_sets.append((common, first, BitMap()))
        outer = open_sets[-1][2]
        outer |= within
        outer |= bitmap_of(places[mark * stride : (mark + 1) * stride])


def _common_prefix(texts: bytes, first: int, second: int) -> int:
    """Return the length of the common prefix of two suffixes, which ends with a text."""
    start, size = 0, 16
    while size < MAX_PREFIX:
        piece = texts[first : first + size]
        if SEPARATOR in piece or piece != texts[second : second + size]:
            break
        start, size = size, size * 2
    rest = texts[second + start : second + size]
    pairs = zip(texts[first + start : first + size], rest, strict=False)
    for count, (byte, second_byte) in enumerate(pairs, start):
        if byte != second_byte or byte == SEPARATOR:
            return count
    return min(size, MAX_PREFIX)
