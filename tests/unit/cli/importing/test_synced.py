"""The decisions of a sync inside an import: what is spared, what stops it, what leaves without an export."""

import datetime
import json
from collections.abc import Callable, Collection

import pytest

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.options import Prompts, SyncedRead
from reviewsctl.importing.outcomes import Fate, MergeResult
from reviewsctl.importing.pipeline import remove
from reviewsctl.importing.report import ImportResult
from reviewsctl.importing.staging import Place
from reviewsctl.importing.undo import undo
from reviewsd.api.texts import merge_key
from tests.support.shop import NOW, Shop, table

PROMPTS = Prompts(progress=lambda _: None, show=lambda _: None, choose=None)
PLACE = Place("shop", "")


def accept(_result: MergeResult, _places: Collection[Place]) -> None:
    """Let everything go."""


def synced(
    shop: Shop,
    numbers: str,
    is_gone: Callable[[str], bool] = lambda _: True,
    *,
    rows: str = "",
    check: Callable[[MergeResult, Collection[Place]], None] = accept,
) -> ImportResult:
    """Import the reviews with these numbers, and other rows of a table, as a sync does."""
    lines = "".join(f"{number},5,2026-01-0{number},Ann {number}\n" for number in numbers)
    export = table(shop.folder / "shop.csv", f"id,rating,date,author\n{lines}{rows}")
    read = SyncedRead(name="shop", is_current=True, is_gone=is_gone, check=check)
    return shop.imported(
        export, format_name="csv", source="shop", verified=False, replace=True, synced=read
    )


def test_review_that_is_not_gone_yet_is_spared(shop: Shop) -> None:
    synced(shop, "123")
    review = shop.file["reviews"][1]
    keys: list[str] = []

    def is_gone(key: str) -> bool:
        keys.append(key)
        return key != merge_key(review["id"])

    result = synced(shop, "3", is_gone)

    assert ["Ann 2", "Ann 3"] == list(shop.reviews)
    assert 2 == len(keys)
    assert (1, 1) == (result.merge.count(Fate.MISSING), result.merge.count(Fate.REMOVED))


def test_review_older_than_all_of_a_complete_read_is_removed(shop: Shop) -> None:
    """An export may begin later than the reviews of the file; a complete read has all."""
    synced(shop, "123")
    synced(shop, "23")
    assert ["Ann 2", "Ann 3"] == list(shop.reviews)


def test_undo_names_the_source_of_a_sync(shop: Shop) -> None:
    synced(shop, "1")
    synced(shop, "12")
    result = undo(shop.folder / "reviews.json", 1, NOW)
    assert result.change_before.startswith("the sync of shop (shop), 2026-06-03")
    assert ["shop"] == result.sources


def test_undo_of_a_sync_says_that_it_does_not_last(shop: Shop) -> None:
    """The source still has what was taken back."""
    target, warning = shop.folder / "reviews.json", "the source shop does the same again"
    synced(shop, "1")
    synced(shop, "12")
    export = table(shop.folder / "b.csv", "id,rating,date,author\n7,5,2026-01-07,Ann 7\n")
    shop.imported(export, format_name="csv", source="website", verified=False)
    later = NOW + datetime.timedelta(days=1)

    def lines(number: int) -> str:
        return "\n".join(undo(target, number, later).lines(target, number, "reviews undo"))

    assert warning not in lines(1)
    assert warning not in lines(1), "an undo of an undo"
    assert f"{warning} at its next complete read; enabled: false prevents that" in lines(2)


def test_refused_row_removes_nothing(shop: Shop) -> None:
    """It may be of any review that is missing."""
    synced(shop, "12")
    synced(shop, "1", rows="2,,2026-01-02,Bo\n")
    assert ["Ann 1", "Ann 2"] == list(shop.reviews)


def test_refused_outcome_writes_nothing(shop: Shop) -> None:
    synced(shop, "12")
    outcomes: list[tuple[int, list[Place]]] = []

    def refuse(result: MergeResult, places: Collection[Place]) -> None:
        outcomes.append((result.count(Fate.REMOVED), list(places)))
        raise ImportRefusedError("too many")

    before = (shop.folder / "reviews.json").read_bytes()
    with pytest.raises(ImportRefusedError, match="too many"):
        synced(shop, "1", check=refuse)

    assert [(1, [PLACE])] == outcomes
    assert before == (shop.folder / "reviews.json").read_bytes()


def test_removed_location_leaves_others_alone(shop: Shop) -> None:
    synced(shop, "12")
    data = shop.file
    data["reviews"].append({**data["reviews"][0], "id": "x", "source": "google", "author": "Bo"})
    (shop.folder / "reviews.json").write_text(json.dumps(data))
    result = remove(shop.options, PROMPTS, [PLACE])
    assert ["Bo"] == list(shop.reviews)
    assert 2 == result.count(Fate.REMOVED)


def test_removed_reviews_return_with_their_ids(shop: Shop) -> None:
    synced(shop, "12")
    before = [review["id"] for review in shop.file["reviews"]]
    remove(shop.options, PROMPTS, [PLACE])
    assert [] == shop.file["reviews"]
    synced(shop, "12")
    assert before == [review["id"] for review in shop.file["reviews"]]


def test_refused_row_of_a_table_with_ids_holds_back_its_own_review_alone(shop: Shop) -> None:
    """A card without stars kept each deleted row on the page for good."""
    rows = [f"{number},2026-09-0{number},5,Ann {number},Good.\n" for number in (1, 2, 3)]
    header = "id,date,rating,name,text\n"
    shop.imported(table(shop.folder / "a.csv", header + "".join(rows)), source="cards")
    rows = [rows[0], rows[2].replace(",5,", ",,")]
    shop.imported(
        table(shop.folder / "a.csv", header + "".join(rows)), source="cards", replace=True
    )
    assert {"Ann 1", "Ann 3"} == shop.reviews.keys()
