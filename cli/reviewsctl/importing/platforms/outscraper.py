"""Outscraper's reviews of Google Maps and of Trustpilot: CSV, XLSX and JSON.

JSON nests those of Google Maps in ``reviews_data``. Old exports spell ``autor_name`` where new ones have
``author_title``. Both services share most names; the title, the answer's date and
whether a review is verified are Trustpilot's.
"""

import datetime

from reviewsctl.importing.format import Format, Head, Parser, Row, Rules, reply_of
from reviewsctl.importing.platforms import trustpilot
from reviewsctl.importing.platforms.dates import platform_dates
from reviewsctl.importing.platforms.google import SOURCE, VERIFICATION
from reviewsctl.importing.ratings import stars
from reviewsctl.importing.review import Found
from reviewsctl.importing.signature import Signature
from reviewsctl.importing.times import AMERICAN, Reading, legible
from reviewsctl.importing.values import address, first, original, titled, truth, word, words

_TRUSTPILOTS = ("review_title", "review_verified", "owner_answer_date")
_GOOGLES = ("place_id", "google_id", "reviews_id")
_WHEN = ("review_timestamp", "review_datetime_utc", "review_date")
_ANSWERED = (
    *("owner_answer_timestamp", "owner_answer_timestamp_datetime_utc", "owner_answer_date"),
    "owner_answer_datetime_utc",
)


def _dates(head: Head, rules: Rules) -> Reading:
    return platform_dates(head, rules, _WHEN, _ANSWERED, zone=datetime.UTC, native=AMERICAN)


def _parser(head: Head, rules: Rules) -> Parser:
    dates = _dates(head, rules)

    def read(row: Row) -> Found:
        review = row.fields
        place = head.with_place(review, "place_id")
        return Found(
            source=SOURCE,
            key=word(review.get("review_id")),
            author=first(review, "author_title", "autor_name"),
            avatar_url=address(first(review, "author_image", "autor_image")),
            rating=stars(review.get("review_rating")),
            created=dates(legible(review, _WHEN, dates)),
            text=original(words(review.get("review_text"))),
            source_url=address(review.get("review_link")),
            reply=reply_of(
                original(words(review.get("owner_answer"))),
                legible(review, _ANSWERED, dates),
                dates,
            ),
            place=rules.place(first(place, "place_id", "google_id"), place.get("name")),
        )

    return read


def _trustpilot_parser(head: Head, rules: Rules) -> Parser:
    dates = _dates(head, rules)

    def read(row: Row) -> Found:
        review = row.fields
        key = word(review.get("review_id"))
        link = address(review.get("review_link"))
        return Found(
            source=trustpilot.SOURCE,
            key=key,
            author=first(review, "author_title", "author_name"),
            avatar_url=address(review.get("author_image")),
            rating=stars(review.get("review_rating")),
            created=dates(legible(review, _WHEN, dates)),
            text=titled(review.get("review_title"), review.get("review_text")),
            source_url=link or (trustpilot.page(key) if key else None),
            reply=reply_of(
                words(review.get("owner_answer")), legible(review, _ANSWERED, dates), dates
            ),
            verified=truth(review.get("review_verified")),
            place=rules.place(first(review, "query", "domain")),
        )

    return read


FORMAT = Format(
    name="outscraper",
    title="Outscraper, Google Maps reviews",
    leaves="photos, likes, the place itself",
    likeness=Signature(
        ("review_rating", "review_text", "review_datetime_utc|review_timestamp"), _TRUSTPILOTS
    ),
    parser=_parser,
    verification=VERIFICATION,
)
TRUSTPILOT = Format(
    name="outscraper-trustpilot",
    title="Outscraper, Trustpilot reviews",
    leaves="likes, the author's country and number of reviews",
    likeness=Signature(
        (
            *("review_rating", "review_text", "|".join(_WHEN)),
            "|".join(_TRUSTPILOTS),
        ),
        _GOOGLES,
    ),
    parser=_trustpilot_parser,
    verification=f"the column review_verified; without it {trustpilot.UNSAID}",
)
