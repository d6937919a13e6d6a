"""Finds the reviews that were edited in a table without ids, where an edited row has another id.

A new row is an absent review of the file where the source and two of three agree: author, day and words, of which there
are four or more. Of several, those with the same words or stars belong together. Where it stays open which ones do,
each row may be each review, and a row with words of a corrected review never is another one for certain. Less is
evidence only that a corrected review may be back: the same words alone, and on its day four of them in a row or a similar
name.
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
from reviewsd.domain.near_misses import within_edits

_MAX_PERSON: Final = 10  # reviews of one name and day; a name that more have is nobody's
_MAX_REMARKS: Final = 1_000  # far more than are named
_MAX_EDITS: Final = 2  # letters by which two forms of a name differ,
_LETTERS_PER_EDIT: Final = 3  # and of so many one at most
_MAX_ALIKE: Final = 20  # reviews with one key that are told apart


class Sketch(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The members of a review by which it is known again; an import may have 100,000 of them."""

    key: str
    """The id of a review of the file, or the merge key of a row."""
    source: str
    author: str
    day: str
    stars: object
    location: str
    text: str
    """Empty where it is never compared."""
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
    review: Mapping[str, object], key: str, *, action: str = "", has_own_id: bool = False
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
        key=key,
        source=source,
        author=author,
        day=day,
        stars=stars,
        location=intern(str(review.get("location") or "")),
        text=text,
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

    pairs: Sequence[_Edge]
    """The reviews for which two of author, day and words, and maybe the stars, leave one row alone."""
    doubts: Sequence[_Edge]
    """The reviews that each other row may be."""
    remarks: Sequence[_Edge]
    """The corrected reviews with neither, each with a row of its author on another day; of an author without a
    name, with a row of its day."""


def find(absent: Collection[Sketch], rows: Sequence[Sketch]) -> Successors:
    """Find the new rows that may be absent reviews of the file."""
    names = _Names(absent, rows)
    corrected = [review for review in absent if review.action]
    runs = {run for review in corrected for run in runs_of(_words(review.text))}
    near = [row for row in rows if corrected and _may_share_words(row, runs)]
    found = itertools.chain(
        filter(names.may_be_one, _sharing(absent, rows, lambda review: review.pair_keys)),
        filter(_have_similar_words, _sharing(corrected, near, _word_keys)),
        filter(names.have_similar_names, _sharing(corrected, rows, _day_key)),
    )
    edges = {(edge[0].key, edge[1].key): edge for edge in found if _may_share_location(*edge)}
    pairs, doubts = _paired(edges.values(), names)
    explained = {review.key for edge in (*pairs, *doubts) for review in edge}
    remarks = _sharing(
        [review for review in corrected if review.key not in explained],
        [row for row in rows if row.key not in explained],
        names.remark_keys,
    )
    remarks = itertools.islice(filter(names.are_related, remarks), _MAX_REMARKS)
    return Successors(pairs=pairs, doubts=doubts, remarks=list(remarks))


def _paired(found: Collection[_Edge], names: "_Names") -> tuple[list[_Edge], list[_Edge]]:
    """Return the reviews and rows that belong together one to one, and those that are in doubt.

    Of those with two of author, day and words the same words decide first, then words of a corrected review, then the
    same stars; of those that remain, both have to be the only ones of each other. A row with words of a corrected
    review that is not its own is in doubt, and so is one that may be a corrected review without a row, unless all its
    words are those of another review.
    """
    edges = [edge for edge in found if names.have_two_of_three(*edge)]
    equal = [(review, row) for review, row in edges if review.words_key == row.words_key != 0]
    similar = [
        (review, row) for review, row in edges if review.action and shares_words(review, row)
    ]
    same_stars = [(review, row) for review, row in edges if review.stars == row.stars]
    pairs: list[_Edge] = []
    for candidates in (equal, similar, same_stars, edges):
        free = _free(candidates, pairs)
        counts = Counter(review.key for edge in free for review in edge)
        pairs += [edge for edge in free if counts[edge[0].key] == counts[edge[1].key] == 1]
    row_of = {review.key: row.key for review, row in pairs}
    rows_of_equals = {row.key for review, row in equal if row_of.get(review.key) == row.key}
    contested = [(review, row) for review, row in similar if row_of.get(review.key) != row.key]
    contested += [
        (review, row)
        for review, row in found
        if review.action and review.key not in row_of and row.key not in rows_of_equals
    ]
    contested_rows = {row.key for _, row in contested}
    pairs = [(review, row) for review, row in pairs if row.key not in contested_rows]
    return pairs, list(dict.fromkeys([*_free(edges, pairs), *contested]))


def _free(edges: Iterable[_Edge], pairs: Iterable[_Edge]) -> list[_Edge]:
    """Return the edges of which neither end is in a pair."""
    paired = {review.key for edge in pairs for review in edge}
    return [edge for edge in edges if edge[0].key not in paired and edge[1].key not in paired]


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

    def have_similar_names(self, edge: _Edge) -> bool:
        """Return whether the authors of two reviews of a day have one first name, or names with two letters' difference."""
        if not all(map(self.has_name, edge)):
            return False
        name, other = (plain_text(review.author) for review in edge)
        first_names = {author_key(review.author).partition(" ")[0] for review in edge}
        edits = min(_MAX_EDITS, min(len(name), len(other)) // _LETTERS_PER_EDIT)
        return len(first_names) == 1 or within_edits(name, other, edits)

    def remark_keys(self, review: Sketch) -> Iterator[object]:
        """Yield a key that two reviews have in common if they are related."""
        yield review.author_key if self.has_name(review) else review.day_key

    def are_related(self, edge: _Edge) -> bool:
        """Return whether two reviews have one author; without names, one day."""
        review, row = edge
        if self.has_name(review):
            return self.are_same_author(review, row)
        return not self.has_name(row)

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
    """Iterate over the reviews and the rows that have a key in common, unless both ids are their own.

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
        candidates = {r.key: r for group in groups for alike in group for r in alike}
        for review in candidates.values():
            if not (review.has_own_id and row.has_own_id):
                yield review, row


def _day_key(review: Sketch) -> Iterator[object]:
    yield review.day_key


def _word_keys(review: Sketch) -> Iterator[object]:
    """Yield keys of which two reviews have one in common if they may have similar words."""
    words = _words(review.text)
    for run in runs_of(words):
        if len(words) >= MANY:
            yield review.source, run
        yield review.day_key, run
        if author_key(review.author):
            yield review.author_key, run
    for length in range(1, min(RUN, len(words) + 1)):
        yield review.day_key, review.stars, tuple(words[:length])
        if author_key(review.author):
            yield review.author_key, review.stars, tuple(words[:length])


def _may_share_words(row: Sketch, runs: Collection[tuple[str, ...]]) -> bool:
    """Return whether a text has one of these runs of words, or is shorter than they are."""
    words = _words(row.text)
    return len(words) < RUN or not runs_of(words).isdisjoint(runs)


def _have_similar_words(edge: _Edge) -> bool:
    """Return whether one of two reviews has words of the other: half of them if neither day nor author is the same."""
    review, row = edge
    is_near = review.day == row.day or review.author_key == row.author_key
    return shares_words(review, row, least=0 if is_near else 0.5)


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


def _may_share_location(review: Sketch, row: Sketch) -> bool:
    """Return whether both may be about one location, which a table may be without."""
    return "" in {review.location, row.location} or review.location == row.location
