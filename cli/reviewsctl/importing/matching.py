"""Finds the rows of an export that are reviews of the file under other ids (corrections.md C22 to C26, C36).

A row is the review with its id; else the one whose id was made of what the row says; else a copy of all of that; else
the only one with its source and two of author, day and words (``pairs``). Each keeps its id.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from reviewsctl.importing.import_log import NOTHING
from reviewsctl.importing.merge_plan import MergePlan
from reviewsctl.importing.pairs import Facts, are_versions, facts_of, find
from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.review import Entry
from reviewsctl.importing.review_merge import Review, alike_number, is_copy, is_double
from reviewsctl.importing.reviews_file import EXAMPLES, reviews_of
from reviewsctl.importing.staging import Staging
from reviewsd.api.texts import merge_key


class Match(NamedTuple):
    """The row of a review that has another id."""

    entry: Entry
    is_copy: bool
    """Whether another tool may have exported it, so that it fills only what is empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """What new rows are, or may be."""

    keys: Collection[str] = ()
    """The merge keys of the reviews of the file."""
    rows: Mapping[str, Match] = field(default_factory=dict)
    """The rows that are reviews of the file, by the ids that these have there."""
    predecessors: Mapping[str, Sequence[Review]] = field(default_factory=dict)
    """The corrected reviews that other rows may be, by the merge key of the row."""
    possible_pairs: Sequence[tuple[Review, Review]] = ()
    """Corrected reviews, each with a row that is not known to be an edited version of it."""
    doubles: Mapping[str, str] = field(default_factory=dict)
    """By the merge keys of rows, the other source that the file has their reviews of."""
    erased: Mapping[str, Review] = field(default_factory=dict)
    """The rows that are not taken, as they may be edited versions of erased reviews, by their merge keys."""


class Matching:
    """Finds the matches of an export and a file; of reviews that are not corrected it keeps their facts alone.

    Args:
        staged: The rows.
        plan: The instructions.
        is_removed: Called with a review of the file and its merge key, returns whether it is removed if no row is it.
    """

    def __init__(
        self, staged: Staging, plan: MergePlan, is_removed: Callable[[Review, str], bool]
    ) -> None:
        self._staged = staged
        self._plan = plan
        self._is_removed = is_removed
        self._new = {entry.key: entry for entry in staged}  # without those whose id the file has
        self._keys: set[str] = set()
        self._rows: dict[str, Match] = {}
        self._absent: list[Facts] = []
        self._corrected: dict[str, Review] = {}  # absent ones, by id
        self._removed: set[str] = set()  # ids of absent ones
        self._doubles: dict[str, str] = {}

    def new_rows(self, document: Document) -> Iterable[Entry]:
        """Return the rows whose id no review of the file has."""
        for _, identifier in identified(document):
            self._keys.add(merge_key(identifier))
            entry = self._staged.find(identifier, merge_key(identifier))
            if entry is not None:
                self._new.pop(entry.key, None)
        return self._new.values()

    def run(self, document: Document, erased: Mapping[str, bool]) -> Matches:
        """Return the matches; call ``new_rows`` before.

        Args:
            document: The file.
            erased: The merge keys of the new rows that may be edited versions of erased reviews, each with whether it
                may be that of a review of the file all the same.
        """
        if self._new:
            self._find_absent(document)
        rows = [
            facts_of(msgspec.json.decode(entry.record), entry.key, has_own_id=entry.has_own_id)
            for entry in (self._new.values() if self._absent else ())
            if erased.get(entry.key, True)
        ]
        found = find(self._absent, rows)
        doubts = [*found.doubts]
        predecessors: defaultdict[str, list[Review]] = defaultdict(list)
        for review, row in found.pairs:
            # without --replace a table may have other reviews, and two people one first name
            if review.key in self._removed or are_versions(review, row):
                self._rows[review.key] = Match(self._new[row.key], is_copy=False)
            elif review.action:
                doubts.append((review, row))
        for review, row in doubts:
            predecessors[row.key].append(self._corrected[review.key])
        left_out = erased.keys() - {match.entry.key for match in self._rows.values()}
        return Matches(
            keys=self._keys,
            rows=self._rows,
            predecessors=predecessors,
            possible_pairs=[
                (self._corrected[review.key], msgspec.json.decode(self._new[row.key].record))
                for review, row in found.remarks
                if row.key not in left_out
            ],
            doubles=self._doubles,
            erased={key: msgspec.json.decode(self._new[key].record) for key in left_out},
        )

    def _find_absent(self, document: Document) -> None:
        """Find the rows that say what reviews do under other ids, and the reviews that no row is."""
        contents = {entry.content_key: entry for entry in self._new.values() if entry.content_key}
        alikes = self._staged.alikes()
        sources = {entry.source.casefold() for entry in self._new.values()}
        are_own = all(entry.has_own_id for entry in self._new.values())
        for review, identifier in identified(document):
            key = merge_key(identifier)
            if self._staged.find(identifier, key) is not None:
                continue
            has_own_id = self._plan.by_owner or self._plan.log.reviews.get(key, NOTHING).has_own_id
            rows = [
                (entry, msgspec.json.decode(entry.record))
                for entry in alikes.get(alike_number(review), ())
            ]
            same = contents.get(key) or next(
                (e for e, row in rows if e.key in self._new and is_copy(review, row, e.place)), None
            )
            if same is not None and self._new.pop(same.key, None) is not None:
                self._rows[identifier] = Match(same, has_own_id or not same.has_own_id)
                continue
            is_of_source = str(review.get("source")).casefold() in sources
            if is_of_source and not (has_own_id and are_own):
                self._add_absent(review, identifier, has_own_id=has_own_id)
            doubles = {e.key for e, row in rows if is_double(review, row)}
            self._doubles |= dict.fromkeys(doubles, str(review.get("source")))

    def _add_absent(self, review: Review, identifier: str, *, has_own_id: bool) -> None:
        action = self._plan.corrections.action(review)
        self._absent.append(facts_of(review, identifier, action=action, has_own_id=has_own_id))
        if action:
            self._corrected[identifier] = review
        if self._is_removed(review, merge_key(identifier)):
            self._removed.add(identifier)


def identified(document: Document) -> Iterator[tuple[Review, str]]:
    """Iterate over the reviews of the file with their ids, without the examples."""
    for review in reviews_of(document):
        identifier = review.get("id")
        if isinstance(identifier, str) and identifier not in EXAMPLES:
            yield review, identifier
