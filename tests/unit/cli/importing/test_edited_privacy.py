"""Ways in which an edited review or its reply could come back (corrections.md C23 to C28)."""

import json
from collections.abc import Mapping

import pytest

from reviewsctl.importing.pairs import facts_of, find_pairs
from reviewsctl.importing.undo import undo
from reviewsd.domain.corrections import Action
from tests.support.edited import (
    ANN,
    BO,
    EDITED,
    HEADER,
    REPLY,
    Decision,
    correct,
    decide,
    imported,
    published,
    published_reviews,
    states,
)
from tests.support.shop import Shop

THEFT = "The manager stole my wallet"
KIND = "2026-03-14,5,Ann Lee,Lovely breakfast with a view.\n"


def angry(stars: int, end: str = "") -> str:
    return f"2026-03-14,{stars},Ann Lee,{THEFT}{end}.\n"


def id_of_theft(shop: Shop) -> str:
    return str(next(review["id"] for review in shop.file["reviews"] if "wallet" in review["text"]))


def test_reply_to_hidden_review_is_not_published_under_one_that_owner_shows(shop: Shop) -> None:
    imported(shop, ANN, BO)
    shop.edit("Ann Lee", owner_reply=REPLY)
    correct(shop, "Ann Lee")
    imported(shop, EDITED, BO, replace=False)
    new = next(review for review in shop.file["reviews"] if "hall" in review["text"])
    decide(shop, "restore", new["id"])
    imported(shop, EDITED, BO)
    assert "restore" == states(shop)["They broke the vase in the hall."]
    assert "owner_reply" not in shop.reviews["Ann Lee"]


def test_swapped_stars_hide_the_same_words(shop: Shop) -> None:
    imported(shop, angry(1), KIND, BO)
    decide(shop, "hide-text", id_of_theft(shop))
    imported(shop, angry(5, " twice"), KIND.replace(",5,", ",1,").replace("view", "sea view"), BO)
    assert states(shop) == {
        f"{THEFT} twice.": "hide-text",
        "Lovely breakfast with a sea view.": "shown",
        "Quick and clean.": "shown",
    }


def test_review_whose_row_is_not_taken_for_an_erased_one_stays(shop: Shop) -> None:
    imported(shop, angry(1), BO)
    correct(shop, "Ann Lee", "erase")
    imported(shop, angry(1), KIND, BO)
    shop.edit("Ann Lee", owner_reply=REPLY)
    imported(shop, KIND.replace("view", "sea view"), BO)
    assert REPLY == shop.reviews["Ann Lee"]["owner_reply"]


@pytest.mark.parametrize("replace", [False, True])
def test_second_review_of_day_of_erased_one_can_be_corrected(shop: Shop, *, replace: bool) -> None:
    """Its row has the words of the review that the file has."""
    imported(shop, angry(1), KIND, BO)
    decide(shop, "hide", id_of_theft(shop))
    decide(shop, "erase", id_of_theft(shop))
    shop.edit("Ann Lee", owner_reply=REPLY)
    edited = KIND.replace("view", "sea view").replace(",5,", ",4,")
    result = imported(shop, edited, BO, replace=replace)
    assert [] == result.merge.corrected
    review = shop.reviews["Ann Lee"]
    assert (4, "Lovely breakfast with a sea view.", REPLY) == (
        review["rating"],
        review["text"],
        review["owner_reply"],
    )
    imported(shop, angry(1, " twice"), edited, BO, replace=replace)
    imported(shop, angry(1, " twice"), BO, replace=replace)
    assert THEFT not in json.dumps(shop.file)


def test_edited_one_of_two_erased_reviews_of_a_day_is_not_taken(shop: Shop) -> None:
    imported(shop, angry(1), KIND, BO)
    correct(shop, "Ann Lee", "erase")
    imported(shop, angry(1, " twice"), KIND, BO)
    assert {"Quick and clean."} == set(states(shop))
    imported(shop, angry(1), KIND, KIND.replace("view", "dog"), BO)
    assert {"Quick and clean.", "Lovely breakfast with a dog."} == set(states(shop))


def test_erased_review_with_a_short_name_is_known_in_full(shop: Shop) -> None:
    imported(shop, angry(1).replace("Ann Lee", "Ann L."), BO)
    correct(shop, "Ann L.", "erase")
    imported(shop, angry(1, " twice"), BO)
    assert {"Quick and clean."} == set(states(shop))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"author": "Jose\u0301 Diaz"}, {"author": "Jos\u00e9 Diaz"}),
        ({"source": "Yelp"}, {"source": "yelp"}),
    ],
)
def test_author_and_source_are_compared_as_people_read_them(
    old: Mapping[str, str], new: Mapping[str, str]
) -> None:
    facts = {"author": "Ann Lee", "source": "x", "date": "2026-03-14", "rating": 1}
    absent, row = facts_of({**facts, **old}, "old"), facts_of({**facts, **new}, "new")
    assert [(absent, row)] == find_pairs([absent], [row])


# The owner corrects the table


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("action", ["hide", "anonymize", "hide-text"])
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("Ann Lee", "Anna Leigh"),
        ("Ann Lee", "Anonymous"),
        ("Ann Lee", ""),
        ("Ann Lee", "Lee, Ann"),
        (",1,", ",2,"),
        ("2026-03-14", "2026-03-13"),
        ("They broke the blue vase.", "They broke the blue vase!! Twice."),
        (",1,Ann Lee", ",2,Anna Lee"),
    ],
)
def test_corrected_cell_shows_no_corrected_review(
    shop: Shop, wrong: str, right: str, action: Action, *, replace: bool
) -> None:
    assert wrong in ANN
    imported(shop, ANN, BO)
    shop.edit("Ann Lee", owner_reply=REPLY)
    correct(shop, "Ann Lee", action)
    for _ in range(2):
        result = imported(shop, ANN.replace(wrong, right), BO, replace=replace)
    assert [] == result.merge.corrected
    assert {action, "shown"} == {*states(shop).values()}
    assert "shown" == states(shop)["Quick and clean."]
    if replace:
        assert 2 == len(shop.file["reviews"])
        assert [REPLY] == [
            review["owner_reply"] for review in shop.file["reviews"] if "owner_reply" in review
        ]


@pytest.mark.parametrize("name", ["Ann Lee", "Anonymous"])
def test_reply_stays_when_a_name_is_corrected(shop: Shop, name: str) -> None:
    imported(shop, ANN.replace("Ann Lee", name), BO)
    shop.edit(name, owner_reply=REPLY)
    imported(shop, ANN.replace("Ann Lee", "Anna Leigh"), BO)
    assert REPLY == shop.reviews["Anna Leigh"]["owner_reply"]
    assert 2 == len(shop.file["reviews"])


LONG = "2026-03-14,1,Ann Lee,They broke the blue vase of my old aunt.\n"


# The table gets ids


def with_ids(*rows: str) -> list[str]:
    return [f"{number},{row}" for number, row in enumerate(rows, 1)]


@pytest.mark.parametrize("replace", [False, True])
def test_review_is_known_by_the_id_that_its_row_gets_later(shop: Shop, *, replace: bool) -> None:
    imported(shop, ANN, BO)
    shop.edit("Bo Li", owner_reply=REPLY)
    before = shop.file["reviews"]
    imported(shop, *with_ids(ANN, BO), header=f"id,{HEADER}", replace=replace)
    assert before == shop.file["reviews"]
    other = "2026-04-01,3,Cy Orr,All other words than before.\n"
    imported(shop, *with_ids(ANN, other), header=f"id,{HEADER}", replace=replace, yes=True)
    assert {"Ann Lee", "Cy Orr"} == shop.reviews.keys()
    assert REPLY == shop.reviews["Cy Orr"]["owner_reply"]
    for _ in range(2):
        assert [one["id"] for one in before] == [one["id"] for one in shop.file["reviews"]]
        imported(shop, *with_ids(ANN, other), header=f"id,{HEADER}", replace=replace)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("action", ["hide", "anonymize", "erase"])
@pytest.mark.parametrize("has_id", [False, True], ids=["later id", "id"])
def test_review_stays_withheld_whatever_its_row_with_an_id_says(
    shop: Shop, action: Decision, *, has_id: bool, replace: bool
) -> None:
    imported(shop, ANN, BO)
    if has_id:
        imported(shop, *with_ids(ANN, BO), header=f"id,{HEADER}", replace=replace)
    correct(shop, "Ann Lee", action)
    for row in (ANN, "2026-04-01,3,Cy Orr,All other words than before.\n"):
        rows = with_ids(row, BO)
        imported(shop, *rows, header=f"id,{HEADER}", replace=replace, yes=True)
        public = published(shop)
        assert "Bo Li" in public
        assert "Ann" not in public
        assert "Cy Orr" not in public


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("action", ["hide", "anonymize", "erase"])
def test_old_row_beside_the_edited_one_shows_neither(
    shop: Shop, action: Decision, *, replace: bool
) -> None:
    imported(shop, LONG, BO)
    correct(shop, "Ann Lee", action)
    edited = LONG.replace("vase", "vase twice")
    imported(shop, edited, BO, replace=replace)
    for rows in ((LONG, edited, BO), (edited, BO, LONG), (edited, BO)):
        imported(shop, *rows, replace=replace, yes=True)
        assert "Ann" not in published(shop)
        assert "Bo Li" in published(shop)


def test_other_customer_with_words_of_hidden_review_that_table_has_is_shown(shop: Shop) -> None:
    imported(shop, LONG, BO)
    correct(shop, "Ann Lee")
    other = LONG.replace("Ann Lee", "Cy Orr").replace("03-14", "03-20")
    assert [] == imported(shop, LONG, BO, other).merge.corrected
    assert "Cy Orr" in published(shop)


@pytest.mark.parametrize("replace", [False, True])
def test_shown_review_that_gets_the_words_of_a_hidden_one_that_has_left_is_hidden(
    shop: Shop, *, replace: bool
) -> None:
    """Its row was put back over that of another review of the day."""
    imported(shop, LONG, BO)
    correct(shop, "Ann Lee")
    imported(shop, KIND, BO)
    imported(
        shop,
        KIND.replace("Lovely breakfast with a view.", "They broke the blue vase of my old aunt."),
        BO,
        replace=replace,
    )
    assert "vase" not in published(shop)
    assert "Bo Li" in published(shop)


CHEF = "2026-05-04,1,Uwe Gro\u00df,Der Chef Karl war frech und unversch\u00e4mt zu uns\n"


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("action", ["hide", "anonymize", "hide-text", "erase"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Uwe Grosz", "Der Chef Karl M. war sehr frech und unversch\u00e4mt zu uns"),
        ("Uwe Grosz", "Alle Worte sind nun andere."),
        ("Uwe Braun", "Alle Worte sind nun andere."),
        ("Zoe Roe", "Gestern war Karl frech und unversch\u00e4mt zu uns wie immer"),
    ],
)
def test_name_and_text_that_are_corrected_at_once_show_no_corrected_review(
    shop: Shop, name: str, text: str, action: Decision, *, replace: bool
) -> None:
    """The day, and a similar name or four words in a row, are a doubt; of an erased text no words are kept."""
    if action == "erase" and name == "Zoe Roe":
        text = CHEF.rpartition(",")[2].strip()
    imported(shop, CHEF, BO)
    correct(shop, "Uwe Gro\u00df", action)
    result = imported(shop, f"2026-05-04,1,{name},{text}\n", BO, replace=replace)
    public = published_reviews(shop)
    assert action == "hide-text" or name not in {review["author"] for review in public}
    assert action == "anonymize" or text not in {review["text"] for review in public}
    assert "reviewsctl reviews restore" in result.merge.corrected[0]


TIMED = "2026-03-14T09:30:00,1,Ann Lee,They broke the blue vase of my old aunt.\n"


@pytest.mark.parametrize("options", [{"names": "short"}, {}])
@pytest.mark.parametrize(
    "row", [TIMED, TIMED.replace("They broke the blue vase of my old aunt.", "")]
)
def test_later_id_is_known_though_names_are_short_and_rows_have_times(
    shop: Shop, row: str, options: Mapping[str, str]
) -> None:
    """The file has neither the full name nor the time of which the first id was made."""
    imported(shop, row, BO, names="short")
    shop.edit("Ann L.", owner_reply=REPLY)
    correct(shop, "Ann L.")
    imported(shop, *with_ids(row, BO), header=f"id,{HEADER}", replace=False, **options)
    assert 2 == len(shop.file["reviews"])
    two = row.replace(",1,", ",2,")
    imported(shop, f"1,{two}", header=f"id,{HEADER}", replace=False, yes=True)
    assert (2, REPLY) == (len(shop.file["reviews"]), shop.reviews["Ann L."]["owner_reply"])
    assert "Ann" not in published(shop)


def test_erased_review_is_known_by_its_later_id_though_its_name_was_short(shop: Shop) -> None:
    imported(shop, TIMED, BO, names="short")
    correct(shop, "Ann L.", "erase")
    for row in (TIMED, TIMED.replace("They broke the blue vase of my old aunt.", "Other words")):
        imported(shop, *with_ids(row, BO), header=f"id,{HEADER}")
        assert {"Bo L."} == shop.reviews.keys()


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("names", ["short", "full"])
@pytest.mark.parametrize("action", ["hide", "anonymize", "hide-text"])
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("Ann Lee", "Anna Leigh"),
        ("Ann Lee", ""),
        ("T09:30:00,1,", "T09:30:00,2,"),
        ("2026-03-14", "2026-03-13"),
        ("broke", "have broken"),
        ("They broke the blue vase of my old aunt.", "All other words than before."),
    ],
)
def test_row_that_is_corrected_when_it_gets_an_id_shows_no_corrected_review(
    shop: Shop, wrong: str, right: str, names: str, action: Action, *, replace: bool
) -> None:
    imported(shop, TIMED, BO, names=names)
    (name,) = shop.reviews.keys() - {"Bo Li", "Bo L."}
    correct(shop, name, action)
    rows = with_ids(TIMED.replace(wrong, right), BO)
    for _ in range(2):
        result = imported(
            shop, *rows, header=f"id,{HEADER}", names=names, replace=replace, yes=True
        )
    assert [] == result.merge.corrected
    assert {action, "shown"} == {*states(shop).values()}
    assert "shown" == states(shop)["Quick and clean."]


def test_new_id_beside_one_of_the_table_is_another_review(shop: Shop) -> None:
    """Both ids say so: a customer wrote twice on one day."""
    imported(shop, f"1,{LONG}", header=f"id,{HEADER}")
    correct(shop, "Ann Lee")
    second = f"2,{LONG.replace('vase', 'vases')}"
    imported(shop, f"1,{LONG}", second, header=f"id,{HEADER}", yes=True)
    assert "shown" == states(shop)["They broke the blue vases of my old aunt."]


@pytest.mark.parametrize("has_ids", [False, True])
@pytest.mark.parametrize("action", ["hide", "anonymize", "hide-text"])
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("Ann Lee", "Anna Leigh"),
        (",1,", ",2,"),
        ("2026-03-14", "2026-03-13"),
        ("They broke the blue vase of my old aunt.", "All other words than before."),
    ],
)
def test_corrected_review_that_left_the_file_returns_corrected(
    shop: Shop, wrong: str, right: str, action: Action, *, has_ids: bool
) -> None:
    """Its row was taken out, and put back with a correction, and maybe with an id."""
    remaining = [BO, "2026-01-01,5,Cy Orr,Fine.\n"]
    imported(shop, LONG, *remaining)
    correct(shop, "Ann Lee", action)
    imported(shop, *remaining)
    assert {"Bo Li", "Cy Orr"} == shop.reviews.keys()
    rows = [LONG.replace(wrong, right), *remaining]
    header = f"id,{HEADER}" if has_ids else HEADER
    for _ in range(2):
        imported(shop, *(with_ids(*rows) if has_ids else rows), header=header)
        assert {action, "shown"} == {*states(shop).values()}
        assert "shown" == states(shop)["Quick and clean."]


def test_second_review_of_the_day_of_a_hidden_one_with_an_id_is_shown(shop: Shop) -> None:
    """The first id of the hidden one has left the file, and says nothing about others."""
    imported(shop, LONG, BO)
    correct(shop, "Ann Lee")
    imported(shop, *with_ids(LONG, BO), header=f"id,{HEADER}")
    second = "2026-03-14,5,Ann Lee,Now all is well as they came back.\n"
    result = imported(shop, *with_ids(LONG, BO, second), header=f"id,{HEADER}")
    assert "shown" == states(shop)["Now all is well as they came back."]
    assert [] == result.merge.corrected


# What a correction and an import do to each other


def test_strictest_of_very_many_reviews_with_the_same_words_counts(shop: Shop) -> None:
    rows = [LONG.replace("Ann", f"Ann{number}") for number in range(45)]
    imported(shop, *rows)
    for number in range(45):
        action: Action = "hide" if number == 44 else "anonymize" if number > 22 else "hide-text"
        correct(shop, f"Ann{number} Lee", action)
    imported(shop, LONG.replace("Ann Lee", "Zoe Roe"), BO, yes=True)
    assert "hide" == states(shop)["They broke the blue vase of my old aunt."]


def test_hidden_review_stays_so_when_its_text_returns(shop: Shop) -> None:
    """It was shown again once, before it was edited and hidden."""
    imported(shop, LONG, BO)
    correct(shop, "Ann Lee")
    correct(shop, "Ann Lee", "restore")
    imported(shop, LONG.replace("vase", "vase twice"), BO)
    correct(shop, "Ann Lee")
    imported(shop, LONG, BO)
    assert "Ann Lee" not in published(shop)


def test_erased_review_does_not_come_back_by_undo(shop: Shop) -> None:
    """A kept version has it as it was before its row was edited."""
    imported(shop, LONG, BO)
    imported(shop, LONG.replace("vase", "vase twice"), BO.replace("Quick", "Very quick"))
    correct(shop, "Ann Lee", "erase")
    for version in (1, 1):
        undo(shop.folder / "reviews.json", version, shop.now)
        assert "Ann" not in json.dumps(shop.file)
    assert "Ann" not in published(shop)


def test_erased_review_does_not_come_back_by_a_copied_version(shop: Shop) -> None:
    """Where the folder of versions was copied before the erasure, and put in its place again."""
    imported(shop, LONG)
    imported(shop, LONG, BO)
    folder = shop.folder / ".reviewsctl/history"
    copies = {path: path.read_bytes() for path in folder.glob("reviews-*")}
    correct(shop, "Ann Lee", "erase")
    for path, copy in copies.items():
        path.write_bytes(copy)
    for _ in range(2):
        undo(shop.folder / "reviews.json", 1, shop.now)
        assert "Ann" not in json.dumps(shop.file)


@pytest.mark.parametrize("action", ["hide", "erase"])
def test_decision_after_an_undo_holds_for_what_the_undo_took_back(
    shop: Shop, action: Decision
) -> None:
    """Undone once more, the review is back as its edited row had it."""
    imported(shop, LONG, BO)
    for word in ("twice", "three times"):
        imported(shop, LONG.replace("vase", f"vase {word}"), BO.replace("Quick", f"Quick {word}"))
    undo(shop.folder / "reviews.json", 2, shop.now)
    correct(shop, "Ann Lee", action)
    for version in (1, 2, 1, 1):
        undo(shop.folder / "reviews.json", version, shop.now)
        assert "Ann" not in published(shop)
        assert "Bo Li" in published(shop)


def test_second_review_of_a_person_keeps_its_id_when_the_first_gets_one(shop: Shop) -> None:
    """Two reviews had one id, and the file was refused."""
    other = "2026-03-14,5,Ann Lee,Now all is well as they came back.\n"
    imported(shop, LONG)
    imported(shop, f"w1,{other}", header=f"id,{HEADER}")
    imported(shop, f"w1,{LONG}", header=f"id,{HEADER}")
    ids = [review["id"] for review in shop.file["reviews"]]
    assert len(ids) == len(set(ids))


def test_id_of_a_table_outlasts_an_edited_row_without_one(shop: Shop) -> None:
    imported(shop, f"w1,{LONG}", header=f"id,{HEADER}")
    before = shop.reviews["Ann Lee"]["id"]
    imported(shop, LONG.replace("vase", "vase twice"), yes=True)
    assert before == shop.reviews["Ann Lee"]["id"]
    correct(shop, "Ann Lee")
    imported(shop, f"w1,{LONG.replace('vase', 'vase three times')}", header=f"id,{HEADER}")
    assert "Ann" not in published(shop)


@pytest.mark.parametrize(
    "row",
    [
        BO.replace("Bo Li", "Bob Roe"),
        BO.replace("2026-03-15", "2026-04-15"),
        BO.replace("Quick and clean.", "Great service and highly recommended").replace("Bo", "Al"),
    ],
)
def test_review_that_stays_is_not_changed_into_another_customers(shop: Shop, row: str) -> None:
    """A table of new reviews alone, whose customers write what many write."""
    imported(shop, BO, BO.replace("Quick and clean.", "Great service and highly recommended"))
    before = shop.file["reviews"]
    imported(shop, row, replace=False)
    assert before == shop.file["reviews"][:2]
    assert 3 == len(shop.file["reviews"])


@pytest.mark.parametrize("stars", [[1], {}, None, "5"])
def test_invalid_stars_of_a_hidden_review_end_no_import(shop: Shop, stars: object) -> None:
    imported(shop, ANN.replace("They broke the blue vase.", "Bad!"), BO)
    correct(shop, "Ann Lee")
    shop.edit("Ann Lee", rating=stars)
    imported(shop, ANN.replace("They broke the blue vase.", "Bad work!"), BO, replace=False)
