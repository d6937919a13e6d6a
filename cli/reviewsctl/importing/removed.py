"""The member ``removed`` of reviews.json: the reviews that were removed lately (corrections.md C15)."""

import datetime
from collections.abc import Iterable, Mapping
from typing import Annotated, Final

import msgspec

MAX_AGE: Final = datetime.timedelta(days=90)


class _Removed(msgspec.Struct):
    at: Annotated[datetime.datetime, msgspec.Meta(tz=True)]


def removed_member(
    listed: Iterable[object], review_ids: Iterable[str], now: datetime.datetime
) -> Mapping[str, object]:
    """Return the member for a new file; empty if no review was removed in the last 90 days.

    Args:
        listed: The member of the old file.
        review_ids: The ids of the reviews that are removed now.
        now: The time of their removal.
    """
    entries = [entry for entry in listed if _removed_at(entry, now) >= now - MAX_AGE]
    at = msgspec.to_builtins(now.astimezone(datetime.UTC))
    entries += [{"id": review_id, "at": at} for review_id in review_ids]
    return {"removed": entries} if entries else {}


def _removed_at(entry: object, now: datetime.datetime) -> datetime.datetime:
    """Return when a review was removed; now if the entry is not valid, so that ``check`` reports it."""
    try:
        return msgspec.convert(entry, _Removed).at
    except msgspec.ValidationError:
        return now
