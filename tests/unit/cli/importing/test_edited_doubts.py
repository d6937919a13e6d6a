"""Edited reviews of which it is not certain which ones they are, or that were erased (corrections.md C24 to C28)."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from reviewsctl.corrections import files
from reviewsctl.importing.errors import SayMoreError
from reviewsctl.importing.undo import undo
from reviewsd.domain.corrections import Action
from reviewsd.offline import corrections
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
    take_again,
)
from tests.support.shop import Shop, google


def test_each_row_that_may_be_a_hidden_review_is_hidden(shop: Shop) -> None:
    imported(shop, ANN, BO)
    shop.edit("Ann Lee", owner_reply=REPLY)
    old = correct(shop, "Ann Lee")
    rows = EDITED, EDITED.replace(",2,", ",3,").replace("hall", "kitchen")
    result = imported(shop, *rows, BO)
    assert {
        "They broke the vase in the hall.": "hide",
        "They broke the vase in the kitchen.": "hide",
        "Quick and clean.": "shown",
    } == states(shop)
    ids = [review["id"] for review in shop.file["reviews"] if review["author"] == "Ann Lee"]
    (note,) = result.merge.corrected
    assert note == (
        "hidden, as they may be edited versions of reviews that are not shown as they are: 2 "
        f"(2026-03-14, website, {ids[0]}; 2026-03-14, website, {ids[1]}); "
        f"to show them: reviewsctl reviews restore {ids[0]} {ids[1]}"
    )
    assert [None, None] == [
        review.get("owner_reply")
        for review in shop.file["reviews"]
        if review["author"] == "Ann Lee"
    ]
    assert '  Ann Lee, 2026-03-14, website, 1/5, "They broke the blue vase." (with your reply)' in (
        shop.lines
    )
    assert [f"by an import: it may be an edited version of {old}"] * 2 == [
        entry["note"] for entry in log(shop)
    ]


def test_row_that_may_be_two_reviews_has_neither_words_nor_author_of_one(shop: Shop) -> None:
    imported(shop, ANN)
    correct(shop, "Ann Lee", "anonymize")
    imported(shop, ANN, ANN.replace(",1,", ",3,").replace("blue", "red"))
    reviews = corrections.read(shop.folder)
    (shown_review,) = [item.review for item in reviews.reviews if item.correction is None]
    corrected = reviews.with_correction([shown_review], "hide-text", "offensive", shop.now)
    files.write(shop.folder / "reviews.json", corrected)
    imported(shop, EDITED)
    assert {"They broke the vase in the hall.": "stars-only"} == states(shop)
    assert "vase" not in published(shop)
    assert "Ann Lee" not in published(shop)


@pytest.mark.parametrize("name", ["Ann Lee", "Anonymous"])
def test_hidden_review_without_a_row_is_named_beside_a_new_one(shop: Shop, name: str) -> None:
    row = ANN.replace("Ann Lee", name)
    old_bo = BO.replace("03-15", "03-01")
    imported(shop, row, old_bo)
    old = correct(shop, name, "hide-text")
    edited = EDITED.replace("Ann Lee", name).replace("03-14", "03-20")
    result = imported(shop, old_bo, edited)
    assert "shown" == states(shop)["They broke the vase in the hall."]
    expected = (
        f"not shown as they are, and not in the export any more: 1 (2026-03-14, website, {old}); see whether a new "
        "review is one of them: reviewsctl reviews list"
    )
    assert [expected] == result.merge.corrected
    assert [] == imported(shop, old_bo, edited).merge.corrected


def test_hidden_review_that_leaves_alone_needs_no_note(shop: Shop) -> None:
    imported(shop, ANN, BO.replace("03-15", "03-01"))
    correct(shop, "Ann Lee")
    result = imported(shop, BO.replace("03-15", "03-01"), yes=True)
    assert {"Bo Li"} == shop.reviews.keys()
    assert [] == result.merge.corrected


def test_twenty_reviews_of_a_note_are_named(shop: Shop) -> None:
    rows = [ANN.replace("03-14", f"03-{day:02}") for day in range(1, 22)]
    imported(shop, *rows)
    correct(shop, "Ann Lee")
    result = imported(shop, *(row.replace("blue", "red") for row in rows), replace=False)
    (note,) = result.merge.corrected
    assert note.startswith("hidden, as they may be edited versions of reviews that are not shown")
    assert (20, "...); to show them: ") == (
        note.count(", website, "),
        note[note.index("...") :][:20],
    )
    assert {"hide"} == set(states(shop).values())


# Without --replace the old one stays


def test_edited_row_beside_its_hidden_review_is_hidden(shop: Shop) -> None:
    imported(shop, ANN, BO)
    correct(shop, "Ann Lee")
    result = imported(shop, EDITED, BO, replace=False)
    assert 3 == len(shop.file["reviews"])
    assert "shown" not in {state for text, state in states(shop).items() if "vase" in text}
    (note,) = [note for note in result.notes if "hidden" in note]
    assert note.startswith("hidden, as they may be edited versions")


def test_second_review_beside_a_hidden_one_in_the_table_is_shown(shop: Shop) -> None:
    """The hidden one is not edited."""
    imported(shop, ANN, BO)
    correct(shop, "Ann Lee")
    for replace in (False, True):
        result = imported(shop, ANN, EDITED, BO, replace=replace)
        assert "shown" == states(shop)["They broke the vase in the hall."]
        assert [] == result.merge.corrected


def test_reply_stays_with_a_rewritten_review_after_undo_and_replace(shop: Shop) -> None:
    same_stars = EDITED.replace(",2,", ",1,")
    imported(shop, ANN, BO)
    shop.edit("Ann Lee", owner_reply=REPLY)
    imported(shop, same_stars, BO, replace=False)
    assert 3 == len(shop.file["reviews"])
    undo(shop.folder / "reviews.json", 1, shop.now)
    imported(shop, same_stars, BO)
    assert REPLY == shop.reviews["Ann Lee"]["owner_reply"]


def test_reply_does_not_pass_to_a_review_that_stood_beside_its_own(shop: Shop) -> None:
    """A customer wrote two on one day, and withdrew the first."""
    second = EDITED.replace("They broke the vase in the hall.", "Your office called back at once.")
    imported(shop, ANN, BO)
    shop.edit("Ann Lee", owner_reply=REPLY)
    imported(shop, ANN, second, BO)
    imported(shop, second, BO)
    assert "owner_reply" not in shop.reviews["Ann Lee"]
    assert 1 == len(shop.file["removed"])


# Siblings


def test_sync_hides_the_row_at_once(shop: Shop) -> None:
    """The old review is removed when it was missing for long enough."""
    imported(shop, ANN, BO)
    shop.edit("Ann Lee", owner_reply=REPLY)
    correct(shop, "Ann Lee")
    synced(shop, EDITED, BO, gone=False)
    assert "hide" == states(shop)["They broke the vase in the hall."]
    synced(shop, EDITED, BO)
    assert {"They broke the vase in the hall.": "hide", "Quick and clean.": "shown"} == states(shop)


def test_new_id_of_an_export_is_another_review(shop: Shop, tmp_path: Path) -> None:
    """The platform says so, and the customer may have written twice."""
    first, second = ({"author": name, "text": f"The words of {name}"} for name in ("Ann", "Bo"))
    shop.imported(google(tmp_path / "a.json", first, second))
    shop.edit("Ann", owner_reply=REPLY)
    correct(shop, "Ann")
    customer = {"author": "New", "text": "Other words", "reviewer": {"displayName": "Ann"}}
    result = shop.imported(google(tmp_path / "b.json", customer, second), replace=True, yes=True)
    assert {"Other words": "shown", "The words of Bo": "shown"} == states(shop)
    assert shop.reviews["Ann"]["owner_reply"] is None
    (note,) = result.merge.corrected
    assert note.startswith("not shown as they are, and not in the export any more: 1 (2026-01-01,")
    assert '  Ann, 2026-01-01, google, 5/5, "The words of Ann" (with your reply)' in shop.lines


@pytest.mark.parametrize("action", ["hide", "anonymize"])
def test_review_stays_corrected_when_ids_change(shop: Shop, tmp_path: Path, action: Action) -> None:
    """It is a copy by its author, day, stars and text; stars alone are by the digest."""
    first: dict[str, Any] = {"author": "Ann", "text": "Came late"}
    second: dict[str, Any] = {"author": "Bo"}
    shop.imported(google(tmp_path / "a.json", first, second))
    for author in ("Ann", "Bo"):
        correct(shop, author, action)
    for row in (first, second):
        row |= {"reviewer": {"displayName": row["author"]}, "author": f"new-{row['author']}"}
    shop.imported(google(tmp_path / "b.json", first, second), replace=True, yes=True)
    assert {action} == set(states(shop).values())


def test_nameless_author_of_hidden_words_is_hidden_without_a_reply(shop: Shop) -> None:
    """Many people have no name, so that words are the evidence, and only of doubt."""
    nameless = [row.replace("Ann Lee", "") for row in (ANN, EDITED)]
    imported(shop, nameless[0], BO)
    shop.edit("Anonymous", owner_reply=REPLY)
    correct(shop, "Anonymous")
    edited = nameless[0].replace("They", "Last week they").replace(",1,", ",4,")
    imported(shop, edited, nameless[1], BO)
    assert {
        "Last week they broke the blue vase.": "hide",
        "They broke the vase in the hall.": "shown",
        "Quick and clean.": "shown",
    } == states(shop)
    assert [None] * 3 == [review.get("owner_reply") for review in shop.file["reviews"]]


def test_refused_row_leaves_the_hidden_review_and_hides_the_edited_one(shop: Shop) -> None:
    """Nothing is removed then."""
    imported(shop, ANN, BO)
    correct(shop, "Ann Lee")
    imported(shop, EDITED, BO, "2026-03-17,,Cy,Fine\n")
    assert {"hide", "shown"} == set(states(shop).values())
    assert "shown" not in {state for text, state in states(shop).items() if "vase" in text}


def test_edits_of_more_than_a_tenth_are_no_question(shop: Shop) -> None:
    rows = [ANN.replace("Ann", f"Ann{number}") for number in range(20)]
    imported(shop, *rows)
    imported(shop, *(row.replace("blue", "red") for row in rows))
    assert 20 == len(shop.file["reviews"])
    with pytest.raises(SayMoreError, match="10 of 20"):
        imported(shop, *(row.replace("blue", "red") for row in rows[:10]))


# Erased reviews


@pytest.mark.parametrize("replace", [False, True])
def test_edited_version_of_an_erased_review_is_not_taken(shop: Shop, *, replace: bool) -> None:
    imported(shop, ANN, BO)
    correct(shop, "Ann Lee", "erase")
    edited = EDITED.replace("Ann Lee", "ann  LEE")
    result = imported(shop, edited, BO, replace=replace)
    assert {"Bo Li"} == shop.reviews.keys()
    (note,) = result.merge.corrected
    assert note.startswith(
        "skipped, as they may be edited versions of erased reviews: 1 (2026-03-14, website); if one is another "
        "review: reviewsctl reviews restore "
    )
    assert note.endswith(", then import again")
    result = imported(shop, edited, BO, replace=replace)
    assert {"Bo Li"} == shop.reviews.keys()
    assert any(
        note.startswith("1 skipped: may be an edited version of an erased review; if it is another")
        for note in result.notes
    )
    assert b"ann lee" not in overlay_file(shop).lower()


@pytest.mark.parametrize("has_ids", [False, True])
@pytest.mark.parametrize("replace", [False, True])
def test_owner_says_that_a_row_is_no_edited_version_of_an_erased_review(
    shop: Shop, *, has_ids: bool, replace: bool
) -> None:
    """An id says nothing: the table may just have got ids."""
    header, ids = (f"id,{HEADER}", ["1,", "2,"]) if has_ids else (HEADER, ["", ""])
    imported(shop, ANN, BO)
    correct(shop, "Ann Lee", "erase")
    rows = [f"{ids[0]}{EDITED}", f"{ids[1]}{BO}"]
    for _ in range(2):
        result = imported(shop, *rows, header=header, replace=replace)
        assert {"Bo Li"} == shop.reviews.keys()
    note = "\n".join(result.notes)
    (review_id,) = re.findall("reviewsctl reviews restore ([^,]+), then", note)
    if has_ids:
        customer = rows[0].replace("Ann Lee", "Cy Orr").replace("They broke", "All is well in")
        imported(shop, customer.replace("03-14", "03-20"), rows[1], header=header, replace=replace)
        assert {"Bo Li"} == shop.reviews.keys()
    take_again(shop, review_id)
    for _ in range(2):
        result = imported(shop, *rows, header=header, replace=replace, yes=True)
        assert {"Ann Lee", "Bo Li"} == shop.reviews.keys()
    assert [] == result.merge.corrected


def test_id_of_an_export_is_known_when_it_is_erased(shop: Shop, tmp_path: Path) -> None:
    """The platform says that another id is another review."""
    ann = {"author": "Ann", "text": "They broke the blue vase."}
    shop.imported(google(tmp_path / "a.json", ann, {"author": "Bo"}))
    correct(shop, "Ann", "erase")
    customer = {**ann, "author": "New", "reviewer": {"displayName": "Ann"}, "stars": "ONE"}
    shop.imported(google(tmp_path / "b.json", customer, {"author": "Bo"}))
    assert {"Ann", "Bo"} == shop.reviews.keys()


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0), (1, 2, 0)])
def test_erased_review_is_not_taken_after_several_corrections(
    shop: Shop, order: tuple[int, ...], *, replace: bool
) -> None:
    """One at a time: the name, a slip in the text, the day."""
    row = LONG
    imported(shop, row, BO)
    correct(shop, "Ann Lee", "erase")
    for index in order:
        row = row.replace(*CORRECTIONS[index])
        result = imported(shop, row, BO, replace=replace, yes=True)
        assert {"Bo Li"} == shop.reviews.keys()
        assert any(note.startswith("skipped, as they may") for note in result.merge.corrected)
    assert b"ann lee" not in overlay_file(shop).lower()  # its random key may have "ann"


LONG = "2026-03-14,1,Ann Lee,They broke the blue vase of my aunt.\n"
CORRECTIONS = [("Ann Lee", "Anna Leigh"), ("blue", "old blue"), ("2026-03-14", "2026-03-13")]


@pytest.mark.parametrize("action", ["hide", "erase"])
def test_export_of_the_owner_has_second_reviews_of_the_day_of_a_withheld_one(
    shop: Shop, tmp_path: Path, action: str
) -> None:
    """As on the way to another machine: its ids are those of the reviews."""
    imported(shop, ANN, EDITED.replace("They broke the vase in the hall.", "All well"), BO)
    ids = {review["text"]: review["id"] for review in shop.file["reviews"]}
    if action == "hide":
        decide(shop, "hide", ids["They broke the blue vase."])
    else:
        decide(shop, "erase", ids["They broke the blue vase."])
    content = shop.file
    content["reviews"] = [item for item in content["reviews"] if "blue" not in item["text"]]
    own = tmp_path / "own.json"
    own.write_text(json.dumps(content))
    customer = Shop(tmp_path / "other")
    customer.folder.mkdir()
    (customer.folder / "corrections.json").write_bytes(overlay_file(shop))
    result = customer.imported(own)
    assert {"All well": "shown", "Quick and clean.": "shown"} == states(customer)
    assert [] == result.merge.corrected


def test_second_review_beside_an_erased_one_is_taken(shop: Shop) -> None:
    """The table has the erased one too, so that the second one is no edited version of it."""
    imported(shop, ANN, BO)
    correct(shop, "Ann Lee", "erase")
    for _ in range(2):
        result = imported(shop, ANN, EDITED, BO)
        assert "They broke the vase in the hall." == shop.reviews["Ann Lee"]["text"]
        assert [] == result.merge.corrected
    imported(shop, EDITED, BO)
    assert {"Ann Lee", "Bo Li"} == shop.reviews.keys(), "the erased one has left the table"


@pytest.mark.parametrize(
    ("author", "day"), [("Ann Lee", "2026-03-15"), ("Bo Moor", "2026-03-14"), ("", "2026-03-14")]
)
def test_others_are_taken_after_an_erasure(shop: Shop, author: str, day: str) -> None:
    imported(shop, ANN, BO)
    correct(shop, "Ann Lee", "erase")
    result = imported(shop, EDITED.replace("Ann Lee", author).replace("2026-03-14", day), BO)
    assert 2 == len(shop.file["reviews"])
    assert [] == result.merge.corrected


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("author", ["Anna Lee", "", "Anonymous"])
@pytest.mark.parametrize("first", ["Ann Lee", "Anonymous"])
def test_erased_review_whose_author_is_corrected_is_not_taken(
    shop: Shop, first: str, author: str, *, replace: bool
) -> None:
    imported(shop, ANN.replace("Ann Lee", first), BO)
    correct(shop, first, "erase")
    corrected = ANN.replace("Ann Lee", author).replace(",1,", ",2,")
    imported(shop, corrected, BO, replace=replace)
    assert {"Bo Li"} == shop.reviews.keys()


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize(
    ("text", "stars", "day", "is_taken"),
    [
        ("They lost a red lamp.", 1, 14, True),
        ("They broke the blue vase.", 2, 14, False),
        ("They broke the blue vase.", 1, 15, False),
        ("They lost a red lamp.", 2, 14, True),
        ("They lost a red lamp.", 1, 15, True),
    ],
)
def test_erased_review_without_a_name_is_known_by_its_words(
    shop: Shop, text: str, stars: int, day: int, *, is_taken: bool, replace: bool
) -> None:
    imported(shop, ANN.replace("Ann Lee", "Anonymous"), BO)
    correct(shop, "Anonymous", "erase")
    imported(shop, f"2026-03-{day},{stars},A Trustpilot user,{text}\n", BO, replace=replace)
    assert is_taken is ("A Trustpilot user" in shop.reviews)


@pytest.mark.parametrize(("text", "is_taken"), [(ANN.split(",")[3], False), ("Very rude\n", True)])
def test_text_of_an_erased_review_is_known_under_another_name_on_another_day(
    shop: Shop, text: str, *, is_taken: bool
) -> None:
    """Of four words or more, as in a guest book; fewer are many people's."""
    imported(shop, f"2026-03-14,1,Ann Lee,{text}", BO)
    correct(shop, "Ann Lee", "erase")
    imported(shop, f"2026-04-20,2,Zoe Roe,{text}", BO, replace=False)
    assert is_taken is ("Zoe Roe" in shop.reviews)
