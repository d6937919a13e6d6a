"""Finds the rows of an export that are reviews of the file under other ids (corrections.md C22 to C26, C36).

A row is the review with its id; else the one whose id is a hash of the row's content; else the one with the same content; else
the only one with its source and two of author, day and words (``pairs``). The review keeps its id. Another row may be a
corrected review all the same (``doubts``).
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from reviewsctl.importing.doubts import find_doubts, without_explained
from reviewsctl.importing.merge_plan import MergePlan
from reviewsctl.importing.outcomes import Fate
from reviewsctl.importing.pairs import Facts, are_versions, facts_of, find_pairs, may_have_got_words
from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.review import Entry
from reviewsctl.importing.review_merge import Review, alike_number, is_copy, is_double
from reviewsctl.importing.reviews_file import identified
from reviewsctl.importing.staging import Place
from reviewsd.api.texts import merge_key

_AUTHOR_DAY: Final = "author_day"  # of an ``Erasure``
_MAX_ALIKE: Final = 10  # rows with one author, day, rating and text
_SAID: Final = ("source", "author", "date", "rating", "text")


class Match(NamedTuple):
    """The row of a review that has another id."""

    entry: Entry
    is_copy: bool
    """Whether another tool may have exported it, so that it fills only what is empty."""


class Matching:
    """The matches of an export and a file; of reviews that are not corrected it keeps their facts alone."""

    def __init__(self, plan: MergePlan) -> None:
        self.rows: dict[str, Match] = {}
        """The rows that are reviews of the file, by the ids that these have there."""
        self.predecessors: defaultdict[str, list[Review]] = defaultdict(list)
        """The corrected reviews that other rows may be, by the merge key of the row."""
        self.doubles: dict[str, str] = {}
        """By the merge keys of rows, the other source that the file has their reviews of."""
        self.erased: Mapping[str, Review] = {}
        """The rows that are not taken, as they may be edited versions of erased reviews, by their merge keys."""
        self._plan = plan
        self._staged = plan.staged
        self._corrections = plan.corrections
        self._like_erased: set[object] = set()  # people and days, and words, of such rows
        self._new: dict[str, Entry] = {}  # rows without an id of the file
        self._absent: list[Facts] = []
        self._removed: set[str] = set()  # ids of absent ones
        self._corrected: dict[str, Review] = {}  # of the file, by id
        # the ids of an own export are known
        self._digests_by_key = {} if plan.by_owner else dict(plan.corrections.known())
        self._has_corrections = bool(self._digests_by_key)
        self._doubtful: list[Facts] = []  # corrected ones that have a row, or are not in the file
        self._changed: list[Facts] = []  # rows of reviews of the file, with what is new to these

    def run(self, document: Document) -> None:
        """Find the matches."""
        there = {
            entry.key
            for _, identifier in identified(document)
            if (entry := self._staged.find(identifier, merge_key(identifier))) is not None
        }
        self._new = {entry.key: entry for entry in self._staged if entry.key not in there}
        # new rows that may be erased reviews; with the author and the day alone they may be others all the same
        erased: dict[str, bool] = {}
        for entry in () if self._plan.by_owner else self._new.values():
            if facts := self._corrections.erased_facts(entry):
                erased[entry.key] = facts == {_AUTHOR_DAY}
                self._like_erased |= _evidence(entry.record)
        self._compare(document)
        corrected = [*self._doubtful, *(review for review in self._absent if review.action)]
        evidence = frozenset[tuple[str, str]]().union(*(review.digests for review in corrected))
        rows = []
        for entry in self._new.values() if self._absent or self._doubtful else ():
            if erased.get(entry.key, True):
                row = self._facts(entry)
                rows.append(replace(row, digests=row.digests & evidence))  # few have any
        pairs = [
            (review, row)
            for review, row in find_pairs(self._absent, rows)
            # without --replace the table may hold other reviews, and two customers may share a short name
            if review.key in self._removed
            or are_versions(review, row)
            or (row.key not in erased and row.author_key and may_have_got_words(review, row))
        ]
        rows += self._changed
        pairs, doubts = find_doubts(corrected, rows, pairs, are_typed=self._plan.has_typed_ids)
        self.rows |= {review.key: Match(self._new[row.key], is_copy=False) for review, row in pairs}
        left_out = erased.keys() - {match.entry.key for match in self.rows.values()}
        self.erased = {key: self._new[key].record for key in left_out}
        for review, row in doubts:
            predecessor = self._corrected.get(review.key, {"id": review.key})
            self.predecessors[row.key].append(predecessor)

    def absence(self, review: Review, key: str) -> Fate:
        """Return whether a review that is not in the export is removed or kept, and why it is kept."""
        place = Place.of(review)
        if key in self._staged.withdrawn:
            return Fate.REMOVED
        if place is None or place not in self._plan.replaced:
            return Fate.KEPT
        if key in self._staged.skipped or (
            self._like_erased and not self._like_erased.isdisjoint(_evidence(review))
        ):
            return Fate.SPARED  # a row that is not taken may be of this review
        day = review.get("date")
        if isinstance(day, str) and day < self._plan.replaced[place]:
            return Fate.TOO_OLD
        is_corrected = self._plan.by_owner and bool(self._plan.corrections.action(review))
        if is_corrected and self._plan.corrections.public_form(review) is None:
            return Fate.HIDDEN
        if self._plan.rows.unidentified:  # they may be of any review
            return Fate.SPARED
        synced = self._plan.options.synced
        if synced is not None and not (key and synced.is_gone(key)):
            return Fate.MISSING
        return Fate.REMOVED

    def _facts(self, entry: Entry) -> Facts:
        record, digests = entry.record, self._digests(entry.record)
        return self._placed(
            facts_of(record, entry.key, has_own_id=entry.has_own_id, digests=digests)
        )

    def _placed(self, facts: Facts) -> Facts:
        """Return facts with a location as all of its names are compared."""
        return replace(facts, location=self._plan.declared.key(facts.location))

    def _digests(self, record: Review) -> frozenset[tuple[str, str]]:
        return self._corrections.version_digests(record) if self._has_corrections else frozenset()

    def _compare(self, document: Document) -> None:
        """Find the rows that say what reviews do under other ids, and the reviews that no row is."""
        contents = {entry.content_key: entry for entry in self._new.values() if entry.content_key}
        alikes = self._alikes()
        sources = {entry.source.casefold() for entry in self._new.values()}
        are_own = all(entry.has_own_id for entry in self._new.values())
        for review, identifier in identified(document):
            key, action = merge_key(identifier), self._corrections.action(review)
            digests = self._digests_by_key.pop(key, Facts(key=identifier)).digests
            if action:
                self._corrected[identifier] = review
                digests |= self._digests(review)
            entry = self._staged.find(identifier, key)
            if entry is not None:
                self._note_row(review, entry, Facts(key=identifier, action=action, digests=digests))
                continue
            has_own_id = self._plan.by_owner or self._plan.log.of(key).has_own_id
            rows = alikes.get(alike_number(review), ())
            same = contents.get(key) or next(
                (row for row in rows if row.key in self._new and is_copy(review, row)), None
            )
            if same is not None and self._new.pop(same.key, None) is not None:
                self.rows[identifier] = Match(same, has_own_id or not same.has_own_id)
                self._note_row(review, same, Facts(key=identifier, action=action, digests=digests))
                continue
            is_of_source = str(review.get("source")).casefold() in sources
            if action or (is_of_source and not (has_own_id and are_own)):
                facts = facts_of(review, identifier, has_own_id=has_own_id, action=action)
                self._absent.append(replace(self._placed(facts), digests=digests))
                if self.absence(review, key) in (Fate.REMOVED, Fate.MISSING):
                    self._removed.add(identifier)
            doubles = {row.key for row in rows if is_double(review, row.record)}
            self.doubles |= dict.fromkeys(doubles, str(review.get("source")))
        for corrected in self._digests_by_key.values():
            row = self._staged.find(corrected.key, merge_key(corrected.key))
            self._doubtful.append(
                corrected if row is None else without_explained(corrected, self._facts(row))
            )

    def _alikes(self) -> Mapping[int, list[Entry]]:
        """Return the rows by ``alike_number``, some of very many with one."""
        alikes: defaultdict[int, list[Entry]] = defaultdict(list)
        for entry in () if self._plan.by_owner else self._staged:
            same = alikes[alike_number(entry.record)]
            same += [entry] * (len(same) < _MAX_ALIKE)
        return alikes

    def _note_row(self, review: Review, entry: Entry, facts: Facts) -> None:
        """Note a corrected review that has a row, or another one if its row says something else now."""
        if not self._has_corrections:
            return
        if facts.action:
            facts = replace(facts, has_own_id=entry.has_own_id)
            self._doubtful.append(without_explained(facts, self._facts(entry)))
            return
        row = entry.record
        is_typed = self._plan.has_typed_ids or not entry.has_own_id
        if is_typed and any(review.get(name) != row.get(name) for name in _SAID):
            new = self._digests(row) - self._digests(review)
            self._changed.append(Facts(key=entry.key, has_own_id=entry.has_own_id, digests=new))


def _evidence(review: Review) -> set[object]:
    """Return the keys by which a row may be this review: its author and day, and its words."""
    facts = facts_of(review, "")
    return {facts.person, facts.words_key} - {None, 0}
