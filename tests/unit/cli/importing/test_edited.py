"""A review that was edited in a table without ids keeps its correction and its reply (corrections.md C23 to C25)."""

import json
import unicodedata

import pytest

from reviewsctl.importing.errors import ImportRefusedError
from reviewsctl.importing.outcomes import Fate
from reviewsctl.importing.report import lines
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.undo import undo
from tests.support.edited import (
    ANN,
    BO,
    EDITED,
    HEADER,
    REPLY,
    correct,
    decide,
    imported,
    log,
    overlay_file,
    published,
    states,
    synced,
)
from tests.support.shop import Shop, table


def test_letters_parted_from_their_accents_make_no_other_review(shop: Shop) -> None:
    """Some programs of a Mac write a table so."""
    rows = ("2026-03-14,5,Jürgen Köhler,Schön und günstig.\n", "2026-03-15,4,Zoë,Très bien.\n")
    imported(shop, *rows)
    parted = imported(shop, *(unicodedata.normalize("NFD", row) for row in rows))
    assert (0, 2) == tuple(map(parted.merge.count, (Fate.NEW, Fate.UNCHANGED)))
    assert {"Jürgen Köhler", "Zoë"} == {*shop.reviews}


@pytest.mark.parametrize("is_filled_in", [True, False], ids=["filled in", "taken out"])
def test_review_whose_text_is_filled_in_later_is_same(shop: Shop, *, is_filled_in: bool) -> None:
    """Each customer counted twice, and nothing was said."""
    without = ("2026-03-14,5,Ann Lee,\n", "2026-03-14,4,Ann Lee,\n", "2026-03-15,4,Bo,\n")
    texts = ("Lovely.", "Quick and clean and on time.", "So-so")
    rows = [row.replace(",\n", f",{text}\n") for row, text in zip(without, texts, strict=True)]
    first, second = (without, rows) if is_filled_in else (rows, without)
    imported(shop, *first)
    ids = [review["id"] for review in shop.file["reviews"]]
    result = imported(shop, *second, replace=False)
    assert 0 == result.merge.count(Fate.NEW)
    assert ids == [review["id"] for review in shop.file["reviews"]]
    assert [*texts] == [review["text"] for review in shop.file["reviews"]]


def test_text_and_id_that_a_row_gets_at_once_are_of_its_review(shop: Shop) -> None:
    """A second import with a column of texts, one of ids and short names added everyone again."""
    export = table(
        shop.folder / "k.csv", "Date,Stars,Name,Note,Nr.\n2026-03-14,5,Ann Lee,Lovely.,17\n"
    )
    without = Settings(source="web", columns={"text": ""}, name="Acme")
    shop.imported(export, settings=without)
    columns = {"text": "Note", "id": "Nr."}
    shop.imported(export, settings=Settings(source="web", columns=columns, names="short"))
    (review,) = shop.file["reviews"]
    assert ("Ann L.", "Lovely.") == (review["author"], review["text"])


def test_text_that_may_be_of_an_erased_review_is_filled_into_no_other(shop: Shop) -> None:
    erased, wordless = (
        "2026-03-14,5,Ann Lee,They broke the vase in the hall.\n",
        "2026-03-14,5,Ann Lee,\n",
    )
    imported(shop, erased, wordless, BO)
    decide(
        shop, "erase", *[review["id"] for review in shop.file["reviews"] if "They" in str(review)]
    )
    imported(shop, "2026-03-14,5,Ann Lee,A vase was broken.\n", BO, replace=False)
    assert "vase" not in published(shop)


def test_edited_review_is_a_changed_one(shop: Shop) -> None:
    """It is not lost: neither a question nor the list of what goes names it."""
    imported(shop, ANN, BO)
    own = {"verified": True, "tags": ["roof"], "source_url": "https://a.example/1"}
    shop.edit("Ann Lee", owner_reply=REPLY, **own)
    old = shop.reviews["Ann Lee"]
    result = imported(shop, EDITED, BO)
    assert (0, 1, 1, 0) == tuple(
        map(result.merge.count, (Fate.NEW, Fate.CHANGED, Fate.UNCHANGED, Fate.REMOVED))
    )
    assert not [line for line in shop.lines if "removed" in line]
    new = shop.reviews["Ann Lee"]
    changed = {"rating", "text", "changed_at"}
    assert changed == {name for name in new if old.get(name) != new[name]}
    assert "removed" not in shop.file
    imported(shop, EDITED, BO)
    assert new == shop.reviews["Ann Lee"]


def test_reply_of_the_table_takes_the_place_of_the_owners(shop: Shop) -> None:
    imported(shop, ANN, BO)
    shop.edit("Ann Lee", owner_reply=REPLY)
    header = HEADER.replace("\n", ",Reply,Reply date\n")
    imported(
        shop, EDITED.replace("\n", ",Thanks,2026-03-18\n"), BO.replace("\n", ",,\n"), header=header
    )
    assert {"text": "Thanks", "date": "2026-03-18"} == shop.reviews["Ann Lee"]["owner_reply"]


def test_second_edit_stays_hidden_too(shop: Shop) -> None:
    imported(shop, ANN, BO)
    correct(shop, "Ann Lee")
    imported(shop, EDITED, BO)
    imported(shop, EDITED.replace("hall", "kitchen"), BO)
    assert {"They broke the vase in the kitchen.": "hide", "Quick and clean.": "shown"} == states(
        shop
    )
    imported(shop, ANN, BO)
    assert "hide" == states(shop)["They broke the blue vase."]


def test_owner_shows_an_edited_review_again(shop: Shop) -> None:
    imported(shop, ANN, BO)
    correct(shop, "Ann Lee")
    imported(shop, EDITED, BO)
    correct(shop, "Ann Lee", "restore")
    imported(shop, EDITED, BO)
    assert "restore" == states(shop)["They broke the vase in the hall."]
    result = imported(shop, EDITED.replace("hall", "kitchen"), BO)
    assert "restore" == states(shop)["They broke the vase in the kitchen."]
    assert [] == result.merge.corrected


def test_correction_of_the_very_review_is_the_owners(shop: Shop) -> None:
    """It was shown again, the import taken back and repeated."""
    imported(shop, ANN, BO)
    correct(shop, "Ann Lee")
    imported(shop, EDITED, BO)
    correct(shop, "Ann Lee", "restore")
    undo(shop.folder / "reviews.json", 1, shop.now)
    assert "restore" == states(shop)["They broke the blue vase."]
    imported(shop, EDITED, BO)
    assert "restore" == states(shop)["They broke the vase in the hall."]


def test_undo_brings_back_the_state_before(shop: Shop) -> None:
    imported(shop, ANN, BO)
    shop.edit("Ann Lee", owner_reply=REPLY)
    correct(shop, "Ann Lee")
    before, shown_before = states(shop), published(shop)
    imported(shop, EDITED, BO)
    undo(shop.folder / "reviews.json", 1, shop.now)
    assert (before, shown_before) == (states(shop), published(shop))
    assert REPLY == shop.reviews["Ann Lee"]["owner_reply"]
    undo(shop.folder / "reviews.json", 1, shop.now)
    assert "hide" == states(shop)["They broke the vase in the hall."]


def test_undo_counts_an_edited_review_as_changed(shop: Shop) -> None:
    target = shop.folder / "reviews.json"
    imported(shop, ANN, BO)
    correct(shop, "Bo Li")
    imported(shop, ANN.replace("Ann Lee", "Anna Leigh"), BO)
    for _ in range(2):
        result = undo(target, 1, shop.now)
        assert (0, 1, 0) == (result.back, result.changed, result.gone)
    assert (
        "1 review stays hidden or anonymous, as undo takes no such decision back; to see them: "
        "reviewsctl reviews list --hidden"
    ) in result.lines(target, 1, "")


def test_dry_run_tells_and_writes_nothing(shop: Shop) -> None:
    imported(shop, ANN, BO)
    correct(shop, "Ann Lee")
    before = (shop.folder / "reviews.json").read_bytes(), overlay_file(shop)
    result = imported(shop, EDITED, BO, dry_run=True, replace=False)
    assert "hidden, as they may be edited versions" in "\n".join(
        lines(shop.options, result, [], undo="undo")
    )
    assert before == ((shop.folder / "reviews.json").read_bytes(), overlay_file(shop))
    assert [] == log(shop)


def test_shown_review_that_was_edited_writes_no_correction(shop: Shop) -> None:
    imported(shop, ANN, BO)
    correct(shop, "Bo Li")
    before = overlay_file(shop)
    imported(shop, EDITED, BO)
    assert before == overlay_file(shop)


@pytest.mark.parametrize("author", ["Ann Lee", "Bo Li"])
def test_correction_made_while_the_import_asks_ends_it(shop: Shop, author: str) -> None:
    """The owner is at another terminal, and may have hidden what the import is about to show."""
    imported(shop, ANN, BO)
    with pytest.raises(ImportRefusedError, match="was changed during the import"):
        synced(shop, EDITED, BO, check=lambda *_: correct(shop, author))
    assert "They broke the blue vase." in states(shop)
    synced(shop, EDITED, BO)
    hidden = {"Ann Lee": "They broke the vase in the hall.", "Bo Li": "Quick and clean."}
    assert "hide" == states(shop)[hidden[author]]


def test_file_changed_while_the_import_asks_gets_no_correction(shop: Shop) -> None:
    imported(shop, ANN, BO)
    correct(shop, "Ann Lee")
    before = overlay_file(shop)
    with pytest.raises(ImportRefusedError, match="changed by another program"):
        synced(shop, EDITED, BO, check=lambda *_: shop.edit("Bo Li", verified=True))
    assert before == overlay_file(shop)
    assert [] == log(shop)


def test_corrections_are_written_before_the_reviews(shop: Shop) -> None:
    """After a crash between both the new row is hidden at least."""
    imported(shop, ANN, BO)
    correct(shop, "Ann Lee")
    before = (shop.folder / "reviews.json").read_bytes()
    blocked = shop.folder / ".reviewsctl/corrections.log"
    blocked.mkdir()
    with pytest.raises(ImportRefusedError, match="Is a directory"):
        imported(shop, EDITED, BO, replace=False)
    assert before == (shop.folder / "reviews.json").read_bytes()
    (new,) = json.loads(overlay_file(shop))["reviews"].keys() - {shop.reviews["Ann Lee"]["id"]}
    blocked.rmdir()
    imported(shop, EDITED, BO, replace=False)
    assert new in {review["id"] for review in shop.file["reviews"]}
    assert "hide" == states(shop)["They broke the vase in the hall."]


def test_invalid_hidden_review_is_known_by_its_id(shop: Shop) -> None:
    imported(shop, ANN, BO)
    correct(shop, "Ann Lee")
    shop.edit("Ann Lee", source_url="no address")
    imported(shop, EDITED, BO)
    shop.edit("Ann Lee", source_url=None)
    assert "hide" == states(shop)["They broke the vase in the hall."]


LONG = BO.replace("Quick and clean.", "Quick and clean work in all of our rooms.")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("Bo Li", "Bob Lee"),
        ("2026-03-15", "2026-03-16"),
        (",5,", ",4,"),
        ("Quick and", "So quick and"),
        ("our rooms.", "the house!"),
    ],
)
def test_row_corrected_by_the_owner_is_its_review(shop: Shop, wrong: str, right: str) -> None:
    imported(shop, ANN, LONG)
    shop.edit("Bo Li", owner_reply=REPLY)
    result = imported(shop, LONG.replace(wrong, right), replace=False)
    assert (1, 0) == (result.merge.count(Fate.CHANGED), result.merge.count(Fate.NEW))
    (corrected,) = [review for review in shop.file["reviews"] if review["author"] != "Ann Lee"]
    assert REPLY == corrected["owner_reply"]


def test_name_that_leaves_the_table_stays_with_its_review(shop: Shop) -> None:
    imported(shop, ANN, LONG)
    before = shop.reviews["Bo Li"]
    result = imported(shop, LONG.replace("Bo Li", ""), replace=False)
    assert (2, 0) == (len(shop.file["reviews"]), result.merge.count(Fate.NEW))
    assert before["id"] == shop.reviews["Bo Li"]["id"]


def test_second_review_of_an_author_and_day_is_no_correction_without_replace(shop: Shop) -> None:
    """A table may have the new reviews alone, and two people one first name."""
    anna = BO.replace("Bo Li", "Anna")
    imported(shop, ANN, anna)
    imported(shop, anna.replace("Quick and clean.", "A lovely stay."), replace=False)
    assert 3 == len(shop.file["reviews"])
