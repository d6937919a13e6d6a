"""A table that does not name its source is a question; it was of "import", which pages showed as a platform."""

from pathlib import Path
from typing import Any

import pytest

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.settings import Settings
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


def sourced(shop: Shop, column: str, *cells: str, **settings: Any) -> dict[str, str]:
    """Import a table with a column of such cells, and return the sources of its reviews by their authors."""
    rows = "".join(f"R{row},2026-03-1{row},5,Fine,{cell}\n" for row, cell in enumerate(cells))
    export = table(shop.folder / "s.csv", f"Author,Date,Stars,Text,{column}\n{rows}")
    shop.imported(export, settings=Settings(name="Acme", **settings))
    return {name: review["source"] for name, review in shop.reviews.items() if name[:1] == "R"}


@pytest.mark.parametrize("column", ["Site", "Source", "Quelle", "Channel"])
@pytest.mark.parametrize("cell", ["Lyon 7e", "Google"])
def test_source_of_the_operator_wins_over_a_column(shop: Shop, column: str, cell: str) -> None:
    """A garage published 53 reviews as written at "Lyon 7e", which is its workshop."""
    assert {"R0": "desk"} == sourced(shop, column, cell, source="desk")
    noted = [line for line in shop.lines if f"--map source={column}" in line]
    assert (column in ("Source", "Quelle")) == bool(noted)


def test_column_that_the_operator_names_wins_over_his_source(shop: Shop) -> None:
    sources = sourced(shop, "Source", "Google", "", columns={"source": "Source"}, source="desk")
    assert {"R0": "google", "R1": "desk"} == sources


@pytest.mark.parametrize("column", ["Site", "Site name", "Channel"])
def test_column_of_places_is_no_source_unless_it_has_platforms(shop: Shop, column: str) -> None:
    assert {"R0": "google", "R1": "yelp"} == sourced(shop, column, "Google", "Yelp")
    with pytest.raises(SayMoreError, match="nothing says where the reviews"):
        sourced(shop, column, "Lyon 7e", "Villeurbanne", "Google")


def test_column_that_is_called_source_has_names_of_the_owner(shop: Shop) -> None:
    assert {"R0": "Salon Linde"} == sourced(shop, "Quelle", "Salon Linde")
