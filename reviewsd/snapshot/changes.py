"""The order in which reviews last changed (contract 3, decision 162).

A column has the number of each review, the one that changed last first; of one moment they are newest first. A
*rank* is a place in it. Each block of the column is a position set too, so that 2,048 reviews are passed over at once
where a filter has none of them: all that a search finds may have changed long ago. When a review changed is read from
its record.
"""

import datetime
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice

from pyroaring import BitMap

from reviewsd.domain import times
from reviewsd.snapshot.position_sets import CHANGES, Columns

CHANGES_BLOCK = 2_048
"""Reviews of a block."""


def blocks(numbers: "array[int]") -> Iterator[tuple[str, BitMap]]:
    """The blocks of a column, each with its key in the position sets."""
    for number, begin in enumerate(range(0, len(numbers), CHANGES_BLOCK)):
        yield str(number), BitMap(numbers[begin : begin + CHANGES_BLOCK])


def changed_since(columns: Columns, moment: datetime.datetime) -> BitMap:
    """Return the reviews that changed at a moment or later."""
    end = bisect_right(range(columns.count), -times.microseconds(moment), key=_key(columns))
    whole, rest = divmod(end, CHANGES_BLOCK)
    last = BitMap(columns.changes[end - rest : end])
    return last.union(*(_block(columns, number) for number in range(whole)))


def rank_after(columns: Columns, moment: datetime.datetime, position: int) -> int:
    """Return the first rank of what changed before a moment, or then and is at a position or behind it."""
    ranks, key = range(columns.count), _key(columns)
    begin = bisect_left(ranks, -times.microseconds(moment), key=key)
    end = bisect_right(ranks, -times.microseconds(moment), lo=begin, key=key)
    return bisect_left(columns.changes, columns.numbering.number(position), begin, end)


def page(
    columns: Columns, found: BitMap | None, start: int, count: int
) -> Generator[None, None, Sequence[int]]:
    """Find numbers in the order of change.

    Args:
        columns: Of the snapshot to search.
        found: Those that may be among them; None: all.
        start: The rank of the first.
        count: How many at most.

    Yields:
        After each block.

    Returns:
        The numbers.
    """
    if found is None:
        return columns.changes[start : start + count]
    numbers: list[int] = []
    while start < columns.count and len(numbers) < count:
        block, end = start // CHANGES_BLOCK, (start // CHANGES_BLOCK + 1) * CHANGES_BLOCK
        if found.intersect(_block(columns, block)):
            ranked = filter(found.__contains__, columns.changes[start:end])
            numbers += islice(ranked, count - len(numbers))
        start = end
        yield
    return numbers


def _block(columns: Columns, number: int) -> BitMap:
    found = columns.numbers(CHANGES, str(number))
    assert isinstance(found, BitMap)  # noqa: S101  each block was written
    return found


def _key(columns: Columns) -> Callable[[int], int]:
    """The key by which ranks are ascending: the later, the less."""

    def key(rank: int) -> int:
        position = columns.numbering.position(columns.changes[rank])
        return -times.microseconds(columns.updated_at(position))

    return key
