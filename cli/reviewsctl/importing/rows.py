"""Reads the rows of all exports: each is staged, refused or skipped."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from reviewsctl.corrections.imports import SKIPPED, KnownCorrections
from reviewsctl.importing.bounds import MAX_USELESS
from reviewsctl.importing.errors import ImportRefusedError, NoReviewsError, SayMoreError
from reviewsctl.importing.exports import Export
from reviewsctl.importing.format import Format, Reader, Row
from reviewsctl.importing.identifiers import identifiers
from reviewsctl.importing.options import ImportOptions, Prompts, RowCounts
from reviewsctl.importing.readers.watching import Reading
from reviewsctl.importing.recognize import Source
from reviewsctl.importing.review import (
    Entry,
    RowRefusedError,
    RowSkippedError,
    RowWithdrawnError,
    mask,
)
from reviewsctl.importing.scales import unsettled
from reviewsctl.importing.staging import Staging

MAX_LISTED: Final = 10_000  # refused rows that are kept for --verbose


SourceReader = tuple[Format, Source, Reader]


def readers_of(options: ImportOptions, exports: Sequence[Export]) -> list[SourceReader]:
    """Return how each file of the exports is read.

    Raises:
        SayMoreError: The operator has to say how its columns are meant.
    """
    return [
        (export.format, source, export.format.reader(source.head, options.rules))
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
    total = sum(source.part.size for _, source, _ in readers)
    for format_, where, row, read in _rows(readers, Reading("reading", total, prompts.progress)):
        rows[format_.name] += 1
        outcome = _outcome(read, row, corrections)
        if isinstance(outcome, Entry):
            staged.add(outcome, mask(format_.certain))
            continue
        if isinstance(outcome, RowSkippedError):
            skipped[str(outcome)] += 1
            if len(skips) < MAX_LISTED:
                skips.append((where, str(outcome)))
        else:
            refused += 1
            if len(refusals) < MAX_LISTED:
                refusals.append((where, str(outcome)))
        withdrawn = isinstance(outcome, RowWithdrawnError)
        if isinstance(outcome, RowWithdrawnError) and outcome.key:
            staged.withdraw(outcome.key)
        elif options.replace:
            staged.pass_over(identifiers(row, options.rules.columns), withdrawn=withdrawn)
        useless = refused + skipped.total()
        if useless > max(MAX_USELESS, 9 * staged.added):
            count = f"not one in ten of its first {useless + staged.added:,} rows"
            raise _useless(count, refusals, skipped)
    return RowCounts(rows=rows, refused=refused, refusals=refusals, skipped=skipped, skips=skips)


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


def check_usable(options: ImportOptions, staged: Staging, rows: RowCounts) -> None:
    """Check that there is something to import, and that its ratings are understood.

    Raises:
        SayMoreError: The scale of the ratings is open.
        ImportRefusedError: There is no review.
    """
    counts = options.rules.counts
    unsettled(counts, rows.refusals)
    options.rules.publicity.settle()
    if staged.count():
        return
    if count := counts["unrated"]:
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


def _useless(
    count: str, refusals: Sequence[tuple[str, str]], skipped: Mapping[str, int]
) -> ImportRefusedError:
    why = [f"{where}: {reason}" for where, reason in refusals[:3]] or dict(skipped)
    return ImportRefusedError(
        f"{count} can be imported ({'; '.join(why)})",
        "Was it recognized as what it is? --from NAME says so; for a table see --map.",
    )
