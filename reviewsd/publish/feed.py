"""What both feeds say, whatever their format (data-model.md 4.1 and 4.2, seed 4.3 and 4.8).

Deterministic: every word and every time comes from the data, so the same data give the same bytes
and nobody is told of a change that is none.
"""

import datetime
from dataclasses import dataclass

from reviewsd.domain.reviews import Business, Review
from reviewsd.http1 import urls

MAX_ENTRIES = 50  # seed 4.3

_MAX_STARS = 5


@dataclass(frozen=True, slots=True)
class Label:
    """A technician or service that a review mentions."""

    id: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEntry:
    """A review and whom and what it mentions."""

    review: Review
    technicians: tuple[Label, ...]
    services: tuple[Label, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """The newest reviews of a business."""

    base_url: str
    """Origin of all addresses, without a slash at its end."""
    business: Business
    updated_at: str | None
    """When the data changed, RFC 3339 in UTC with ``Z``; None for an empty set that does not say."""
    authority: str
    """Domain name that the ``tag:`` ids are minted under (RFC 4151)."""
    year: int
    """Year in which that domain name was ours."""
    entries: tuple[FeedEntry, ...]
    """Newest first, at most ``MAX_ENTRIES``."""

    @property
    def title(self) -> str:
        """The feed's own title."""
        return f"{self.business.name} reviews"

    def url(self, path: str) -> str:
        """The absolute address of one of our paths."""
        return self.base_url + path

    def permalink(self, review: Review) -> str:
        """The address of a review's page."""
        return self.url(urls.permalink(review.id))


def title(review: Review) -> str:
    """Stars and author, as no reader shows a rating of its own: ``★★★★☆ Jane D.``."""
    return "★" * review.rating + "☆" * (_MAX_STARS - review.rating) + f" {review.author}"


def content(review: Review, business: Business) -> str:
    """The review's plain text, verbatim, and the owner's reply after a blank line."""
    text = review.text or f"Rated {review.rating} out of {_MAX_STARS}, without comment."
    if review.owner_reply is None:
        return text
    return f"{text}\n\nReply from {business.name}: {review.owner_reply.text}"


def changed(review: Review) -> datetime.date:
    """The day of the review, or of the reply to it where that is later."""
    reply = review.owner_reply
    return review.date if reply is None else max(review.date, reply.date)


def noon(day: datetime.date) -> str:
    """A day as RFC 3339 time: noon in UTC is the same day from UTC-12 to UTC+11."""
    return f"{day}T12:00:00Z"
