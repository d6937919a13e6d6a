"""The CSV of ``reviewsctl export``, after an owner has edited it in a spreadsheet."""

import pytest

from reviewsctl.importing.platforms.own import COLUMNS
from reviewsctl.importing.rows import RowCounts
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
        (
            "owner_reply_date",
            "26/11/2026",
            'owner_reply_date: "26/11/2026" is no day; write 2026-11-26',
        ),
        ("date", "26.11.2026", 'date: "26.11.2026" is no day; write 2026-11-26'),
        ("date", "3/4/2026", 'date: "3/4/2026" is no day; write it as 2026-03-14'),
        ("date", "", "date: an empty cell does not fit: expected date, got null"),
        ("rating", "7", 'rating: "7" does not fit: expected int <= 5'),
        ("verified", "maybe", 'verified: "maybe" does not fit: expected bool, got str'),
    ],
)
def test_cell_that_is_no_value_is_named_by_its_column(
    shop: Shop, column: str, cell: str, fault: str
) -> None:
    (refusal,) = imported(shop, **{column: cell}).refusals
    assert "row 3" == refusal[0]
    assert refusal[1].startswith(f"not a review of ours: {fault}"), refusal[1]
