"""Google Places API (New), place details with ``reviews``: at most five of them."""

import re
from collections.abc import Sequence

from reviewsctl.importing.format import Fields, Format, Head, Reader, Row, Rules
from reviewsctl.importing.platforms.google import SOURCE
from reviewsctl.importing.review import Entry, Found
from reviewsctl.importing.times import moment
from reviewsctl.importing.values import address, members, stars, words

_NAME = re.compile(r"places/([^/]+)/reviews/(.+)")


def _recognises(head: Head) -> bool:
    return head.shape == "json" and head.has("rating", "publishTime", "authorAttribution")


def _reader(head: Head, rules: Rules) -> Reader:
    def read(row: Row) -> Entry:
        review = row.fields
        match = _NAME.fullmatch(words(review.get("name")) or "")
        author = members(review.get("authorAttribution"))
        said = members(review.get("originalText")) or members(review.get("text"))
        title = members(head.around.get("displayName")).get("text")
        return rules.entry(
            Found(
                source=SOURCE,
                key=match[2] if match else words(review.get("name")),
                author=author.get("displayName"),
                avatar_url=address(author.get("photoUri")),
                rating=stars(review.get("rating")),
                created=moment(review.get("publishTime")),
                text=words(said.get("text")),
                source_url=address(review.get("googleMapsUri")),
                place=rules.place(match[1] if match else "", title),
            )
        )

    return read


def _warnings(_around: Fields, _count: int) -> Sequence[str]:
    return [
        (
            "the Places API gives five reviews of a business at most: for all of them use Google "
            "Takeout (Google Business Profile)"
        )
    ]


FORMAT = Format(
    name="places",
    title="Google Places API (New)",
    leaves="owner replies (the API has none), translations",
    recognises=_recognises,
    reader=_reader,
    warnings=_warnings,
)
