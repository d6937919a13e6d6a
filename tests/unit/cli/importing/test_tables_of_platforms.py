"""Tables of platforms that have no format of their own, as a whole."""

import msgspec
import pytest

from reviewsctl.importing.ratings import Scale
from reviewsctl.importing.settings import Settings
from tests.support.shop import part, records

BOOKING = """Guest name,Review date,Reservation number,Review title,Positive review,Negative review,\
Review score,Staff,Cleanliness,Property reply
Ann,2025-03-14 10:00:00,1,Fine,Nice staff,The wifi,8,10,7.5,Thanks for staying with us here!
,2025-03-15 10:00:00,2,,,Everything,2.5,2.5,2.5,
"""


def reviews(content: str, scale: str | None = None, **mapped: str) -> list[dict[str, object]]:
    """Return the reviews of a table."""
    settings = Settings(
        verified=False, scale=Scale.parsed(scale) if scale else Scale(), columns=mapped
    )
    reviews, reasons = records([part(content.encode())], settings)
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
