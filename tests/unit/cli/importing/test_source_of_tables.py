"""A table that does not name its source is a question; it was of "import", which pages showed as a platform."""

from pathlib import Path

import pytest

from reviewsctl.importing.errors import SayMoreError
from tests.support.shop import Shop, table

OWN = "Date,Stars,Review\n2025-01-01,5,Nice\n"
BOOKING = "Guest name,Review date,Positive review,Review score\nJo,2026-03-14,The beds,8\n"


@pytest.fixture
def shop(shop: Shop) -> Shop:
    """A shop with reviews of two sources, and no terminal."""
    rows = "id,date,rating,author,source\n1,2020-01-01,5,Own,website\n2,2020-01-01,5,Jane,google\n"
    shop.imported(table(shop.folder / "first.csv", rows))
    shop.platform = None
    return shop


@pytest.mark.parametrize(
    ("text", "columns", "remedy"),
    [
        (OWN, "", "Say it: --source website if customers wrote them to you, or a platform, "),
        (
            BOOKING,
            "; it has the columns of Booking.com",
            "Say it: --source booking --set verified=yes if they were written there; ",
        ),
    ],
    ids=["own", "booking"],
)
@pytest.mark.parametrize("yes", [False, True])  # yes to which of the sources that are there?
def test_first_table_without_a_source_is_refused_with_the_options(
    shop: Shop, tmp_path: Path, text: str, columns: str, remedy: str, *, yes: bool
) -> None:
    """That of a platform has its own: pages said that its guests wrote on our website."""
    with pytest.raises(SayMoreError) as caught:
        shop.imported(table(tmp_path / "x.csv", text), yes=yes)
    detail = f"nothing says where the reviews of x.csv were written{columns}"
    assert detail == caught.value.detail
    assert caught.value.remedy.startswith(remedy)
    assert caught.value.remedy.endswith(
        "as --source google; --map source=COLUMN if a column has it. "
        "The reviews that are there are of google, website."
    )
    assert {"Own", "Jane"} == shop.reviews.keys()


def test_yes_takes_the_first_table_for_reviews_of_the_website(tmp_path: Path) -> None:
    new = Shop(tmp_path, platform=None)
    new.imported(table(tmp_path / "x.csv", OWN), yes=True)
    assert ["website"] == [review["source"] for review in new.file["reviews"]]


def test_left_out_verified_is_noted_where_only_customers_write(shop: Shop, tmp_path: Path) -> None:
    """Of two listings one was verified, and /about-reviews counted the guests of the other as unchecked."""
    of_booking = "not verified: 1, though only customers write on Booking.com; if they are of customers: --set verified=yes"
    export = table(tmp_path / "x.csv", BOOKING)
    for verified, noted in ((None, True), (False, False), (True, False)):
        result = shop.imported(export, source="booking", dry_run=True, verified=verified)
        assert noted == (of_booking in result.notes)
    own = table(tmp_path / "own.csv", OWN)
    cards = table(tmp_path / "cards.csv", OWN.replace("Nice", "Kind"))
    assert not any("verified:" in note for note in shop.imported(cards, source="cards").notes)
    shop.imported(own, source="desk", verified=True)
    later = table(tmp_path / "own.csv", OWN + "2026-01-01,4,Good\n")
    notes = shop.imported(later, source="desk").notes
    assert any("though others of the source are verified" in note for note in notes)


def test_table_of_booking_with_another_source_is_a_question(shop: Shop, tmp_path: Path) -> None:
    export = table(tmp_path / "x.csv", BOOKING)
    with pytest.raises(SayMoreError) as caught:
        shop.imported(export, source="Salon")
    assert (
        'a table with the columns of Booking.com, of which the reviews would be of "Salon"'
        == caught.value.detail
    )
    assert (
        "If they were written there: --source booking --set verified=yes; if not: --yes"
        == caught.value.remedy
    )
    shop.imported(export, source="Salon", yes=True)
    shop.imported(export, source="Salon")
    shop.imported(table(export, BOOKING.replace("Jo", "Cy")), source="Booking.com")
    assert ("Salon", "booking") == (shop.reviews["Jo"]["source"], shop.reviews["Cy"]["source"])
