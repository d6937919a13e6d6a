"""Tripadvisor: the Content API (``/location/ID/reviews``), and Apify's tripadvisor-reviews."""

from collections.abc import Sequence

from reviewsctl.importing.format import Fields, Format, Head, Parser, Row, Rules, reply_of
from reviewsctl.importing.ratings import stars
from reviewsctl.importing.review import Found
from reviewsctl.importing.signature import Signature
from reviewsctl.importing.times import moment
from reviewsctl.importing.values import address, first, titled, within, word, words

SOURCE = "tripadvisor"
_VERIFICATION = "false: Tripadvisor does not check that authors are customers"
_TERMS = (
    "Tripadvisor's terms forbid storing its reviews: those of the Content API may be displayed, with "
    "Tripadvisor's attribution, not kept"
)
_PARTIAL = "the Content API gives five reviews of a location at most"


def _parser(_head: Head, rules: Rules) -> Parser:
    def read(row: Row) -> Found:
        review = row.fields
        answered = within(review, "owner_response", "published_date")
        return Found(
            source=SOURCE,
            key=word(review.get("id")),
            author=within(review, "user", "username"),
            avatar_url=address(within(review, "user", "avatar", "small")),
            rating=stars(review.get("rating")),
            created=moment(review.get("published_date")),
            text=titled(review.get("title"), review.get("text")),
            source_url=address(review.get("url")),
            reply=reply_of(words(within(review, "owner_response", "text")), answered),
            place=rules.place(review.get("location_id")),
        )

    return read


def _apify_parser(_head: Head, rules: Rules) -> Parser:
    def read(row: Row) -> Found:
        review = row.fields
        answered = within(review, "ownerResponse", "publishedDate")
        name = word(within(review, "user", "name")) or within(review, "user", "username")
        place = word(review.get("locationId")) or within(review, "placeInfo", "id")
        return Found(
            source=SOURCE,
            key=word(first(review, "id", "reviewId")),
            author=name,
            avatar_url=address(within(review, "user", "avatar", "image"))
            or address(within(review, "user", "avatar")),
            rating=stars(review.get("rating")),
            created=moment(review.get("publishedDate")),
            text=titled(review.get("title"), review.get("text")),
            source_url=address(review.get("url")),
            reply=reply_of(words(within(review, "ownerResponse", "text")), answered),
            place=rules.place(place, within(review, "placeInfo", "name")),
        )

    return read


def _warnings(_around: Fields, _count: int) -> Sequence[str]:
    return [_PARTIAL]


API = Format(
    name="tripadvisor",
    title="Tripadvisor Content API, reviews",
    leaves="trip types, subratings, helpful votes",
    likeness=Signature(
        ("published_date", "rating", "user.username|rating_image_url"), shape="json"
    ),
    parser=_parser,
    verification=_VERIFICATION,
    warnings=_warnings,
    partial=_PARTIAL,
    terms=_TERMS,
)
APIFY = Format(
    name="apify-tripadvisor",
    title="Apify, tripadvisor-reviews",
    leaves="trip types, subratings, photos, helpful votes",
    likeness=Signature(
        ("publishedDate", "rating", "title|text", "locationId|placeInfo.id|placeInfo.name")
    ),
    parser=_apify_parser,
    verification=_VERIFICATION,
    terms=_TERMS,
)
