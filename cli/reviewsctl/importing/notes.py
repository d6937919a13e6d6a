"""Notes for the operator on an import, beside its counts."""

from collections.abc import Sequence
from typing import Final

from reviewsctl.importing.exports import Export
from reviewsctl.importing.merge import Fate, MergeResult
from reviewsctl.importing.options import ImportOptions, RowCounts, reviews

_MENTIONED: Final = {
    "no-id": "without an id of their own: {count}; theirs is made of source, author, date, stars and text, "
    "so one that is edited will come as a new review",
    "no-source": "nothing says where these reviews were written: {count} have the source "
    '"import" (--source NAME says it, or --map source=COLUMN; an empty cell says nothing)',
    "withheld-reply": "owner replies that are not public at the platform: {count}; they were left out",
    "withheld-name": "authors whose names are not public at the platform: {count}; they are not named",
    "undated-reply": "owner replies without a date: {count}; they got that of the review",
    "future": "dated in the future: {count}; a date with day and month the wrong way round, or a clock "
    "that is wrong (reviewsctl check names them)",
    "recommendation": "recommendations (Facebook): {count}; they are 5 stars, or 1 where it is not "
    "recommended",
    "unrated": "recommendations (Facebook) that were refused, since they have no stars: {count} "
    "(--set recommended=yes takes them as 5, or as 1 where it is not recommended)",
    "between": "ratings between two stars that were refused: {count} (--set scale=5 rounds them, halves "
    "up)",
    "rounded": "ratings between two stars: {count}; they were rounded, halves up",
    "translated": "texts that Google has translated: {count}; the export does not have the originals",
    "unsaid": "not verified, since the export says of nobody that they are a customer: {count} "
    "(--set verified=yes if you know that they are)",
}

_OF_REVIEWS: Final = {
    Fate.EXAMPLE: "{count:,} examples of reviewsctl init left out",
    Fate.SPARED: "{reviews} not removed: the export has them, in rows that were refused or skipped",
    Fate.TOO_OLD: "{reviews} not removed, since they are older than the export's oldest: it may begin there",
    Fate.OLDER: "older than what is there already: {count:,}; these rows change nothing",
    Fate.REPLY_KEPT: "owner replies that the export does not have: {count:,}; they stay",
    Fate.COPY: "there already, by another tool's export: {count:,}; they stay one each, under the id they have",
    Fate.ALIKE: "there already, and like one of the export in source, author, date and rating, but with "
    "another id: {count:,}. If another tool exported them, they are there twice now; reviewsctl check "
    "names them",
}


def of_rows(
    options: ImportOptions,
    exports: Sequence[Export],
    rows: RowCounts,
    *,
    taken: int,
    twice: int,
    elsewhere: int,
) -> list[str]:
    """Return notes on what became of the rows.

    Args:
        options: What the operator wants.
        exports: The exports.
        rows: What became of their rows.
        taken: Reviews that were taken of them.
        twice: Reviews that they have more than once.
        elsewhere: Reviews of other locations.
    """
    notes = list(dict.fromkeys(each.format.terms for each in exports if each.format.terms))
    notes += [f"{count:,} skipped: {reason}" for reason, count in rows.skipped.items()]
    if twice:
        notes.append(f"{twice:,} were there more than once")
    if elsewhere:
        notes.append(f"{elsewhere:,} left out: of other locations")
    # of a platform's own export the rule was shown when it was recognized
    tabular = any(export.format.tabular for export in exports)
    for name, text in _MENTIONED.items():
        if (count := options.rules.counts[name]) and (tabular or name != "unsaid"):
            notes.append(text.format(count=f"{count:,}"))
    for export in exports:
        around = {
            name: value for source in export.sources for name, value in source.head.around.items()
        }
        warnings = export.format.warnings(around, taken)
        notes += [warning for warning in warnings if warning not in notes]
    return notes + missing_pages(exports, rows)


def missing_pages(exports: Sequence[Export], rows: RowCounts) -> list[str]:
    """Return why pages are missing, where the pages that are here say so."""
    reasons = []
    for incomplete in dict.fromkeys(export.format.incomplete for export in exports):
        own = [export for export in exports if export.format.incomplete is incomplete]
        heads = [source.head for export in own for source in export.sources]
        count = sum(rows.rows.get(name, 0) for name in {export.format.name for export in own})
        reasons.append(incomplete(heads, count))
    return list(filter(None, reasons))


def of_merge(result: MergeResult) -> list[str]:
    """Return notes on what became of the reviews that were there."""
    notes = [
        text.format(count=count, reviews=reviews(count))
        for fate, text in _OF_REVIEWS.items()
        if (count := result.count(fate))
    ]
    if count := result.count(Fate.SHORT_NAME):
        new = "; new ones are in full (--set names=short)" if result.count(Fate.NEW) else ""
        notes.append(
            f"names that are short already: {count:,}; they stay so (--set names=full){new}"
        )
    if result.filled:
        notes.append(f"what the business got: {', '.join(result.filled)}")
    if result.is_different and result.review_count not in (None, result.total):
        notes.append(
            f"aggregate_rating in the file is kept: it says {reviews(result.review_count or 0)}, there "
            f"are {result.total:,} now. Leave it out of the file to have it computed"
        )
    return notes
