"""Each platform's export has the reviews that its documented fields say."""

import dataclasses
import json
import re

import msgspec
import pytest

from reviewsctl.importing.format import Row
from reviewsctl.importing.ratings import Scale
from reviewsctl.importing.readers.parts import parts_of
from reviewsctl.importing.recognize import chosen
from reviewsctl.importing.settings import Settings
from reviewsd.domain.reviews import Review
from tests.support.shop import SAMPLES, part, records

EXPECTED: dict[str, list[list[object]]] = {}
"""Source, author, rating, date, text, verified, and the date and text of the reply of each review of a sample."""

for _line in (SAMPLES.parent / "expected.jsonl").read_text().splitlines():
    _name, *_review = json.loads(_line)
    EXPECTED.setdefault(_name, []).append(_review)


def settings(*, recommended: bool = True, best: int | None = None) -> Settings:
    return Settings(verified=False, scale=Scale(best=best, recommended=recommended))


def read(name: str, how: Settings) -> tuple[list[bytes], list[str]]:
    return records(parts_of(SAMPLES / name), how)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_review_is_what_the_export_says_and_valid_to_the_daemon(name: str) -> None:
    """Outscraper writes the month first; the time of Yelp is that of San Francisco, by UTC the next day.

    Of an author without a name, here "Hidden", and of addresses nothing is taken.
    """
    result, _ = read(name, settings(best=5 if name == "francais.csv" else None))
    reviews = [msgspec.json.decode(record, type=Review) for record in result]

    assert EXPECTED[name] == [
        [
            review.source,
            review.author,
            review.rating,
            review.date.isoformat(),
            review.text,
            review.verified,
            review.owner_reply and [review.owner_reply.date.isoformat(), review.owner_reply.text],
        ]
        for review in reviews
    ]
    assert not re.search("@|Hidden", b"".join(result).decode())


def test_recommendation_is_refused_without_the_setting() -> None:
    reason = (
        "a recommendation has no stars (--set recommended=yes takes it as 5, its opposite as 1)"
    )
    assert [reason, reason] == read("facebook.json", settings(recommended=False))[1]
    assert [reason, reason] == read("apify_facebook.json", settings(recommended=False))[1]
    assert [reason] == read("birdeye.json", settings(recommended=False))[1]


@pytest.mark.parametrize(
    ("name", "column"),
    [("yotpo.csv", "Review Status"), ("judgeme.csv", "curated"), ("judgeme.json", "hidden")],
)
def test_review_that_its_platform_withholds_is_skipped(name: str, column: str) -> None:
    assert [f'not public (column "{column}")'] == read(name, settings())[1]


def test_verification_of_the_export_overrides_the_operator() -> None:
    how = dataclasses.replace(settings(), verified=True)
    stated = [msgspec.json.decode(record)["verified"] for record in read("yotpo.json", how)[0]]
    unsaid = [msgspec.json.decode(record)["verified"] for record in read("serpapi.json", how)[0]]
    assert ([True, False], [True, True]) == (stated, unsaid)


def test_a_review_of_google_is_one_with_and_without_its_name() -> None:
    export = chosen(parts_of(SAMPLES / "google_api.json"), "auto")
    reader = export.format.reader(export.sources[0].head, settings())
    fields = dict(export.sources[0].head.sample[0])
    named = reader(Row({**fields, "name": "accounts/1/locations/2/reviews/X", "reviewId": "X"}))
    without = {name: value for name, value in fields.items() if name != "name"}
    assert named.key == reader(Row({**without, "reviewId": "X"})).key


# Tables of platforms that have no format of their own

BOOKING = """Guest name,Review date,Reservation number,Review title,Positive review,Negative review,\
Review score,Staff,Cleanliness,Property reply
Ann,2025-03-14 10:00:00,1,Fine,Nice staff,The wifi,8,10,7.5,Thanks for staying with us here!
,2025-03-15 10:00:00,2,,,Everything,2.5,2.5,2.5,
"""


def reviews(content: str, **mapped: str) -> list[dict[str, object]]:
    """Return the reviews of a table."""
    how = dataclasses.replace(settings(recommended=False), columns=mapped)
    reviews, reasons = records([part(content.encode())], how)
    assert [] == reasons
    return [msgspec.json.decode(review) for review in reviews]


def test_booking_is_of_ten_points_with_both_halves_of_a_review() -> None:
    """It was of five stars, with what was liked alone, by "A Import user"."""
    first, second = reviews(BOOKING)

    assert ("Ann", 4, "Fine\n\nPositive review: Nice staff\n\nNegative review: The wifi") == (
        first["author"],
        first["rating"],
        first["text"],
    )
    reply = {"text": "Thanks for staying with us here!", "date": "2025-03-14", "undated": True}
    assert reply == first["owner_reply"]
    assert ("Anonymous", 1, "Negative review: Everything", None) == (
        second["author"],
        second["rating"],
        second["text"],
        second["owner_reply"],
    )


NOTHING = """
Nothing | nothing at all! | nichts | Gar nichts. | Rien | Nada | niente | Não | N.v.t. | n/a | null | / | ?!
"""
BEDS = "Positive review: The beds"


@pytest.mark.parametrize(
    ("liked", "disliked", "text"),
    [
        *(("The beds", nothing, BEDS) for nothing in NOTHING.strip().split(" | ")),
        ("The beds", " -- ", BEDS),
        ("-", "The noise", "Negative review: The noise"),
        ("...", "N/A", None),
        ("Nothing", "The noise", "Positive review: Nothing\n\nNegative review: The noise"),
        ("Nothing", "", "Positive review: Nothing"),
        ("👍", "👎", "Positive review: 👍\n\nNegative review: 👎"),
        ("++", "Nothing much", "Positive review: ++\n\nNegative review: Nothing much"),
        (
            "The beds",
            f"Nothing{' ' * 100}works",
            f"{BEDS}\n\nNegative review: Nothing{' ' * 100}works",
        ),
    ],
)
def test_half_that_says_nothing_is_left_out(liked: str, disliked: str, text: str | None) -> None:
    """That nothing was good is criticism, which stays."""
    table = f"Guest name,Review date,Positive review,Negative review,Review score\nAnn,2025-03-14,{liked},{disliked},8\n"
    assert [text] == [review["text"] for review in reviews(table)]


def test_column_that_is_no_half_keeps_what_it_says() -> None:
    table = "Stars,Date,Name,Review\n5,2025-03-14,Ann,Nothing\n4,2025-03-15,Ben,-\n"
    assert ["Nothing", "-"] == [review["text"] for review in reviews(table)]


def test_parts_of_a_name_and_a_text_are_joined() -> None:
    table = "Stars,Date,First name,Last name,One,Two\n5,2025-03-14,Jane,Doe,Good.,Also cheap.\n4,2025-03-15,Max,,,Ok.\n"
    first, second = reviews(table, text="One+Two")
    assert ("Jane Doe", "Good.\n\nAlso cheap.") == (first["author"], first["text"])
    assert ("Max", "Ok.") == (second["author"], second["text"])


@pytest.mark.parametrize(
    "best", ["bestRating", "maxRating", "Max score", "score_max", "rating_scale", "ratingRange"]
)
def test_best_rating_has_many_names(best: str) -> None:
    table = f"rating,{best},date,author,text\n4,10,2025-03-14,Ann,Good\n5,10,2025-03-15,Bob,Ok\n"
    assert [2, 3] == [review["rating"] for review in reviews(table)]


def test_columns_of_one_name_are_two() -> None:
    """The second one took the place of the first."""
    table = "Stars,Date,Name,Comment,Comment\n5,2025-03-14,Ann,Good,Thanks\n"
    assert ["Good"] == [review["text"] for review in reviews(table)]
