"""The reviews of the file that were edited in a table without ids, and what follows for their rows."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from reviewsctl.importing.review_merge import ADDED, Review, moment
from reviewsctl.importing.staging import Staged
from reviewsctl.importing.successors import Predecessors, find

_REPLY = "owner_reply"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedReviews:
    """The rows of edited reviews."""

    rows: Mapping[str, Staged] = field(default_factory=dict)
    """The new row of each review that it takes the place of, by the id of the review."""
    replies: Mapping[str, object] = field(default_factory=dict)
    """The owner's replies that pass to a review that is there already, by the merge key of its row."""
    answered: frozenset[str] = frozenset()
    """The ids of the reviews that are removed, and had these replies."""
    predecessors: Mapping[str, Predecessors] = field(default_factory=dict)
    """The predecessors of new rows, by the merge key of the row."""
    others: Sequence[tuple[Review, Review]] = ()
    """Corrected reviews, each with a row that is by its author and not known to be an edited version of it."""


def edited_reviews(
    absent: Sequence[Review],
    removed: Collection[str],
    rows: Sequence[Staged],
    there: Mapping[str, Review],
    is_corrected: Callable[[Review], bool],
) -> EditedReviews:
    """Find the edited reviews.

    Args:
        absent: The reviews of the file that no row is of.
        removed: The ids of those of them that are to be removed.
        rows: The new rows without ids of their own.
        there: The reviews of the file that have such a row, by its merge key.
        is_corrected: Called with an absent review, returns whether it is hidden or anonymous.
    """
    records: dict[str, Review] = {}
    by_id: dict[str, Staged] = {}
    for staged in rows:
        record = msgspec.json.decode(staged.entry.record)
        records[record["id"]], by_id[record["id"]] = record, staged
    found = find(absent, list(records.values()), is_corrected)
    reviews = {str(review.get("id")): review for review in absent}
    predecessors = {
        by_id[new].entry.key: Predecessors(reviews=[reviews[old]], is_certain=True)
        for old, new in found.pairs.items()
    } | {
        by_id[new].entry.key: Predecessors(reviews=[reviews[old] for old in olds], is_certain=False)
        for new, olds in found.doubts.items()
    }
    doubtful = {old for olds in found.doubts.values() for old in olds}
    replies = _passed_replies(
        [reviews[old] for old in removed if old not in found.pairs and old not in doubtful], there
    )
    return EditedReviews(
        rows={old: by_id[new] for old, new in found.pairs.items() if old in removed},
        replies={key: reviews[old][_REPLY] for old, key in replies.items()},
        answered=frozenset(replies),
        predecessors=predecessors,
        others=[(reviews[old], records[new]) for old, new in found.others],
    )


def _passed_replies(removed: Iterable[Review], there: Mapping[str, Review]) -> dict[str, str]:
    """Return the merge keys of the rows that get the replies of removed reviews, by the ids of these.

    An edited row comes as a new review without ``--replace``; a later import with it removes the old one. So the
    review that is there has to have come later.
    """
    removed = list(removed)
    if not any(review.get(_REPLY) for review in removed):
        return {}
    keys = {str(review.get("id")): key for key, review in there.items()}
    pairs = find(removed, list(there.values()), lambda _: False).pairs
    return {
        str(review.get("id")): key
        for review in removed
        if review.get(_REPLY)
        and (key := keys.get(pairs.get(str(review.get("id")), ""))) is not None
        and not there[key].get(_REPLY)
        and _came_later(there[key], review)
    }


def _came_later(review: Review, earlier: Review) -> bool:
    first, second = moment(earlier.get(ADDED)), moment(review.get(ADDED))
    return first is not None and second is not None and first < second
