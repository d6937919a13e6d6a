"""Trustpilot's service reviews: the CSV or XLSX of the business portal, and the API.

The spelling of headers varies by year (``Review Id``, ``Review ID``; Company, Business), so they are
compared without case. E-mail addresses and order numbers are never taken.
"""

import datetime

from reviewsctl.importing.format import Fields, Format, Head, Reader, Row, Rules, reply_of
from reviewsctl.importing.review import Entry, Found
from reviewsctl.importing.times import american
from reviewsctl.importing.values import address, members, stars, word, words

SOURCE = "trustpilot"
_PAGE = "https://www.trustpilot.com/reviews/"
_REPLIES = ("company response", "company reply", "business response", "business reply")
_REPLIED = (
    "company reply date (utc)",
    "business reply date (utc)",
    "company response date (utc)",
    "business response date (utc)",
)


def _utc(value: object) -> datetime.datetime:
    return american(value, datetime.UTC)


def _text(title: object, content: object) -> str | None:
    parts = [part for part in (words(title), words(content)) if part is not None]
    return "\n\n".join(parts) or None


def _first(fields: Fields, names: tuple[str, ...]) -> object:
    return next((fields[name] for name in names if word(fields.get(name)) is not None), None)


def _reader(_head: Head, rules: Rules) -> Reader:
    def read(row: Row) -> Entry:
        review = {name.casefold(): value for name, value in row.fields.items()}
        key = word(review.get("review id"))
        unit = word(review.get("business unit id")) or review.get("domain url")
        return rules.entry(
            Found(
                source=SOURCE,
                key=key,
                author=review.get("review username"),
                rating=stars(review.get("review stars")),
                created=_utc(review.get("review created (utc)")),
                text=_text(review.get("review title"), review.get("review content")),
                source_url=address(f"{_PAGE}{key}") if key else None,
                reply=reply_of(words(_first(review, _REPLIES)), _first(review, _REPLIED), _utc),
                place=rules.place(unit, review.get("webshop name")),
            )
        )

    return read


def _api_reader(_head: Head, rules: Rules) -> Reader:
    def read(row: Row) -> Entry:
        review = row.fields
        reply = members(review.get("companyReply"))
        unit = members(review.get("businessUnit"))
        key = word(review.get("id"))
        return rules.entry(
            Found(
                source=SOURCE,
                key=key,
                author=members(review.get("consumer")).get("displayName"),
                rating=stars(review.get("stars")),
                created=_utc(review.get("createdAt")),
                text=_text(review.get("title"), review.get("text")),
                source_url=address(f"{_PAGE}{key}") if key else None,
                reply=reply_of(words(reply.get("text")), reply.get("createdAt"), _utc),
                place=rules.place(unit.get("id"), unit.get("displayName")),
            )
        )

    return read


EXPORT = Format(
    name="trustpilot",
    title="Trustpilot, service reviews",
    leaves="e-mail addresses, reference ids, user ids, tags",
    recognises=lambda head: head.has("Review Stars", "Review Created (UTC)"),
    reader=_reader,
)
API = Format(
    name="trustpilot-api",
    title="Trustpilot API, service reviews",
    leaves="e-mail addresses, reference ids, user ids, links",
    recognises=lambda head: head.shape == "json" and head.has("stars", "createdAt", "consumer"),
    reader=_api_reader,
)
