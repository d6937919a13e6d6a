"""The CSV of ``reviewsctl export``, after an owner has edited it in a spreadsheet."""

import json

import pytest

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.platforms.own import COLUMNS
from reviewsctl.importing.rows import RowCounts
from reviewsctl.importing.settings import Settings
from tests.support.shop import Shop, table

CELLS = {
    "id": "01JGFJJZ00EXAMP1E000000001",
    "author": "Ann",
    "rating": "5",
    "date": "2026-03-14",
    "source": "website",
    "owner_reply_text": "Thanks",
    "owner_reply_date": "2026-03-16",
    "verified": "false",
}


def imported(shop: Shop, **cells: str) -> RowCounts:
    """Import a good row and one with other cells."""
    good = {**CELLS, "id": "good"}
    rows = [",".join(row.get(name, "") for name in COLUMNS) for row in (good, CELLS | cells)]
    text = "\n".join([",".join(COLUMNS), *rows]) + "\n"
    return shop.imported(table(shop.folder / "reviews.csv", text)).rows


@pytest.mark.parametrize(
    ("column", "cell", "fault"),
    [
        ("date", "", "date: an empty cell does not fit: expected date, got null"),
        ("rating", "7", 'rating: "7" does not fit: expected int <= 5'),
        ("verified", "maybe", 'verified: "maybe" does not fit: expected bool, got str'),
    ],
)
def test_invalid_cell_is_named_by_column(shop: Shop, column: str, cell: str, fault: str) -> None:
    (refusal,) = imported(shop, **{column: cell}).refusals
    assert "row 3" == refusal[0]
    assert refusal[1].startswith(f"not a review of ours: {fault}"), refusal[1]


def spreadsheet(
    shop: Shop, *replies: tuple[str, str], date_format: str | None = None
) -> dict[str, str | None]:
    """Import two reviews, then their table as a spreadsheet of Belgium saves it; return the days of replies."""
    days = ("2026-03-14", "2026-02-01")
    own = [CELLS | {"id": f"r{day}", "date": day, "owner_reply_text": ""} for day in days]
    rows = [",".join(row.get(name, "") for name in COLUMNS) for row in own]
    shop.imported(table(shop.folder / "reviews.csv", "\n".join([",".join(COLUMNS), *rows]) + "\n"))
    for row, (day, reply_day) in zip(own, replies, strict=True):
        row |= {"date": day, "owner_reply_text": "Thanks", "owner_reply_date": reply_day}
        row |= {"verified": "ONWAAR"}
    rows = [";".join(row.get(name, "") for name in COLUMNS) for row in own]
    text = "\n".join([";".join(COLUMNS), *rows]) + "\n"
    result = shop.imported(
        table(shop.folder / "replies.csv", text),
        settings=Settings(name="Acme", date_format=date_format),
    )
    assert [] == result.rows.refusals
    return {review["date"]: review["owner_reply"]["date"] for review in shop.file["reviews"]}


@pytest.mark.parametrize(
    ("replies", "date_format"),
    [
        ((("14/03/2026", "16/03/2026"), ("1/2/2026", "2/3/2026")), None),
        ((("14-3-2026", "2026-03-16"), ("01-02-2026", "2-3-2026")), None),
        ((("3/14/2026", "3/16/2026"), ("2/1/2026", "3/2/2026")), None),
        ((("14/3/26", "16/3/26"), ("1/2/26", "2/3/26")), "%d/%m/%y"),
    ],
)
def test_days_are_read_as_a_spreadsheet_writes_them(
    shop: Shop, replies: tuple[tuple[str, str], ...], date_format: str | None
) -> None:
    """Every row was refused, and date_format ignored without a word."""
    assert {"2026-03-14": "2026-03-16", "2026-02-01": "2026-03-02"} == spreadsheet(
        shop, *replies, date_format=date_format
    )


def test_days_that_can_be_read_in_two_ways_are_a_question(shop: Shop) -> None:
    with pytest.raises(SayMoreError, match="can be read in two ways") as question:
        spreadsheet(shop, ("3/4/2026", "4/5/2026"), ("1/2/2026", "2/3/2026"))
    assert 'Say which it is: --set "date_format=' in question.value.remedy


def test_day_that_is_none_is_named_with_one_remedy(shop: Shop) -> None:
    refusals = imported(shop, owner_reply_date="soon").refusals
    assert [("row 3", 'date "soon" is not understood: write the day, as 2026-03-14')] == refusals


@pytest.mark.parametrize("format_name", ["auto", "json"])
def test_first_import_takes_no_more_of_a_foreign_file_than_its_reviews(
    shop: Shop, format_name: str
) -> None:
    """A token and a telephone number beside the reviews were published."""
    row = {"author": "Ann", "rating": 5, "date": "2026-01-02", "text": "Fine"}
    business = {"name": "Acme", "owner_phone": "1"}
    file = shop.folder / "export.json"
    file.write_text(json.dumps({"business": business, "token": "sk-1", "reviews": [row]}))
    shop.imported(file, source="web", format_name=format_name)
    assert "token" not in shop.file
    assert "owner_phone" not in shop.file["business"]


def test_first_import_of_an_own_export_declares_its_new_places(shop: Shop) -> None:
    """They were written without a page, and the second import of the same file changed it."""
    reviews = [
        {
            "id": f"r{place}",
            "source": "web",
            "author": "Ann",
            "rating": 5,
            "date": "2026-01-02",
            "verified": True,
            "location": place,
        }
        for place in ("york", "kittery")
    ]
    business = {"name": "Acme", "locations": [{"id": "york", "name": "York"}]}
    file = shop.folder / "export.json"
    file.write_text(json.dumps({"business": business, "reviews": reviews}))
    shop.imported(file, location="all")
    assert ["York", "kittery"] == [place["name"] for place in shop.file["business"]["locations"]]
