"""Finds the reviews that were edited in a table without ids, where an edited row has another id.

A new row is an absent review of the file where the source and two of three agree: author, day and words. Of several,
those with the same words or stars belong together. Where it stays open which ones do, each row may be each review, and
a row with words of a corrected review never is another one for certain. Authors without a name are many people, so
that two of day, words and stars are evidence there, but only that a corrected review may be back.
"""

import functools
import itertools
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from sys import intern
from typing import Final

import msgspec

from reviewsd.api.texts import RUN, author_key, plain_text, runs_of, words_of

_MAX_PERSON: Final = 10  # reviews of one name and day; a name that more have is nobody's
_MAX_NAMED: Final = 21  # rows that may be a review; one more than notes name
_MAX_COMPARED: Final = 100  # rows with a similar author that are compared for a note
_MAX_ALIKE: Final = 20  # corrected reviews of a day with the same words that are told apart


class Sketch(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The members of a review by which it is known again; an import may have 100,000 of them."""

    review_id: str
    source: str
    author: str
    day: str
    stars: object
    location: str
    text: str
    """Empty where it is not compared."""
    is_corrected: bool
    """Whether it is a review of the file that is hidden or anonymous."""
    person_key: int
    """A number that the reviews of its source, day and author share, whose name may be short."""
    words_key: int
    """A number that the reviews of its source and words share, of fewer than four with the same stars; 0 without
    words."""

    @property
    def day_key(self) -> int:
        """A number that the reviews of its source and day share."""
        return hash((self.source, self.day))

    @property
    def author_key(self) -> int:
        """A number that the reviews of its source and author share."""
        return hash((self.source, author_key(self.author)))

    @property
    def pair_keys(self) -> frozenset[int]:
        """Numbers of which reviews with two of three in common share one: author, day and words."""
        if not self.words_key:
            return frozenset((self.person_key,))
        by_day, by_author = ((self.words_key, key) for key in (self.day, self.author_key))
        return frozenset((self.person_key, hash(by_day), hash(by_author)))


def sketch(
    review: Mapping[str, object], *, is_corrected: bool = False, with_text: bool = False
) -> Sketch:
    """Return the sketch of a review, as JSON has it; it may be invalid."""
    name, text = review.get("author"), review.get("text")
    author = unicodedata.normalize("NFC", name) if isinstance(name, str) else ""
    text = text if isinstance(text, str) else ""
    source, day = intern(str(review.get("source")).casefold()), intern(str(review.get("date")))
    stars, words = review.get("rating"), _words(text)
    return Sketch(
        review_id=str(review.get("id")),
        source=source,
        author=author,
        day=day,
        stars=stars,
        location=intern(str(review.get("location") or "")),
        text=text if with_text else "",
        is_corrected=is_corrected,
        person_key=hash((source, day, author_key(author))),
        words_key=hash((source, *words, stars if len(words) < RUN else None)) if words else 0,
    )


_Edge = tuple[Sketch, Sketch]
"""An absent review and a row that may be it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Successors:
    """The rows that are, or may be, absent reviews."""

    pairs: Mapping[str, str] = field(default_factory=dict)
    """The row of each review for which two of author, day and words, and maybe the stars, leave one alone."""
    doubts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The reviews that each other row may be."""
    possible_pairs: Sequence[tuple[str, str]] = ()
    """The corrected reviews with neither, each with a row that may be it all the same, though it is shown."""


def find(absent: Sequence[Sketch], rows: Sequence[Sketch]) -> Successors:
    """Find the new rows without ids of their own that may be absent reviews of the file."""
    names = _Names(absent, rows)
    corrected = [review for review in absent if review.is_corrected]
    by_day = _indexed(rows if corrected else (), lambda row: [row.day_key])
    pairs, edges = _paired(
        [*_of_one_author(absent, rows, names), *_of_same_words(absent, rows, names)],
        [*_of_similar_words(corrected, by_day, names), *_without_names(corrected, rows, names)],
    )
    doubts: defaultdict[str, list[str]] = defaultdict(list)
    for review_id, row_id in dict.fromkeys(
        (review.review_id, row.review_id) for review, row in edges
    ):
        doubts[row_id].append(review_id)
    explained = {*pairs, *(review.review_id for review, _ in edges)}
    explained_rows = {*pairs.values(), *doubts}
    others = [row for row in rows if row.review_id not in explained_rows]
    possible_pairs = _possible_pairs(
        [review for review in corrected if review.review_id not in explained], others, names
    )
    return Successors(pairs=pairs, doubts=doubts, possible_pairs=list(possible_pairs))


def _paired(
    edges: Collection[_Edge], doubts: Iterable[_Edge]
) -> tuple[dict[str, str], list[_Edge]]:
    """Return the rows of the reviews that belong together one to one, and what is in doubt.

    The same words decide first, then words of a corrected review, then the same stars; of those that remain, both have
    to be the only ones of each other. A row with words of a corrected review that is not its own is in doubt, and so
    is one that may be a corrected review without a row, unless all its words are those of another review.

    Args:
        edges: The reviews, and the rows that share two of author, day and words with them.
        doubts: The corrected reviews, and the rows that may be them all the same.
    """
    pairs: dict[str, str] = {}
    equal = [edge for edge in edges if edge[0].words_key and edge[0].words_key == edge[1].words_key]
    similar = [edge for edge in edges if edge[0].is_corrected and shares_words(*edge)]
    same_stars = [(review, row) for review, row in edges if review.stars == row.stars]
    for candidates in (equal, similar, same_stars, edges):
        ids = [(review.review_id, row.review_id) for review, row in _free(candidates, pairs)]
        reviews, rows = Counter(old for old, _ in ids), Counter(new for _, new in ids)
        pairs |= {old: new for old, new in ids if reviews[old] == rows[new] == 1}
    rows_of_equals = {
        row.review_id for review, row in equal if pairs.get(review.review_id) == row.review_id
    }
    contested = [edge for edge in similar if pairs.get(edge[0].review_id) != edge[1].review_id]
    contested += [
        (review, row)
        for review, row in (*edges, *doubts)
        if review.is_corrected
        and review.review_id not in pairs
        and row.review_id not in rows_of_equals
    ]
    contested_rows = {row.review_id for _, row in contested}
    pairs = {old: new for old, new in pairs.items() if new not in contested_rows}
    return pairs, [*_free(edges, pairs), *contested]


def _free(edges: Iterable[_Edge], pairs: Mapping[str, str]) -> list[_Edge]:
    """Return the edges of which neither end is in a pair."""
    rows = set(pairs.values())
    return [
        (review, row)
        for review, row in edges
        if review.review_id not in pairs and row.review_id not in rows
    ]


class _Names:
    """Tells the names of people from those that many absent reviews, or many new rows, share."""

    def __init__(self, absent: Iterable[Sketch], rows: Iterable[Sketch]) -> None:
        self._crowds = {
            person
            for reviews in (absent, rows)
            for person, count in Counter(review.person_key for review in reviews).items()
            if count > _MAX_PERSON
        }

    def has_name(self, review: Sketch) -> bool:
        """Return whether the author of a review is one person."""
        return bool(author_key(review.author)) and review.person_key not in self._crowds

    def are_same_author(self, review: Sketch, row: Sketch) -> bool:
        """Return whether two reviews are of one author: case, white space and short forms of names aside."""
        first, second = (plain_text(each.author).rstrip(".") for each in (review, row))
        key = author_key(review.author)
        return (
            self.has_name(review)
            and self.has_name(row)
            and key == author_key(row.author)
            and (first == second or key in {first, second})
        )


def _of_one_author(
    absent: Iterable[Sketch], rows: Iterable[Sketch], names: _Names
) -> Iterator[_Edge]:
    """Iterate over the reviews and the rows with the same author and day."""
    olds = _indexed(filter(names.has_name, absent), lambda review: [review.person_key])
    for row in rows:
        for review in olds.get(row.person_key, ()):
            if names.are_same_author(review, row) and _may_share_location(review, row):
                yield review, row


def _of_same_words(
    absent: Iterable[Sketch], rows: Sequence[Sketch], names: _Names
) -> Iterator[_Edge]:
    """Iterate over the reviews and the rows with the same words, and either the same day or the same author.

    Of many with the same words a few stand for all, corrected ones first: a stranger can write a thousand a day.
    """
    keys = {key for row in rows for key in row.pair_keys}
    alike: defaultdict[int, list[Sketch]] = defaultdict(list)
    for review in sorted(absent, key=lambda review: not review.is_corrected):
        for key in review.pair_keys & keys:
            if review.words_key and len(alike[key]) < _MAX_ALIKE:
                alike[key].append(review)
    for row in rows if alike else ():
        found = {review.review_id: review for key in row.pair_keys for review in alike.get(key, ())}
        for review in found.values():
            are_same_author = names.are_same_author(review, row)
            if (
                review.words_key == row.words_key
                and (review.day == row.day) != are_same_author
                and _may_share_location(review, row)
            ):
                yield review, row


def _of_similar_words(
    corrected: Iterable[Sketch], days: Mapping[object, Sequence[Sketch]], names: _Names
) -> Iterator[_Edge]:
    """Iterate over the corrected reviews and the rows with their day and similar words, of another author.

    Where one of them has no name, four words in a row are similar; else half of the shorter text has to be. Of many
    with the same words a few stand for all.
    """
    for day, reviews in _indexed(corrected, lambda review: [review.day_key]).items():
        by_words: defaultdict[object, list[Sketch]] = defaultdict(list)
        for review in reviews:
            for words in _word_keys(review):
                if len(by_words[words]) < _MAX_ALIKE:
                    by_words[words].append(review)
        for row in days.get(day, ()):
            found = {r.review_id: r for words in _word_keys(row) for r in by_words.get(words, ())}
            for review in found.values():
                has_names = names.has_name(review) and names.has_name(row)
                if _may_share_location(review, row) and shares_words(
                    review, row, least=0.5 if has_names else 0
                ):
                    yield review, row


def _without_names(
    corrected: Iterable[Sketch], rows: Iterable[Sketch], names: _Names
) -> Iterator[_Edge]:
    """Iterate over the corrected reviews and the rows without names that share two of day, words and stars.

    Fewer than four words on another day are no evidence, and the same day and stars of several rows neither. Of many
    reviews with the same key a few stand for all.
    """
    reviews_by_key: defaultdict[object, list[Sketch]] = defaultdict(list)
    for review in itertools.filterfalse(names.has_name, corrected):
        for key in _nameless_keys(review):
            if len(reviews_by_key[key]) < _MAX_ALIKE:
                reviews_by_key[key].append(review)
    rows_by_key: defaultdict[object, list[Sketch]] = defaultdict(list)
    for row in itertools.filterfalse(names.has_name, rows if reviews_by_key else ()):
        for key in reviews_by_key.keys() & _nameless_keys(row):
            rows_by_key[key].append(row)
    for key, similar_rows in rows_by_key.items():
        review = reviews_by_key[key][0]
        if key == _day_and_stars(review) and len(similar_rows) > 1:
            continue
        for edge in itertools.product(reviews_by_key[key], similar_rows):
            if _may_share_location(*edge):
                yield edge


def _nameless_keys(review: Sketch) -> set[object]:
    words = tuple(_words(review.text))
    keys: set[object] = {_day_and_stars(review)}
    if words:
        keys.add((review.day_key, words))
    if len(words) >= RUN:
        keys.add((review.source, review.stars, words))
    return keys


def _day_and_stars(review: Sketch) -> object:
    return review.day_key, review.stars


def _word_keys(review: Sketch) -> Iterator[object]:
    """Yield keys of which two reviews have one in common if they ``shares_words``."""
    words = _words(review.text)
    yield from runs_of(words)
    for length in range(1, min(RUN, len(words) + 1)):
        yield review.stars, tuple(words[:length])


def _possible_pairs(
    corrected: Sequence[Sketch], rows: Iterable[Sketch], names: _Names
) -> Iterator[tuple[str, str]]:
    """Iterate over the corrected reviews and the rows that have one of the ``_note_keys`` in common."""
    rows_by_key = _indexed(rows if corrected else (), lambda row: _note_keys(row, names))
    for review in corrected:
        similar = (
            row.review_id
            for key in _note_keys(review, names)
            for row in itertools.islice(rows_by_key.get(key, ()), _MAX_COMPARED)
            if key != review.author_key or names.are_same_author(review, row)
        )
        for row_id in dict.fromkeys(itertools.islice(similar, _MAX_NAMED)):
            yield review.review_id, row_id


def _note_keys(review: Sketch, names: _Names) -> Iterator[object]:
    """Yield keys of the author; without a name of the day, and of a short text; without words of day and stars."""
    words = _words(review.text)
    if names.has_name(review):
        yield review.author_key
    else:
        yield review.day_key
        if 0 < len(words) < RUN:
            yield review.words_key
    if not words:
        yield _day_and_stars(review)


def shares_words(first: Sketch, second: Sketch, *, least: float = 0) -> bool:
    """Return whether one review may be the edited other one: its text has four words in a row of the other.

    A text of fewer words has to be the beginning of the other one, and both to have the same stars.

    Args:
        first: A review.
        second: Another one.
        least: The share of the runs of four words of the shorter text that have to be in the other one; 0 for one.
    """
    texts = [_words(review.text) for review in (first, second)]
    length = min(RUN, *map(len, texts))
    if length < RUN:
        words, second_words = (text[:length] for text in texts)
        return length > 0 and first.stars == second.stars and words == second_words
    runs, second_runs = map(runs_of, texts)
    shared = len(runs & second_runs)
    return shared > 0 and shared >= least * min(len(runs), len(second_runs))


@functools.lru_cache(1_000)
def _words(text: str) -> list[str]:
    return words_of(text)


def _indexed(
    rows: Iterable[Sketch], keys: Callable[[Sketch], Iterable[object]]
) -> Mapping[object, Sequence[Sketch]]:
    index: defaultdict[object, list[Sketch]] = defaultdict(list)
    for row in rows:
        for key in keys(row):
            index[key].append(row)
    return index


def _may_share_location(review: Sketch, row: Sketch) -> bool:
    """Return whether both may be about one location, which a table may be without."""
    return "" in {review.location, row.location} or review.location == row.location
