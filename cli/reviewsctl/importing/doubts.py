"""Finds the rows that may be corrected reviews, so that they are not shown for what an owner withholds (corrections.md C25, C26, C39).

A row has the digests of a corrected review, which its own row does not have; or four words in a row of the text, or,
where both have no name or no words, its day and stars and is the only such row.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Final

from msgspec.structs import replace

from reviewsctl.importing.pairs import (
    MAX_PERSON,
    Edge,
    Facts,
    have_same_words,
    may_share_location,
    shares_words,
)
from reviewsd.api.texts import MANY, RUN, runs_of

_MAX_ALIKE: Final = 20  # corrected reviews that one evidence names


def without_explained(review: Facts, row: Facts) -> Facts:
    """Return a corrected review that has a row, with the digests by which another row may still be it.

    Two reviews may have one author and day, or one short text; where rows have ids, one may have got a second one.
    """
    is_enough = row.is_long and row.has_own_id
    explained = {digest for digest in row.digests if digest[0] != "words" or not is_enough}
    return replace(review, digests=review.digests - explained)


def find_doubts(
    corrected: Collection[Facts],
    rows: Collection[Facts],
    pairs: list[Edge],
    *,
    are_typed: bool,
) -> tuple[list[Edge], list[Edge]]:
    """Find the corrected reviews that rows may be, beside absent reviews that they seem to be.

    Args:
        corrected: Those that are absent, and those that have a row (``without_explained``) or are not in the file, both
            without words.
        rows: The new rows, and those of reviews that change, without words and with what is new to them.
        pairs: The absent reviews with the rows that they have.
        are_typed: Whether the ids of the rows are those of an owner, who may give a review another one.

    Returns:
        The pairs with rows that are no other, corrected review, and the corrected reviews with the rows that may be them.
    """
    while True:
        doubts = _doubts(corrected, rows, pairs, are_typed=are_typed)
        doubted = {row.key for _, row in doubts}
        certain = [(review, row) for review, row in pairs if row.key not in doubted]
        if len(certain) == len(pairs):
            return pairs, doubts
        pairs = certain  # so that more reviews have no row


def _doubts(
    corrected: Iterable[Facts], rows: Collection[Facts], pairs: Iterable[Edge], *, are_typed: bool
) -> list[Edge]:
    row_of = {review.key: row for review, row in pairs}
    same_words = {row.key for review, row in pairs if have_same_words(review, row)}
    people = Counter(row.person for row in rows)
    lone = Counter(chain.from_iterable(map(_lone_keys, rows)))

    def evidence(row: Facts) -> frozenset[tuple[str, str]]:
        is_crowd = row.person is not None and people[row.person] > MAX_PERSON
        return frozenset(
            digest for digest in row.digests if not (is_crowd and digest[0] == "author_day")
        )

    def may_be(review: Facts, row: Facts) -> bool:
        own = row_of.get(review.key)
        is_other = own is row or (row.key in same_words and own is None)
        if is_other or not may_share_location(review, row):
            return False
        are_own = review.has_own_id and row.has_own_id
        open_facts = review if own is None else without_explained(review, own)
        if open_facts.digests & evidence(row) and (are_typed or not are_own):
            return True
        if are_own:
            return False
        if own is not None:
            return review.person == row.person is not None and shares_words(review, row)
        if any(lone[key] == 1 for key in {*_lone_keys(review)}.intersection(_lone_keys(row))):
            return True
        if review.day == row.day or review.author_key == row.author_key != "":
            return shares_words(review, row)
        are_many = min(len(review.words), len(row.words)) >= MANY
        return are_many and shares_words(review, row, least=0.5)

    return [edge for edge in _candidates(corrected, rows) if may_be(*edge)]


def _candidates(corrected: Iterable[Facts], rows: Iterable[Facts]) -> Iterator[Edge]:
    """Iterate over the corrected reviews, each with the rows that share evidence with it.

    Of many reviews with one key and correction the first stand for all: a stranger can write a thousand a day.
    """
    by_key: defaultdict[object, defaultdict[str, list[Facts]]]
    by_key = defaultdict(lambda: defaultdict(list))
    for review in corrected:
        for key in set(_keys(review)):
            if len(alike := by_key[key][review.action]) < _MAX_ALIKE:
                alike.append(review)
    for row in rows if by_key else ():
        groups = (by_key[key].values() for key in _keys(row) if key in by_key)
        candidates = {review.key: review for review in chain.from_iterable(chain(*groups))}
        yield from ((review, row) for review in candidates.values())


def _keys(facts: Facts) -> Iterator[object]:
    """Yield what a review shares with each row that it may be."""
    words, runs = facts.words, runs_of(facts.words)
    yield from facts.digests
    yield from _lone_keys(facts)
    if len(words) >= MANY:
        yield from ((facts.source, run) for run in runs)
    for member in filter(None, (facts.day, facts.author_key)):
        yield from ((facts.source, member, run) for run in runs)
        for length in range(1, min(RUN, len(words) + 1)):
            yield facts.source, member, str(facts.stars), tuple(words[:length])


def _lone_keys(facts: Facts) -> Iterator[object]:
    """Yield what a review shares with others of its day and stars that have no name, or no words, either."""
    if facts.day and not facts.author_key:
        yield facts.source, facts.day, str(facts.stars), "no name"
    if facts.day and not facts.words:
        yield facts.source, facts.day, str(facts.stars), "no words"
