"""Google Places, details of a place with ``reviews``, at most five of them: the API (New), and before.

The older one gives reviews no ids: an author has one review of a place, so both together are one.
"""

import re
from collections.abc import Sequence

from reviewsctl.importing import business
from reviewsctl.importing.format import Fields, Format, Head, Parser, Row, Rules
from reviewsctl.importing.platforms.google import SOURCE, VERIFICATION
from reviewsctl.importing.ratings import stars
from reviewsctl.importing.review import Found
from reviewsctl.importing.signature import Signature
from reviewsctl.importing.times import moment
from reviewsctl.importing.values import address, members, word, words

_NAME = re.compile(r"places/([^/]+)/reviews/(.+)")


def _parser(head: Head, rules: Rules) -> Parser:
    def read(row: Row) -> Found:
        review = row.fields
        match = _NAME.fullmatch(words(review.get("name")) or "")
        author = members(review.get("authorAttribution"))
        created = moment(review.get("publishTime"))
        said = members(review.get("originalText")) or members(review.get("text"))
        title = members(head.around.get("displayName")).get("text")
        return Found(
            source=SOURCE,
            key=match[2] if match else words(review.get("name")),
            author=author.get("displayName"),
            avatar_url=address(author.get("photoUri")),
            rating=stars(review.get("rating")),
            created=created,
            edited=created,  # an edited review has a new date
            text=words(said.get("text")),
            source_url=address(review.get("googleMapsUri")),
            place=rules.place(match[1] if match else "", title),
        )

    return read


def _legacy_parser(head: Head, rules: Rules) -> Parser:
    def read(row: Row) -> Found:
        review, place = row.fields, head.around
        author, created = word(review.get("author_url")), moment(review.get("time"))
        identifier = word(place.get("place_id")) or ""
        if review.get("translated") is True:
            rules.counts["translated"] += 1
        return Found(
            source=SOURCE,
            key=None if author is None else f"{identifier}\0{author}",
            author=review.get("author_name"),
            avatar_url=address(review.get("profile_photo_url")),
            rating=stars(review.get("rating")),
            created=created,
            edited=created,
            text=words(review.get("text")),
            place=rules.place(identifier, place.get("name")),
        )

    return read


_PARTIAL = "the Places API gives five reviews of a business at most"
_TERMS = (
    "the terms of Google Maps Platform forbid storing reviews of the Places API: they may be shown, not "
    "kept. Google Takeout has the same reviews as your own data"
)


def _warnings(_around: Fields, _count: int) -> Sequence[str]:
    return [f"{_PARTIAL}: for all of them use Google Takeout (Google Business Profile)"]


FORMAT = Format(
    name="places",
    title="Google Places API (New)",
    leaves="owner replies (the API has none), translations",
    likeness=Signature(("rating", "publishTime", "authorAttribution"), shape="json"),
    parser=_parser,
    describes=lambda head: business.place(head.around),
    verification=VERIFICATION,
    warnings=_warnings,
    partial=_PARTIAL,
    terms=_TERMS,
)
LEGACY = Format(
    name="places-legacy",
    title="Google Places API (legacy), place details",
    leaves="owner replies (the API has none)",
    likeness=Signature(
        ("author_name", "rating", "relative_time_description", "time"), shape="json"
    ),
    parser=_legacy_parser,
    describes=lambda head: business.older_place(head.around),
    verification=VERIFICATION,
    warnings=_warnings,
    partial=_PARTIAL,
    terms=_TERMS,
)
