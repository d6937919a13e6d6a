"""Search over columns: which reviews match, latest first, and how many there are (contract 3).

A column is a flat file made at publication (``snapshot.columns``) and mapped into memory. Everything
a filter can ask for is a *position set* (``position_sets``), a Roaring bitmap: the numbers of the
reviews that have a rating, a sentiment, a person or thing that is mentioned. So

- dates are a range of positions, found by bisection;
- sets are intersected, a million reviews in some 20 microseconds;
- a text is looked for in the index of each segment (``text_index``), or, where the other filters leave few
  reviews of a segment, in their texts. Nothing else is ever scanned: the work for any text is bounded.

A search is a generator: it yields after each segment, so that whoever drives it can keep the reactor awake.
"""

import datetime
import math
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Sequence
from itertools import islice

from msgspec import Struct
from pyroaring import BitMap

from reviewsd.domain.search_query import CHANGED, Cursor, SearchQuery
from reviewsd.snapshot import changes
from reviewsd.snapshot.position_sets import (
    MAX_RATING,
    MIN_RATING,
    RATING,
    SENTIMENT,
    Columns,
    find_names,
)


class Hits(Struct, frozen=True):
    """The outcome of a search."""

    matched: int
    """All matches, before cursor and limit."""
    positions: Sequence[int]
    """Those of this page, in their order."""
    more: bool
    """Whether there are matches after the last one of this page."""


REMEMBERED = 1_024
"""Texts of which the reviews are remembered, where there are few reviews: 2 kB each at most."""

NOTHING = Hits(0, (), more=False)


def date_range(
    columns: Columns, since: datetime.date | None, until: datetime.date | None
) -> tuple[int, int]:
    """The positions [first, last) of the reviews dated from ``since`` to ``until``, inclusive."""
    first = 0 if until is None else bisect_left(columns.days, -until.toordinal())
    last = columns.count if since is None else bisect_right(columns.days, -since.toordinal())
    return first, max(first, last)


def after(columns: Columns, cursor: Cursor) -> int:
    """The first position that is older than the cursor's review, whether that still exists or not."""
    day = -cursor.date.toordinal()
    same_day = range(bisect_left(columns.days, day), bisect_right(columns.days, day))
    skipped = bisect_left(same_day, True, key=lambda position: columns.id_at(position) < cursor.id)  # noqa: FBT003  the key is a predicate
    return same_day.start + skipped


def search(columns: Columns, query: SearchQuery) -> Generator[None, None, Hits]:
    """Find one page of matches.

    Args:
        columns: Of the snapshot to search.
        query: What for.

    Yields:
        After each block of work.

    Returns:
        The hits.

    Raises:
        InvalidParametersError: A name fits several entities.
    """
    first, last = date_range(columns, query.since, query.until)
    start = first if query.cursor is None else max(first, after(columns, query.cursor))
    filters = _filters(columns, query)
    if filters is None:
        return NOTHING
    if query.changed_since is not None:
        filters.append(changes.changed_since(columns, query.changed_since))
    found = None
    if filters:
        found = filters[0] if len(filters) == 1 else filters[0].intersection(*filters[1:])
    if query.query is not None:
        needle = query.query.casefold().encode()
        if columns.remembered is None:
            found = yield from _having(columns, needle, found, first, last)
        else:
            having = columns.remembered.get(needle)
            if having is None:
                having = yield from _having(columns, needle, None, 0, columns.count)
                _remember(columns.remembered, needle, having)
            found = having if found is None else having & found
    if query.sort == CHANGED:
        return (yield from _by_change(columns, query, found, first, last))
    if found is None:
        rest = range(min(start, last), last)
        return Hits(last - first, rest[: query.limit], more=len(rest) > query.limit)
    number = columns.numbering.number
    end = number(last)
    page = [*islice(found.iter_equal_or_larger(number(start)), query.limit + 1)]
    page = page[: bisect_left(page, end)]
    return Hits(
        found.range_cardinality(number(first), end),
        columns.numbering.positions(page[: query.limit]),
        more=len(page) > query.limit,
    )


def _by_change(
    columns: Columns, query: SearchQuery, found: BitMap | None, first: int, last: int
) -> Generator[None, None, Hits]:
    """A page of what a search has found between two positions, in the order of change."""
    start = 0
    if query.cursor is not None and query.cursor.changed_at is not None:
        position = after(columns, query.cursor)
        start = changes.rank_after(columns, query.cursor.changed_at, position)
    matched, number = last - first, columns.numbering.number
    if found is not None or matched < columns.count:
        between = BitMap(range(number(first), number(last)))
        if found is not None:
            between &= found
            matched = len(between)
        found = between
    numbers = yield from changes.page(columns, found, start, query.limit + 1)
    positions = columns.numbering.positions(numbers[: query.limit])
    return Hits(matched, positions, more=len(numbers) > query.limit)


def _remember(remembered: dict[bytes, BitMap], needle: bytes, having: BitMap) -> None:
    remembered[needle] = having
    if len(remembered) > REMEMBERED:
        del remembered[next(iter(remembered))]


def _filters(columns: Columns, query: SearchQuery) -> list[BitMap] | None:
    """What every match must be in; None where one of them has no review at all."""
    wanted = []
    if query.rating is not None:
        wanted.append((RATING, str(query.rating)))
    if query.min_rating is not None:
        wanted.append((MIN_RATING, str(math.ceil(query.min_rating))))
    if query.max_rating is not None:
        wanted.append((MAX_RATING, str(math.floor(query.max_rating))))
    found = [columns.numbers(field, key) for field, key in wanted]
    found += find_names(columns, query)
    if query.sentiment is not None and query.mentions_aspect is None:
        found.append(columns.numbers(SENTIMENT, query.sentiment))
    filters = [each for each in found if isinstance(each, BitMap)]
    return filters if len(filters) == len(found) else None


def _having(
    columns: Columns, needle: bytes, among: BitMap | None, first: int, last: int
) -> Generator[None, None, BitMap]:
    """The reviews that have a text, of a range of positions at least."""
    parts = []
    for segment in columns.segments:
        begin, end = max(first, segment.first), min(last, segment.end)
        if begin >= end:
            continue
        numbers = range(begin + segment.shift, end + segment.shift)
        if among is None:
            parts.append((yield from segment.having(needle, numbers, len(numbers))))
        elif count := among.range_cardinality(numbers.start, numbers.stop):
            candidates = islice(among.iter_equal_or_larger(numbers.start), count)
            parts.append((yield from segment.having(needle, candidates, count)))
        yield
    found = BitMap().union(*parts)
    return found if among is None else found & among
