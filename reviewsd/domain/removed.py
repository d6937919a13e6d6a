"""The member ``removed`` of reviews.json, which imports, erasures and undos write (corrections.md C15)."""

import datetime
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from reviewsd.domain.reviews import RemovedReview

MAX_AGE: Final = datetime.timedelta(days=90)


def removed_member(
    listed: Iterable[object], review_ids: Iterable[str], now: datetime.datetime
) -> Mapping[str, object]:
    """Return the member of a new file, empty if no review was removed in the last 90 days.

    Args:
        listed: The entries of the file.
        review_ids: The ids of the reviews that are removed now.
        now: When.
    """
    entries = [entry for entry in listed if _removed_at(entry, now) >= now - MAX_AGE]
    at = msgspec.to_builtins(now.astimezone(datetime.UTC))
    entries += [{"id": review_id, "at": at} for review_id in review_ids]
    return {"removed": entries} if entries else {}


def _removed_at(entry: object, now: datetime.datetime) -> datetime.datetime:
    """Return when a review was removed; now if the entry is not valid, so that ``check`` reports it."""
    try:
        return msgspec.convert(entry, RemovedReview).at
    except msgspec.ValidationError:
        return now
