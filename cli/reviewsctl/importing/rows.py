"""Reads the rows of all exports: each is staged, refused or skipped."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from reviewsctl.corrections.imports import KnownCorrections
from reviewsctl.importing.bounds import MAX_USELESS
from reviewsctl.importing.errors import (
    ImportRefusedError,
    NoReviewsError,
    RowRefusedError,
    RowSkippedError,
    RowWithdrawnError,
    SayMoreError,
)
from reviewsctl.importing.exports import missing_pages, missing_parts
from reviewsctl.importing.format import Format, Reader, Row
from reviewsctl.importing.options import ImportOptions, Prompts
from reviewsctl.importing.outcomes import MAX_LISTED
from reviewsctl.importing.ratings import ABOVE_FIVE
from reviewsctl.importing.recognize import Export, Source
from reviewsctl.importing.review import FUTURE, Entry
from reviewsctl.importing.scales import REMEDY, are_typos
from reviewsctl.importing.staging import Staging
from reviewsctl.importing.times import NO_DATE
from reviewsctl.importing.values import shown
from reviewsd.api.jobs import Step
from reviewsd.api.texts import counted, merge_key

_MEGABYTE: Final = 1_000_000
_WORTH_SHOWING: Final = 8 * _MEGABYTE  # bytes; the progress of less is not shown
_STEP: Final = 100  # rows between two reports of progress

RowOutcome = Entry | RowRefusedError | RowSkippedError


@dataclass(slots=True, kw_only=True)
class RowCounts:
    """Counts of the rows of all exports."""

    rows: Counter[str] = field(default_factory=Counter)
    """Rows that were read, by the name of the format."""
    refused: int = 0
    unidentified: int = 0
    """Refused rows that may be of any review."""
    refusals: list[tuple[str, str]] = field(default_factory=list)
    """The first of them: where, and why."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Rows that are no reviews, by reason."""
    skips: list[tuple[str, str]] = field(default_factory=list)
    """The first of them: where, and why."""
    notes: Counter[str] = field(default_factory=Counter)
    """Rows that the result mentions, by the name of the note (``report``)."""
    titles: dict[str, str] = field(default_factory=dict)
    """The titles of the locations, by their ids."""
    ids: dict[str, str] = field(default_factory=dict)
    """The ids of the rows of an earlier source, by the merge keys that they have in later imports."""
    twice: int = 0
    """Rows of a review that is there more than once."""
    elsewhere: int = 0
    """Reviews of other locations, which were left out."""

    @property
    def untaken(self) -> int:
        """Rows that were refused or skipped."""
        return self.refused + self.skipped.total()

    def add(self, where: str, outcome: RowOutcome) -> None:
        """Count a row."""
        if isinstance(outcome, Entry):
            self.notes.update(outcome.notes)
            self.titles[outcome.place] = self.titles.get(outcome.place) or outcome.title
            return
        if isinstance(outcome, RowSkippedError):
            self.skipped[str(outcome)] += 1
        else:
            self.refused += 1
            self.unidentified += not outcome.key
            self.notes.update(filter(None, (outcome.note,)))
        listed = self.skips if isinstance(outcome, RowSkippedError) else self.refusals
        if len(listed) < MAX_LISTED:
            listed.append((where, str(outcome)))


def read_rows(
    options: ImportOptions,
    exports: Sequence[Export],
    staged: Staging,
    prompts: Prompts,
    corrections: KnownCorrections,
    ids: Mapping[str, str],
) -> RowCounts:
    """Stage the rows of all files; ``ids`` are those of reviews, by the merge keys of others that rows have for them.

    Raises:
        SayMoreError: The operator has to say how columns are meant.
        ImportRefusedError: Hardly any of the rows can be taken.
    """
    counts, positions = RowCounts(), dict[str, str]()
    readers = [
        (export.format, source, export.format.reader(source.head, options.settings))
        for export in exports
        for source in export.sources
    ]
    for format_, where, row, read in _rows(readers, prompts):
        outcome = _outcome(read, row, corrections, ids, counts.ids)
        if isinstance(outcome, Entry) and format_.tabular and staged.has_another(outcome):
            outcome = RowRefusedError(
                f"{positions[outcome.key]} has the same id, and another author and day; give each review an id of "
                "its own"
            )
        counts.rows[format_.name] += 1
        refusal = outcome if isinstance(outcome, RowRefusedError) else None
        named = refusal is not None and format_.tabular and refusal.own_id
        counts.add(f"{where}, id {shown(named)}" if named else where, outcome)
        if isinstance(outcome, Entry):
            staged.add(outcome)
            if format_.tabular:
                positions.setdefault(outcome.key, where)
            continue
        if outcome.key:
            outcome.key = merge_key(ids.get(outcome.key, outcome.key))
            is_withdrawn = isinstance(outcome, RowWithdrawnError)
            (staged.withdrawn if is_withdrawn else staged.skipped).add(outcome.key)
        if counts.untaken > max(MAX_USELESS, 9 * staged.added):
            read_count = counts.untaken + staged.added
            raise _useless(f"not one in ten of its first {read_count:,} rows", counts)
    counts.twice = staged.added - len(staged)
    return counts


def _rows(
    readers: Sequence[tuple[Format, Source, Reader]], prompts: Prompts
) -> Iterator[tuple[Format, str, Row, Reader]]:
    """Iterate over all rows, each with its format, its position and its reader; report the progress."""
    total, before = sum(source.part.size for _, source, _ in readers), 0
    is_shown = total >= _WORTH_SHOWING

    def report(done: int) -> None:
        if is_shown:
            done, all_of = done // _MEGABYTE, total // _MEGABYTE
            prompts.progress(Step(stage="reading (MB)", done=done, total=all_of))

    for format_, source, read in readers:
        prefix, done = f"{source.part.name}: " if len(readers) > 1 else "", 0
        for number, (where, row) in enumerate(source.rows(), start=1):
            yield format_, f"{prefix}{where}", row, read
            if is_shown:
                done += sum(len(str(cell)) + 1 for cell in row.fields.values())
            if number % _STEP == 0:
                report(before + min(done, source.part.size))
        before += source.part.size
    report(total)


def _outcome(
    read: Reader,
    row: Row,
    corrections: KnownCorrections,
    ids: Mapping[str, str],
    later_ids: dict[str, str],
) -> RowOutcome:
    """Return the outcome of a row; ``later_ids`` gets the id of one of an earlier source."""
    if row.fault:
        return RowRefusedError(row.fault)
    try:
        entry = read(row)
        if entry.key in ids:
            entry = entry.with_id(ids[entry.key])
        if entry.later_key:  # an erased review is known by it too
            later_ids[entry.later_key] = str(entry.record["id"])
        reason = corrections.erased_reason(entry)
        return RowSkippedError(reason) if reason else entry
    except (RowRefusedError, RowSkippedError) as outcome:
        return outcome


def check_usable(options: ImportOptions, staged: Staging, rows: RowCounts) -> None:
    """Check that there is something to import, that all of it is public, and that its ratings are stars.

    Raises:
        SayMoreError: It is open what is public, of how many the ratings are, or what a recommendation counts.
        ImportRefusedError: There is no review.
    """
    above, read = rows.notes[ABOVE_FIVE], rows.rows.total()
    if above and not are_typos(above, read):
        raise SayMoreError(
            f"{above:,} of {read:,} ratings are above five, so the others are no stars", REMEDY
        )
    options.settings.publicity.settle()
    if len(staged):
        return
    if count := rows.notes.get("unrated"):
        raise SayMoreError(
            f"{counted(count, 'recommendation')} without stars, and no other row to import",
            "Say --set recommended=yes to take them as 5, or as 1 where it is not recommended",
        )
    if rows.refused:
        raise _useless(f"none of its {rows.refused:,} rows" if rows.refused > 1 else "no row", rows)
    if options.replace:
        raise NoReviewsError(
            "it holds no reviews, and --replace would leave none", "Nothing was written."
        )


def check_replaceable(
    options: ImportOptions,
    exports: Sequence[Export],
    rows: RowCounts,
) -> None:
    """Check that the reviews that the export does not have are gone: not on another page or part.

    Raises:
        ImportRefusedError: It cannot be known.
    """
    if parts := missing_parts(options.exports):
        raise ImportRefusedError(
            "--replace would remove the reviews of other parts of this Takeout: "
            f"{', '.join(parts[:3])}",
            "Name all parts in one command; or import these without --replace.",
        )
    if why := missing_pages(exports, rows.rows):
        raise ImportRefusedError(
            f"--replace would remove the reviews of pages that are not here: {why[0]}",
            "Name all pages in one command; or import these without --replace.",
        )


def _useless(rows: str, counts: RowCounts) -> ImportRefusedError:
    why = [f"{where}: {reason}" for where, reason in counts.refusals[:3]] or counts.skipped
    remedy = "Was it recognized as what it is? --from csv reads it as a table; its columns are said by --map."
    if {NO_DATE} == {reason for _, reason in counts.refusals}:
        remedy = "Fill in the dates, or name the column that has them: --map date=COLUMN"
    if counts.refused == counts.notes[FUTURE]:
        remedy = "Set the clock of this computer, or correct the dates."
    return ImportRefusedError(f"{rows} can be imported ({'; '.join(why)})", remedy)
