"""Search over columns: returns a page of the matching reviews, and their number (contract 3).

A column is a flat file made at publication (``snapshot.columns_writer``) and mapped into memory. Each filter
has *position sets* (``position_sets``): Roaring bitmaps with the numbers of the reviews that have a rating, a
source, a location, a reply, a sentiment, or a mention.

- Dates are a range of positions, found by bisection.
- Sets are intersected, a million reviews in some 20 microseconds.
- The orders by stars are the sets of the ratings, one after another; only the order of change has a column.
- A text is searched for in the index of each segment (``text_index``). If the other filters leave few reviews
  of a segment, their texts are scanned instead. Nothing else is scanned, so the work for any text is bounded.

A search is a generator that yields after each segment, so that its caller can keep the reactor responsive.
"""

import datetime
import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Sequence
from itertools import islice
from operator import le, lt

from msgspec import Struct
from pyroaring import BitMap

from reviewsd.domain.search_query import BY_RATING, CHANGED, OLDEST, TRUTH, Cursor, SearchQuery
from reviewsd.snapshot import changes
from reviewsd.snapshot.columns import Columns
from reviewsd.snapshot.position_sets import (
    HAS_REPLY,
    LOCATION,
    MAX_RATING,
    MIN_RATING,
    RATING,
    SENTIMENT,
    SOURCE,
    VERIFIED,
)


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
    return _place(columns, cursor, lt)


def _before(columns: Columns, cursor: Cursor) -> int:
    """Return the number of reviews newer than the cursor's review, which may not exist any more."""
    return _place(columns, cursor, le)


def _place(columns: Columns, cursor: Cursor, is_past: Callable[[str, str], bool]) -> int:
    """Return the first position of the cursor's day with an id that is past the cursor's, or the end of the day."""
    day = -cursor.date.toordinal()
    same_day = range(bisect_left(columns.days, day), bisect_right(columns.days, day))
    id_at = columns.records.id_at
    skipped = bisect_left(same_day, True, key=lambda position: is_past(id_at(position), cursor.id))  # noqa: FBT003  the key is a predicate
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
    filters = _filters(columns, query)
    if filters is None:
        return NOTHING
    matches = yield from _matches(columns, query, filters, first, last)
    if query.sort == CHANGED:
        return (yield from _by_change(columns, query, matches, first, last))
    if query.sort in BY_RATING:
        return _by_rating(columns, query, matches, first, last)
    return _by_date(columns, query, matches, first, last)


def _matches(
    columns: Columns, query: SearchQuery, filters: list[BitMap], first: int, last: int
) -> Generator[None, None, BitMap | None]:
    """Return the reviews that match all filters and the text, complete between two positions; None for all."""
    if query.changed_since is not None:
        filters.append(changes.changed_since(columns, query.changed_since))
    matches = None
    if filters:
        matches = filters[0] if len(filters) == 1 else filters[0].intersection(*filters[1:])
    if query.query is None:
        return matches
    needle = query.query.casefold().encode()
    if columns.text_matches is None:
        return (yield from _matching_text(columns, needle, matches, first, last))
    with_text = columns.text_matches.get(needle)
    if with_text is None:
        with_text = yield from _matching_text(columns, needle, None, 0, columns.count)
        _cache(columns.text_matches, needle, with_text)
    return with_text if matches is None else with_text & matches


def _by_date(
    columns: Columns, query: SearchQuery, matches: BitMap | None, first: int, last: int
) -> Hits:
    """Return a page of the matches between two positions, in an order by date."""
    begin, end, is_oldest = first, last, query.sort == OLDEST
    if query.cursor is not None and is_oldest:
        end = max(first, min(last, _before(columns, query.cursor)))
    elif query.cursor is not None:
        begin = min(last, max(first, after(columns, query.cursor)))
    if matches is None:
        rest = range(begin, end)[:: -1 if is_oldest else 1]
        return Hits(last - first, rest[: query.limit], more=len(rest) > query.limit)
    page = (_oldest if is_oldest else _newest)(columns, matches, begin, end, query.limit + 1)
    return _hits(columns, query, page, _count(columns, matches, first, last))


def _count(columns: Columns, matches: BitMap, first: int, last: int) -> int:
    """Return how many matches are between two positions."""
    number = columns.numbering.number
    return matches.range_cardinality(number(first), number(last))


def _newest(columns: Columns, matches: BitMap, begin: int, end: int, most: int) -> list[int]:
    """Return the numbers of the newest matches between two positions, newest first."""
    number = columns.numbering.number
    page = [*islice(matches.iter_equal_or_larger(number(begin)), most)]
    return page[: bisect_left(page, number(end))]


def _oldest(columns: Columns, matches: BitMap, begin: int, end: int, most: int) -> list[int]:
    """Return the numbers of the oldest matches between two positions, oldest first."""
    skipped, count = (_count(columns, matches, *run) for run in ((0, begin), (begin, end)))
    size = min(count, most)
    if not size:
        return []
    newest = matches[skipped + count - size]  # by its rank, which is slow, so only once
    return [*islice(matches.iter_equal_or_larger(newest), size)][::-1]


def _hits(columns: Columns, query: SearchQuery, page: Sequence[int], matched: int) -> Hits:
    """Return the hits of a page of numbers, which has one more than the limit if there are more."""
    positions = columns.numbering.positions(page[: query.limit])
    return Hits(matched, positions, more=len(page) > query.limit)


def _by_rating(
    columns: Columns, query: SearchQuery, matches: BitMap | None, first: int, last: int
) -> Hits:
    """Return a page of the matches between two positions, in an order by stars."""
    order: Sequence[int] = BY_RATING[query.sort]
    begin = first
    if query.cursor is not None and query.cursor.rating is not None:
        order = order[order.index(query.cursor.rating) :]
        begin = min(last, max(first, after(columns, query.cursor)))
    page: list[int] = []
    for stars in order:
        rated = columns.sets.get(RATING, str(stars))
        assert isinstance(rated, BitMap)  # noqa: S101  each rating has a set
        if matches is not None:
            rated &= matches
        page += _newest(columns, rated, begin, last, query.limit + 1 - len(page))
        if len(page) > query.limit:
            break
        begin = first  # the cursor is within its own stars
    matched = last - first if matches is None else _count(columns, matches, first, last)
    return _hits(columns, query, page, matched)


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
    return _hits(columns, query, numbers, matched)


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
    if query.source is not None:
        keys.append((SOURCE, query.source))
    if query.location is not None:
        keys.append((LOCATION, query.location))
    if query.verified is not None:
        keys.append((VERIFIED, TRUTH[query.verified]))
    if query.has_reply is not None:
        keys.append((HAS_REPLY, TRUTH[query.has_reply]))
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
