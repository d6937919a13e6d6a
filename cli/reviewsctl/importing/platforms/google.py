"""Google Business Profile: the owner's Takeout, and the API's lists of reviews (v4).

All are one shape; ``batchGetReviews`` wraps each review with the name of its location. A review is
identified by its own id, the end of its name: the same one occurs under two accounts, and with or
without a name.
"""

import re
from collections.abc import Sequence
from typing import NoReturn

from msgspec import UNSET, UnsetType

from reviewsctl.importing.errors import ImportRefusedError, RowRefusedError, RowSkippedError
from reviewsctl.importing.format import Fields, Head, Parser, Row, Signature
from reviewsctl.importing.ratings import stars
from reviewsctl.importing.review import PlatformReview, keyed_errors, reply_of
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.times import moment
from reviewsctl.importing.values import address, members, original, words

SOURCE = "google"
UNSPECIFIED = "STAR_RATING_UNSPECIFIED"
_NO_LAST = "the last page is not here: follow nextPageToken and import the other pages too"
_PLACE = re.compile(r"locations/([^/]+)(?:/reviews/(.+))?")
_TAKEOUT = Signature(
    ("starRating", "createTime"),
    lacks=("reviewId|^totalReviewCount|^averageRating|^nextPageToken",),
)


def takeout(head: Head) -> bool:
    """Return whether a file is one of Takeout; that of a location without reviews is."""
    return (head.location.id != "" and not head.sample) or _TAKEOUT(head)


def parser(head: Head, _settings: Settings) -> Parser:
    """Return the parser of rows of Takeout and the API."""
    return lambda row: _entry(row.fields, head)


def batch_parser(head: Head, _settings: Settings) -> Parser:
    """Return the parser of rows of ``batchGetReviews``."""

    def read(row: Row) -> PlatformReview:
        review = members(row.fields.get("review"))
        return _entry({"name": row.fields.get("name"), **review}, head)

    return read


def _entry(review: Fields, head: Head) -> PlatformReview:
    name = words(review.get("name")) or ""
    match = _PLACE.search(name)
    key = words(review.get("reviewId")) or (match[2] if match else name)
    if not key:
        raise RowRefusedError("it has no name")
    with keyed_errors(SOURCE, key):
        if review.get("starRating") in (None, UNSPECIFIED):
            raise RowSkippedError("without a star rating")
        reviewer = members(review.get("reviewer"))
        hidden = reviewer.get("isAnonymous") is True
        reply = members(review.get("reviewReply"))
        created = moment(review.get("createTime"))
        changed = review.get("updateTime")
        return PlatformReview(
            source=SOURCE,
            key=key,
            author=None if hidden else reviewer.get("displayName"),
            avatar_url=_picture(reviewer, hidden=hidden),
            rating=stars(review.get("starRating")),
            created=created,
            edited=created if changed is None else moment(changed),
            text=original(words(review.get("comment"))),
            reply=reply_of(original(words(reply.get("comment"))), reply.get("updateTime")),
            place=match[1] if match else head.location.id,
            title=head.location.title,
            anonymous=hidden,
        )


def _picture(reviewer: Fields, *, hidden: bool) -> str | UnsetType | None:
    """Return the avatar of the API; Takeout has none, and leaves the one of the file."""
    if hidden:
        return None
    return address(reviewer["profilePhotoUrl"]) if "profilePhotoUrl" in reviewer else UNSET


def total(heads: Sequence[Head]) -> int | None:
    """Return how many reviews the platform has."""
    totals = [head.around.get("totalReviewCount") for head in heads]
    return max((total for total in totals if isinstance(total, int)), default=None)


def missing(heads: Sequence[Head], count: int) -> str:
    """Return why pages are missing."""
    named = total(heads)
    if named is not None and named > count:
        return (
            f"the platform has {named:,} reviews (totalReviewCount), here are {count:,}: "
            "follow nextPageToken and import the other pages too"
        )
    last = {_location(head) for head in heads if not head.around.get("nextPageToken")}
    return _NO_LAST if {_location(head) for head in heads} - last else ""


def batch_missing(heads: Sequence[Head], _count: int) -> str:
    """A page has several locations, so that one page is the last of all."""
    return _NO_LAST if all(head.around.get("nextPageToken") for head in heads) else ""


def _location(head: Head) -> str:
    """Return the id of the location of a page, by its first review."""
    match = _PLACE.search(words(head.sample[0].get("name")) or "") if head.sample else None
    return match[1] if match else head.location.id


def is_maps(head: Head) -> bool:
    """Return whether these are reviews that an account wrote."""
    properties = members(head.sample[0].get("properties")) if head.sample else {}
    return (
        head.around.get("type") == "FeatureCollection"
        or "five_star_rating_published" in properties
        or "review_text_published" in properties
    )


def refuse_maps(_head: Head, _settings: Settings) -> NoReturn:
    """Refuse reviews that an account wrote."""
    raise ImportRefusedError(
        "these are reviews that the Google account wrote about other places (Maps, your places), "
        "not reviews that the business received",
        'At takeout.google.com choose "Google Business Profile" instead, signed in as an owner or '
        "manager of the business.",
    )
