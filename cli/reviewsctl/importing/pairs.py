"""Finds the reviews that were edited in a table without ids, where an edited row has another id (corrections.md C23 to C26).

A new row is an absent review of the file where the source and two of three agree: author, day and words, of which there
are four or more. Of several, those with the same words, with four words in a row, or with the same stars belong together.
A row that may be a corrected review without a row is in doubt, and so is one with words of a corrected review that is
not its own.
"""

import functools
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from sys import intern
from typing import Final, NamedTuple

import msgspec

from reviewsd.api.texts import MANY, RUN, author_key, plain_text, runs_of, words_of

_MAX_PERSON: Final = 10  # reviews of one name and day; a name that more have is nobody's
_MAX_ALIKE: Final = 20  # corrected reviews that one evidence names
_MAX_REMARKS: Final = 1_000  # far more than are named


class Facts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The members of a review by which it is known again; an import may have 100,000 of them."""

    key: str
    """The id of a review of the file, or the merge key of a row."""
    source: str
    author: str
    """Without case, white space and the point of a short name."""
    author_key: str
    """What the name and its short form share; empty without a name."""
    day: str
    stars: object
    location: str
    text: str
    words_key: int
    """A number that the reviews of its source with the same words share; 0 without words."""
    action: str
    """The correction of a review of the file; empty if it is shown as it is."""
    has_own_id: bool
    """Whether its id is not made of its content: of two such, each is a review of its own."""

    @property
    def words(self) -> list[str]:
        """The words of the text."""
        return _words(self.text)

    @property
    def is_long(self) -> bool:
        """Whether it has four words or more."""
        return len(self.words) >= RUN

    @property
    def person(self) -> object:
        """What the reviews of its author and day share; None without a name."""
        return (self.source, self.author_key, self.day) if self.author_key else None

    def pair_keys(self) -> Iterator[object]:
        """Yield what it shares with a review of which it has two of author, day and words."""
        if self.author_key:
            yield self.person
        if self.is_long:
            yield self.day, self.words_key
            if self.author_key:
                yield self.author_key, self.words_key

    def lone_keys(self) -> Iterator[object]:
        """Yield what it shares with a review of its day and stars, if both have no name, or both no words."""
        if not self.author_key:
            yield self.source, self.day, str(self.stars), "no name"
        if not self.words:
            yield self.source, self.day, str(self.stars), "no words"

    def doubt_keys(self) -> Iterator[object]:
        """Yield what it shares with each review that it may be (``may_be``)."""
        words, runs = self.words, runs_of(self.words)
        near = [self.day, *filter(None, [self.author_key])]
        if self.author_key:
            yield self.source, self.day, _first_name(self)
        yield from self.lone_keys()
        if words:
            yield self.words_key
        if len(words) >= MANY:
            yield from ((self.source, run) for run in runs)
        for known in near:
            yield from ((self.source, known, run) for run in runs)
            for length in range(1, min(RUN, len(words) + 1)):
                yield self.source, known, str(self.stars), tuple(words[:length])


_Edge = tuple[Facts, Facts]
"""An absent review and a row that is, or may be, it."""


def facts_of(
    review: Mapping[str, object], key: str, *, action: str = "", has_own_id: bool = False
) -> Facts:
    """Return the facts of a review, as JSON has it; it may be invalid."""
    name, text, rating = review.get("author"), review.get("text"), review.get("rating")
    author = unicodedata.normalize("NFC", name) if isinstance(name, str) else ""
    text = text if isinstance(text, str) else ""
    source, words = intern(str(review.get("source")).casefold()), _words(text)
    return Facts(
        key=key,
        source=source,
        author=plain_text(author).rstrip("."),
        author_key=author_key(author),
        day=intern(str(review.get("date"))),
        stars=rating if isinstance(rating, int | float) else None,
        location=intern(str(review.get("location") or "")),
        text=text,
        words_key=hash((source, *words)) if words else 0,
        action=action,
        has_own_id=has_own_id,
    )


class Found(NamedTuple):
    """The rows that are, or may be, absent reviews."""

    pairs: list[_Edge]
    """The reviews and rows that belong together one to one."""
    doubts: list[_Edge]
    """The corrected reviews that other rows may be."""
    remarks: list[_Edge]
    """The corrected reviews with neither, each with a row of its author; without a name, with one of its day."""


def find(absent: Sequence[Facts], rows: Sequence[Facts]) -> Found:
    """Find the new rows that are absent reviews of the file."""
    edges = _edges(absent, rows)
    pairs: list[_Edge] = []
    for is_closer in (_have_same_words, shares_words, _have_same_stars, lambda *_: True):
        free = [edge for edge in _free(edges.values(), pairs) if is_closer(*edge)]
        counts = Counter(review.key for edge in free for review in edge)
        pairs += [edge for edge in free if counts[edge[0].key] == counts[edge[1].key] == 1]
    row_of = {review.key: row.key for review, row in pairs}
    same_words = {row.key for review, row in pairs if _have_same_words(review, row)}

    def is_doubt(review: Facts, row: Facts) -> bool:
        if review.key in row_of:
            is_near = (review.key, row.key) in edges
            return is_near and row.key != row_of[review.key] and shares_words(review, row)
        return row.key not in same_words and may_be(review, row)

    may_be = _Likeness(absent, rows).may_be
    doubts = [edge for edge in _near_corrected(absent, rows) if is_doubt(*edge)]
    doubted = {row.key for _, row in doubts}
    pairs = [edge for edge in pairs if edge[1].key not in doubted]
    doubts += [edge for edge in _free(edges.values(), pairs) if edge[0].action]
    doubts = list({(review.key, row.key): (review, row) for review, row in doubts}.values())
    explained = {review.key for edge in (*pairs, *doubts) for review in edge}
    remarks = islice(_related(absent, rows, explained), _MAX_REMARKS)
    return Found(pairs, doubts, [*remarks])


def _edges(absent: Iterable[Facts], rows: Iterable[Facts]) -> dict[tuple[str, str], _Edge]:
    """Return the reviews and rows with the same source and two of author, day and words, by their keys."""
    groups: defaultdict[object, tuple[list[Facts], list[Facts]]]
    groups = defaultdict(lambda: ([], []))
    for side, reviews in enumerate((absent, rows)):
        for review in reviews:
            for key in review.pair_keys():
                groups[key][side].append(review)
    return {
        (review.key, row.key): (review, row)
        for alike in groups.values()
        if max(map(len, alike)) <= _MAX_PERSON
        for review in alike[0]
        for row in alike[1]
        if _have_two_of_three(review, row) and _can_be_one(review, row)
    }


def _are_of_one_author(review: Facts, row: Facts) -> bool:
    """Return whether two reviews have one name, of which one may be short."""
    names = {review.author, row.author}
    is_alike = review.author_key == row.author_key != ""
    return is_alike and (len(names) == 1 or row.author_key in names)


def _have_two_of_three(review: Facts, row: Facts) -> bool:
    are_same = (
        _are_of_one_author(review, row),
        review.day == row.day,
        review.is_long and _have_same_words(review, row),
    )
    return sum(are_same) > 1


def _can_be_one(review: Facts, row: Facts) -> bool:
    """Return whether both may be about one location, which a table may be without, and not both ids are their own."""
    is_one_place = "" in {review.location, row.location} or review.location == row.location
    return is_one_place and not (review.has_own_id and row.has_own_id)


def _free(edges: Iterable[_Edge], pairs: Iterable[_Edge]) -> list[_Edge]:
    """Return the edges of which neither end is in a pair."""
    paired = {review.key for edge in pairs for review in edge}
    return [edge for edge in edges if edge[0].key not in paired and edge[1].key not in paired]


def _related(
    absent: Iterable[Facts], rows: Iterable[Facts], explained: Collection[str]
) -> Iterator[_Edge]:
    """Iterate over corrected reviews with rows of their authors; without a name, with those of their days."""
    corrected = [review for review in absent if review.action and review.key not in explained]
    by_key: defaultdict[object, list[Facts]] = defaultdict(list)
    for row in rows if corrected else ():
        if row.key not in explained:
            by_key[row.source, row.author_key or row.day].append(row)
    for review in corrected:
        for row in by_key[review.source, review.author_key or review.day]:
            is_related = not review.author_key or _are_of_one_author(review, row)
            if is_related and not (review.has_own_id and row.has_own_id):
                yield review, row


def _near_corrected(absent: Iterable[Facts], rows: Iterable[Facts]) -> Iterator[_Edge]:
    """Iterate over the corrected reviews, each with the rows that share a ``doubt_key`` with it.

    Of many reviews with one key and correction the first stand for all: a stranger can write a thousand a day.
    """
    by_key: defaultdict[object, defaultdict[str, list[Facts]]]
    by_key = defaultdict(lambda: defaultdict(list))
    for review in absent:
        for key in set(review.doubt_keys()) if review.action else ():
            if len(alike := by_key[key][review.action]) < _MAX_ALIKE:
                alike.append(review)
    for row in rows if by_key else ():
        groups = (by_key[key].values() for key in row.doubt_keys() if key in by_key)
        candidates = {review.key: review for review in chain.from_iterable(chain(*groups))}
        yield from ((review, row) for review in candidates.values() if _can_be_one(review, row))


class _Likeness:
    """Tells which row may be a corrected review, among all rows."""

    def __init__(self, absent: Iterable[Facts], rows: Sequence[Facts]) -> None:
        self._people = [Counter(review.person for review in each) for each in (absent, rows)]
        self._lone = Counter(chain.from_iterable(row.lone_keys() for row in rows))

    def may_be(self, review: Facts, row: Facts) -> bool:
        """Return whether a row may be a review: by the first name or words on its day, or its words elsewhere."""
        is_day = review.day == row.day
        is_near = is_day or review.author_key == row.author_key != ""
        has_name = is_day and _first_name(review) == _first_name(row)
        if has_name and self._is_person(review) and self._is_person(row):
            return True
        if _have_same_words(review, row) and (is_near or review.is_long):
            return True
        lone = {*review.lone_keys()}.intersection(row.lone_keys())
        if any(self._lone[key] == 1 for key in lone):
            return True
        are_many = min(len(review.words), len(row.words)) >= MANY
        return (
            shares_words(review, row)
            if is_near
            else are_many and shares_words(review, row, least=0.5)
        )

    def _is_person(self, review: Facts) -> bool:
        person = review.person
        return person is not None and all(each[person] <= _MAX_PERSON for each in self._people)


def are_versions(review: Facts, row: Facts) -> bool:
    """Return whether a row is a review that would stay: of its author and day with similar words, or in many words."""
    if review.person == row.person is not None:
        is_equal = review.words_key == row.words_key and (
            review.words_key or _have_same_stars(review, row)
        )
        return bool(is_equal) or shares_words(review, row, least=0.5)
    is_equal = _have_same_words(review, row) and _have_same_stars(review, row)
    return is_equal and len(row.words) >= MANY


def _have_same_words(review: Facts, row: Facts) -> bool:
    return review.words_key == row.words_key != 0


def _have_same_stars(review: Facts, row: Facts) -> bool:
    return review.stars == row.stars


def shares_words(first: Facts, second: Facts, *, least: float = 0) -> bool:
    """Return whether one review may be the edited other one: its text has four words in a row of the other.

    A text of fewer words has to be the beginning of the other one, and both to have the same stars. ``least`` is the
    share of the runs of four words of the shorter text that have to be in the other one.
    """
    length = min(RUN, len(first.words), len(second.words))
    if length < RUN:
        is_beginning = first.words[:length] == second.words[:length]
        return length > 0 and _have_same_stars(first, second) and is_beginning
    runs, second_runs = map(runs_of, (first.words, second.words))
    shared = len(runs & second_runs)
    return shared > 0 and shared >= least * min(len(runs), len(second_runs))


def _first_name(review: Facts) -> str:
    return review.author_key.partition(" ")[0]


@functools.lru_cache(1_000)
def _words(text: str) -> list[str]:
    return words_of(text)
