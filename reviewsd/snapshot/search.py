"""Search over columns: returns the matching reviews, newest first, and their number (contract 3).

A column is a flat file made at publication (``snapshot.columns_writer``) and mapped into memory. Each filter
has *position sets* (``position_sets``): Roaring bitmaps with the numbers of the reviews that have a rating, a
sentiment, or a mention.

- Dates are a range of positions, found by bisection.
- Sets are intersected, a million reviews in some 20 microseconds.
- A text is searched for in the index of each segment (``text_index``). If the other filters leave few reviews
  of a segment, their texts are scanned instead. Nothing else is scanned, so the work for any text is bounded.

A search is a generator that yields after each segment, so that its caller can keep the reactor responsive.
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
from reviewsd.snapshot.columns import Columns
from reviewsd.snapshot.position_sets import MAX_RATING, MIN_RATING, RATING, SENTIMENT


class Hits(Struct, frozen=True):
    """The outcome of a search."""

    matched: int
    """The number of all matches, before cursor and limit."""
    positions: Sequence[int]
    """The matches of this page, in their order."""
    more: bool
    """Whether there are matches after the last one of this page."""


MAX_CACHED_TEXTS = 1_024
"""Texts with cached matches, if there are few reviews; at most 2 kB each."""

NOTHING = Hits(0, (), more=False)


def date_range(
    columns: Columns, since: datetime.date | None, until: datetime.date | None
) -> tuple[int, int]:
    """Return the positions [first, last) of the reviews dated from ``since`` to ``until``, inclusive."""
    first = 0 if until is None else bisect_left(columns.days, -until.toordinal())
    last = columns.count if since is None else bisect_right(columns.days, -since.toordinal())
    return first, max(first, last)


def after(columns: Columns, cursor: Cursor) -> int:
    """Return the first position older than the cursor's review, which may not exist any more."""
    day = -cursor.date.toordinal()
    same_day = range(bisect_left(columns.days, day), bisect_right(columns.days, day))
    id_at = columns.records.id_at
    skipped = bisect_left(same_day, True, key=lambda position: id_at(position) < cursor.id)  # noqa: FBT003  the key is a predicate
    return same_day.start + skipped


def search(columns: Columns, query: SearchQuery) -> Generator[None, None, Hits]:
    """Find one page of matches.

    Args:
        columns: The columns of the snapshot.
        query: The filters, order and page.

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
    matches = None
    if filters:
        matches = filters[0] if len(filters) == 1 else filters[0].intersection(*filters[1:])
    if query.query is not None:
        needle = query.query.casefold().encode()
        if columns.text_matches is None:
            matches = yield from _matching_text(columns, needle, matches, first, last)
        else:
            with_text = columns.text_matches.get(needle)
            if with_text is None:
                with_text = yield from _matching_text(columns, needle, None, 0, columns.count)
                _cache(columns.text_matches, needle, with_text)
            matches = with_text if matches is None else with_text & matches
    if query.sort == CHANGED:
        return (yield from _by_change(columns, query, matches, first, last))
    if matches is None:
        rest = range(min(start, last), last)
        return Hits(last - first, rest[: query.limit], more=len(rest) > query.limit)
    number = columns.numbering.number
    end = number(last)
    page = [*islice(matches.iter_equal_or_larger(number(start)), query.limit + 1)]
    page = page[: bisect_left(page, end)]
    return Hits(
        matches.range_cardinality(number(first), end),
        columns.numbering.positions(page[: query.limit]),
        more=len(page) > query.limit,
    )


def _by_change(
    columns: Columns, query: SearchQuery, matches: BitMap | None, first: int, last: int
) -> Generator[None, None, Hits]:
    """Return a page of the matches between two positions, in the order of change."""
    start = 0
    if query.cursor is not None and query.cursor.changed_at is not None:
        position = after(columns, query.cursor)
        start = changes.rank_after(columns, query.cursor.changed_at, position)
    matched, number = last - first, columns.numbering.number
    if matches is not None or matched < columns.count:
        between = BitMap(range(number(first), number(last)))
        if matches is not None:
            between &= matches
            matched = len(between)
        matches = between
    numbers = yield from changes.page(columns, matches, start, query.limit + 1)
    positions = columns.numbering.positions(numbers[: query.limit])
    return Hits(matched, positions, more=len(numbers) > query.limit)


def _cache(text_matches: dict[bytes, BitMap], needle: bytes, matches: BitMap) -> None:
    text_matches[needle] = matches
    if len(text_matches) > MAX_CACHED_TEXTS:
        del text_matches[next(iter(text_matches))]


def _filters(columns: Columns, query: SearchQuery) -> list[BitMap] | None:
    """Return the position sets of the filters; None if one of them has no review."""
    keys = []
    if query.rating is not None:
        keys.append((RATING, str(query.rating)))
    if query.min_rating is not None:
        keys.append((MIN_RATING, str(math.ceil(query.min_rating))))
    if query.max_rating is not None:
        keys.append((MAX_RATING, str(math.floor(query.max_rating))))
    sets = [columns.sets.get(field, key) for field, key in keys]
    sets += columns.sets.get_mentions(query)
    if query.sentiment is not None and query.mentions_aspect is None:
        sets.append(columns.sets.get(SENTIMENT, query.sentiment))
    filters = [numbers for numbers in sets if isinstance(numbers, BitMap)]
    return filters if len(filters) == len(sets) else None


def _matching_text(
    columns: Columns, needle: bytes, candidates: BitMap | None, first: int, last: int
) -> Generator[None, None, BitMap]:
    """Return the reviews with a text; complete for the candidates in a range of positions."""
    parts = []
    for segment in columns.segments:
        begin, end = max(first, segment.first), min(last, segment.end)
        if begin >= end:
            continue
        numbers = range(begin + segment.shift, end + segment.shift)
        if candidates is None:
            parts.append((yield from segment.matching(needle, numbers, len(numbers))))
        elif count := candidates.range_cardinality(numbers.start, numbers.stop):
            some = islice(candidates.iter_equal_or_larger(numbers.start), count)
            parts.append((yield from segment.matching(needle, some, count)))
        yield
    matches = BitMap().union(*parts)
    return matches if candidates is None else matches & candidates
