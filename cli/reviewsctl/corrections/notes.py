"""Notes of an import on rows that are, or may be, corrected reviews."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Final

from reviewsctl.corrections.output import STATES
from reviewsctl.importing.outcomes import Fate, MergeResult
from reviewsd.api.texts import counted, first_of

if TYPE_CHECKING:
    from reviewsd.offline.passed_corrections import PassedCorrection

TAKE: Final = "if {} another review: reviewsctl reviews restore {}, then import again"
"""How to take a row that is left out."""
MAX_NAMED: Final = 20
"""Reviews in a note."""


def passed_notes(passed: "Iterable[PassedCorrection]") -> Iterator[str]:
    """Yield a note on the rows with each correction."""

    def action(correction: "PassedCorrection") -> str:
        return correction.action

    for name, group in groupby(sorted(passed, key=action), action):
        rows = list(group)
        names = first_of((described(correction.record) for correction in rows), MAX_NAMED)
        ids = " ".join(correction.review_id for correction in rows[:MAX_NAMED])
        yield (
            f"{STATES[name]}, as they may be edited versions of reviews that are not shown as they are: {len(rows):,} "
            f"({names}); to show them: reviewsctl reviews restore {ids}"
        )


def corrected_notes(merge: MergeResult) -> list[str]:
    """Return the note on imported reviews that stay hidden or anonymous, and on those of them that were edited."""
    count, edited = merge.still_corrected, merge.edited_corrected
    if not count:
        return []
    names = f"; edited: {len(edited):,} ({first_of(map(described, edited), MAX_NAMED)})"
    return [
        f"{counted(count, 'review')} stay{'s' * (count == 1)} corrected{names if edited else ''}"
    ]


def absent_notes(merge: MergeResult) -> Iterator[str]:
    """Yield the note on corrected reviews that go, and that no row seems to be, beside new ones that may be them."""
    doubtful_ids = {str(old.get("id")) for _, olds in merge.successions for old in olds}
    absent = [
        review for review in merge.absent_corrected if str(review.get("id")) not in doubtful_ids
    ]
    if absent and merge.count(Fate.NEW):
        names = first_of(map(described, absent), MAX_NAMED)
        yield (
            f"not shown as they are, and not in the export any more: {len(absent):,} ({names}); see whether a new review "
            "is one of them: reviewsctl reviews list"
        )


def erased_notes(merge: MergeResult) -> Iterator[str]:
    """Yield the note on rows that may be edited versions of erased reviews."""
    if count := merge.count(Fate.ERASED):
        changes = merge.changes[Fate.ERASED]
        names = first_of((change.without_author for change in changes), MAX_NAMED)
        ids = " ".join(str(review["id"]) for review in merge.erased_versions[:MAX_NAMED])
        yield (
            f"skipped, as they may be edited versions of erased reviews: {count:,} ({names}); "
            f"{TAKE.format('one is', ids)}"
        )


def described(review: Mapping[str, object]) -> str:
    """Return what names a review; its author is left out, as a sync writes notes to the journal."""
    return ", ".join(str(review.get(name)) for name in ("date", "source", "id"))
