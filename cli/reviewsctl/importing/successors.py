"""Finds the reviews that were edited in a table without ids, where an edited row has another id.

The same source, author and day are the evidence that a new row is an absent review of the file; of several, those with
the same stars belong together. Where it stays open which ones do, each row may be each review. Authors without a name
are many people, so that only their words are evidence, and only that a corrected review may be back.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from reviewsctl.importing.values import is_placeholder, short_name
from reviewsd.api.texts import plain_text

_RUN: Final = 4  # consecutive words that identify a text (corrections.md C20)
_MAX_PERSON: Final = 10  # reviews of one name and day; a name that more have is nobody's
_word = re.compile(r"\w+")

Review = Mapping[str, object]
"""A review, as JSON has it."""

_Key = tuple[str, ...]
_Index = Mapping[_Key, Sequence[Review]]


class Edge(NamedTuple):
    """An absent review and a row that may be it."""

    old: str
    """The id of the review."""
    new: str
    """The id of the row."""
    has_same_stars: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Successors:
    """The rows that are, or may be, absent reviews."""

    pairs: Mapping[str, str] = field(default_factory=dict)
    """The row of each review for which author, day and maybe stars leave one alone."""
    doubts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The reviews that each other row may be."""
    others: Sequence[tuple[str, str]] = ()
    """The corrected reviews with neither, each with a row of its author on another day; of an author without a
    name, with a row of its day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predecessors:
    """The reviews that a new row is, or may be."""

    reviews: Sequence[Review]
    is_certain: bool
    """Whether it is the edited version of the only one; else it may be one of them."""


def find(
    absent: Sequence[Review], rows: Sequence[Review], is_corrected: Callable[[Review], bool]
) -> Successors:
    """Find the rows that may be absent reviews.

    Args:
        absent: The reviews of the file that no row is of.
        rows: The new rows without ids of their own.
        is_corrected: Called with an absent review, returns whether it is hidden or anonymous.
    """
    names = _Names(absent, rows)
    corrected = list(filter(is_corrected, absent))
    named = list(_of_same_author(absent, _indexed(rows, _person), names))
    by_day = _indexed(rows, _day)
    pairs = paired(named)
    doubts: defaultdict[str, list[str]] = defaultdict(list)
    for edge in _free([*named, *_of_same_words(corrected, by_day, names)], pairs):
        doubts[edge.new].append(edge.old)
    explained = {*pairs, *(old for olds in doubts.values() for old in olds)}
    taken = {*pairs.values(), *doubts}
    by_author = _indexed(rows, _author)
    others = [
        (_id(review), _id(row))
        for review in corrected
        if _id(review) not in explained
        for row in _akin(review, by_author, by_day, names)
        if _id(row) not in taken
    ]
    return Successors(pairs=pairs, doubts=doubts, others=others)


def paired(edges: Collection[Edge]) -> dict[str, str]:
    """Return the rows of the reviews that belong together, one to one.

    The same stars decide first; of those that remain, both have to be the only ones of each other.

    Args:
        edges: The reviews and rows with the same author and day.
    """
    pairs: dict[str, str] = {}
    for candidates in ([edge for edge in edges if edge.has_same_stars], edges):
        pairs |= _one_to_one(list(_free(candidates, pairs)))
    return pairs


def _one_to_one(edges: Collection[Edge]) -> dict[str, str]:
    olds, news = Counter(edge.old for edge in edges), Counter(edge.new for edge in edges)
    return {edge.old: edge.new for edge in edges if olds[edge.old] == news[edge.new] == 1}


def _free(edges: Iterable[Edge], pairs: Mapping[str, str]) -> Iterator[Edge]:
    """Iterate over the edges of which neither end is in a pair."""
    taken = set(pairs.values())
    return (edge for edge in edges if edge.old not in pairs and edge.new not in taken)


class _Names:
    """Tells the names of people from those that many people share.

    Args:
        absent: The absent reviews.
        rows: The new rows.
    """

    def __init__(self, absent: Iterable[Review], rows: Iterable[Review]) -> None:
        counts = Counter(map(_person, absent)) | Counter(map(_person, rows))
        self._crowds = {person for person, count in counts.items() if count > _MAX_PERSON}

    def has_name(self, review: Review) -> bool:
        """Return whether the author of a review is one person."""
        return not is_nameless(review.get("author")) and _person(review) not in self._crowds

    def are_same_author(self, review: Review, row: Review) -> bool:
        """Return whether two reviews are of one author: case, white space and ``short_name`` aside."""
        names = _name(review), _name(row)
        return (
            self.has_name(review)
            and self.has_name(row)
            and (names[0] == names[1] or names[0] == _short(row) or names[1] == _short(review))
        )


def _of_same_author(absent: Iterable[Review], people: _Index, names: _Names) -> Iterator[Edge]:
    """Iterate over the reviews and rows with one author and day."""
    for review in filter(names.has_name, absent):
        for row in people.get(_person(review), ()):
            if names.are_same_author(review, row) and _may_share_location(review, row):
                yield _edge(review, row)


def _of_same_words(corrected: Iterable[Review], days: _Index, names: _Names) -> Iterator[Edge]:
    """Iterate over the corrected reviews and the rows with their day and words, one of them without a name."""
    for review in corrected:
        for row in days.get(_day(review), ()):
            has_names = names.has_name(review) and names.has_name(row)
            if not has_names and _may_share_location(review, row) and shares_words(review, row):
                yield _edge(review, row)


def _akin(review: Review, authors: _Index, days: _Index, names: _Names) -> Iterator[Review]:
    """Iterate over the rows of an author; of an author without a name, over those rows of the day."""
    if names.has_name(review):
        rows = authors.get(_author(review), ())
        return (row for row in rows if names.are_same_author(review, row))
    return (row for row in days.get(_day(review), ()) if not names.has_name(row))


def shares_words(first: Review, second: Review) -> bool:
    """Return whether one review may be the edited other one: its text has four words in a row of the other.

    A text of fewer words has to be the beginning of the other one, and both to have the same stars.
    """
    words, others = _words(first), _words(second)
    length = min(len(words), len(others), _RUN)
    if length < _RUN:
        has_same_stars = first.get("rating") == second.get("rating")
        return length > 0 and has_same_stars and words[:length] == others[:length]
    return not _runs(words).isdisjoint(_runs(others))


def is_nameless(author: object) -> bool:
    """Return whether an author has no name of a person."""
    name = author.strip() if isinstance(author, str) else ""
    return not name or is_placeholder(name.capitalize())


def _words(review: Review) -> list[str]:
    text = review.get("text")
    return _word.findall(text.casefold()) if isinstance(text, str) else []


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1)}


def _edge(review: Review, row: Review) -> Edge:
    return Edge(_id(review), _id(row), review.get("rating") == row.get("rating"))


def _id(review: Review) -> str:
    return str(review.get("id"))


def _name(review: Review) -> str:
    return plain_text(str(review.get("author")))


def _short(review: Review) -> str:
    author = str(review.get("author"))
    return plain_text(short_name(author)) if author.strip() else ""


def _day(review: Review) -> _Key:
    return str(review.get("source")), str(review.get("date"))


def _author(review: Review) -> _Key:
    return str(review.get("source")), _short(review)


def _person(review: Review) -> _Key:
    return *_day(review), _short(review)


def _indexed(rows: Iterable[Review], key: Callable[[Review], _Key]) -> _Index:
    index: defaultdict[_Key, list[Review]] = defaultdict(list)
    for row in rows:
        index[key(row)].append(row)
    return index


def _may_share_location(review: Review, row: Review) -> bool:
    """Return whether both may be about one location, which a table may be without."""
    locations = {str(record.get("location") or "") for record in (review, row)}
    return len(locations - {""}) <= 1
