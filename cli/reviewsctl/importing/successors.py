"""Finds the reviews that were edited in a table without ids, where an edited row has another id.

A new row is an absent review of the file where the source and two of three agree: author, day and words, of which there
are four or more. Of several, those with the same words or stars belong together. Where it stays open which ones do,
each row may be each review, and a row with words of a corrected review never is another one for certain. Less is
evidence only that a corrected review may be back: the same words alone, fewer of them on its day, and similar ones.
Authors without a name are many people; there the stars stand for the name.
"""

import functools
import itertools
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Final

import msgspec

from reviewsd.api.texts import MANY, RUN, author_key, plain_text, runs_of, words_of

_MAX_PERSON: Final = 10  # reviews of one name and day; a name that more have is nobody's
_MAX_NAMED: Final = 21  # rows that may be a review; one more than notes name
_MAX_COMPARED: Final = 100  # rows with a similar author that are compared for a note
_MAX_ALIKE: Final = 20  # reviews with one key that are told apart


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
    action: str
    """The correction of a review of the file; empty if it is shown as it is."""
    has_own_id: bool
    """Whether its id is not made of its content: of two such, each is a review of its own."""
    author_key: int
    """A number that the reviews of its source and author share, whose name may be short; without a name those of its
    source, day and stars."""
    words_key: int
    """A number that the reviews of its source and words share, of fewer than four those of its day alone; 0 without
    words."""
    has_text: bool
    """Whether it has four words or more."""

    @property
    def day_key(self) -> int:
        """A number that the reviews of its source and day share."""
        return hash((self.source, self.day))

    @property
    def person_key(self) -> int:
        """A number that the reviews of its author and day share."""
        return hash((self.author_key, self.day))

    @property
    def pair_keys(self) -> frozenset[int]:
        """Numbers of which reviews share one that may be versions of one review."""
        stars_alone = 0 if self.words_key else hash((self.day_key, str(self.stars)))
        return frozenset({self.person_key, self.words_key, stars_alone} - {0})


def sketch(
    review: Mapping[str, object],
    *,
    action: str = "",
    has_own_id: bool = False,
    with_text: bool = False,
) -> Sketch:
    """Return the sketch of a review, as JSON has it; it may be invalid."""
    name, text = review.get("author"), review.get("text")
    author = unicodedata.normalize("NFC", name) if isinstance(name, str) else ""
    text = text if isinstance(text, str) else ""
    source, day = intern(str(review.get("source")).casefold()), intern(str(review.get("date")))
    rating, words = review.get("rating"), _words(text)
    stars = rating if isinstance(rating, int | float) else None
    has_text = len(words) >= RUN
    return Sketch(
        review_id=str(review.get("id")),
        source=source,
        author=author,
        day=day,
        stars=stars,
        location=intern(str(review.get("location") or "")),
        text=text if with_text else "",
        action=action,
        has_own_id=has_own_id,
        author_key=hash((source, author_key(author) or (day, str(stars)))),
        words_key=hash((source, *words, "" if has_text else day)) if words else 0,
        has_text=has_text,
    )


_Edge = tuple[Sketch, Sketch]
"""An absent review and a row that may be it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Successors:
    """The rows that are, or may be, absent reviews."""

    pairs: Mapping[str, str]
    """The row of each review for which two of author, day and words, and maybe the stars, leave one alone."""
    doubts: Mapping[str, Sequence[str]]
    """The reviews that each other row may be."""
    possible_pairs: Sequence[tuple[str, str]]
    """The corrected reviews with neither, each with a row of its author on another day; of an author without a
    name, with a row of its day; and with a row that has four of its words in a row on its day."""


def find(absent: Sequence[Sketch], rows: Sequence[Sketch]) -> Successors:
    """Find the new rows without ids of their own that may be absent reviews of the file."""
    names = _Names(absent, rows)
    corrected = [review for review in absent if review.action]
    found = list(filter(names.may_be_one, _sharing(absent, rows, lambda review: review.pair_keys)))
    few_words: list[tuple[str, str]] = []
    for review, row in _sharing(corrected, rows, _word_keys):
        if names.have_similar_words(review, row):
            found.append((review, row))
        elif shares_words(review, row):
            few_words.append((review.review_id, row.review_id))
    edges = {(review.review_id, row.review_id): (review, row) for review, row in found}
    pairs, doubtful = _paired(edges.values(), names)
    doubts: defaultdict[str, list[str]] = defaultdict(list)
    for review_id, row_id in dict.fromkeys((old.review_id, new.review_id) for old, new in doubtful):
        doubts[row_id].append(review_id)
    explained = {*pairs, *pairs.values(), *doubts, *itertools.chain(*doubts.values())}
    possible_pairs = _possible_pairs(
        [review for review in corrected if review.review_id not in explained],
        [row for row in rows if row.review_id not in explained],
        names,
    )
    few_words = [pair for pair in few_words if explained.isdisjoint(pair)]
    return Successors(
        pairs=pairs,
        doubts=doubts,
        possible_pairs=list(dict.fromkeys([*few_words, *possible_pairs])),
    )


def _paired(found: Collection[_Edge], names: "_Names") -> tuple[dict[str, str], list[_Edge]]:
    """Return the rows of the reviews that belong together one to one, and what is in doubt.

    Of those with two of author, day and words the same words decide first, then words of a corrected review, then the
    same stars; of those that remain, both have to be the only ones of each other. A row with words of a corrected
    review that is not its own is in doubt, and so is one that may be a corrected review without a row, unless all its
    words are those of another review.
    """
    edges = [edge for edge in found if names.have_two_of_three(*edge)]
    pairs: dict[str, str] = {}
    equal = [edge for edge in edges if edge[0].words_key and edge[0].words_key == edge[1].words_key]
    similar = [edge for edge in edges if edge[0].action and shares_words(*edge)]
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
        for review, row in found
        if review.action and review.review_id not in pairs and row.review_id not in rows_of_equals
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
        self._counts = [
            Counter(review.person_key for review in reviews) for reviews in (absent, rows)
        ]
        self._stars_alone = Counter((row.day_key, row.stars) for row in rows if not row.words_key)

    def has_name(self, review: Sketch) -> bool:
        """Return whether the author of a review is one person."""
        return bool(author_key(review.author)) and all(
            counts[review.person_key] <= _MAX_PERSON for counts in self._counts
        )

    def are_same_author(self, review: Sketch, row: Sketch) -> bool:
        """Return whether two reviews are of one author: case, white space and short forms of names aside.

        Without names, whether they have the same day and stars, and no other row has.
        """
        key = author_key(review.author)
        if not key:
            return review.person_key == row.person_key and self._counts[1][row.person_key] == 1
        first, second = (plain_text(each.author).rstrip(".") for each in (review, row))
        return (
            key == author_key(row.author)
            and (first == second or key in {first, second})
            and self.has_name(review)
            and self.has_name(row)
        )

    def may_be_one(self, edge: _Edge) -> bool:
        """Return whether two reviews have the same words, or one author, or are the only stars alone of a day."""
        review, row = edge
        if self.are_same_author(review, row):
            return True
        if review.words_key or row.words_key:
            return review.words_key == row.words_key
        is_same = (review.day_key, review.stars) == (row.day_key, row.stars)
        return is_same and bool(review.action) and self._stars_alone[row.day_key, row.stars] == 1

    def have_similar_words(self, review: Sketch, row: Sketch) -> bool:
        """Return whether one review has half of the other's words; without a name, four in a row."""
        least = 0.5 if self.has_name(review) and self.has_name(row) else 0
        return shares_words(review, row, least=least)

    def have_two_of_three(self, review: Sketch, row: Sketch) -> bool:
        """Return whether author, day and words of two reviews are the same but for one of them."""
        are_same = (
            self.has_name(review) and self.are_same_author(review, row),
            review.day == row.day,
            review.has_text and review.words_key == row.words_key,
        )
        return sum(are_same) > 1


def _sharing(
    reviews: Iterable[Sketch],
    rows: Iterable[Sketch],
    keys_of: Callable[[Sketch], Iterable[object]],
) -> Iterator[_Edge]:
    """Iterate over the reviews and the rows that have a key in common, and no other location.

    Of many reviews with one key and correction the first stand for all: a stranger can write a thousand a day.
    """
    by_key: defaultdict[object, defaultdict[str, list[Sketch]]]
    by_key = defaultdict(lambda: defaultdict(list))
    for review in reviews:
        for key in keys_of(review):
            alike = by_key[key][review.action]
            if len(alike) < _MAX_ALIKE:
                alike.append(review)
    for row in rows if by_key else ():
        groups = (by_key[key].values() for key in keys_of(row) if key in by_key)
        for review in {
            r.review_id: r for group in groups for alike in group for r in alike
        }.values():
            if _may_be_one(review, row):
                yield review, row


def _word_keys(review: Sketch) -> Iterator[object]:
    """Yield keys of which two reviews of a day, or of an author, have one in common if they ``shares_words``."""
    words = _words(review.text)
    for run in runs_of(words):
        yield review.day_key, run
        if author_key(review.author):
            yield review.author_key, run
    for length in range(1, min(RUN, len(words) + 1)):
        yield review.day_key, review.stars, tuple(words[:length])


def _possible_pairs(
    corrected: Sequence[Sketch], rows: Iterable[Sketch], names: _Names
) -> Iterator[tuple[str, str]]:
    """Iterate over the corrected reviews and the rows of their authors; without a name, over those rows of the day."""

    def key_of(review: Sketch) -> int:
        return review.author_key if names.has_name(review) else review.day_key

    rows_by_key: defaultdict[int, list[Sketch]] = defaultdict(list)
    for row in rows if corrected else ():
        rows_by_key[key_of(row)].append(row)
    for review in corrected:
        similar = (
            (review.review_id, row.review_id)
            for row in rows_by_key.get(key_of(review), ())[:_MAX_COMPARED]
            if not (review.has_own_id and row.has_own_id)
            and (not names.has_name(review) or names.are_same_author(review, row))
        )
        yield from itertools.islice(similar, _MAX_NAMED)


def are_versions(review: Sketch, row: Sketch) -> bool:
    """Return whether a row is a review that would stay: of its author and day with similar words, or in many words."""
    if review.person_key == row.person_key:
        is_equal = review.words_key == row.words_key != 0
        return is_equal or shares_words(review, row, least=0.5)
    is_equal = review.words_key == row.words_key and review.stars == row.stars
    return is_equal and len(_words(row.text)) >= MANY


def shares_words(first: Sketch, second: Sketch, *, least: float = 0) -> bool:
    """Return whether one review may be the edited other one: its text has four words in a row of the other.

    A text of fewer words has to be the beginning of the other one, and both to have the same stars. ``least`` is the
    share of the runs of four words of the shorter text that have to be in the other one.
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


def _may_be_one(review: Sketch, row: Sketch) -> bool:
    """Return whether neither ids nor locations, which a table may be without, say that both are two reviews."""
    is_one_place = "" in {review.location, row.location} or review.location == row.location
    return is_one_place and not (review.has_own_id and row.has_own_id)
