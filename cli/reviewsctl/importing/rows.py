"""Reads the rows of all exports: each is staged, refused or skipped."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from reviewsctl.corrections.imports import SKIPPED, KnownCorrections
from reviewsctl.importing.bounds import MAX_USELESS
from reviewsctl.importing.errors import (
    ImportRefusedError,
    NoReviewsError,
    RowRefusedError,
    RowSkippedError,
    RowWithdrawnError,
    SayMoreError,
)
from reviewsctl.importing.exports import Export, missing_pages, missing_parts
from reviewsctl.importing.format import Format, Reader, Row
from reviewsctl.importing.import_log import ImportLog
from reviewsctl.importing.options import ImportOptions, Prompts, RowCounts
from reviewsctl.importing.platforms.column_names import GUESSES
from reviewsctl.importing.platforms.columns import flat
from reviewsctl.importing.readers.watching import Reading
from reviewsctl.importing.recognize import Source
from reviewsctl.importing.review import Entry, mask
from reviewsctl.importing.scales import unsettled
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.staging import Staging
from reviewsctl.importing.values import normal, word

MAX_LISTED: Final = 10_000  # refused rows that --verbose lists
_ID_NAMES: Final = frozenset(("name", "url", *GUESSES["id"]))
"""Names of ids, with Google's name of a review and Facebook's address."""
_MAX_ID: Final = 500  # characters
_MAX_SOURCES: Final = 50  # among which the reviews of rows that are not taken are searched


SourceReader = tuple[Format, Source, Reader]


def readers_of(options: ImportOptions, exports: Sequence[Export]) -> list[SourceReader]:
    """Return how each file of the exports is read.

    Raises:
        SayMoreError: The operator has to say how its columns are meant.
    """
    return [
        (export.format, source, export.format.reader(source.head, options.settings))
        for export in exports
        for source in export.sources
    ]


def read_rows(
    options: ImportOptions,
    readers: Sequence[SourceReader],
    staged: Staging,
    prompts: Prompts,
    corrections: KnownCorrections,
) -> RowCounts:
    """Stage the rows of all files.

    Raises:
        ImportRefusedError: Hardly any of them can be taken.
    """
    rows: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    refusals: list[tuple[str, str]] = []
    skips: list[tuple[str, str]] = []
    refused = 0
    notes: Counter[str] = Counter()
    titles: dict[str, str] = {}
    total = sum(source.part.size for _, source, _ in readers)
    for format_, where, row, read in _rows(readers, Reading("reading", total, prompts.progress)):
        rows[format_.name] += 1
        outcome = _outcome(read, row, corrections)
        if isinstance(outcome, Entry):
            staged.add(outcome, mask(format_.certain))
            notes.update(outcome.notes)
            titles[outcome.place] = titles.get(outcome.place) or outcome.title
            continue
        if isinstance(outcome, RowSkippedError):
            skipped[str(outcome)] += 1
            if len(skips) < MAX_LISTED:
                skips.append((where, str(outcome)))
        else:
            refused += 1
            notes.update(filter(None, (outcome.note,)))
            if len(refusals) < MAX_LISTED:
                refusals.append((where, str(outcome)))
        withdrawn = isinstance(outcome, RowWithdrawnError)
        if isinstance(outcome, RowWithdrawnError) and outcome.key:
            staged.withdraw(outcome.key)
        elif options.replace:
            staged.pass_over(_identifiers(row, options.settings), withdrawn=withdrawn)
        useless = refused + skipped.total()
        if useless > max(MAX_USELESS, 9 * staged.added):
            count = f"not one in ten of its first {useless + staged.added:,} rows"
            raise _useless(count, refusals, skipped)
    return RowCounts(
        rows=rows,
        refused=refused,
        refusals=refusals,
        skipped=skipped,
        skips=skips,
        notes=notes,
        titles=titles,
    )


def _rows(
    readers: Sequence[SourceReader], reading: Reading
) -> Iterator[tuple[Format, str, Row, Reader]]:
    """Iterate over all rows, each with its format, its position and its reader."""
    for format_, source, read in readers:
        prefix = f"{source.part.name}: " if len(readers) > 1 else ""
        for where, row in source.rows(reading.watched(source.part)):
            yield format_, f"{prefix}{where}", row, read


def _outcome(
    read: Reader, row: Row, corrections: KnownCorrections
) -> Entry | RowRefusedError | RowSkippedError:
    if row.fault:
        return RowRefusedError(row.fault)
    try:
        entry = read(row)
        return RowSkippedError(SKIPPED) if corrections.is_erased(entry) else entry
    except (RowRefusedError, RowSkippedError) as error:
        return error


def _identifiers(row: Row, settings: Settings) -> Iterator[str]:
    """Iterate over the values of a row that may be its id, so that ``--replace`` spares its review."""
    mapped = normal(settings.columns.get("id", ""))
    for name, value in flat(row.fields).items():
        column, last = normal(name), normal(name.rpartition(".")[2])
        is_id = last.endswith("id") or last in _ID_NAMES or column == mapped
        text = word(value) if is_id else None
        if text is not None and len(text) <= _MAX_ID:
            yield text
            if "/" in text:
                yield text.rpartition("/")[2]


def check_usable(options: ImportOptions, staged: Staging, rows: RowCounts) -> None:
    """Check that there is something to import, and that its ratings are understood.

    Raises:
        SayMoreError: The scale of the ratings is open.
        ImportRefusedError: There is no review.
    """
    unsettled(rows.notes, rows.refusals)
    options.settings.publicity.settle()
    if staged.count():
        return
    if count := rows.notes.get("unrated"):
        raise SayMoreError(
            f"its {count:,} recommendations have no stars",
            "Say --set recommended=yes to take them as 5, or as 1 where it is not recommended",
        )
    if rows.refused:
        raise _useless(f"none of its {rows.refused:,} rows", rows.refusals, rows.skipped)
    if options.replace:
        raise NoReviewsError(
            "it holds no reviews, and --replace would leave none", "Nothing was written."
        )


def check_replaceable(
    options: ImportOptions,
    exports: Sequence[Export],
    rows: RowCounts,
    staged: Staging,
    log: ImportLog,
) -> None:
    """Check that the reviews that the export does not have are gone: not on another page or part.

    Raises:
        ImportRefusedError: It cannot be known.
    """
    if parts := missing_parts(options.exports, log.imports):
        raise ImportRefusedError(
            "--replace would remove the reviews of other parts of this Takeout: "
            f"{', '.join(parts[:3])}",
            "Name all parts in one command; or import these without --replace.",
        )
    if why := missing_pages(exports, rows):
        raise ImportRefusedError(
            f"--replace would remove the reviews of pages that are not here: {why[0]}",
            "Name all pages in one command; or import these without --replace.",
        )
    sources = {place.source for place in staged.places()}
    if rows.untaken and (rows.notes.get("no-id") or len(sources) > _MAX_SOURCES):
        raise ImportRefusedError(
            f"--replace could remove reviews that the export has: {rows.untaken:,} of its rows cannot "
            "be taken, and nothing says which reviews they are",
            "Import it without --replace; or fix these rows first, which --verbose then lists.",
        )
    staged.find_passed_over(sources)


def _useless(
    count: str, refusals: Sequence[tuple[str, str]], skipped: Mapping[str, int]
) -> ImportRefusedError:
    why = [f"{where}: {reason}" for where, reason in refusals[:3]] or dict(skipped)
    return ImportRefusedError(
        f"{count} can be imported ({'; '.join(why)})",
        "Was it recognized as what it is? --from NAME says so; for a table see --map.",
    )
