"""Notes of an import on rows that are, or may be, corrected reviews."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Final

from reviewsctl.corrections.output import STATES
from reviewsctl.importing.outcomes import Fate, MergeResult
from reviewsd.api.texts import first_of

if TYPE_CHECKING:
    from reviewsd.offline.passed_corrections import PassedCorrection

TAKE: Final = "if {} another review: reviewsctl reviews restore {}, then import again"
"""How to take a row that is left out."""
MAX_NAMED: Final = 20
"""Reviews in a note."""


def passed_notes(passed: "Iterable[PassedCorrection]") -> Iterator[str]:
    """Yield a note on the rows with each correction, those that are certain first."""

    def kind(correction: "PassedCorrection") -> tuple[bool, str]:
        return not correction.is_certain, correction.action

    for (is_doubt, action), group in groupby(sorted(passed, key=kind), kind):
        rows, state = list(group), STATES[action]
        may_be = "as they may be edited versions of reviews that are not shown as they are"
        outcome = f"{state}, {may_be}" if is_doubt else f"edited, and still {state}"
        names = first_of((described(correction.record) for correction in rows), MAX_NAMED)
        ids = " ".join(correction.review_id for correction in rows[:MAX_NAMED])
        yield f"{outcome}: {len(rows):,} ({names}); to show them: reviewsctl reviews restore {ids}"


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
