"""The result of an import: lines for people, and JSON."""

from collections.abc import Iterator
from typing import Final

from reviewsctl.importing.consent import line
from reviewsctl.importing.merge import Fate
from reviewsctl.importing.options import ImportOptions, ImportResult, reviews

_IN_JSON: Final = 100  # refused rows without --verbose
_LISTED: Final = (Fate.NEW, Fate.CHANGED, Fate.REMOVED)


def _counts(result: ImportResult) -> str:
    merge = result.merge
    counts = [(fate, merge.count(fate)) for fate in (Fate.NEW, Fate.CHANGED, Fate.UNCHANGED)]
    if removed := merge.count(Fate.REMOVED):
        counts.append((Fate.REMOVED, removed))
    parts = [f"{count:,} {fate.value}" for fate, count in counts]
    return ", ".join([*parts, f"{result.rows.refused:,} refused"])


def lines(options: ImportOptions, result: ImportResult, *, verbose: bool, undo: str) -> list[str]:
    """Return the result for people: the line that counts, what changed, and the notes.

    Args:
        options: What the operator wants.
        result: How it ended.
        verbose: Whether all reviews that changed are listed.
        undo: The command that takes it back.
    """
    has_details = result.rows.untaken or any(map(result.merge.count, (Fate.CHANGED, Fate.REMOVED)))
    hint = " (list with --verbose)" if has_details and not verbose else ""
    done = "would import" if options.dry_run else "imported"
    text = [f"{done} {_counts(result)}{hint}"]
    if verbose:
        text += _details(result)
    text += [f"note: {note}" for note in result.notes]
    if options.dry_run:
        text.append("nothing was written (--dry-run)")
    elif not result.is_written:
        text.append(f"{options.target} needs no change; nothing was written")
    else:
        hint = f"; to take it back: {undo}" if result.backup else ""
        text.append(f"wrote {options.target} with {reviews(result.merge.total)}{hint}")
    return text


def _details(result: ImportResult) -> Iterator[str]:
    for fate in _LISTED:
        changes = result.merge.changes.get(fate, ())
        yield from (f"  {fate.value}: {line(change)}" for change in changes)
        if more := result.merge.count(fate) - len(changes):
            yield f"  and {more:,} more {fate.value}"
    rows = result.rows
    yield from (f"  {where}: {reason}" for where, reason in rows.refusals)
    if more := rows.refused - len(rows.refusals):
        yield f"  and {more:,} more"
    yield from (f"  {where}: skipped, {reason}" for where, reason in rows.skips)
    if more := sum(rows.skipped.values()) - len(rows.skips):
        yield f"  and {more:,} more skipped"


def document(options: ImportOptions, result: ImportResult, *, verbose: bool) -> dict[str, object]:
    """Return the result under ``--json``."""
    merge, rows = result.merge, result.rows
    most = None if verbose else _IN_JSON
    return {
        "type": "result",
        "format": ", ".join(each.name for each in result.formats),
        "files": result.files,
        "target": str(options.target),
        "dry_run": options.dry_run,
        "written": result.is_written,
        "backup": str(result.backup) if result.backup else None,
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
        "skipped": sum(rows.skipped.values()),
        "twice": result.twice,
        "elsewhere": result.elsewhere,
        "total": merge.total,
        "notes": list(result.notes),
        "changes": [
            {"what": fate.value, "review": change.review, "members": change.members}
            for fate in (*_LISTED, Fate.OVERWRITTEN, Fate.RETURNED, Fate.REPLY_REMOVED)
            for change in merge.changes.get(fate, ())[:most]
        ],
        "refusals": [{"where": where, "reason": reason} for where, reason in rows.refusals[:most]],
        "skips": [{"where": where, "reason": reason} for where, reason in rows.skips[:most]],
    }
