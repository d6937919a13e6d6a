"""Search over columns: which reviews match, newest first, and how many there are (contract 3).

A column is a flat file made at publication (``snapshot.columns``) and mapped into memory. Everything
a filter can ask for is a *position set* (``position_sets``): reviews are numbered newest first, and a
rating, a sentiment, a person or thing that is mentioned or a frequent piece of text is the set of
positions that have it. A large set is a bitmap, a small one a sorted list. So

- dates are a range of positions, found by bisection;
- sets are intersected: bitmaps as large integers, 100,000 reviews in microseconds;
- only a text that is not a frequent one is looked for: in the few positions that the sets leave, or
  else by one scan over all texts. Texts are casefolded; each ends with a byte for its rating and
  one to separate it, which UTF-8 never contains, so no text can match across two reviews.

A search is a generator: it yields after each block of work, so that whoever drives it can keep the
reactor awake while a million texts are scanned.
"""

import datetime
import math
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterator, Sequence
from itertools import islice

from msgspec import Struct

from reviewsd.domain.search_query import Cursor, SearchQuery
from reviewsd.snapshot.position_sets import (
    FREQUENT,
    MAX_RATING,
    MIN_RATING,
    RATING,
    SENTIMENT,
    Bitmap,
    Columns,
    Finder,
    PostingList,
    find_names,
)

BLOCK = 16_384
"""Texts scanned between two yields: at most about 2 ms of work."""

_FEW = 8
"""Filters that leave one review in so many are applied before a text is looked for."""

_NEAR = 32  # texts looked at for the place of a match before all others

_FIRST_BLOCK = 256  # texts; a page is full soon, and from then on hits need no position

SEPARATOR = b"\xff"
"""Ends each text of the text column."""

ALL_STARS = range(1, 6)

STARS = bytes(range(0xF8, 0xFE))
"""By rating, the byte before the separator: one that UTF-8 never contains either."""

_LOOKED_UP = 2_048  # positions whose texts are looked at between two yields

_WINDOW = 2_048  # positions listed at once


class Hits(Struct, frozen=True):
    """The outcome of a search."""

    matched: int
    """All matches, before cursor and limit."""
    positions: Sequence[int]
    """Those of this page, ascending."""
    more: bool
    """Whether there are matches after the last one of this page."""


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


def search(
    columns: Columns, query: SearchQuery, matched: int | None = None
) -> Generator[None, None, Hits]:
    """Find one page of matches.

    Args:
        columns: Of the snapshot to search.
        query: What for.
        matched: The number of all matches where it is known from an earlier page: then only this
            page is looked for.

    Yields:
        After each block of work.

    Returns:
        The hits.

    Raises:
        InvalidParametersError: A name fits several entities.
    """
    first, last = date_range(columns, query.since, query.until)
    start = first if query.cursor is None else max(first, after(columns, query.cursor))
    page = _Page(min(start, last), query.limit + 1)
    filters = _filters(columns, query)
    if filters is None:
        return NOTHING
    span = range(first if matched is None else page.start, last)
    for block in _blocks(columns, filters, page, span):
        page.add(block)
        if matched is not None and page.full:
            break
        yield
    if matched is None:
        matched = page.counted
    return Hits(matched, page.kept[: query.limit], more=page.full)


class _Page:
    """What is found: all of it counted, the wanted ones from ``start`` on kept."""

    def __init__(self, start: int, wanted: int) -> None:
        self.start = start
        self.wanted = wanted
        self.kept: list[int] = []
        self.counted = 0

    @property
    def full(self) -> bool:
        return len(self.kept) >= self.wanted

    def add(self, positions: list[int]) -> None:
        self.counted += len(positions)
        if not self.full:
            begin = bisect_left(positions, self.start)
            self.kept += positions[begin : begin + self.wanted - len(self.kept)]


class _Filters(Struct, frozen=True, kw_only=True):
    """What every match must have."""

    sparse: list[PostingList]
    dense: list[Bitmap]
    stars: range
    """The ratings allowed; ``dense`` has them too."""
    only_stars: bool
    """Whether the ratings are all that ``dense`` asks for."""
    needle: bytes | None
    """A text to look for, which is not a frequent one."""


def _filters(columns: Columns, query: SearchQuery) -> _Filters | None:
    """The filters of a query; None where one of them has no review at all."""
    wanted = []
    stars = ALL_STARS
    if query.rating is not None:
        wanted.append((RATING, str(query.rating)))
        stars = range(query.rating, query.rating + 1)
    if query.min_rating is not None:
        least = math.ceil(query.min_rating)
        wanted.append((MIN_RATING, str(least)))
        stars = range(max(stars.start, least), stars.stop)
    if query.max_rating is not None:
        most = math.floor(query.max_rating)
        wanted.append((MAX_RATING, str(most)))
        stars = range(stars.start, min(stars.stop, most + 1))
    rated = len(wanted)
    found = [columns.positions(field, key) for field, key in wanted]
    found += find_names(columns, query)
    if query.sentiment is not None and query.mentions_aspect is None:
        found.append(columns.positions(SENTIMENT, query.sentiment))
    sets = [each for each in found if isinstance(each, PostingList | Bitmap)]
    if len(sets) < len(found):
        return None
    text = None if query.query is None else query.query.casefold()
    if text is not None:
        frequent = columns.positions(FREQUENT, text)
        if isinstance(frequent, PostingList | Bitmap):
            sets.append(frequent)
            text = None
    return _Filters(
        sparse=[each for each in sets if isinstance(each, PostingList)],
        dense=[each for each in sets if isinstance(each, Bitmap)],
        stars=stars,
        only_stars=len(sets) == rated,
        needle=None if text is None else text.encode(),
    )


def _blocks(columns: Columns, filters: _Filters, page: _Page, span: range) -> Iterator[list[int]]:
    """The matches, ascending, in blocks of bounded work; what ``page`` needs not is only counted."""
    if filters.sparse:
        listed = _listed(filters, span)
        if filters.needle is None:
            yield listed
        else:
            yield from _look_up(columns, filters.needle, iter(listed))
        return
    common = _count(filters.dense, span)
    if filters.needle is None:
        kept = list(islice(_common(filters.dense, range(page.start, span.stop)), page.wanted))
        page.counted += common - len(kept)
        yield kept
    elif common * _FEW < len(span):
        yield from _look_up(columns, filters.needle, _common(filters.dense, span))
    else:
        yield from _scan(columns, filters, page, span)


def _listed(filters: _Filters, span: range) -> list[int]:
    """The positions of a range that are in all sets, of which at least one is small."""
    smallest, *others = sorted((each.positions for each in filters.sparse), key=len)
    begin, end = bisect_left(smallest, span.start), bisect_left(smallest, span.stop)
    sets: list[frozenset[int] | Bitmap] = [*map(frozenset, others), *filters.dense]
    listed = smallest[begin:end].tolist()
    for each in sets:
        listed = [position for position in listed if position in each]
    return listed


def _look_up(columns: Columns, needle: bytes, candidates: Iterator[int]) -> Iterator[list[int]]:
    """Those of a few positions whose text matches."""
    find, offsets = columns.texts.find, columns.text_offsets
    while block := list(islice(candidates, _LOOKED_UP)):
        yield [p for p in block if find(needle, offsets[p], offsets[p + 1]) >= 0]


def _scan(columns: Columns, filters: _Filters, page: _Page, span: range) -> Iterator[list[int]]:
    """The matches of a text found by looking through all of them."""
    begin, size = span.start, _FIRST_BLOCK
    while begin < span.stop:
        border = page.start if begin < page.start else span.stop
        block = range(begin, min(begin + size, border))
        if filters.only_stars and (page.full or block.stop <= page.start):
            page.counted += _count_texts(columns, filters, block)
            yield []
        else:
            yield _find_texts(columns, filters, block)
        begin = block.stop
        size = _FIRST_BLOCK if begin == page.start else min(2 * size, BLOCK)


def _count_texts(columns: Columns, filters: _Filters, span: range) -> int:
    """How many texts match; the end of a text tells its rating, so nothing is looked up."""
    find, needle, column = columns.texts.find, filters.needle or b"", columns.text_bytes
    allowed = frozenset(STARS[rating] for rating in filters.stars)
    every = len(filters.stars) == len(ALL_STARS)
    at, stop = columns.text_offsets[span.start], columns.text_offsets[span.stop]
    counted = 0
    while (hit := find(needle, at, stop)) >= 0:
        end = find(SEPARATOR, hit, stop)
        if every or column[end - 1] in allowed:
            counted += 1
        at = end + 1
    return counted


def _find_texts(columns: Columns, filters: _Filters, span: range) -> list[int]:
    """The positions of the texts that match."""
    found = texts_with(columns.texts, columns.text_offsets, filters.needle or b"", span)
    if not filters.dense:
        return found
    allowed = _bits(filters.dense, span).to_bytes((len(span) + 7) >> 3, "little")
    begin = span.start
    return [p for p in found if allowed[(p - begin) >> 3] >> ((p - begin) & 7) & 1]


def texts_with(texts: Finder, offsets: Sequence[int], needle: bytes, span: range) -> list[int]:
    """The positions of a range whose texts have a casefolded piece of text, ascending.

    Args:
        texts: Those of ``Columns``, as are the next.
        offsets: Where each begins.
        needle: What to look for.
        span: The range.
    """
    find = texts.find
    position, end = span.start, span.stop
    at, stop = offsets[position], offsets[end]
    found = []
    while (hit := find(needle, at, stop)) >= 0:
        near = position + _NEAR
        after = bisect_right(offsets, hit, position, min(end, near))
        if (at := offsets[after]) <= hit:  # not near
            after = bisect_right(offsets, hit, after, end)
            at = offsets[after]
        found.append(after - 1)
        position = after
    return found


def _count(dense: list[Bitmap], span: range) -> int:
    """How many positions of a range are in all sets."""
    return _bits(dense, span).bit_count() if dense else len(span)


def _common(dense: list[Bitmap], span: range) -> Iterator[int]:
    """The positions of a range that are in all sets, ascending."""
    if not dense:
        yield from span
        return
    for begin in range(span.start, span.stop, _WINDOW):
        window = range(begin, min(begin + _WINDOW, span.stop))
        digits = f"{_bits(dense, window):b}"[::-1]
        index = digits.find("1")
        while index >= 0:
            yield begin + index
            index = digits.find("1", index + 1)


def _bits(dense: list[Bitmap], span: range) -> int:
    """The intersection of bitmaps over a range; bit 0 is the range's first position."""
    begin, end = span.start >> 3, (span.stop + 7) >> 3
    whole = int.from_bytes(dense[0].bits[begin:end], "little")
    for each in dense[1:]:
        whole &= int.from_bytes(each.bits[begin:end], "little")
    return (whole >> (span.start & 7)) & ((1 << len(span)) - 1)
