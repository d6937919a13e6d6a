"""Outscraper's Google Maps reviews: CSV, XLSX and JSON, which nests them in ``reviews_data``.

Old exports spell ``autor_name`` where new ones have ``author_title``.
"""

import datetime

from reviewsctl.importing.format import Fields, Format, Head, Reader, Row, Rules, reply_of
from reviewsctl.importing.platforms.google import SOURCE
from reviewsctl.importing.review import Entry, Found
from reviewsctl.importing.times import american, moment
from reviewsctl.importing.values import address, original, stars, word, words


def _recognises(head: Head) -> bool:
    return head.has("review_rating", "review_text") and bool(
        head.names & {"review_datetime_utc", "review_timestamp"}
    )


def _utc(value: object) -> datetime.datetime:
    return american(value, datetime.UTC)


def _first(fields: Fields, *names: str) -> object:
    return next((fields[name] for name in names if word(fields.get(name)) is not None), None)


def _reader(head: Head, rules: Rules) -> Reader:
    def read(row: Row) -> Entry:
        review = row.fields
        counted = _first(review, "review_timestamp")
        answered = _first(review, "owner_answer_timestamp", "owner_answer_timestamp_datetime_utc")
        place = head.with_place(review, "place_id")
        return rules.entry(
            Found(
                source=SOURCE,
                key=word(review.get("review_id")),
                author=_first(review, "author_title", "autor_name"),
                avatar_url=address(_first(review, "author_image", "autor_image")),
                rating=stars(review.get("review_rating")),
                created=_utc(review.get("review_datetime_utc"))
                if counted is None
                else moment(counted),
                text=original(words(review.get("review_text"))),
                source_url=address(review.get("review_link")),
                reply=reply_of(original(words(review.get("owner_answer"))), answered, _utc),
                place=rules.place(_first(place, "place_id", "google_id"), place.get("name")),
            )
        )

    return read


FORMAT = Format(
    name="outscraper",
    title="Outscraper, Google Maps reviews",
    leaves="photos, likes, the place itself",
    recognises=_recognises,
    reader=_reader,
)
