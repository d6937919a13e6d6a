"""Ways in which a hidden review of a table with ids could come back (corrections.md C39, decision 601)."""

import pytest

from reviewsctl.importing.report import ImportResult
from reviewsctl.importing.undo import undo
from reviewsd.domain.corrections import Action
from reviewsd.offline import corrections
from tests.support.edited import HEADER, correct, decide, published, states, synced
from tests.support.edited import imported as imported_table
from tests.support.shop import Shop

GABI = "2026-05-12,1,Gabi,Azubine Leonie Hansen hat mir die Farbe total verhunzt.\n"
NEW = "2026-05-12,1,Gabi,Leonie Hansen war mit der Farbe ganz \u00fcberfordert.\n"
USCHI = "2026-05-13,5,Uschi,Sabine ist die Beste.\n"
ANKE = "2026-05-14,5,Anke,Super Schnitt.\n"
ANNA = "2026-05-15,5,Anna,Toll\n"


def imported(shop: Shop, *rows: str, replace: bool = True) -> ImportResult:
    return imported_table(shop, *rows, header=f"id,{HEADER}", replace=replace, yes=True)


def hidden_and_edited(shop: Shop, row: str = NEW, action: Action = "hide") -> ImportResult:
    """Hide the review with the id 1, and correct its row."""
    imported(shop, f"1,{GABI}", f"2,{USCHI}", f"3,{ANKE}")
    correct(shop, "Gabi", action)
    return imported(shop, f"1,{row}", f"2,{USCHI}", f"3,{ANKE}")


def named(result: ImportResult) -> list[str]:
    return [note for note in result.merge.corrected if "reviewsctl reviews restore" in note]


CORRECTIONS = [
    NEW,
    NEW.replace("Gabi", "Berta"),
    NEW.replace("05-12", "05-11"),
    GABI.replace("Gabi", "Berta").replace("05-12", "05-11"),
    NEW.replace("Gabi", "Berta").replace("05-12", "05-11"),
]


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("action", ["hide", "anonymize", "hide-text"])
@pytest.mark.parametrize("row", CORRECTIONS)
def test_corrected_row_stays_withheld_when_it_comes_again_with_a_new_id(
    shop: Shop, row: str, action: Action, *, replace: bool
) -> None:
    hidden_and_edited(shop, row, action)
    rows = [f"1,{row}", f"2,{USCHI}", f"3,{ANKE}", f"4,{row}"]
    result = imported(shop, *rows, replace=replace)
    withheld = [entry for entry in states_by_id(shop) if entry == action]
    assert 2 == len(withheld)
    assert named(result)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("row", CORRECTIONS)
@pytest.mark.parametrize("again", [GABI, "row", "edited"])
def test_row_that_is_entered_again_with_a_new_id_stays_hidden(
    shop: Shop, row: str, again: str, *, replace: bool
) -> None:
    """With what it said when it was hidden, with what it says now, or with other words of its author and day."""
    hidden_and_edited(shop, row)
    new = {"row": row, "edited": row.rpartition(",")[0] + ",Alle Worte sind nun andere.\n"}
    imported(shop, f"2,{USCHI}", f"3,{ANKE}", f"4,{new.get(again, again)}", replace=replace)
    assert {"Sabine ist die Beste.", "Super Schnitt."} == shown(shop)


@pytest.mark.parametrize("again", [ANNA, ANNA.replace("05-15", "05-16")], ids=["same", "edited"])
def test_import_hides_no_other_review_that_is_like_a_hidden_one(shop: Shop, again: str) -> None:
    """Three customers wrote the same on one day; the next import of the same table hid all."""
    imported(shop, f"1,{ANNA}", f"2,{ANNA}", f"3,{ANNA}")
    first, *later_ids = [review["id"] for review in shop.file["reviews"]]
    decide(shop, "hide", first)
    for row in (ANNA, again):
        imported(shop, f"1,{row}", f"2,{ANNA}", f"3,{ANNA}")
        entries = corrections.read(shop.folder).reviews
        assert set(later_ids) == {e.review.id for e in entries if e.correction is None}


def test_both_texts_of_a_hidden_review_are_known_after_an_undo(shop: Shop) -> None:
    hidden_and_edited(shop)
    undo(shop.folder / "reviews.json", 1, shop.now)
    imported(shop, f"2,{USCHI}", f"3,{ANKE}", f"4,{GABI}")
    imported(shop, f"2,{USCHI}", f"3,{ANKE}", f"5,{NEW}")
    assert "Leonie" not in published(shop)


def test_row_that_changes_while_its_old_text_comes_again_hides_both(shop: Shop) -> None:
    imported(shop, f"1,{GABI}", f"2,{USCHI}")
    correct(shop, "Gabi")
    imported(shop, f"1,{NEW}", f"2,{USCHI}", f"4,{GABI}")
    imported(shop, f"1,{NEW}", f"2,{USCHI}", f"4,{GABI.replace('total', 'so')}")
    assert {"Sabine ist die Beste."} == shown(shop)


@pytest.mark.parametrize("sync", [False, True])
@pytest.mark.parametrize("row", [GABI, *CORRECTIONS])
def test_swapped_ids_show_no_hidden_review_and_name_it(shop: Shop, row: str, *, sync: bool) -> None:
    hidden_and_edited(shop, row)
    rows = [f"1,{USCHI}", f"2,{row}", f"3,{ANKE}"]
    result = synced(shop, *rows, header=f"id,{HEADER}") if sync else imported(shop, *rows)
    assert {"Super Schnitt."} == shown(shop)
    assert 2 == len(named(result))
    (note,) = [note for note in named(result) if "something else" in note]
    review = next(r["id"] for r in shop.file["reviews"] if r["author"] == "Uschi")
    assert note == (
        "still hidden, as their ids are, though they now say something else: 1 (2026-05-13, website, "
        f"{review}); if it is another review: reviewsctl reviews restore {review}"
    )
    assert not named(imported(shop, *rows))
    decide(shop, "restore", review)
    imported(shop, *rows)
    assert {"Super Schnitt.", "Sabine ist die Beste."} == shown(shop)


def test_review_hidden_by_swapped_ids_is_named_when_they_are_right_again(shop: Shop) -> None:
    hidden_and_edited(shop)
    imported(shop, f"1,{USCHI}", f"2,{NEW}", f"3,{ANKE}")
    result = imported(shop, f"1,{NEW}", f"2,{USCHI}", f"3,{ANKE}")
    review = next(r["id"] for r in shop.file["reviews"] if r["author"] == "Uschi")
    assert named(result)[-1].endswith(
        f"; if it is another review: reviewsctl reviews restore {review}"
    )
    decide(shop, "restore", review)
    imported(shop, f"1,{NEW}", f"2,{USCHI}", f"3,{ANKE}")
    assert {"Super Schnitt.", "Sabine ist die Beste."} == shown(shop)


def test_review_with_the_reused_id_of_a_hidden_one_is_named(shop: Shop) -> None:
    imported(shop, f"1,{GABI}", f"2,{USCHI}")
    correct(shop, "Gabi")
    assert named(imported(shop, f"1,{ANKE}", f"2,{USCHI}"))
    imported(shop, f"1,{ANKE}", f"2,{USCHI}", f"5,{NEW}")
    assert {"Sabine ist die Beste."} == shown(shop)


def test_copy_of_a_hidden_review_stays_hidden_when_its_row_is_corrected(shop: Shop) -> None:
    short = "2026-05-12,1,Gabi,Schlimm!\n"
    imported(shop, f"1,{short}", f"2,{USCHI}")
    correct(shop, "Gabi")
    imported(shop, f"1,{short}", f"2,{USCHI}", f"4,{short}")
    imported(shop, f"1,{short}", f"2,{USCHI}", "4,2026-05-11,1,Gabi,Sehr schlimm!\n")
    assert {"Sabine ist die Beste."} == shown(shop)


def test_text_before_a_second_decision_is_still_known(shop: Shop) -> None:
    hidden_and_edited(shop)
    correct(shop, "Gabi", "anonymize")
    correct(shop, "Gabi")
    imported(shop, f"2,{USCHI}", f"4,{GABI.replace('Gabi', 'Berta')}")
    assert {"Sabine ist die Beste."} == shown(shop)


def test_corrected_row_that_is_the_same_review_needs_no_note(shop: Shop) -> None:
    assert [] == hidden_and_edited(shop).merge.corrected


def test_other_customers_of_that_day_are_shown(shop: Shop) -> None:
    hidden_and_edited(shop)
    other = NEW.replace("Gabi", "Berta").replace("Leonie Hansen war", "Ich war")
    result = imported(shop, f"1,{NEW}", f"2,{USCHI}", f"4,{other}")
    assert 2 == len(shown(shop))
    assert [] == result.merge.corrected


def shown(shop: Shop) -> set[str]:
    return {text for text, state in states(shop).items() if state in {"shown", "restore"}}


def states_by_id(shop: Shop) -> list[str]:
    entries = corrections.read(shop.folder).reviews
    return ["" if e.correction is None else e.correction.action for e in entries]
