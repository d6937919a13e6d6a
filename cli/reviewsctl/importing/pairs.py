"""Finds the reviews that were edited in a table without ids, where an edited row has another id (corrections.md C23, C24).

A new row is an absent review of the file where the source and two of three agree: author, day and words, of which there
are four or more. Of several, those with the same words, with four words in a row, or with the same stars belong together.
"""

import functools
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from sys import intern
from typing import Final

import msgspec

from reviewsd.api.texts import MANY, RUN, author_key, plain_text, runs_of, words_of

MAX_PERSON: Final = 10
"""Reviews of one name and day; a more frequent name tells nobody apart."""


class Facts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The members of a review by which it is known again; an import may have 100,000 of them."""

    key: str
    """The id of a review of the file, or the merge key of a row."""
    source: str = ""
    author: str = ""
    """Without case, white space and the point of a short name."""
    author_key: str = ""
    """The common form of the name and its short form; empty without a name."""
    day: str = ""
    stars: object = None
    location: str = ""
    text: str = ""
    words_key: int = 0
    """A number that the reviews of its source with the same words share; 0 without words."""
    has_own_id: bool = False
    """Whether its id is not made of its content: of two such, each is a review of its own."""
    action: str = ""
    """The correction of a review; empty if it is shown as it is."""
    digests: frozenset[tuple[str, str]] = frozenset()
    """The ``version_digests`` of its content, and of each content that a corrected review has had, by name."""

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
        """The key of the reviews of its author and day; None without a name."""
        return (self.source, self.author_key, self.day) if self.author_key else None

    def pair_keys(self) -> Iterator[object]:
        """Yield what it shares with a review of which it has two of author, day and words."""
        if self.author_key:
            yield self.person
        if self.is_long:
            yield self.day, self.words_key
            if self.author_key:
                yield self.author_key, self.words_key


Edge = tuple[Facts, Facts]
"""A review and a row that is, or may be, it."""


def facts_of(
    review: Mapping[str, object],
    key: str,
    *,
    has_own_id: bool = False,
    action: str = "",
    digests: frozenset[tuple[str, str]] = frozenset(),
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
        has_own_id=has_own_id,
        action=action,
        digests=digests,
    )


def find_pairs(absent: Iterable[Facts], rows: Sequence[Facts]) -> list[Edge]:
    """Find the new rows that are absent reviews of the file, one to one."""
    edges = _edges(absent, rows)
    pairs: list[Edge] = []
    for is_closer in (have_same_words, shares_words, _have_same_stars, lambda *_: True):
        paired = {review.key for edge in pairs for review in edge}
        free = [edge for edge in edges if paired.isdisjoint((edge[0].key, edge[1].key))]
        free = [edge for edge in free if is_closer(*edge)]
        counts = Counter(review.key for edge in free for review in edge)
        pairs += [edge for edge in free if counts[edge[0].key] == counts[edge[1].key] == 1]
    return pairs


def _edges(absent: Iterable[Facts], rows: Sequence[Facts]) -> list[Edge]:
    """Return the reviews and rows with the same source and two of author, day and words."""
    by_key: defaultdict[object, list[Facts]] = defaultdict(list)
    for review in absent:
        for key in review.pair_keys():
            by_key[key].append(review)
    counts = Counter(key for row in rows for key in row.pair_keys() if key in by_key)
    edges = {
        (review.key, row.key): (review, row)
        for row in rows
        for key in row.pair_keys()
        if 0 < counts[key] <= MAX_PERSON and len(by_key[key]) <= MAX_PERSON
        for review in by_key[key]
        if _have_two_of_three(review, row)
        and may_share_location(review, row)
        and not (review.has_own_id and row.has_own_id)
    }
    return list(edges.values())


def _have_two_of_three(review: Facts, row: Facts) -> bool:
    are_same = (
        _are_of_one_author(review, row),
        review.day == row.day,
        review.is_long and have_same_words(review, row),
    )
    return sum(are_same) > 1


def _are_of_one_author(review: Facts, row: Facts) -> bool:
    """Return whether two reviews have one name, of which one may be short."""
    names = {review.author, row.author}
    is_alike = review.author_key == row.author_key != ""
    return is_alike and (len(names) == 1 or row.author_key in names)


def may_share_location(review: Facts, row: Facts) -> bool:
    """Return whether both may be about one location, which a table may be without."""
    return "" in {review.location, row.location} or review.location == row.location


def are_versions(review: Facts, row: Facts) -> bool:
    """Return whether a row is a review that would stay: of its author and day with similar words, or in many words."""
    if review.person == row.person is not None:
        if review.words_key == row.words_key:
            return bool(row.words_key) or _have_same_stars(review, row)
        return shares_words(review, row, least=0.5)
    is_equal = have_same_words(review, row) and _have_same_stars(review, row)
    return is_equal and len(row.words) >= MANY


def may_have_got_words(review: Facts, row: Facts) -> bool:
    """Return whether a row may be a review whose text was filled in, or taken out, since: one of them has none."""
    return (
        (review.source, review.author_key, review.day, review.stars)
        == (row.source, row.author_key, row.day, row.stars)
        and bool(review.words_key) is not bool(row.words_key)
        and may_share_location(review, row)
    )


def have_same_words(review: Facts, row: Facts) -> bool:
    """Return whether two reviews have the same words, one or more."""
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


@functools.lru_cache(1_000)
def _words(text: str) -> list[str]:
    return words_of(text)
