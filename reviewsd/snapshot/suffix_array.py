"""Writes the index of a segment's texts: which reviews have a piece of text, without a scan.

All suffixes of all texts of the segment are sorted. Those that begin with a piece of text are then
neighbours, and two bisections find them. Of each suffix only its review is kept (the document array, Muthukrishnan
2002: 2 bytes), and of one in ``BLOCK`` where it begins (the samples). What both ends of the range leave open is
looked up in the texts (``snapshot.text_index``).

Frequent pieces of text have long ranges. So at every ``stride``-th suffix there is a mark, and each set of
neighbouring marks whose suffixes begin alike, longer than those around them, has the reviews between them as a
Roaring bitmap. These are the inner nodes of a suffix tree of the marks: fewer than there are marks, and
the marks in the range of any piece of text are just one of them.

This module runs in the publishing process alone. The sorter is libdivsufsort as ``pydivsufsort`` ships it. It is
called without that package's Python part, which needs numpy: importing that takes a tenth of a second, which
data of a thousand reviews should not pay. For large data numpy saves more than it costs.

    header      suffixes, block, stride, bitmaps: numbers of 64 bits, as are the next two
    keys        first mark << 32 | last mark, of each bitmap, ascending
    ends        where each bitmap ends; before them the 0 where the first begins
    samples     32 bits
    documents   16 bits: places in the segment, ascending within a block
    bitmaps     of places, as CRoaring serialises them
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

BLOCK = 8
"""Suffixes of which one is a sample: two blocks are looked up in the texts for each search."""

STRIDE = 256, 32
"""Suffixes from mark to mark: at least so many, and the reviews by so many, as a power of two. A
search makes a bitmap of fewer than two strides; shorter ones make more bitmaps on disk."""

SEPARATOR = 0xFF
"""Ends each text of the text column: a byte that UTF-8 never contains."""

MAX_PREFIX = 4_096
"""Bytes: longer than any text that can be searched for."""

LARGE = 1 << 21
"""Bytes of texts from which on numpy is used."""

_PART = 1 << 20  # suffixes

Positions: TypeAlias = "array[int] | memoryview[int]"


class SortError(Exception):
    """The sorter failed."""


def stride_of(reviews: int) -> int:
    """The stride of a segment with so many reviews."""
    least, share = STRIDE
    return 1 << (max(least, reviews // share) - 1).bit_length()


def write(folder: Path, name: str, texts: bytes, sizes: Sequence[int]) -> File:
    """Write the index of a segment.

    Args:
        folder: Where.
        name: Of the file.
        texts: Casefolded, each ended by the separator.
        sizes: Bytes of each, with its separator.

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
    writer.write(array("Q", accumulate((len(each) for _, each in bitmaps), initial=0)).tobytes())
    writer.write(order[::BLOCK].tobytes())
    writer.write(memoryview(documents).cast("B"))
    for _, each in bitmaps:
        writer.write(each)
    return writer.close()


def sort(texts: bytes) -> "array[int]":
    """Where each suffix begins, in their order.

    Raises:
        MemoryError: There is too little.
        SortError: The texts are too long for 32 bits.
    """
    if len(texts) >= 1 << 31:
        raise SortError(f"{len(texts)} bytes of texts are too many")
    order = array("i", [0]) * len(texts)
    places = (ctypes.c_int32 * len(order)).from_buffer(order)
    failed = _divsufsort()(texts, places, len(texts))
    del places  # else the array could not be resized
    if failed == _NO_MEMORY:
        raise MemoryError
    if failed:
        raise SortError(f"divsufsort returned {failed}")
    return order


_NO_MEMORY = -2


@cache
def _divsufsort() -> "ctypes._NamedFuncPointer":
    """The C function. It leaves other threads the interpreter while it works."""
    package = importlib.util.find_spec("pydivsufsort")
    places = [] if package is None else package.submodule_search_locations or []
    found = sorted(chain.from_iterable(Path(each).glob("libdivsufsort.*") for each in places))
    if not found:
        raise SortError("pydivsufsort is not installed, or without its library")
    function = ctypes.CDLL(str(found[0])).divsufsort
    function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int32]
    function.restype = ctypes.c_int32
    return function


def _documents(
    order: "array[int]", sizes: Sequence[int], stride: int
) -> tuple[Positions, Positions]:
    """The review of each suffix: ascending in each block, and ascending in each stride."""
    if len(order) < LARGE:
        owners = list(chain.from_iterable(map(repeat, range(len(sizes)), sizes)))
        documents = array("H", map(owners.__getitem__, order))
        return documents, documents
    import numpy as np  # noqa: PLC0415  takes a tenth of a second, for large data alone

    owner = np.repeat(np.arange(len(sizes), dtype=np.uint16), np.asarray(sizes, np.int64))
    found = np.empty(len(order), np.uint16)
    for begin in range(0, len(order), _PART):  # numpy makes 64 bits of each that it looks up
        part = slice(begin, begin + _PART)
        found[part] = owner[np.frombuffer(order, np.int32)[part]]
    ascending = found.copy()
    for size, rows in ((BLOCK, found), (stride, ascending)):
        # not kind="stable": equal numbers are one another, and rows of eight take a sixth of its time
        rows[: len(rows) // size * size].reshape(-1, size).sort(axis=1)
    return memoryview(found.data), memoryview(ascending.data)


def _bitmaps(
    texts: bytes, marks: "array[int]", documents: Positions, stride: int
) -> Iterator[tuple[int, bytes]]:
    """The bitmap of each set of marks that begin alike, by its key."""
    places = memoryview(documents)
    # Sets of marks under way, each within the one before it: bytes alike, first mark, reviews.
    open_sets: list[tuple[int, int, BitMap]] = []
    alike = chain((_alike(texts, *pair) for pair in pairwise(marks)), [0])
    for mark, common in enumerate(alike):
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


def _alike(texts: bytes, one: int, other: int) -> int:
    """How many bytes two suffixes have in common, not beyond the end of a text."""
    known, size = 0, 16
    while size < MAX_PREFIX:
        piece = texts[one : one + size]
        if SEPARATOR in piece or piece != texts[other : other + size]:
            break
        known, size = size, size * 2
    pairs = zip(texts[one + known : one + size], texts[other + known : other + size], strict=False)
    for count, (byte, another) in enumerate(pairs, known):
        if byte != another or byte == SEPARATOR:
            return count
    return min(size, MAX_PREFIX)
