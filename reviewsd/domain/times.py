"""When a review was published and last changed, from the data alone (data-model.md 4, decision 161).

A review has a day and no time, and noon in UTC of a day is that day almost everywhere on earth. Noon of
today may lie ahead, though, and feed readers hide or pin what comes from the future. ``added_at`` and
``changed_at`` are times at which the review was in the file already, so no time here is later than they are.
"""

import datetime
from typing import Protocol

from msgspec import UnsetType

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)

_NOON = datetime.time(12, tzinfo=datetime.UTC)
_EPOCH_DAY = EPOCH.toordinal()
_DAY = 86_400_000_000  # microseconds
_MICROSECOND = datetime.timedelta(microseconds=1)

OUTSIDE_UTC = "not in the years 1..9999 UTC"

STAMPS = ("added_at", "changed_at")
"""The members of a review that only an import knows."""

Stamp = datetime.datetime | UnsetType | None
"""A time that ``reviewsctl import`` has written into the file, if it has."""


class DatedReply(Protocol):
    """A reply to a review."""

    @property
    def date(self) -> datetime.date:
        """The day of the reply."""


class Dated(Protocol):
    """The members of a review that say when something happened."""

    @property
    def date(self) -> datetime.date:
        """The day of the review."""

    @property
    def owner_reply(self) -> DatedReply | None:
        """The reply."""

    @property
    def added_at(self) -> Stamp:
        """When the review first came into the file."""

    @property
    def changed_at(self) -> Stamp:
        """When its content last changed."""


def published_at(review: Dated) -> datetime.datetime:
    """Return noon of the review's day, or its first stamp where that is earlier."""
    noon = _noon(review.date)
    stamp = review.added_at or review.changed_at
    return min(noon, stamp) if stamp else noon


def updated_at(review: Dated) -> datetime.datetime:
    """Return the latest stamp; without one, noon of the later day of review and reply.

    All that a stamped review says was in the file at its latest stamp, a reply of tomorrow's date too.
    """
    if found := stamps(review):
        return max(found.values())
    reply = review.owner_reply
    return _noon(review.date if reply is None else max(review.date, reply.date))


def updated_microseconds(review: Dated, last: int) -> int:
    """Return ``microseconds(updated_at(review))``, quickly where a review has no stamps.

    Args:
        review: The review.
        last: The ordinal of its day, or of the later day of its reply.
    """
    if review.added_at or review.changed_at:
        return microseconds(updated_at(review))
    return (last - _EPOCH_DAY) * _DAY + _DAY // 2


def stamps(review: Dated) -> dict[str, datetime.datetime]:
    """Return the stamps that a review has, by name."""
    both = (("added_at", review.added_at), ("changed_at", review.changed_at))
    return {name: stamp for name, stamp in both if stamp}


def spelled(moment: datetime.datetime) -> str:
    """Return a time as RFC 3339, in UTC."""
    return moment.astimezone(datetime.UTC).isoformat().removesuffix("+00:00") + "Z"


def microseconds(moment: datetime.datetime) -> int:
    """Return the microseconds from 1970 to a time."""
    since = moment - EPOCH
    return since.days * _DAY + since.seconds * 1_000_000 + since.microseconds


def from_microseconds(count: int) -> datetime.datetime:
    """Return the time of a number of ``microseconds``."""
    return EPOCH + count * _MICROSECOND


def fits_utc(moment: datetime.datetime) -> bool:
    """Return whether a time can be spelled in UTC: there is no year 0 and no year 10000."""
    try:
        moment.astimezone(datetime.UTC)
    except OverflowError:
        return False
    return True


def _noon(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, _NOON)
