"""How an import ended: lines for people, and the result under ``--json``."""

from typing import Final

from reviewsctl.importing.order import Order, Outcome, reviews

_IN_JSON: Final = 100  # refused rows without --verbose


def _counts(outcome: Outcome) -> str:
    result = outcome.result
    counts = [
        f"{result.new:,} new",
        f"{result.changed:,} changed",
        f"{result.unchanged:,} unchanged",
    ]
    if result.removed:
        counts.append(f"{result.removed:,} removed")
    counts.append(f"{outcome.refused:,} refused")
    return ", ".join(counts)


def lines(order: Order, outcome: Outcome, *, verbose: bool) -> list[str]:
    """The result for people: the line that counts, and what is to be known."""
    untaken = outcome.refused or outcome.skipped
    hint = "" if verbose or not untaken else " (list with --verbose)"
    done = "would import" if order.dry_run else "imported"
    said = [f"{done} {_counts(outcome)}{hint}"]
    if verbose:
        said += [f"  {where}: {reason}" for where, reason in outcome.refusals]
        more = outcome.refused - len(outcome.refusals)
        said += [f"  and {more:,} more"] if more else []
        said += [f"  {where}: skipped, {reason}" for where, reason in outcome.skips]
        more = outcome.skipped.total() - len(outcome.skips)
        said += [f"  and {more:,} more skipped"] if more else []
    said += [f"note: {note}" for note in outcome.notes]
    if order.dry_run:
        said.append("nothing was written (--dry-run)")
    elif not outcome.written:
        said.append(f"{order.target} says all of it already; nothing was written")
    else:
        kept = f", the old one is {outcome.backup.name}" if outcome.backup else ""
        said.append(f"wrote {order.target} with {reviews(outcome.result.total)}{kept}")
    return said


def document(order: Order, outcome: Outcome, *, verbose: bool) -> dict[str, object]:
    """The result under ``--json``."""
    result = outcome.result
    most = None if verbose else _IN_JSON
    return {
        "type": "result",
        "format": ", ".join(each.name for each in outcome.formats),
        "files": outcome.files,
        "target": str(order.target),
        "dry_run": order.dry_run,
        "written": outcome.written,
        "backup": str(outcome.backup) if outcome.backup else None,
        "new": result.new,
        "changed": result.changed,
        "unchanged": result.unchanged,
        "removed": result.removed,
        "examples": result.examples,
        "business": sorted(outcome.business),
        "refused": outcome.refused,
        "skipped": outcome.skipped.total(),
        "twice": outcome.twice,
        "elsewhere": outcome.elsewhere,
        "total": result.total,
        "notes": outcome.notes,
        "refusals": [
            {"where": where, "reason": reason} for where, reason in outcome.refusals[:most]
        ],
        "skips": [{"where": where, "reason": reason} for where, reason in outcome.skips[:most]],
    }
