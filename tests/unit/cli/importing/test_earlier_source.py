"""A source that was named wrongly gets another name, and its reviews keep ids, replies and corrections."""

from pathlib import Path

import pytest

from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.report import ImportResult
from reviewsctl.importing.settings import Settings
from tests.support.edited import correct, states
from tests.support.shop import Shop, google, table

ROWS = (
    "Ann,2026-01-01,5,\n",
    "Bo,2026-01-02,4,Fine car and calm man.\n",
    "Cy,2026-01-03,1,Rude.\n",
)


def export(shop: Shop, *rows: str, with_ids: bool) -> Path:
    ids = [f"{number}," * with_ids for number in range(1, 9)]
    lines = [f"{number}{row}" for number, row in zip(ids, rows, strict=False)]
    return table(
        shop.folder / "c.csv", f"{'id,' * with_ids}author,date,stars,text\n{''.join(lines)}"
    )


def renamed(
    shop: Shop, file: Path, earlier: str | None = "crads", source: str = "cards"
) -> ImportResult:
    return shop.imported(
        file, settings=Settings(source=source, earlier_source=earlier, name="Acme")
    )


@pytest.mark.parametrize("with_ids", [True, False])
def test_reviews_of_a_renamed_source_are_the_same(shop: Shop, *, with_ids: bool) -> None:
    """Only sed on the file did it, after which rows were not known by their ids, and stars alone were doubled."""
    file = export(shop, *ROWS, with_ids=with_ids)
    shop.imported(file, source="crads")
    before = shop.reviews
    shop.edit("Bo", owner_reply={"text": "Thanks", "date": "2026-01-05"})
    correct(shop, "Cy", "hide")
    renamed(shop, file)
    assert {"cards"} == {review["source"] for review in shop.file["reviews"]}
    for _ in range(2):  # later imports know them without the setting
        shop.imported(file, source="cards")
        assert {name: review["id"] for name, review in before.items()} == {
            name: review["id"] for name, review in shop.reviews.items()
        }
        assert 3 == len(shop.file["reviews"])
        assert "Thanks" == shop.reviews["Bo"]["owner_reply"]["text"]
        assert "hide" == states(shop)["Rude."]


def test_row_with_an_id_is_known_after_it_was_edited(shop: Shop) -> None:
    file = export(shop, *ROWS, with_ids=True)
    shop.imported(file, source="crads")
    renamed(shop, file)
    edited = [ROWS[0].replace("Ann,2026-01-01", "Anna,2026-02-01"), *ROWS[1:]]
    shop.imported(export(shop, *edited, with_ids=True), source="cards")
    assert {"Anna", "Bo", "Cy"} == shop.reviews.keys()


@pytest.mark.parametrize("with_ids", [True, False])
def test_erased_review_of_a_renamed_source_stays_away(shop: Shop, *, with_ids: bool) -> None:
    file = export(shop, *ROWS, with_ids=with_ids)
    shop.imported(file, source="crads")
    correct(shop, "Cy", "erase")
    renamed(shop, file)
    shop.imported(file, source="cards")
    assert {"Ann", "Bo"} == shop.reviews.keys()


def test_new_row_of_a_renamed_source_is_added_once(shop: Shop) -> None:
    shop.imported(export(shop, *ROWS[:2], with_ids=True), source="crads")
    file = export(shop, *ROWS, with_ids=True)
    renamed(shop, file)
    shop.imported(file, source="cards")
    assert 3 == len(shop.file["reviews"])


def test_refusal_of_a_double_source_names_the_setting(shop: Shop) -> None:
    file = export(shop, *ROWS, with_ids=True)
    shop.imported(file, source="import")
    with pytest.raises(SayMoreError) as refused:
        renamed(shop, file, None)
    assert "to give those the new source: --set earlier_source=import" in refused.value.remedy
    renamed(shop, file, "import")
    assert 3 == len(shop.file["reviews"])


@pytest.mark.parametrize("earlier", [None, "Lyon", "Paris"])
def test_refusal_of_two_wrong_sources_names_undo(shop: Shop, earlier: str | None) -> None:
    """Each of them was advised in turn, as earlier_source is one."""
    rows = [
        f"{row.strip()},{place}\n"
        for row, place in zip(ROWS, ("Lyon", "Paris", "Lyon"), strict=True)
    ]
    file = table(shop.folder / "c.csv", f"author,date,stars,text,site\n{''.join(rows)}")
    shop.imported(file, settings=Settings(columns={"source": "site"}, name="Acme"))
    with pytest.raises(SayMoreError) as refused:
        renamed(shop, file, earlier)
    assert "earlier_source" not in refused.value.remedy
    assert "reviewsctl reviews undo, then import again" in refused.value.remedy


def test_ids_of_a_platform_have_no_earlier_source(shop: Shop) -> None:
    file = google(shop.folder / "g.json", {"author": "Jo"})
    with pytest.raises(SayMoreError, match="--set earlier_source works only for tables"):
        shop.imported(file, settings=Settings(earlier_source="web"))
