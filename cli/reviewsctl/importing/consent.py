"""Shows the operator what goes or is overwritten, and asks, before anything is written.

``--yes`` answers all questions, and without a terminal each is a refusal.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from reviewsctl.importing.errors import ImportRefusedError, SayMoreError
from reviewsctl.importing.options import ImportOptions, Prompts, Question
from reviewsctl.importing.outcomes import Change, Fate, MergeResult
from reviewsd.api.texts import counted, first_of

_LISTED: Final = 20  # removed and returned reviews that are listed
_SHOWN: Final = 3  # reviews in a note

_LOSSES: Final = {
    Fate.REMOVED: (
        "{verb} removed, as they are not public, or not in the export",
        _LISTED,
    ),
    Fate.REPLY_REMOVED: ("owner replies that the platform no longer has, and that go", None),
    Fate.OVERWRITTEN: ("overwritten, though edited by hand since the last import", None),
    Fate.RETURNED: ("back, though removed by hand since the last import", _LISTED),
}
"""The fates that are shown before anything is written, with the number of reviews that are listed."""


def agree(options: ImportOptions, questions: Iterable[Question], prompts: Prompts) -> list[str]:
    """Ask the operator.

    Returns:
        Notes on the questions of a dry run; that of a sync stops as the sync would.

    Raises:
        SayMoreError: There is no terminal to ask at.
        ImportRefusedError: The operator does not want it.
    """
    if options.dry_run and options.synced is None:
        hint = "(without --dry-run this is a question; --yes answers it)"
        return [f"{question.doubt} {hint}" for question in questions]
    for doubt, remedy in questions:
        if prompts.confirm is None and not options.yes:
            raise SayMoreError(doubt, remedy)
        prompts.show([doubt])
        confirm = None if options.yes else prompts.confirm
        if confirm is not None and not confirm("Import it all the same?"):
            raise ImportRefusedError("you answered no", f"Nothing was written. {remedy}")
    return []


def losses(options: ImportOptions, result: MergeResult) -> Iterator[str]:
    """Yield what goes, is overwritten or comes back, for the operator."""
    verb = "would be" if options.dry_run else "to be"
    for fate, (title, most) in _LOSSES.items():
        if count := result.count(fate):
            changes = result.changes[fate][:most]
            yield f"{title.format(verb=verb)}: {counted(count, 'review')}"
            yield from (f"  {line(fate, change)}" for change in changes)
            if more := count - len(changes):
                yield f"  and {more:,} more"


def unannounced(result: MergeResult) -> Iterator[str]:
    """Yield a note on what is overwritten, comes back or loses its reply, for a sync, which shows nothing before.

    No author is named, as a sync writes notes to the journal.
    """
    for fate, (title, _) in _LOSSES.items():
        if fate is not Fate.REMOVED and (count := result.count(fate)):
            changes = (
                line(fate, replace(change, review=change.without_author))
                for change in result.changes[fate]
            )
            yield f"{title}: {counted(count, 'review')} ({first_of(changes, _SHOWN)})"


def line(fate: Fate, change: Change) -> str:
    """Return a review that is listed: what it is called, and what goes of it or which members have another value."""
    if fate is Fate.REMOVED:
        reply = " (with your reply)" if change.members else ""
        return f"{change.review}, {change.content}{reply}"
    return f"{change.review}: {', '.join(change.members)}" if change.members else change.review
