"""Trustpilot's service reviews: the CSV or XLSX of the business portal, and the API.

The spelling of headers varies by year (``Review Id``, ``Review ID``; Company, Business), so they are
compared without case. E-mail addresses and order numbers are never taken.
"""

import datetime

from reviewsctl.importing.format import Format, Head, Parser, Row, Rules, reply_of
from reviewsctl.importing.platforms.dates import platform_dates
from reviewsctl.importing.ratings import stars
from reviewsctl.importing.review import Found
from reviewsctl.importing.signature import Signature
from reviewsctl.importing.times import legible, moment, zoned
from reviewsctl.importing.values import address, first, members, titled, truth, word, words

SOURCE = "trustpilot"
_CREATED = "review created (utc)"
_PAGE = "https://www.trustpilot.com/reviews/"
_REPLIES = ("company response", "company reply", "business response", "business reply")
_REPLIED = (
    "company reply date (utc)",
    "business reply date (utc)",
    "company response date (utc)",
    "business response date (utc)",
)

_VERIFIED = ("is verified", "review verified", "verified", "review is verified")
UNSAID = "false, since Trustpilot publishes reviews of whoever signs up"


def _utc(value: object) -> datetime.datetime:
    return zoned(moment(value), datetime.UTC)


def page(key: str) -> str | None:
    """Where Trustpilot shows a review."""
    return address(f"{_PAGE}{key}")


def _parser(head: Head, rules: Rules) -> Parser:
    dates = platform_dates(head, rules, (_CREATED,), _REPLIED, zone=datetime.UTC)

    def read(row: Row) -> Found:
        review = {name.casefold(): value for name, value in row.fields.items()}
        key = word(review.get("review id"))
        unit = word(review.get("business unit id")) or review.get("domain url")
        return Found(
            source=SOURCE,
            key=key,
            author=review.get("review username"),
            rating=stars(review.get("review stars")),
            created=dates(review.get(_CREATED)),
            text=titled(review.get("review title"), review.get("review content")),
            source_url=page(key) if key else None,
            reply=reply_of(
                words(first(review, *_REPLIES)), legible(review, _REPLIED, dates), dates
            ),
            verified=truth(first(review, *_VERIFIED)),
            place=rules.place(unit, review.get("webshop name")),
        )

    return read


def _api_parser(_head: Head, rules: Rules) -> Parser:
    def read(row: Row) -> Found:
        review = row.fields
        reply = members(review.get("companyReply"))
        unit = members(review.get("businessUnit"))
        key = word(review.get("id"))
        return Found(
            source=SOURCE,
            key=key,
            author=members(review.get("consumer")).get("displayName"),
            rating=stars(review.get("stars")),
            created=_utc(review.get("createdAt")),
            text=titled(review.get("title"), review.get("text")),
            source_url=page(key) if key else None,
            reply=reply_of(words(reply.get("text")), reply.get("createdAt"), _utc),
            verified=truth(review.get("isVerified")),
            place=rules.place(unit.get("id"), unit.get("displayName")),
        )

    return read


EXPORT = Format(
    name="trustpilot",
    title="Trustpilot, service reviews",
    leaves="e-mail addresses, reference ids, user ids, tags",
    likeness=Signature(("Review Stars", "Review Created (UTC)", "Review Username|Review Id")),
    verification=f"the column Is Verified; without it {UNSAID}",
    certain=("owner_reply",),
    parser=_parser,
)
API = Format(
    name="trustpilot-api",
    title="Trustpilot API, service reviews",
    leaves="e-mail addresses, reference ids, user ids, links",
    likeness=Signature(("stars", "createdAt", "consumer"), shape="json"),
    verification=f"isVerified; without it {UNSAID}",
    certain=("owner_reply",),
    parser=_api_parser,
)
