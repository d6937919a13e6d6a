"""Notes of an import on rows that are, or may be, corrected reviews."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from reviewsctl.corrections.output import STATES
from reviewsctl.importing.outcomes import Fate, MergeResult
from reviewsd.api.texts import counted, first_of

TAKE: Final = "if {} another review: reviewsctl reviews restore {}, then import again"
"""How to take a row that is left out."""
MAX_NAMED: Final = 20
"""Reviews in a note."""


def state_notes(reviews: Iterable[tuple[str, Mapping[str, object]]], text: str) -> Iterator[str]:
    """Yield a note on the reviews of each state.

    Args:
        reviews: Each with its action.
        text: The note, with ``{state}``, ``{reviews}`` and ``{ids}``.
    """
    states: defaultdict[str, list[Mapping[str, object]]] = defaultdict(list)
    for action, review in reviews:
        states[STATES[action]].append(review)
    for state, rows in states.items():
        yield text.format(state=state, reviews=_counted(rows), ids=_ids(rows))


def corrected_notes(merge: MergeResult) -> list[str]:
    """Return the note on imported reviews that stay hidden or anonymous, and on those of them that were edited."""
    count, edited = merge.still_corrected, merge.edited_corrected
    if not count:
        return []
    names = f"; edited: {_counted(edited)}" if edited else ""
    return [f"{counted(count, 'review')} stay{'s' * (count == 1)} corrected{names}"]


def absent_notes(merge: MergeResult) -> Iterator[str]:
    """Yield the note on corrected reviews that go, and that no row seems to be, beside new ones that may be them."""
    doubtful_ids = {str(old.get("id")) for _, olds in merge.successions for old in olds}
    absent = [
        review for review in merge.absent_corrected if str(review.get("id")) not in doubtful_ids
    ]
    if absent and merge.count(Fate.NEW):
        yield (
            f"not shown as they are, and not in the export any more: {_counted(absent)}; see whether a new review "
            "is one of them: reviewsctl reviews list"
        )


def erased_notes(merge: MergeResult) -> Iterator[str]:
    """Yield the note on rows that may be edited versions of erased reviews."""
    if count := merge.count(Fate.ERASED):
        changes = merge.changes[Fate.ERASED]
        names = first_of((change.without_author for change in changes), MAX_NAMED)
        yield (
            f"skipped, as they may be edited versions of erased reviews: {count:,} ({names}); "
            f"{TAKE.format('one is', _ids(merge.erased_versions))}"
        )


def described(review: Mapping[str, object]) -> str:
    """Return what names a review; its author is left out, as a sync writes notes to the journal."""
    return ", ".join(str(review.get(name)) for name in ("date", "source", "id"))


def _counted(reviews: Sequence[Mapping[str, object]]) -> str:
    return f"{len(reviews):,} ({first_of(map(described, reviews), MAX_NAMED)})"


def _ids(reviews: Sequence[Mapping[str, object]]) -> str:
    """Return the ids of the first reviews, as a command takes them."""
    return " ".join(str(review["id"]) for review in reviews[:MAX_NAMED])
