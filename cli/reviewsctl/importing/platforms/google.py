"""Google Business Profile: the owner's Takeout, and the API ``accounts.locations.reviews.list`` (v4).

They are one shape. The same review occurs under two accounts, so its key is the part of its name
from ``locations/`` on.
"""

import re
from collections.abc import Sequence

from msgspec import UNSET, UnsetType

from reviewsctl.importing.format import Fields, Format, Head, Reader, Row, Rules, reply_of
from reviewsctl.importing.review import Entry, Found, RowRefusedError, RowSkippedError
from reviewsctl.importing.times import moment
from reviewsctl.importing.values import address, members, original, stars, words

SOURCE = "google"
UNSPECIFIED = "STAR_RATING_UNSPECIFIED"

_KEY = re.compile(r"locations/([^/]+)/reviews/.+")


def _recognises(head: Head) -> bool:
    return head.shape == "json" and (
        head.has("starRating", "createTime") or (bool(head.place) and not head.sample)
    )


def _from_api(head: Head) -> bool:
    beside = {"totalReviewCount", "averageRating", "nextPageToken"} & head.around.keys()
    return bool(beside) or head.has("reviewId")


def _reader(head: Head, rules: Rules) -> Reader:
    def read(row: Row) -> Entry:
        review = row.fields
        if review.get("starRating") in (None, UNSPECIFIED):
            raise RowSkippedError("without a star rating")
        name = words(review.get("name")) or ""
        match = _KEY.search(name)
        key = match[0] if match else words(review.get("reviewId")) or name
        if not key:
            raise RowRefusedError("it has no name")
        reviewer = members(review.get("reviewer"))
        hidden = reviewer.get("isAnonymous") is True
        reply = members(review.get("reviewReply"))
        created = moment(review.get("createTime"))
        changed = review.get("updateTime")
        return rules.entry(
            Found(
                source=SOURCE,
                key=key,
                author=None if hidden else reviewer.get("displayName"),
                avatar_url=_picture(reviewer, hidden=hidden),
                rating=stars(review.get("starRating")),
                created=created,
                edited=created if changed is None else moment(changed),
                text=original(words(review.get("comment"))),
                reply=reply_of(original(words(reply.get("comment"))), reply.get("updateTime")),
                place=rules.place(match[1] if match else head.place, head.title),
            )
        )

    return read


def _picture(reviewer: Fields, *, hidden: bool) -> str | UnsetType | None:
    """The API has it, Takeout leaves it out, which says nothing about one that is known."""
    if hidden:
        return None
    return address(reviewer["profilePhotoUrl"]) if "profilePhotoUrl" in reviewer else UNSET


def _missing(around: Fields, count: int) -> Sequence[str]:
    total = around.get("totalReviewCount")
    if isinstance(total, int) and total > count:
        return (
            (
                f"the platform has {total:,} reviews (totalReviewCount), here are {count:,}: "
                "follow nextPageToken and import the other pages too"
            ),
        )
    return ()


TAKEOUT = Format(
    name="takeout",
    title="Google Takeout, Google Business Profile",
    leaves="photos, posts, questions and answers",
    recognises=lambda head: _recognises(head) and not _from_api(head),
    reader=_reader,
    warnings=_missing,
)
API = Format(
    name="google-api",
    title="Google Business Profile API, reviews.list",
    leaves="photos (reviewMediaItems), averageRating",
    recognises=lambda head: _recognises(head) and _from_api(head),
    reader=_reader,
    warnings=_missing,
)
