"""The reviews of the file that were edited in a table without ids, and what follows for their rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from reviewsctl.importing.outcomes import Predecessors
from reviewsctl.importing.review import Entry
from reviewsctl.importing.review_merge import Review
from reviewsctl.importing.successors import Sketch, Successors, are_versions, find, sketch


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedReviews:
    """The rows of edited reviews."""

    rows: Mapping[str, Entry] = field(default_factory=dict)
    """The new row of each review that it takes the place of, by the id of the review."""
    doubled: frozenset[str] = frozenset()
    """The merge keys of the new rows that are reviews which stay all the same, without ``--replace``."""
    predecessors: Mapping[str, Predecessors] = field(default_factory=dict)
    """The predecessors of new rows, by the merge key of the row."""
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

    def add(self, review: Review, *, is_removed: bool) -> None:
        """Add a review of the file that no row is of."""
        is_corrected = self._is_corrected(review)
        absent = sketch(review, is_corrected=is_corrected, with_text=is_corrected)
        self._absent.append(absent)
        if is_corrected:
            self._corrected[absent.review_id] = review
        if is_removed:
            self._removed.add(absent.review_id)

    def find(self, rows: Iterable[Entry], there: Callable[[], Iterable[Review]]) -> EditedReviews:
        """Return the edited reviews.

        Args:
            rows: The new rows without ids of their own.
            there: Returns all reviews of the file.
        """
        if not self._absent:
            return EditedReviews()
        sketches, by_id = self._related_rows(rows)
        successors = find(self._absent, sketches)
        replaced = self._removed | self._same_texts(successors, by_id, there)
        olds_of = {**successors.doubts, **{new: [old] for old, new in successors.pairs.items()}}
        predecessors = {
            by_id[new].key: Predecessors(
                corrected, successors.pairs.get(olds[0]) == new and olds[0] in replaced
            )
            for new, olds in olds_of.items()
            if (corrected := [self._corrected[old] for old in olds if old in self._corrected])
        }
        return EditedReviews(
            rows={old: by_id[new] for old, new in successors.pairs.items() if old in replaced},
            doubled=frozenset(
                by_id[new].key
                for old, new in successors.pairs.items()
                if old not in replaced and old not in self._corrected
            ),
            predecessors=predecessors,
            possible_pairs=[
                (self._corrected[old], msgspec.json.decode(by_id[new].record))
                for old, new in successors.possible_pairs
            ],
        )

    def _same_texts(
        self,
        successors: Successors,
        by_id: Mapping[str, Entry],
        there: Callable[[], Iterable[Review]],
    ) -> set[str]:
        """Return the reviews that would stay, and are their rows: ``are_versions``.

        Without ``--replace`` a table may have other reviews than the file, and two people may have one first name.
        """
        staying = {
            old: by_id[new] for old, new in successors.pairs.items() if old not in self._removed
        }
        same: set[str] = set()
        for review in there() if staying else ():
            entry = staying.get(str(review.get("id")))
            if entry is not None:
                old = sketch(review, with_text=True)
                row = sketch(msgspec.json.decode(entry.record), with_text=True)
                if are_versions(old, row):
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
