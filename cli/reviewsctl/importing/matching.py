"""Finds the rows of an export that are reviews of the file under other ids (corrections.md C22 to C26, C36).

A row is the review with its id; else the one whose id was made of what the row says; else a copy of all of that. What
then remains is compared by author, day and words (``successors``), unless both ids are the reviews' own.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from reviewsctl.importing.import_log import NOTHING
from reviewsctl.importing.merge_plan import MergePlan
from reviewsctl.importing.outcomes import Fate
from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.review import Entry
from reviewsctl.importing.review_merge import Review, alike_number, is_copy, is_double
from reviewsctl.importing.reviews_file import EXAMPLES, reviews_of
from reviewsctl.importing.staging import Staging
from reviewsctl.importing.successors import Sketch, are_versions, find, sketch
from reviewsd.api.texts import merge_key


class Match(NamedTuple):
    """The row of a review that has another id."""

    entry: Entry
    fate: Fate
    """``COPY``, ``IDENTIFIED`` or ``EDITED``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """What new rows are, or may be."""

    rows: Mapping[str, Match] = field(default_factory=dict)
    """The rows that are reviews of the file, by the ids that these have there."""
    predecessors: Mapping[str, Sequence[Review]] = field(default_factory=dict)
    """The corrected reviews that rows are, or may be, by the merge key of the row."""
    doubled: Collection[str] = ()
    """The merge keys of rows that are edited reviews which stay all the same, without ``--replace``."""
    possible_pairs: Sequence[tuple[Review, Review]] = ()
    """Corrected reviews, each with a row that is not known to be an edited version of it."""
    doubles: Mapping[str, str] = field(default_factory=dict)
    """By the merge keys of rows, the other source that the file has their reviews of."""
    erased: Mapping[str, Review] = field(default_factory=dict)
    """The rows that are not taken, as they may be edited versions of erased reviews, by their merge keys."""


class Matching:
    """Finds the matches of an export and a file; of reviews that are not corrected it keeps a sketch.

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
        self._rows: dict[str, Match] = {}
        self._predecessors: defaultdict[str, list[Review]] = defaultdict(list)
        self._absent: list[Sketch] = []
        self._corrected: dict[str, Review] = {}  # absent ones, by id
        self._removed: set[str] = set()  # ids of absent ones
        self._doubles: dict[str, str] = {}

    def new_rows(self, document: Document) -> Iterable[Entry]:
        """Return the rows whose id no review of the file has."""
        for _, identifier in identified(document):
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
            sketch(msgspec.json.decode(entry.record), entry.key, has_own_id=entry.has_own_id)
            for entry in (self._new.values() if self._absent else ())
            if erased.get(entry.key, True)
        ]
        successors = find(self._absent, rows)
        doubled: set[str] = set()
        for old, new in successors.pairs:
            # without --replace a table may have other reviews, and two people one first name
            if old.key in self._removed or are_versions(old, new):
                self._rows[old.key] = Match(self._new[new.key], Fate.EDITED)
            elif not old.action:
                doubled.add(new.key)
        for old, new in (*successors.pairs, *successors.doubts):
            if old.action:
                self._predecessors[new.key].append(self._corrected[old.key])
        left_out = erased.keys() - {match.entry.key for match in self._rows.values()}
        return Matches(
            rows=self._rows,
            predecessors=self._predecessors,
            doubled=doubled - left_out,
            possible_pairs=[
                (self._corrected[old.key], msgspec.json.decode(self._new[new.key].record))
                for old, new in successors.remarks
                if new.key not in left_out
            ],
            doubles=self._doubles,
            erased={key: msgspec.json.decode(self._new[key].record) for key in left_out},
        )

    def _find_absent(self, document: Document) -> None:
        """Find the rows that are reviews under other ids, and the reviews that no row is."""
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
                is_identified = same.has_own_id and not has_own_id
                fate = Fate.IDENTIFIED if is_identified else Fate.COPY
                self._rows[identifier] = Match(same, fate)
                if is_identified and self._plan.corrections.action(review):
                    self._predecessors[same.key].append(review)
                continue
            is_of_source = str(review.get("source")).casefold() in sources
            if is_of_source and not (has_own_id and are_own):
                self._add_absent(review, identifier, has_own_id=has_own_id)
            doubles = {e.key for e, row in rows if is_double(review, row)}
            self._doubles |= dict.fromkeys(doubles, str(review.get("source")))

    def _add_absent(self, review: Review, identifier: str, *, has_own_id: bool) -> None:
        action = self._plan.corrections.action(review)
        self._absent.append(sketch(review, identifier, action=action, has_own_id=has_own_id))
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
