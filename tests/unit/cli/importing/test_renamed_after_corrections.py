"""What was erased or hidden stays so when names are shortened, or are full again, in its next row (C5, C28)."""

from typing import Any

import pytest

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.report import ImportResult
from tests.support.edited import Decision, correct, published
from tests.support.shop import Shop, table

HEADER = "id,date,rating,name,text\n"
EPILEPSY = "As someone with epilepsy I was nervous but fine"
OTHERS = "1,2026-09-01,5,Ann Bell,Very good lessons here.\n2,2026-09-02,4,Ben Cole,Fine car and calm man.\n"
SETTINGS = [("full", "short"), ("short", "full")]


def imported(shop: Shop, number: str, *, source: str = "cards", **options: Any) -> ImportResult:
    """Import a table in which a review has a number, "" for a table without numbers."""
    rows = HEADER + OTHERS + f"{number},2026-09-14,5,Zoe Fletcher,{EPILEPSY}.\n"
    if not number:
        rows = "".join(f"{line.partition(',')[2]}\n" for line in rows.splitlines())
    return shop.imported(table(shop.folder / "cards.csv", rows), source=source, **options)


def take_away(shop: Shop, action: Decision, names: str) -> None:
    author = "Zoe Fletcher" if names == "full" else "Zoe F."
    correct(shop, author, action)
    assert EPILEPSY not in published(shop)


@pytest.mark.parametrize("action", ["erase", "hide"])
@pytest.mark.parametrize(("before", "after"), SETTINGS)
def test_row_with_a_new_number_stays_away(
    shop: Shop, action: Decision, before: str, after: str
) -> None:
    imported(shop, "3", names=before)
    take_away(shop, action, before)
    imported(shop, "5", names=after)
    assert EPILEPSY not in published(shop)


@pytest.mark.parametrize("number", ["", "3"])
@pytest.mark.parametrize("action", ["erase", "hide"])
@pytest.mark.parametrize(("before", "after"), SETTINGS)
def test_reviews_under_another_source_are_a_question(
    shop: Shop, action: Decision, before: str, after: str, number: str
) -> None:
    imported(shop, number, names=before)
    take_away(shop, action, before)
    with pytest.raises(SayMoreError):
        imported(shop, number, source="website", names=after)
    assert EPILEPSY not in published(shop)
