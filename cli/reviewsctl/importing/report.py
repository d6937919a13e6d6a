"""The result of an import: its notes, its lines for people, and JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from reviewsctl.importing.business import OF_PLACES, Declared
from reviewsctl.importing.consent import line
from reviewsctl.importing.exports import missing_pages
from reviewsctl.importing.format import Format
from reviewsctl.importing.merge_plan import MergePlan
from reviewsctl.importing.options import ImportOptions
from reviewsctl.importing.outcomes import Fate, MergeResult
from reviewsctl.importing.recognize import Export
from reviewsctl.importing.review import FUTURE, NO_ID, SHORTENED
from reviewsctl.importing.rows import RowCounts
from reviewsctl.importing.values import elements, listed
from reviewsd.api.texts import counted

MAX_IN_JSON: Final = 100
"""Rows and reviews that JSON lists without --verbose."""

_SHOWN: Final = 3  # refused rows without --verbose, for people
_LISTED: Final = (Fate.NEW, Fate.CHANGED, Fate.REMOVED, Fate.MISSING, Fate.EMPTIED)
LOSSES: Final = (Fate.OVERWRITTEN, Fate.RETURNED, Fate.REPLY_REMOVED)
"""What becomes of some new and changed reviews beside that."""


class Detail(str):
    """A note that people get with --verbose only, as nothing is to be done about it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """The result of an import."""

    formats: Sequence[Format]
    files: int
    rows: RowCounts
    merge: MergeResult
    notes: Sequence[str]


def _counts(result: ImportResult) -> str:
    merge = result.merge
    counts = [(fate, merge.count(fate)) for fate in (Fate.NEW, Fate.CHANGED, Fate.UNCHANGED)]
    if removed := merge.count(Fate.REMOVED):
        counts.append((Fate.REMOVED, removed))
    parts = [f"{count:,} {fate.value}" for fate, count in counts]
    return ", ".join([*parts, f"{result.rows.refused:,} refused"])


def lines(
    options: ImportOptions, result: ImportResult, described: Sequence[str], *, undo: str
) -> list[str]:
    """Return the result for people: what was done, which rows were refused, how the export was read, and notes.

    Most owners read the first two lines, of which one has the command that takes the import back (``undo``). Notes on
    what is, or may be, hidden come before the others.
    """
    notes = [note for note in result.notes if options.verbose or not isinstance(note, Detail)]
    notes.sort(key=lambda note: note not in result.merge.corrected)
    has_more = len(notes) < len(result.notes) or result.rows.refused > _SHOWN
    has_more |= bool(result.rows.skips) or any(
        map(result.merge.count, (Fate.CHANGED, Fate.REMOVED, Fate.EMPTIED))
    )
    hint = " (details with --verbose)" if has_more and not options.verbose else ""
    done = "would import" if options.dry_run else "imported"
    text = [f"{done} {_counts(result)}{hint}", _written(options, result, undo)]
    rows = result.rows
    if rows.refused * 2 > (count := rows.rows.total()):
        text.append(f"warning: most rows were refused ({rows.refused:,} of {count:,})")
    text += details(result) if options.verbose else _refusals(result.rows, _SHOWN)
    return [*text, *described, *(f"note: {note}" for note in notes)]


def _written(options: ImportOptions, result: ImportResult, undo: str) -> str:
    if options.dry_run:
        return f"nothing was written to {options.target} (--dry-run)"
    if not result.merge.is_written:
        return f"{options.target} needs no change; nothing was written"
    hint = f"; to take it back: {undo}" if result.merge.backup else ""
    return f"wrote {options.target} with {counted(result.merge.total, 'review')}{hint}"


def problems(result: ImportResult) -> list[str]:
    """Return what ``--quiet`` tells all the same: rows that were refused, and what is, or may be, hidden."""
    refused = result.rows.refused
    rows = (
        [f"{counted(refused, 'row')} refused", *_refusals(result.rows, _SHOWN)] if refused else []
    )
    return [*rows, *result.merge.corrected]


def details(result: ImportResult, losses: Sequence[Fate] = ()) -> Iterator[str]:
    """Yield the reviews that are new, changed, removed or missing, and the rows that were refused or skipped.

    ``losses`` are further fates that are listed, which an import has shown before it was written.
    """
    for fate in (*_LISTED, *losses):
        changes = result.merge.changes.get(fate, ())
        yield from (f"  {fate.value}: {line(fate, change)}" for change in changes)
        if more := result.merge.count(fate) - len(changes):
            yield f"  and {more:,} more {fate.value}"
    rows = result.rows
    yield from _refusals(rows, len(rows.refusals))
    yield from (f"  {where}: skipped, {reason}" for where, reason in rows.skips)
    if more := rows.skipped.total() - len(rows.skips):
        yield f"  and {more:,} more skipped"


def _refusals(rows: RowCounts, count: int) -> Iterator[str]:
    """Yield the first rows that were refused, and the number of the others."""
    yield from (f"  {where}: {reason}" for where, reason in rows.refusals[:count])
    if (more := rows.refused - count) > 0:
        yield f"  and {more:,} more refused"


def document(options: ImportOptions, result: ImportResult) -> dict[str, object]:
    """Return the result under ``--json``."""
    merge, rows = result.merge, result.rows
    most = None if options.verbose else MAX_IN_JSON
    return {
        "type": "result",
        "format": ", ".join(format_.name for format_ in result.formats),
        "files": result.files,
        "target": str(options.target),
        "dry_run": options.dry_run,
        "written": result.merge.is_written,
        "backup": str(result.merge.backup) if result.merge.backup else None,
        "new": merge.count(Fate.NEW),
        "changed": merge.count(Fate.CHANGED),
        "unchanged": merge.count(Fate.UNCHANGED),
        "removed": merge.count(Fate.REMOVED),
        "examples": merge.count(Fate.EXAMPLE),
        "older": merge.count(Fate.OLDER),
        "overwritten": merge.count(Fate.OVERWRITTEN),
        "returned": merge.count(Fate.RETURNED),
        "replies_removed": merge.count(Fate.REPLY_REMOVED),
        "business": sorted(merge.filled),
        "refused": rows.refused,
        "skipped": rows.skipped.total(),
        "twice": rows.twice,
        "elsewhere": rows.elsewhere,
        "total": merge.total,
        "notes": list(result.notes),
        "changes": [
            {"what": fate.value, "review": change.review, "members": change.members}
            for fate in (*_LISTED, *LOSSES)
            for change in merge.changes.get(fate, ())[:most]
        ],
        "refusals": refusals(rows, most),
        "skips": [{"where": where, "reason": reason} for where, reason in rows.skips[:most]],
    }


def refusals(rows: RowCounts, most: int | None) -> list[dict[str, str]]:
    """Return the first refused rows for JSON, up to ``most`` of them."""
    return [{"where": where, "reason": reason} for where, reason in rows.refusals[:most]]


_NOTES: Final[Mapping[object, str]] = {
    NO_ID: Detail(
        "without an id of their own: {count}; theirs is made of source, author, date, stars and text, and one that is "
        "edited is known again by two of author, day and text"
    ),
    "no-source": "nothing says where these reviews were written: {count} have the source "
    '"import"; to name it: {again} with --source NAME or --map source=COLUMN',
    "withheld-reply": Detail("owner replies that are not public: {count}; they were left out"),
    "withheld-name": Detail("authors whose names are not public: {count}; they are not named"),
    "undated-reply": Detail("owner replies without a date: {count}; they are shown without one"),
    FUTURE: "dated in the future: {count}; correct these dates, or the clock of this computer, and import again",
    "recommendation": "recommendations (Facebook): {count}; they are 5 stars, or 1 where it is not "
    "recommended",
    "rounded": "ratings between two stars: {count}; they were rounded, halves up",
    "unsaid": Detail(
        "not verified, since the export says of nobody that they are a customer: {count} "
        "(--set verified=yes if you know that they are)"
    ),
    SHORTENED: "shortened as before: {names} (--set names=full for full ones)",
    Fate.EXAMPLE: Detail("examples of reviewsctl init left out: {count}"),
    Fate.SPARED: "{reviews} not removed, since rows that were refused or skipped may be of them",
    Fate.HIDDEN: "{reviews} not removed, since hidden ones are not in an export of reviewsctl; it has them with --all, "
    "and reviewsctl reviews erase takes one out of the file",
    Fate.TOO_OLD: "{reviews} not removed: older than the export's oldest, which may be where it begins",
    Fate.OLDER: "older than what is there already: {count}; these rows change nothing",
    Fate.REPLY_KEPT: Detail("owner replies that the export does not have: {count}; they stay"),
    Fate.FULL_NAME: "names that are full already: {count}; they stay so (--set names=short)",
    Fate.ANOTHER: "rows with the id of a review of another author and day: {count}; its reply and what you have hidden stay "
    "with the id, so give each review one of its own",
    Fate.COPY: "there already, by another tool's export, with an id or edited by hand: {count}; they stay one each, under "
    "the id they have",
}
"""The notes on rows, by their names, and on reviews, by their fates."""


def _notes(counts: Mapping[Any, int], again: str = "") -> Iterator[str]:
    for name, text in _NOTES.items():
        if count := counts.get(name):
            counts_of = {"reviews": counted(count, "review"), "names": counted(count, "name")}
            yield type(text)(text.format(count=f"{count:,}", again=again, **counts_of))


def notes_of_rows(exports: Sequence[Export], rows: RowCounts, *, dry_run: bool) -> list[str]:
    """Return notes on the rows of exports; after a dry run there is nothing to undo."""
    again = "import" if dry_run else "reviewsctl reviews undo, then import again"
    notes = list(dict.fromkeys(export.format.terms for export in exports if export.format.terms))
    notes += [f"{count:,} skipped: {reason}" for reason, count in rows.skipped.items()]
    # of a platform's own export the rule was shown when it was recognized
    tabular = any(export.format.tabular for export in exports)
    if rows.twice:
        like = (
            "the same review as another row" if tabular else "a review that is there more than once"
        )
        text = f"{counted(rows.twice, 'row')} of {like}: taken once"
        notes.append(text if tabular else Detail(text))
    if rows.elsewhere:
        notes.append(f"{rows.elsewhere:,} left out: of other locations")
    left_out = () if tabular else ("unsaid",)
    notes += _notes({name: rows.notes[name] for name in rows.notes if name not in left_out}, again)
    partial = dict.fromkeys(export.format.partial for export in exports if export.format.partial)
    notes += [f"this is no archive: {reason}" for reason in partial]
    return notes + missing_pages(exports, rows.rows)


def notes_of_merge(plan: MergePlan, result: MergeResult, *, may_remove: bool) -> list[str]:
    """Return notes on the reviews that were there; also on those that ``--replace`` would remove, if it may."""
    notes = [*_notes(result.counts)]
    if result.emptied:
        notes.append(_emptied(result.emptied))
    if count := result.count(Fate.SHORT_NAME):
        notes.append(f"names that are short already: {count:,}; they stay so (--set names=full)")
    without_row, all_there = (
        sum(counts[place] for place in result.met) for counts in (result.kept, result.there)
    )
    if may_remove and 0 < without_row * 2 <= all_there:  # else it has the new reviews alone
        notes.append(
            f"{counted(without_row, 'review')} of this source not in the table; --replace removes such reviews"
        )
        names = [name for place in sorted(result.met) for name in result.first_kept[place]]
        more = f"; and {without_row - len(names):,} more" if without_row > len(names) else ""
        notes.append(Detail(f"not in the table: {'; '.join(names)}{more}"))
    members = [name for name in result.filled if name != "locations"]
    if {*members} - {"name"}:
        notes.append(f"your business got from the export: {', '.join(members)}")
    return [*notes, *_notes_of_places(plan, result)]


def _notes_of_places(plan: MergePlan, result: MergeResult) -> Iterator[str]:
    """Yield notes on the declared locations: their further names and members, and the new ones, which come last."""
    there, listed_now = plan.declared.listed, Declared(result.filled.get("locations")).listed
    names, members = [], []
    for before, after in zip(there, listed_now, strict=False):
        for name in elements(after.get("aliases"))[len(elements(before.get("aliases"))) :]:
            title = plan.titles.get(f"{name}")
            names.append(f"{after.get('id')} ({', '.join(filter(None, (title, f'{name}')))})")
        if filled := [name for name in OF_PLACES if before.get(name) != after.get(name)]:
            members.append(f"{after.get('id')} ({', '.join(filled)})")
    new = [f"{place.get('name')}" for place in listed_now[len(there) :]]
    if names:
        yield f"your places got aliases, by which reviews of the export name them: {listed(names)}"
    if members:
        yield f"your places got from the export: {listed(members)}"
    if new:
        yield f"new place{'s' * (len(new) > 1)}: {listed(new)}"


_TO_EMPTY: Final = {
    "text": "reviewsctl reviews hide ID --reason WHY --text",
    "owner_reply": "reviewsctl reviews reply ID ''",
    "author": "reviewsctl reviews anonymize ID --reason WHY",
}
"""The commands that take members off the page; others are taken out of the file."""


def _emptied(members: Mapping[str, int]) -> str:
    """Return the note on members that the table has nothing for any more."""
    counts = ", ".join(f"{name} {count:,}" for name, count in members.items())
    steps = [_TO_EMPTY[name] for name in _TO_EMPTY if name in members]
    steps += ["edit reviews.json"] * (not _TO_EMPTY.keys() >= members.keys())
    return (
        f"not in the table any more, and kept as an earlier import wrote it: {counts}; to take it off the page: "
        f"{', '.join(steps)}"
    )
