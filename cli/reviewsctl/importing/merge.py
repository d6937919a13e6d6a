"""The reviews of an export and those that are there become one reviews.json.

What is there stays as it is written, byte for byte, unless the export says something else: unknown
members of the file, of the business and of a review, and the order. New reviews come last; the daemon
sorts.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import UNSET, Raw

from reviewsctl.importing.business import Declared, empty, filled
from reviewsctl.importing.damage import damaged
from reviewsctl.importing.import_log import NOTHING, Written, digests
from reviewsctl.importing.matching import Match, Matching
from reviewsctl.importing.merge_plan import MergePlan
from reviewsctl.importing.outcomes import Fate, Fates, MergeResult, Succession
from reviewsctl.importing.personal_data import has_surname
from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.review import Entry
from reviewsctl.importing.review_merge import (
    CHANGED,
    STAMPS,
    Merged,
    Review,
    emptied,
    merge_review,
    stamp,
    stamped,
)
from reviewsctl.importing.reviews_file import EXAMPLES, REVIEWS, updated, updated_in_lines
from reviewsctl.importing.staging import Place
from reviewsctl.importing.values import elements, encoded, has_contact, members, word
from reviewsd.api.texts import merge_key
from reviewsd.domain.removed import removed_member

_LEFT_OUT: Final = frozenset((Fate.EXAMPLE, Fate.REMOVED))
_REPLY: Final = "owner_reply"
_NAMING: Final = frozenset(("author", _REPLY))


class Merge:
    """One merge of an export into a file."""

    def __init__(self, plan: MergePlan) -> None:
        self._plan = plan
        self._staged = plan.staged
        self._now = stamp(plan.options.now)
        self._matching = Matching(plan)
        self._used: set[str] = set()  # keys of rows that have their review, or get none
        self._result = MergeResult()

    def run(self, document: Document) -> MergeResult:
        """Return the content of the new file, and what becomes of each review.

        Raises:
            ImportRefusedError: It is no JSON object, or its reviews are no array.
        """
        self._matching.run(document)
        for key, record in self._matching.erased.items():
            self._used.add(key)
            self._result.add(record, {Fate.ERASED: ()})
            self._result.erased_versions.append(record)
        members = self._result.members
        business, removed = document.member("business"), document.member("removed")
        if isinstance(business, dict):
            members["business"] = self._business(business, document.members["business"])
        self._result.records = [*self._old_records(document), *self._new_records()]
        if isinstance(removed, list):
            members["removed"] = UNSET
        now = self._plan.options.now.replace(microsecond=0)
        ids = [] if self._plan.options.is_unpublished else self._result.removed_ids
        members |= removed_member(elements(removed), ids, now)
        return self._result

    def _business(self, business: dict[str, object], text: Raw) -> Raw:
        """Return the business with what was empty filled; else as it is written."""
        name = business.get("name")
        self._result.name = name if isinstance(name, str) and not empty("name", name) else ""
        self._result.filled = filled(business, self._plan.facts)
        changes = dict(self._result.filled)
        declared = self._plan.declared
        if not declared.listed:  # a new file may have the locations of an export of ours
            declared = Declared(business.get("locations"))
        before = declared.listed
        listed = declared.with_new(self._plan.titles, self._plan.listings)
        if before and listed != before:
            self._result.filled = {**changes, "locations": listed}
            there = Document(bytes(text), "business").elements("locations")
            pairs = zip(there, before, listed, strict=False)
            as_written = [raw if old == new else new for raw, old, new in pairs]
            changes["locations"] = [*as_written, *listed[len(there) :]]
        return updated_in_lines(text, changes) if changes else text

    # Reviews

    def _old_records(self, document: Document) -> Iterator[Raw]:
        for raw in document.elements(REVIEWS):
            old = members(document.value(raw))
            text, fates = self._old(old, raw)
            self._result.add_old(old, fates)
            self._note_id(old)
            if not _LEFT_OUT & fates.keys():
                yield text

    def _new_records(self) -> Iterator[Raw]:
        for entry in self._staged:
            double = self._matching.doubles.get(entry.key)
            if entry.key in self._used:
                is_there = double is not None and entry.key not in self._matching.erased
                self._result.old_doubles += is_there
            else:
                self._result.doubles.update([] if double is None else [double])
                record, fates = self._new(entry.record, entry)
                self._result.add(entry.record, fates)
                self._note_predecessors(entry, record)
                yield Raw(encoded(record))

    def _note_id(self, review: Review) -> None:
        """Note whether a review that an import wrote has an id of its own."""
        key, source = merge_key(str(review.get("id"))), str(review.get("source"))
        if (written := self._plan.log.reviews.get(key)) is not None:
            own_ids = self._result.own_ids
            own_ids[source] = own_ids.get(source, True) and written.has_own_id

    def _note_personal_data(self, changes: Review, review: Review) -> None:
        """Note a review with a new text in which readers see an address, or whose reply has the name that is shortened."""
        if "text" in changes and has_contact(str(self._public(review).get("text") or "")):
            self._result.contacts.append(review)
        if not _NAMING.isdisjoint(changes) and has_surname(self._public(review)):
            self._result.naming_replies.append(str(review.get("date")))

    def _note_predecessors(self, entry: Entry, record: Review) -> None:
        """Note the corrected reviews that a row may be, with its review as the new file has it."""
        if predecessors := self._matching.predecessors.get(entry.key):
            self._result.successions.append(Succession(record, predecessors))

    def _new(self, review: Review, entry: Entry) -> tuple[Review, Fates]:
        """Return the record and the fates of a review that is not there."""
        key = merge_key(entry.key)
        fates: Fates = {Fate.NEW: ()}
        if key in self._plan.log.reviews:
            fates = {**fates, Fate.RETURNED: ()}
        self._note_personal_data(review, review)
        fates = fates if entry.place else {**fates, Fate.UNPLACED: ()}
        if names := damaged({}, review):
            fates = {**fates, Fate.DAMAGED: names}
        self._log(key, Written(entry.edited, entry.replied, digests(review), entry.has_own_id))
        self._result.still_corrected += bool(self._plan.corrections.action(review))
        stamps = stamped(review, self._plan.options.now)
        members = {name: value for name, value in review.items() if name not in STAMPS}
        return {**members, **stamps}, fates

    def _old(self, review: Review, text: Raw) -> tuple[Raw, Fates]:
        """Return the record and the fates of a review that is there."""
        identifier = review.get("id")
        if not isinstance(identifier, str):
            return text, self._absent(review, "")
        if identifier in EXAMPLES:
            return text, {Fate.EXAMPLE: ()}
        key, match = merge_key(identifier), self._matching.rows.get(identifier)
        entry = self._staged.find(identifier, key) if match is None else match.entry
        if entry is None or entry.key in self._used:  # two reviews of the file may have one key
            return text, self._absent(review, key)
        self._used.add(entry.key)
        is_corrected = bool(self._plan.corrections.action(review))
        self._result.still_corrected += is_corrected
        row = entry.record
        is_copy = match is not None and match.is_copy
        merged = self._merged(review, self._counting(review, row, match), entry, key)
        changes, fates = merged.changes, {**merged.fates}
        new = {**review, **changes}
        self._note_personal_data(changes, new)
        before, after = word(review.get("location")), word(new.get("location"))
        if before and after:
            self._result.moves[before, after] += 1
        fates |= {} if new.get("location") else {Fate.UNPLACED: ()}
        if match is not None and not is_copy and entry.has_own_id:
            self._result.ids[entry.key] = identifier
        self._log(key, merged.log_row)
        if self._plan.has_typed_ids and not is_copy:
            fates |= self._emptied(review, row, entry, key)
        fates |= {Fate.COPY: ()} if is_copy else {}
        new_text = updated(text, {**changes, CHANGED: self._now}) if changes else text
        self._result.edited_corrected += [review] * (is_corrected and bool(changes))
        self._note_predecessors(entry, new)
        if is_corrected and not is_copy:
            self._result.successions.append(Succession(new, [review]))
        return new_text, fates

    def _counting(self, review: Review, row: Review, match: Match | None) -> Review:
        """Return the members of a row that count.

        Those of a copy fill what is empty: another tool's addresses would come and go. What readers are shown of a
        corrected review does not count, as the file has more.
        """
        if match is not None and match.is_copy:
            return {
                name: value
                for name, value in row.items()
                if name != "location" and review.get(name) is None
            }
        if match is not None or not self._plan.corrections.action(review):
            return row
        public = self._plan.corrections.public_form(review)
        if public is None:
            return row  # an export with --all
        return {name: value for name, value in row.items() if value != public.get(name)}

    def _merged(self, review: Review, record: Review, entry: Entry, key: str) -> Merged:
        place = Place.of_entry(entry)
        self._result.met.add(place)
        return merge_review(
            review,
            record,
            entry,
            self._staged.unstated(entry),
            self._plan.log.of(key),
            export_is_older=place in self._plan.older,
            names=self._plan.names,
        )

    def _emptied(self, review: Review, row: Review, entry: Entry, key: str) -> Fates:
        """Return the fate EMPTIED if the owner's table no longer has members that readers see."""
        unstated, last_written = self._staged.unstated(entry), self._plan.log.of(key)
        names = emptied(self._public(review), row, unstated, last_written)
        return {Fate.EMPTIED: names} if names else {}

    def _public(self, review: Review) -> Review:
        """Return what readers see of a review."""
        corrections = self._plan.corrections
        return (corrections.public_form(review) or {}) if corrections.action(review) else review

    def _log(self, key: str, row: Written | None = None) -> None:
        """Note what was written of a review that the new file has; without it, what is known of it stays.

        An owner's own export writes nothing of a platform.
        """
        if row is None or self._plan.by_owner:
            row = self._plan.log.reviews.get(key)
        if row not in (None, NOTHING):
            self._result.log_rows[key] = row

    def _absent(self, review: Review, key: str) -> Fates:
        """Return the fates of a review that is not in the export; with that of the reply that it loses."""
        fate = self._matching.absence(review, key)
        if fate is Fate.REMOVED:
            self._result.absent_corrected += [review] * bool(self._plan.corrections.action(review))
            return {fate: (_REPLY,) if review.get(_REPLY) else ()}
        self._log(key)
        return dict.fromkeys((Fate.KEPT, fate), ())
