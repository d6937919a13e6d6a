"""The member ``removed`` of reviews.json: the reviews that went lately (corrections.md C15)."""

import datetime
from collections.abc import Iterable, Mapping
from typing import Annotated, Final

import msgspec

from reviewsctl.importing.review_merge import stamp

TOLD: Final = datetime.timedelta(days=90)


class _Removed(msgspec.Struct):
    at: Annotated[datetime.datetime, msgspec.Meta(tz=True)]


def removed_member(
    listed: Iterable[object], gone: Iterable[str], now: datetime.datetime
) -> Mapping[str, object]:
    """Return the member for a new file; none where nothing went in the last 90 days.

    Args:
        listed: The member of the old file.
        gone: The ids of the reviews that go now.
        now: When they go.
    """
    told = [each for each in listed if _moment(each, now) >= now - TOLD]
    told += [{"id": review_id, "at": stamp(now)} for review_id in gone]
    return {"removed": told} if told else {}


def _moment(removed: object, now: datetime.datetime) -> datetime.datetime:
    """Return when a review went; now if it does not say, so that ``check`` names it."""
    try:
        return msgspec.convert(removed, _Removed).at
    except msgspec.ValidationError:
        return now
