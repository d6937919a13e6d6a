"""The reviews of the file that were edited in a table without ids, and what follows for their rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from reviewsctl.importing.outcomes import Predecessors
from reviewsctl.importing.review import Entry
from reviewsctl.importing.review_merge import ADDED, Review, moment
from reviewsctl.importing.successors import Sketch, Successors, find, shares_words, sketch

_REPLY = "owner_reply"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedReviews:
    """The rows of edited reviews."""

    rows: Mapping[str, Entry] = field(default_factory=dict)
    """The new row of each review that it takes the place of, by the id of the review."""
    doubled: frozenset[str] = frozenset()
    """The merge keys of the new rows that are reviews which stay all the same, without ``--replace``."""
    replies: Mapping[str, object] = field(default_factory=dict)
    """The owner's replies that pass to a review that is there already, by the merge key of its row."""
    answered: frozenset[str] = frozenset()
    """The ids of the reviews that are removed, and had these replies."""
    successors: Mapping[str, str] = field(default_factory=dict)
    """The ids of the reviews that came with an earlier import, by the ids of those that are removed for them."""
    predecessors: Mapping[str, Predecessors] = field(default_factory=dict)
    """The predecessors of new rows, and of rows that came with an earlier import, by the merge key of the row."""
    possible_pairs: Sequence[tuple[Review, Review]] = ()
    """Corrected reviews, each with a row that is by its author and not known to be an edited version of it."""


class EditedSearch:
    """Finds the edited reviews; of those that are not corrected it keeps a sketch.

    Args:
        is_corrected: Called with an absent review, returns whether it is hidden or anonymous.
    """

    def __init__(self, is_corrected: Callable[[Review], bool]) -> None:
        self._is_corrected = is_corrected
        self._absent: list[Sketch] = []
        self._corrected: dict[str, Review] = {}
        self._removed: set[str] = set()
        self._answered: set[str] = set()  # those of the removed ones that have a reply

    def add(self, review: Review, *, is_removed: bool) -> None:
        """Add a review of the file that no row is of."""
        is_corrected = self._is_corrected(review)
        absent = sketch(review, is_corrected=is_corrected, with_text=is_corrected)
        self._absent.append(absent)
        if is_corrected:
            self._corrected[absent.review_id] = review
        if is_removed:
            self._removed.add(absent.review_id)
            if review.get(_REPLY):
                self._answered.add(absent.review_id)

    def find(
        self, rows: Iterable[Entry], there: Callable[[], Iterable[tuple[Review, str]]]
    ) -> EditedReviews:
        """Return the edited reviews.

        Args:
            rows: The new rows without ids of their own.
            there: Returns all reviews of the file, each with the merge key of its row without an id, or "".
        """
        if not self._absent:
            return EditedReviews()
        sketches, by_id = self._related_rows(rows)
        successors = find(self._absent, sketches)
        certain = {new: [old] for old, new in successors.pairs.items()}
        predecessors = {
            by_id[new].key: Predecessors(corrected, is_certain)
            for olds_of, is_certain in ((certain, True), (successors.doubts, False))
            for new, olds in olds_of.items()
            if (corrected := [self._corrected[old] for old in olds if old in self._corrected])
        }
        earlier = self._rows_of_earlier_imports(successors, there)
        replaced = self._removed | self._same_texts(successors, by_id, there)
        replies = {
            old: (key, reply)
            for old, (key, _, reply) in earlier.items()
            if old in self._answered and reply is not None
        }
        return EditedReviews(
            rows={old: by_id[new] for old, new in successors.pairs.items() if old in replaced},
            doubled=frozenset(
                by_id[new].key
                for old, new in successors.pairs.items()
                if old not in replaced and old not in self._corrected
            ),
            replies=dict(replies.values()),
            answered=frozenset(replies),
            successors={old: new for old, (_, new, _) in earlier.items()},
            predecessors=predecessors
            | {
                key: Predecessors([self._corrected[old]], is_certain=True)
                for old, (key, _, _) in earlier.items()
                if old in self._corrected
            },
            possible_pairs=[
                (self._corrected[old], msgspec.json.decode(by_id[new].record))
                for old, new in successors.possible_pairs
            ],
        )

    def _same_texts(
        self,
        successors: Successors,
        by_id: Mapping[str, Entry],
        there: Callable[[], Iterable[tuple[Review, str]]],
    ) -> set[str]:
        """Return the reviews that would stay, and whose rows have half of their words: these are the reviews.

        Without ``--replace`` a table may have other reviews than the file, and two people may have one first name.
        """
        staying = {
            old: by_id[new] for old, new in successors.pairs.items() if old not in self._removed
        }
        same: set[str] = set()
        for review, _ in there() if staying else ():
            entry = staying.get(str(review.get("id")))
            if entry is not None:
                old = sketch(review, with_text=True)
                row = sketch(msgspec.json.decode(entry.record), with_text=True)
                is_named = " " in row.author and not old.words_key and not row.words_key
                if (
                    shares_words(old, row, least=0.5)
                    or old.words_key == row.words_key != 0
                    or is_named
                ):
                    same.add(old.review_id)
        return same

    def _related_rows(self, rows: Iterable[Entry]) -> tuple[list[Sketch], dict[str, Entry]]:
        """Return the sketches of the rows that may have to do with an absent review, and the rows by their ids."""
        keys = {key for review in self._absent for key in review.pair_keys}
        corrected = [review for review in self._absent if review.is_corrected]
        days = {review.day_key for review in corrected}
        authors = {review.author_key for review in corrected}
        sketches: list[Sketch] = []
        by_id: dict[str, Entry] = {}
        for entry in rows:
            row = sketch(msgspec.json.decode(entry.record), with_text=bool(corrected))
            if (
                row.day_key in days
                or row.author_key in authors
                or not keys.isdisjoint(row.pair_keys)
            ):
                sketches.append(row)
                by_id[row.review_id] = entry
        return sketches, by_id

    def _rows_of_earlier_imports(
        self, successors: Successors, there: Callable[[], Iterable[tuple[Review, str]]]
    ) -> dict[str, tuple[str, str, object]]:
        """Return the merge key and the id of the row of each removed review that an earlier import has, and its reply.

        The reply to a corrected review may repeat its words, so it passes to a corrected one alone.

        An edited row comes as a new review without ``--replace``; a later import with it removes the old one. So the
        review that is there has to have come later.
        """
        doubtful = {old for olds in successors.doubts.values() for old in olds}
        unpaired = [
            review
            for review in self._absent
            if review.review_id in self._removed
            and review.review_id not in successors.pairs
            and review.review_id not in doubtful
        ]
        if not unpaired:
            return {}
        pair_keys = {key for review in unpaired for key in review.pair_keys}
        reviews: dict[str, Review] = {}
        keys: dict[str, str] = {}
        candidates: list[Sketch] = []
        for review, key in there():
            current = sketch(review, with_text=bool(self._corrected))
            if pair_keys.isdisjoint(current.pair_keys):
                continue
            if key or current.review_id in self._removed:
                reviews[current.review_id] = review
            if key:
                candidates.append(current)
                keys[current.review_id] = key
        return {
            old: (
                keys[new],
                new,
                reviews[old].get(_REPLY) if self._may_pass(old, reviews[new]) else None,
            )
            for old, new in find(unpaired, candidates).pairs.items()
            if _came_later(reviews[new], reviews[old])
        }

    def _may_pass(self, old: str, review: Review) -> bool:
        """Return whether a review that is there may get the reply to a removed one."""
        if review.get(_REPLY):
            return False
        return old not in self._corrected or self._is_corrected(review)


def _came_later(review: Review, earlier: Review) -> bool:
    first, second = moment(earlier.get(ADDED)), moment(review.get(ADDED))
    return first is not None and second is not None and first < second
