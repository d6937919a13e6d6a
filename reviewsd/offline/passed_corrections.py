"""The corrections that an import passes on to edited reviews, and what it keeps of erased ones (corrections.md C24)."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reviewsd.api.texts import merge_key
from reviewsd.domain.corrections import (
    Action,
    Correction,
    Erasure,
    Overlay,
    Reason,
    ReviewDigests,
    combined,
    digests,
    version_digests,
)
from reviewsd.domain.reviews import Review
from reviewsd.offline.corrections import encoded, parse


def strictest(corrections: Sequence[Correction]) -> tuple[Action, Reason | None]:
    """Return the action that withholds everything the corrections withhold, and the reason of the strictest."""
    strict = max(corrections, key=lambda correction: (correction.hides, correction.hides_words))
    return combined(*(correction.action for correction in corrections)), strict.reason


class PassedCorrection(Struct, frozen=True, kw_only=True):
    """A correction of a review that may be an edited version of corrected reviews."""

    record: Mapping[str, object]
    """The review, as JSON has it; it may be invalid."""
    action: Action
    reason: Reason | None
    predecessors: Sequence[str]
    """The ids of the corrected reviews."""

    @property
    def review_id(self) -> str:
        """The id of the review."""
        return str(self.record["id"])


def with_passed(
    text: bytes,
    passed: Sequence[PassedCorrection],
    versions: Sequence[Mapping[str, object]],
    erased_ids: Sequence[str],
    now: datetime.datetime,
    changed: Sequence[Mapping[str, object]] = (),
) -> bytes:
    """Return a corrections.json with further corrections, and with further versions and ids of erased reviews.

    Existing corrections stay: the owner made them for these reviews; they get the version digests of what the reviews
    say now. Of a version its id and further digests are kept.

    Args:
        text: The content of the file.
        passed: The further corrections.
        versions: Valid rows that may be versions of erased reviews.
        erased_ids: The ids of rows that are erased reviews.
        now: The time of all of them.
        changed: Corrected reviews as the export has them under their ids; they may be invalid.

    Raises:
        DataError: The file is not valid.
    """
    corrections = parse(text)
    overlay = Overlay(corrections)
    entries = {
        correction.review_id: Correction(
            action=correction.action,
            reason=correction.reason,
            at=now,
            **_digests(corrections.key, correction.record),
        )
        for correction in passed
        if overlay.of_id(correction.review_id) is None
    }
    contents = {
        merge_key(str(record["id"])): ReviewDigests(**_digests(corrections.key, record))
        for record in changed
    }
    reviews = {
        review_id: correction.knowing(*filter(None, [contents.get(merge_key(review_id))]))
        for review_id, correction in corrections.reviews.items()
    }
    erasures = {merge_key(review_id): Erasure(at=now) for review_id in erased_ids}
    for review in msgspec.convert(versions, list[Review]):
        new: dict[str, Any] = {
            name: digest
            for name, digest in version_digests(corrections.key or "", review).items()
            if not overlay.count_erased(digest)
        }
        erasures[merge_key(review.id)] = Erasure(at=now, is_version=True, **new)
    return encoded(
        replace(
            corrections,
            reviews=reviews | entries,
            erased=erasures | corrections.erased,
        )
    )


def _digests(key: str | None, record: Mapping[str, object]) -> dict[str, Any]:
    try:
        return {} if key is None else digests(key, msgspec.convert(record, Review))
    except msgspec.ValidationError:
        return {}
