"""Corrections in imports and exports (corrections.md C5, C8, C23 to C28).

Erased reviews are skipped, hidden ones are not exported, and what was edited in a table without ids stays hidden.
"""

import contextlib
import datetime
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import msgspec

from reviewsctl.corrections import files
from reviewsctl.corrections.notes import (
    TAKE,
    absent_notes,
    erased_notes,
    state_notes,
)
from reviewsctl.corrections.output import STATES
from reviewsctl.files.folders import Draft, Folder
from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.options import ImportOptions, Question
from reviewsctl.importing.outcomes import MergeResult
from reviewsctl.importing.pairs import Facts
from reviewsctl.importing.readers.json_file import Document
from reviewsctl.importing.review import Entry
from reviewsctl.importing.reviews_file import FIX, check, read
from reviewsctl.importing.values import shown
from reviewsd.api.places import CORRECTIONS_FILE, has_corrections_log
from reviewsd.api.texts import counted, merge_key, printable
from reviewsd.domain import corrected
from reviewsd.domain.corrections import (
    Correction,
    Corrections,
    Erasure,
    Overlay,
    version_digests,
)
from reviewsd.domain.reviews import Review

if TYPE_CHECKING:
    from reviewsd.offline.passed_corrections import PassedCorrection

_PASSED: Final = (
    "{state}, as they may be edited versions of reviews that are not shown as they are: {reviews}; to show them: "
    "reviewsctl reviews restore {ids}"
)
_CHANGED: Final = (
    "still {state}, as their ids are, though they now say something else: {reviews}; if it is another review: "
    "reviewsctl reviews restore {ids}"
)


class KnownCorrections:
    """The corrections of a data directory; without one there are none.

    Raises:
        ImportRefusedError: corrections.json is invalid, and an erased review could return.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._corrections = Corrections()
        self._overlay = Overlay(self._corrections)
        self._passed: Sequence[PassedCorrection] = ()
        self._changed: Sequence[Mapping[str, object]] = ()  # rows of corrected reviews
        self._skipped: Sequence[Mapping[str, object]] = ()  # rows like erased reviews
        self._erased_ids: list[str] = []  # new ones, of rows that are erased reviews
        self._erased_versions = Counter[str]()  # digests of erased reviews that the export has
        self._before = b""  # the file
        self._returned = 0  # erased reviews that the file has again
        if folder is not None and (
            (folder / CORRECTIONS_FILE).exists() or has_corrections_log(folder)
        ):
            self._read(folder)

    def _read(self, folder: Path) -> None:
        from reviewsd.offline.corrections import check_present, parse  # 0.1 s, see main

        remedy = "Fix or restore corrections.json: without it erased reviews would return."
        with files.parsing(remedy):
            check_present(folder)
            self._before = (folder / CORRECTIONS_FILE).read_bytes()
            self._corrections = parse(self._before)
            self._overlay = Overlay(self._corrections)

    def decided_since(self, when: datetime.datetime) -> tuple[str, str] | None:
        """Return the id and the state of the review that was corrected last, if that was after ``when``."""
        decided = [
            (entry.at, name, entry.action) for name, entry in self._corrections.reviews.items()
        ]
        at, name, action = max(decided, default=(when, "", ""))
        return (name, STATES[action]) if at > when and action != "restore" else None

    def read(self, folder: Folder, name: str, now: datetime.datetime) -> Document | None:
        """Read reviews.json without the erased reviews that it has again, as by an older copy of it.

        Raises:
            ImportRefusedError: It is no JSON.
        """
        document = read(folder, name)
        if document is None or not self._corrections.erased:
            return document
        from reviewsd.offline.corrections import without_erased  # see ``_read``

        with contextlib.suppress(msgspec.MsgspecError, KeyError):  # not served; ``check`` says why
            text, ids = without_erased(bytes(document.root), self._corrections, now)
            self._returned = len(ids)
            return Document(text, name, FIX) if ids else document
        return document

    def take_out_erased(self, target: Path, new: Draft, now: datetime.datetime) -> bool:
        """Remove those reviews from every file, so that no kept version has them; return whether there are any.

        Raises:
            ImportRefusedError: Another program wrote the file that the draft replaces, or that file is invalid.
        """
        if self._returned:
            check(new)
            files.take_out_erased(target, files.read(target), now)
            new.before = new.folder.look(new.name)
        return bool(self._returned)

    def exported(self, text: bytes, *, every: bool) -> bytes | None:
        """Return a review as an export has it, or None if it is left out.

        Args:
            text: The review as the file has it.
            every: Whether it stays so unless it was erased; else it is as readers see it.

        Raises:
            msgspec.MsgspecError: The review is invalid.
        """
        if not self._before:
            return text
        if every:
            return None if self.is_erased(msgspec.json.decode(text)) else text
        return corrected.shown(text, self._overlay)

    def erased_reason(self, entry: Entry) -> str:
        """Return why a row is left out, as it was erased, or an earlier import left it out; "" if it is taken."""
        if not self._before:
            return ""
        review = msgspec.convert(entry.record, Review)
        of_content = self._overlay.of_id(entry.content_key) if entry.content_key else None
        correction = self._overlay.find(review) or of_content
        if not isinstance(correction, Erasure):
            return ""
        self._erased_versions.update(self._overlay.version_digests(review).values())
        if entry.has_own_id and self._overlay.of_id(review.id) is None:
            self._erased_ids.append(review.id)
        if correction.is_version:
            return (
                f"may be an edited version of an erased review; {TAKE.format('it is', review.id)}"
            )
        return "erased (reviewsctl reviews erase)"

    def erased_facts(self, entry: Entry) -> set[str]:
        """Return what a new row has in common with erased reviews that the export does not have.

        Call it after ``erased_reason`` was called with every row.

        Returns:
            Names of the digests of an ``Erasure``.
        """
        if not self._before:
            return set()
        review = msgspec.convert(entry.record, Review)
        if self._overlay.of_id(review.id) is not None:  # the owner has decided about it
            return set()
        return {
            name
            for name, digest in self._overlay.version_digests(review).items()
            if self._erased_versions[digest]
            < self._overlay.count_erased(digest, has_own_id=entry.has_own_id)
        }

    def known(self) -> Iterator[tuple[str, Facts]]:
        """Yield what is known of the reviews that are not shown as they are, in the file or not, by their merge keys."""
        for review_id, correction in self._corrections.reviews.items():
            if correction.action != "restore":
                yield (
                    merge_key(review_id),
                    Facts(
                        key=review_id,
                        has_own_id=bool(correction.has_own_id),
                        action=correction.action,
                        digests=correction.known,
                    ),
                )

    def version_digests(self, record: Mapping[str, object]) -> frozenset[tuple[str, str]]:
        """Return the names and values of the ``version_digests`` of a review; none if it is invalid."""
        try:
            review = msgspec.convert(record, Review)
        except msgspec.ValidationError:
            return frozenset()
        return frozenset(version_digests(self._corrections.key or "", review).items())

    def action(self, record: Mapping[str, object]) -> str:
        """Return what hides or anonymizes a review of the file; empty if it is shown as it is."""
        correction = self._correction(record)
        return "" if correction is None else correction.action

    def is_erased(self, record: Mapping[str, object]) -> bool:
        """Return whether a review of the file was erased."""
        return isinstance(self._found(record), Erasure)

    def public_form(self, record: Mapping[str, object]) -> Mapping[str, object] | None:
        """Return what readers are shown of a review of the file: nothing if it is invalid."""
        try:
            text = corrected.shown(msgspec.json.encode(record), self._overlay)
        except msgspec.ValidationError:
            return None
        return None if text is None else cast("Mapping[str, object]", msgspec.json.decode(text))

    def _correction(self, record: Mapping[str, object]) -> Correction | None:
        """Return the correction of a review of the file; None if it is shown as it is."""
        correction = self._found(record)
        if isinstance(correction, Correction) and correction.action != "restore":
            return correction
        return None

    def _is_decided(self, record: Mapping[str, object]) -> bool:
        """Return whether the owner has decided about a review of the file itself, or has shown a copy of it again."""
        correction = self._found(record)
        is_restored = correction is not None and correction.action == "restore"
        return is_restored or self._overlay.of_id(str(record.get("id"))) is not None

    def _found(self, record: Mapping[str, object]) -> Correction | Erasure | None:
        """Return the correction of a review of the file; one of an invalid review is found by its id alone."""
        if not self._before:
            return None
        try:
            return self._overlay.find(msgspec.convert(record, Review))
        except msgspec.ValidationError:
            return self._overlay.of_id(str(record.get("id")))

    def doubts(
        self, options: ImportOptions, entries: Iterable[Entry], sources: Collection[str]
    ) -> Iterator[Question]:
        """Yield a question if reviews of a source that the file does not have were erased under another one.

        Args:
            options: The options of the import.
            entries: The reviews of the export.
            sources: The sources that the file has reviews of.
        """
        counts = Counter(
            (entry.source, erased)
            for entry in entries
            if entry.source not in sources and (erased := self._erased_under(entry, sources))
        )
        for (source, erased), count in counts.items():
            was_or_were = "was" if count == 1 else "were"
            text = (
                f"{counted(count, 'review')} of {shown(source)}, which is a new source, {was_or_were} erased under "
                f"the name {shown(erased)}, and would be back"
            )
            named = options.setting("source", printable(erased))
            yield Question(text, f"If it is the same source: {named}; if not: {options.consent}")

    def _erased_under(self, entry: Entry, sources: Iterable[str]) -> str:
        """Return the source under which a review of another one was erased, or ""."""
        if not self._corrections.erased:
            return ""
        review = msgspec.convert(entry.record, Review)
        for source in sorted(sources):
            correction = self._overlay.find(msgspec.structs.replace(review, source=source))
            if isinstance(correction, Erasure):
                return source
        return ""

    def pass_on(self, merge: MergeResult) -> list[str]:
        """Find the corrections that new rows get, for ``write``, and return the notes on them."""
        self._passed, self._skipped = list(self._find_passed(merge)), merge.erased_versions
        self._changed = [
            record for record, (old, *_) in merge.successions if old["id"] == record["id"]
        ]
        passed = ((correction.action, correction.record) for correction in self._passed)
        new = filter(self._is_new_content, self._changed)
        return [
            *files.erased_note(self._returned),
            *state_notes(passed, _PASSED),
            *state_notes(((self.action(record), record) for record in new), _CHANGED),
            *absent_notes(merge),
            *erased_notes(merge),
        ]

    def will_show_words(self, record: Mapping[str, object]) -> bool:
        """Return whether no correction that passes to a review hides its words."""
        passed = (correction for correction in self._passed if correction.action != "anonymize")
        return record.get("id") not in {correction.record.get("id") for correction in passed}

    def _find_passed(self, merge: MergeResult) -> "Iterator[PassedCorrection]":
        for record, predecessors in merge.successions:
            corrections = {
                str(old.get("id")): correction
                for old in predecessors
                if (correction := self._correction(old)) is not None
            }
            is_same = list(corrections) == [record["id"]]
            if not corrections or self._is_decided(record) or (is_same and self._found(record)):
                continue
            from reviewsd.offline.passed_corrections import (  # see ``_read``
                PassedCorrection,
                strictest,
            )

            action, reason = strictest(list(corrections.values()))
            yield PassedCorrection(
                record=record,
                action=action,
                reason=reason,
                predecessors=list(corrections),
            )

    def _is_new_content(self, record: Mapping[str, object]) -> bool:
        try:
            return not self._overlay.is_known(msgspec.convert(record, Review))
        except msgspec.ValidationError:
            return False

    def write(self, folder: Folder, target: Path, now: datetime.datetime) -> None:
        """Write the corrections that new rows get, new versions and ids of erased reviews, and the log.

        Raises:
            ImportRefusedError: corrections.json was changed since it was read, so that a row may be shown of a review
                that is hidden now.
        """

        def change(text: bytes) -> bytes:
            if text != self._before:
                raise ImportRefusedError(
                    "corrections.json was changed during the import", "Run the command again."
                )
            if not (self._passed or self._skipped or self._erased_ids or self._changed):
                return text
            from reviewsd.offline.passed_corrections import with_passed  # see ``_read``

            skipped, ids = self._skipped, self._erased_ids
            return with_passed(text, self._passed, skipped, ids, now, self._changed)

        files.replace(folder, CORRECTIONS_FILE, change)
        for correction in self._passed:
            ids = " or ".join(correction.predecessors)
            note = f"by an import: it may be an edited version of {ids}"
            label = f"{correction.action} ({correction.reason})"
            files.note(target, now, [correction.review_id], label, note)
