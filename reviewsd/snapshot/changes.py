"""The order in which reviews last changed (contract 3, decision 162).

A column has the *number* of each review, last changed first; reviews with the same time are newest first. A *rank*
is an index of the column. Each block of 2,048 reviews is stored as a set too, so that a search none of whose matches
is in a block skips it: the matches of a search may all have changed long ago. The time of a change is read from the record.
"""

import datetime
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice

from pyroaring import BitMap

from reviewsd.domain import times
from reviewsd.snapshot.columns import Columns
from reviewsd.snapshot.position_sets import CHANGES

CHANGES_BLOCK = 2_048  # reviews


def blocks(numbers: "array[int]") -> Iterator[tuple[str, BitMap]]:
    """Yield the blocks of a column, each with its key in the position sets."""
    for number, begin in enumerate(range(0, len(numbers), CHANGES_BLOCK)):
        yield str(number), BitMap(numbers[begin : begin + CHANGES_BLOCK])


def changed_since(columns: Columns, moment: datetime.datetime) -> BitMap:
    """Return the reviews that changed at a moment or later."""
    end = bisect_right(range(columns.count), -times.microseconds(moment), key=_key(columns))
    full_blocks, rest = divmod(end, CHANGES_BLOCK)
    last = BitMap(columns.changes[end - rest : end])
    return last.union(*(_block(columns, number) for number in range(full_blocks)))


def rank_after(columns: Columns, moment: datetime.datetime, position: int) -> int:
    """Return the first rank after a moment; among reviews of that moment, the first one from a position on."""
    ranks, key = range(columns.count), _key(columns)
    begin = bisect_left(ranks, -times.microseconds(moment), key=key)
    end = bisect_right(ranks, -times.microseconds(moment), lo=begin, key=key)
    return bisect_left(columns.changes, columns.numbering.number(position), begin, end)


def page(
    columns: Columns, matches: BitMap | None, start: int, count: int
) -> Generator[None, None, Sequence[int]]:
    """Return up to ``count`` numbers of matches from a rank on, in the order of change; yield after each block.

    ``matches`` is None if all reviews match.
    """
    if matches is None:
        return columns.changes[start : start + count]
    numbers: list[int] = []
    while start < columns.count and len(numbers) < count:
        block, end = start // CHANGES_BLOCK, (start // CHANGES_BLOCK + 1) * CHANGES_BLOCK
        if matches.intersect(_block(columns, block)):
            ranked = filter(matches.__contains__, columns.changes[start:end])
            numbers += islice(ranked, count - len(numbers))
        start = end
        yield
    return numbers


def _block(columns: Columns, number: int) -> BitMap:
    block = columns.sets.get(CHANGES, str(number))
    assert isinstance(block, BitMap)  # noqa: S101  each block was written
    return block


def _key(columns: Columns) -> Callable[[int], int]:
    """Return a key for ``bisect``: the negated time of the change, which ascends with the rank."""

    def key(rank: int) -> int:
        position = columns.numbering.position(columns.changes[rank])
        return -times.microseconds(columns.records.updated_at(position))

    return key
