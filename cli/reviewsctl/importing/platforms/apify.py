"""Apify's google-maps-reviews-scraper: JSON, NDJSON or CSV; the text, never ``textTranslated``."""

from reviewsctl.importing.format import Format, Head, Parser, Row, Rules, reply_of
from reviewsctl.importing.platforms.google import SOURCE, VERIFICATION
from reviewsctl.importing.ratings import stars
from reviewsctl.importing.review import Found
from reviewsctl.importing.signature import Signature
from reviewsctl.importing.times import moment
from reviewsctl.importing.values import address, original, word, words


def _parser(head: Head, rules: Rules) -> Parser:
    def read(row: Row) -> Found:
        review = row.fields
        place = head.with_place(review, "placeId")  # the actor for places nests its reviews
        return Found(
            source=SOURCE,
            key=word(review.get("reviewId")),
            author=review.get("name"),
            avatar_url=address(review.get("reviewerPhotoUrl")),
            rating=stars(review.get("stars")),
            created=moment(review.get("publishedAtDate")),
            text=original(words(review.get("text"))),
            source_url=address(review.get("reviewUrl")),
            reply=reply_of(
                original(words(review.get("responseFromOwnerText"))),
                review.get("responseFromOwnerDate"),
            ),
            place=rules.place(place.get("placeId"), place.get("title")),
        )

    return read


FORMAT = Format(
    name="apify",
    title="Apify, google-maps-reviews-scraper",
    leaves="translations (textTranslated), photos, likes, the place itself",
    likeness=Signature(("stars", "publishedAtDate", "reviewId|reviewUrl")),
    verification=VERIFICATION,
    parser=_parser,
)
