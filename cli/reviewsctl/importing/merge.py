"""The reviews of an export and those that are there become one reviews.json, as a stream.

What is there stays as it is written, byte for byte, unless the export says something else: unknown
members of the file, of the business and of a review, and the order. New reviews come last; the daemon
sorts.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import BinaryIO, Final

import msgspec

from reviewsctl.importing.business import Declared, empty, filled
from reviewsctl.importing.edited import EditedReviews, EditedSearch
from reviewsctl.importing.import_log import NOTHING, Written, digests
from reviewsctl.importing.merge_plan import MergePlan
from reviewsctl.importing.outcomes import Fate, Fates, MergeResult, Predecessors
from reviewsctl.importing.readers.json_file import Document, Piece
from reviewsctl.importing.review import NO_ID, Entry, is_of_content
from reviewsctl.importing.review_merge import (
    CHANGED,
    STAMPS,
    Merged,
    Review,
    alike_number,
    is_copy,
    is_double,
    merge_review,
    stamp,
    stamped,
)
from reviewsctl.importing.reviews_file import EXAMPLES, removed_member, reviews_of, rewrite, updated
from reviewsctl.importing.staging import Place, Staging
from reviewsctl.importing.successors import sketch
from reviewsctl.importing.values import encoded, members
from reviewsd.api.texts import merge_key

_LEFT_OUT: Final = frozenset((Fate.EXAMPLE, Fate.REMOVED))
_REPLY: Final = "owner_reply"


class Merge:
    """One merge of an export into a new file."""

    def __init__(self, staged: Staging, out: BinaryIO, plan: MergePlan) -> None:
        self._staged = staged
        self._out = out
        self._plan = plan
        self._now = stamp(plan.now)
        self._alikes = staged.alikes()
        self._doubles: dict[str, str] = {}  # by key, the other source that the file has it of
        self._used: set[str] = set()  # keys of rows that have their review, or get none
        self._edited = EditedReviews()
        self._like_erased: set[int] = set()  # pair keys of rows that are not taken
        self._removed_before: list[object] = []  # ``removed`` of the file
        self._result = MergeResult()

    def run(self, document: Document) -> MergeResult:
        """Write the file again.

        Raises:
            ImportRefusedError: It is no JSON object, or its reviews are no array.
        """
        self._document = document
        if any(NO_ID in entry.notes for entry in self._staged):
            self._edited = self._find_edited(document)
            self._result.possible_pairs = self._edited.possible_pairs
        rewrite(self._out, document, self._member, self._records, self._removed_member)
        return self._result

    # Members beside the reviews

    def _member(self, name: str, piece: Piece) -> bytes | None:
        match name, piece.value:
            case "removed", list() as removed:
                self._removed_before = removed
                return None
            case "updated_at", value if value is not None:
                return encoded(self._now)
            case "business", dict() as business:
                return self._business(business, piece.text)
        return piece.text

    def _business(self, business: dict[str, object], text: bytes) -> bytes:
        """Return the business with what was empty filled; else as it is written."""
        name = business.get("name")
        self._result.name = name if isinstance(name, str) and not empty("name", name) else ""
        self._result.filled = filled(business, self._plan.facts)
        declared = self._result.declared = Declared(business.get("locations"))
        titles = self._plan.titles
        new = {name: titles[name] for name in titles if name and name not in declared}
        if declared.listed and new:
            self._result.filled = {**self._result.filled, "locations": declared.with_new(new)}
        return updated(text, self._result.filled) if self._result.filled else text

    def _removed_member(self) -> Mapping[str, object]:
        now = self._plan.now.replace(microsecond=0)
        result = self._result
        return removed_member(self._removed_before, result.removed_ids, now, result.successors)

    # Reviews

    def _find_edited(self, document: Document) -> EditedReviews:
        absent: set[str] = set()
        for review, identifier in _identified(document):
            entry, _ = self._row(review, identifier)
            if entry is None:
                absent.add(identifier)
            else:
                self._used.add(entry.key)
        new = [
            entry for entry in self._staged if NO_ID in entry.notes and entry.key not in self._used
        ]
        erased = {entry.key for entry in new if self._is_erased(entry)}
        rows = (entry for entry in new if entry.key not in erased)
        search = EditedSearch(self._plan.is_corrected)
        for review, identifier in _identified(document):
            if identifier in absent:
                fate = self._absence(review, merge_key(identifier))
                search.add(review, is_removed=fate is Fate.REMOVED)

        self._used = erased
        return search.find(rows, lambda: (review for review, _ in _identified(document)))

    def _is_erased(self, entry: Entry) -> bool:
        """Return whether a new row may be an edited version of an erased review; then count it."""
        may_be_erased = self._plan.may_be_erased(entry)
        if may_be_erased:
            record = msgspec.json.decode(entry.record)
            self._like_erased |= sketch(record).pair_keys
            self._result.add(record, {Fate.ERASED: ()})
            self._result.erased_versions.append(record)
        return may_be_erased

    def _records(self, reviews: Iterator[Piece]) -> Iterator[bytes]:
        for piece in reviews:
            old = members(piece.value)
            text, fates = self._old(old, piece.text)
            self._result.add_old(old, fates)
            if not _LEFT_OUT & fates.keys():
                yield text
        for entry in self._staged:
            double = self._doubles.get(entry.key)
            if entry.key in self._used:
                self._result.old_doubles += double is not None
            else:
                self._result.doubles.update([] if double is None else [double])
                new = msgspec.json.decode(entry.record)
                record, fates = self._new(new, entry)
                self._result.add(new, fates)
                self._note_predecessors(entry, record)
                yield record

    def _note_predecessors(self, entry: Entry, record: bytes) -> None:
        """Note the predecessors of a row, with its review as the new file has it."""
        predecessors = self._edited.predecessors.get(entry.key)
        if predecessors is not None:
            self._result.successions.append((record, predecessors))

    def _new(self, review: Review, entry: Entry) -> tuple[bytes, Fates]:
        """Return the record and the fates of a review that is not there."""
        key = merge_key(entry.key)
        fates: Fates = {Fate.NEW: ()}
        if key in self._plan.log.reviews:
            fates = {**fates, Fate.RETURNED: ()}
        if entry.key in self._edited.doubled:
            fates = {**fates, Fate.DOUBLED: ()}
        self._log(key, Written(entry.edited, entry.replied, digests(review)))
        stamps = stamped(review, self._plan.now)
        return updated(entry.record, stamps, without=STAMPS), fates

    def _old(self, review: Review, text: bytes) -> tuple[bytes, Fates]:
        """Return the record and the fates of a review that is there."""
        identifier = review.get("id")
        if not isinstance(identifier, str):
            return text, self._absent(review, "", loses_reply=bool(review.get(_REPLY)))
        if identifier in EXAMPLES:
            return text, {Fate.EXAMPLE: ()}
        entry, is_of_other_id = self._row(review, identifier)
        if entry is None:
            return self._without_row(review, text, identifier)
        self._used.add(entry.key)
        if is_of_other_id:
            return self._copied(review, text, identifier, entry)
        record = msgspec.json.decode(entry.record)
        if self._plan.is_corrected(review):
            record = self._without_public_form(review, record)
        return self._under_own_id(review, text, entry, record)

    def _copied(
        self, review: Review, text: bytes, identifier: str, entry: Entry
    ) -> tuple[bytes, Fates]:
        """Return the record and the fates of a review whose row has another id.

        An id that was made of the review's content is replaced by that of the row, by which the review stays known when
        the content changes. Else the row fills what is empty: another tool's addresses would come and go.
        """
        if NO_ID not in entry.notes and is_of_content(review):
            new_text, merged = self._under_new_id(review, text, identifier, entry)
            if self._plan.is_corrected(review):
                self._result.successions.append((new_text, Predecessors([review], is_certain=True)))
            return new_text, {Fate.CHANGED: tuple(merged.changes), Fate.IDENTIFIED: ()}
        row = msgspec.json.decode(entry.record)
        record = {name: value for name, value in row.items() if review.get(name) is None}
        record.pop("location", None)
        new_text, fates = self._under_own_id(review, text, entry, record)
        return new_text, {**fates, Fate.COPY: ()}

    def _under_own_id(
        self, review: Review, text: bytes, entry: Entry, record: Review
    ) -> tuple[bytes, Fates]:
        """Return the record and the fates of a review that keeps its id."""
        key = merge_key(str(review["id"]))
        merged = self._merged(review, record, entry, key)
        changes, fates = merged.changes, merged.fates
        self._retain(key)
        if merged.log_row != self._plan.log.reviews.get(key, NOTHING):
            self._log(key, merged.log_row)
        new_text = updated(text, {**changes, CHANGED: self._now}) if changes else text
        self._note_predecessors(entry, new_text)
        return new_text, fates

    def _without_row(self, review: Review, text: bytes, identifier: str) -> tuple[bytes, Fates]:
        """Return the record and the fates of a review that no row has the id of: it is absent, or was edited."""
        key, entry = merge_key(identifier), self._edited.rows.get(identifier)
        if entry is None:
            return text, self._absent(review, key, loses_reply=bool(review.get(_REPLY)))
        self._used.add(entry.key)
        if not is_of_content(review):  # its id outlasts one that is made of content
            record = msgspec.json.decode(entry.record)
            new_text, fates = self._under_own_id(review, text, entry, record)
            return new_text, {**fates, Fate.EDITED: (_REPLY,) * bool(review.get(_REPLY))}
        new_text, merged = self._under_new_id(review, text, identifier, entry)
        has_reply = bool({**review, **merged.changes}.get(_REPLY))
        return new_text, {
            **_without_no_change(merged.fates),
            Fate.CHANGED: tuple(merged.changes),
            Fate.EDITED: (_REPLY,) * has_reply,
        }

    def _under_new_id(
        self, review: Review, text: bytes, identifier: str, entry: Entry
    ) -> tuple[bytes, Merged]:
        """Return the record of a review that is the one of a row, under the id of the row from now on."""
        record = msgspec.json.decode(entry.record)
        merged = self._merged(review, record, entry, merge_key(identifier))
        self._log(entry.key, merged.log_row)
        self._result.removed_ids.append(identifier)
        self._result.successors[identifier] = record["id"]
        new_text = updated(text, {**merged.changes, "id": record["id"], CHANGED: self._now})
        self._note_predecessors(entry, new_text)
        return new_text, merged

    def _row(self, review: Review, identifier: str) -> tuple[Entry | None, bool]:
        """Return the row of a review that is there, and whether it has it under another id."""
        entry = self._staged.find(identifier, merge_key(identifier))
        copy = None if entry is not None else self._copy(review)
        entry = entry or copy
        is_free = entry is not None and entry.key not in self._used
        return (entry, copy is not None) if is_free else (None, False)

    def _merged(self, review: Review, record: Review, entry: Entry, key: str) -> Merged:
        place = Place.of_entry(entry)
        self._result.met.add(place)
        return merge_review(
            review,
            record,
            entry,
            self._staged.unstated(entry),
            self._plan.log.reviews.get(key, NOTHING),
            export_is_older=place in self._plan.older,
            full_names=self._plan.full_names,
        )

    def _log(self, key: str, row: Written) -> None:
        """Note what was written of a review; an owner's own export writes nothing of a platform."""
        if not self._plan.by_owner:
            self._result.log_rows[key] = row

    def _copy(self, review: Review) -> Entry | None:
        """Return the review of the export that is there under another id, unless it became another one."""
        for entry, record in self._alike(review):
            if (
                entry.key not in self._used
                and is_copy(review, record, entry.place)
                and entry.key not in self._keys_there
            ):
                return entry
        return None

    @cached_property
    def _keys_there(self) -> frozenset[str]:
        """The merge keys of the file's reviews; a row with one of them is of that review alone."""
        return frozenset(merge_key(identifier) for _, identifier in _identified(self._document))

    def _alike(self, review: Review) -> Iterator[tuple[Entry, Review]]:
        """Iterate over the reviews of the export with the same author, day and rating, each with its record."""
        number = alike_number(review)
        for entry in () if number is None else self._alikes.get(number, ()):
            yield entry, msgspec.json.decode(entry.record)

    def _without_public_form(self, review: Review, record: Review) -> Review:
        """Return the row of a corrected review without what readers are shown of it: the file has more."""
        public = self._plan.public_form(review)
        if public is None:
            return record  # an export with --all
        return {name: value for name, value in record.items() if value != public.get(name)}

    def _absent(self, review: Review, key: str, *, loses_reply: bool) -> Fates:
        """Return the fates of a review that is not in the export.

        Args:
            review: The review.
            key: Its merge key.
            loses_reply: Whether it has an owner's reply that no other review gets.
        """
        fate = self._absence(review, key)
        if fate is Fate.REMOVED:
            return {fate: (_REPLY,) * loses_reply}
        self._retain(key)
        self._find_doubles(review)
        return dict.fromkeys((Fate.KEPT, fate), ())

    def _retain(self, key: str) -> None:
        """Keep what is known of a review that the new file has."""
        if key in self._plan.log.reviews:
            self._result.log_rows[key] = self._plan.log.reviews[key]

    def _find_doubles(self, review: Review) -> None:
        """Note the reviews of the export that are one that stays, under another source."""
        for entry, record in self._alike(review):
            if is_double(review, record):
                self._doubles[entry.key] = str(review.get("source"))

    def _absence(self, review: Review, key: str) -> Fate:
        """Return whether a review that is not in the export is removed or kept, and why it is kept."""
        place = Place.of(review)
        if key in self._staged.withdrawn:
            return Fate.REMOVED
        if place is None or place not in self._plan.replaced:
            return Fate.KEPT
        if key in self._staged.skipped or (
            self._like_erased and not self._like_erased.isdisjoint(sketch(review).pair_keys)
        ):
            return Fate.SPARED  # a row that is not taken may be of this review
        day = review.get("date")
        if isinstance(day, str) and day < self._plan.replaced[place]:
            return Fate.TOO_OLD
        is_corrected = self._plan.by_owner and self._plan.is_corrected(review)
        if is_corrected and self._plan.public_form(review) is None:
            return Fate.HIDDEN
        if self._plan.is_gone is not None and not (key and self._plan.is_gone(key)):
            return Fate.SPARED
        return Fate.REMOVED


def _identified(document: Document) -> Iterator[tuple[Review, str]]:
    """Iterate over the reviews of the file with their ids, without the examples."""
    for review in reviews_of(document):
        identifier = review.get("id")
        if isinstance(identifier, str) and identifier not in EXAMPLES:
            yield review, identifier


def _without_no_change(fates: Fates) -> Fates:
    return {
        fate: names for fate, names in fates.items() if fate not in (Fate.UNCHANGED, Fate.OLDER)
    }
