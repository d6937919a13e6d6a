"""Which new row of a table without ids is which review of the file (corrections.md C23 to C26)."""

import itertools
import time
from collections import Counter, defaultdict
from typing import Any

import msgspec
import pytest

from reviewsctl.importing.doubts import find_doubts
from reviewsctl.importing.pairs import Facts, facts_of, find_pairs, shares_words
from reviewsd.domain.corrections import version_digests
from reviewsd.domain.reviews import Review

WORDS = "They broke the blue vase in the hall"
OTHER = "Quick and clean work, thank you"


def review(review_id: str, author: str = "Ann Lee", **members: object) -> dict[str, Any]:
    known = {"id": review_id, "author": author, "date": "2026-03-14", "source": "website"}
    return {**known, "rating": 5, "text": WORDS} | members


def facts(record: dict[str, Any], *, is_corrected: bool = False) -> Facts:
    try:
        digests = frozenset(
            version_digests("key", msgspec.convert({**record, "verified": True}, Review)).items()
        )
    except msgspec.ValidationError:
        digests = frozenset()
    action = "hide" if is_corrected else ""
    return facts_of(record, record["id"], action=action, digests=digests)


def found(
    absent: list[dict[str, Any]], rows: list[dict[str, Any]], *corrected: str
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the rows of reviews, and the corrected reviews that rows may be."""
    reviews = [facts(old, is_corrected=old["id"] in corrected) for old in absent]
    new = [*map(facts, rows)]
    hidden = [review for review in reviews if review.action]
    pairs, edges = find_doubts(hidden, new, find_pairs(reviews, new), are_typed=True)
    doubts: defaultdict[str, list[str]] = defaultdict(list)
    for old, row in edges:
        doubts[row.key].append(old.key)
    return {old.key: row.key for old, row in pairs}, dict(doubts)


# One author and day

STARS = [
    stars
    for count in range(4)
    for stars in itertools.combinations_with_replacement((1, 2, 3), count)
]


@pytest.mark.parametrize("old", STARS)
@pytest.mark.parametrize("new", STARS)
def test_equal_stars_and_then_the_rest_pair(old: tuple[int, ...], new: tuple[int, ...]) -> None:
    """Up to three reviews and rows, of any of three stars."""
    pairs, _ = found(
        [review(f"o{i}", rating=stars) for i, stars in enumerate(old)],
        [review(f"n{j}", rating=stars) for j, stars in enumerate(new)],
    )
    olds, news = Counter(old), Counter(new)
    alone = [stars for stars in olds if olds[stars] == news[stars] == 1]
    expected = {f"o{old.index(stars)}": f"n{new.index(stars)}" for stars in alone}
    if len(old) - len(alone) == len(new) - len(alone) == 1:
        (left_old,) = {f"o{i}" for i in range(len(old))} - expected.keys()
        (left_new,) = {f"n{j}" for j in range(len(new))} - set(expected.values())
        expected[left_old] = left_new
    assert expected == pairs


@pytest.mark.parametrize("old", STARS[1:])
@pytest.mark.parametrize("new", STARS)
def test_each_row_of_the_author_and_day_of_corrected_reviews_is_a_pair_or_a_doubt(
    old: tuple[int, ...], new: tuple[int, ...]
) -> None:
    ids = [f"o{i}" for i in range(len(old))]
    pairs, doubts = found(
        [review(name, rating=stars) for name, stars in zip(ids, old, strict=True)],
        [review(f"n{j}", rating=stars) for j, stars in enumerate(new)],
        *ids,
    )
    assert {f"n{j}" for j in range(len(new))} == {*pairs.values(), *doubts}


def test_each_of_two_rows_may_be_the_review() -> None:
    rows = [review("b", rating=3), review("c", rating=4)]
    assert ({}, {"b": ["a"], "c": ["a"]}) == found([review("a")], rows, "a")


def test_row_may_be_each_of_two_reviews() -> None:
    absent = [review("a", rating=3), review("b", rating=4)]
    assert ({}, {"c": ["a", "b"]}) == found(absent, [review("c")], "a", "b")


@pytest.mark.parametrize(
    "members",
    [{"source": "portal"}, {"date": "2026-03-15"}, {"author": "Bo"}, {"location": "south"}],
)
def test_another_source_day_author_or_location_is_no_evidence(members: dict[str, str]) -> None:
    absent = [review("a", location="north")]
    assert ({}, {}) == found(absent, [review("b", **{"text": OTHER, **members})])


def differing(*members: str) -> dict[str, Any]:
    differences = {"author": "Bo", "date": "2026-03-20", "text": OTHER, "rating": 2}
    return {name: differences[name] for name in members}


TWO_OF_THREE = [
    (members, {*members} - {"rating"} in ({"author"}, {"date"}, {"text"}, set()))
    for count in range(1, 5)
    for members in itertools.combinations(("author", "date", "text", "rating"), count)
]


@pytest.mark.parametrize(("members", "is_pair"), TWO_OF_THREE)
@pytest.mark.parametrize("corrected", [(), ("a",)])
def test_two_of_author_day_and_words_are_evidence(
    members: tuple[str, ...], corrected: tuple[str, ...], *, is_pair: bool
) -> None:
    """All words alone are a doubt of a corrected review."""
    pairs, doubts = found([review("a")], [review("b", **differing(*members))], *corrected)
    is_doubt = corrected and not is_pair and "text" not in members
    assert ({"a": "b"} if is_pair else {}, {"b": ["a"]} if is_doubt else {}) == (pairs, doubts)


@pytest.mark.parametrize("member", ["author", "date"])
@pytest.mark.parametrize("stars", [4, 5])
def test_fewer_than_four_words_are_a_doubt_of_the_day_or_author(member: str, stars: int) -> None:
    """Many people write "Very good!"."""
    absent, row = review("a", text="very  good"), review("b", text="Very good!", rating=stars)
    row |= differing(member)
    assert ({}, {}) == found([absent], [row])
    assert ({}, {"b": ["a"]}) == found([absent], [row], "a")
    row |= differing("author", "date")
    assert ({}, {}) == found([absent], [row], "a")


@pytest.mark.parametrize("text", ["", None, "...", " "])
def test_stars_alone_are_a_doubt_under_another_name_on_an_empty_day(text: str | None) -> None:
    absent, row = [review("a", text=text)], review("b", "Bo", text=text)
    assert ({}, {"b": ["a"]}) == found(absent, [row], "a")
    assert ({}, {}) == found(absent, [row])
    assert ({}, {}) == found(absent, [row, review("c", "Cy", text=text)], "a")
    for members in ({"date": "2026-03-20"}, {"rating": 2}, {"text": OTHER}):
        assert ({}, {}) == found(absent, [row | members], "a")


def test_same_words_of_two_are_doubts() -> None:
    rows = [review("b", "Bo"), review("c", "Cy")]
    assert ({}, {"b": ["a"], "c": ["a"]}) == found([review("a")], rows, "a")


def test_same_words_are_more_evidence_than_author_and_day() -> None:
    absent = [review("a"), review("b", "Bo", text=OTHER)]
    assert ({"a": "c"}, {}) == found(absent, [review("c", "Bo")], "a")


@pytest.mark.parametrize(
    ("text", "is_doubt"), [("They broke the blue one", True), ("They broke a blue one", False)]
)
def test_four_words_in_a_row_of_a_corrected_review_on_its_day_are_a_doubt_under_any_name(
    text: str, *, is_doubt: bool
) -> None:
    rows = [review("b", "Bo", text=f"{text} and said that it was no fault of theirs at all")]
    assert ({}, {"b": ["a"]} if is_doubt else {}) == found([review("a")], rows, "a")
    assert ({}, {}) == found([review("a")], rows)
    rows = [row | {"date": "2026-03-20"} for row in rows]
    assert ({}, {}) == found([review("a")], rows, "a")


@pytest.mark.parametrize(
    ("author", "text", "is_doubt"),
    [
        ("Ann Lee", "They broke the blue one", True),
        ("Bo", "They broke the blue one", False),
        ("Bo", f"Yesterday {WORDS.lower()} again", True),
        ("Bo", "They broke the blue one and said that it was no fault of theirs", False),
    ],
)
def test_words_on_another_day_are_a_doubt_of_the_author_or_if_they_are_half_of_the_text(
    author: str, text: str, *, is_doubt: bool
) -> None:
    row = review("b", author, text=text, date="2026-04-20")
    assert ({}, {"b": ["a"]} if is_doubt else {}) == found([review("a")], [row], "a")


@pytest.mark.parametrize(
    ("name", "is_doubt"),
    [
        ("Ann Moor", True),
        ("Ann", True),
        ("Anne Lee", False),
        ("An Leigh", False),
        ("Ann L.", True),
        ("Lee, Ann", True),
        ("Bob Lee", False),
        ("Dan Lee", False),
        ("Bo", False),
    ],
)
def test_first_name_on_the_day_is_a_doubt(name: str, *, is_doubt: bool) -> None:
    """Of a corrected review alone, and only if the table does not have it any more."""
    absent, row = review("a", rating=1), review("b", name, text=OTHER)
    pairs, doubts = found([absent], [row], "a")
    assert is_doubt is bool(pairs or doubts)
    assert {} == found([absent], [row])[1]
    row["date"] = "2026-03-20"
    assert ({}, {}) == found([absent], [row], "a")


def test_table_without_locations_is_of_all() -> None:
    assert {"a": "b"} == found([review("a", location="north")], [review("b")])[0]


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ("Ann Lee", "ann  LEE", True),
        ("Ann Lee", "Ann L.", True),
        ("Ann L.", "Ann Lee", True),
        ("Ann Mary Lee", "Ann L.", True),
        ("Ann", "Ann Lee", False),
        ("Ann Lee", "Ann Lowe", False),
        ("Ann L.", "Ann M.", False),
        ("Élodie", "élodie", True),
        ("Anonymous", "Anonymous", False),
        ("anonymous", "anonymous", False),
        ("A Google user", "A Google user", False),
        (" ", " ", False),
    ],
)
def test_authors_match_in_any_case_and_shortened(old: str, new: str, *, is_same: bool) -> None:
    pairs, _ = found([review("a", old)], [review("b", new, text=OTHER)])
    assert is_same is bool(pairs)


def test_short_name_of_two_people_is_a_doubt() -> None:
    absent = [review("a", "Ann Lee"), review("b", "Ann Lowe")]
    assert ({}, {"c": ["a", "b"]}) == found(absent, [review("c", "Ann L.")], "a", "b")


# Authors without a name


@pytest.mark.parametrize(
    ("old", "new", "stars", "shares"),
    [
        (WORDS, f"Today: {WORDS.lower()}, and left.", 1, True),
        (WORDS, "They broke the blue one", 1, True),
        (WORDS, "They broke a blue vase in my hall", 5, False),
        (WORDS, "Fine", 5, False),
        ("Bob stole", "Bob stole my watch", 5, True),
        ("Bob stole", "Bob stole my watch", 4, False),
        ("Bob stole my watch and more", "Bob stole", 5, True),
        ("Bob stole", "What Bob stole", 5, False),
        (None, None, 5, False),
        ("", "", 5, False),
        ("...", "...", 5, False),
        (WORDS, None, 5, False),
    ],
)
def test_words_are_shared_by_four_in_a_row_or_the_whole_beginning(
    old: str | None, new: str | None, stars: int, *, shares: bool
) -> None:
    first, second = facts(review("a", text=old)), facts(review("b", text=new, rating=stars))
    assert shares is shares_words(first, second) is shares_words(second, first)


@pytest.mark.parametrize(
    ("old", "new"), [("Anonymous",) * 2, ("Ann", "Anonymous"), ("Anonymous", "Ann")]
)
def test_hidden_words_without_a_name_are_a_doubt(old: str, new: str) -> None:
    """The author may have given a name, or withdrawn it."""
    rows = [review("b", new, text=f"{WORDS} twice"), review("c", new, text=OTHER)]
    assert ({}, {"b": ["a"]}) == found([review("a", old)], rows, "a")


def test_shown_review_without_a_name_has_no_successor() -> None:
    """Replies never pass between people without names."""
    rows = [review("b", "Anonymous", text=OTHER)]
    assert ({}, {}) == found([review("a", "Anonymous")], rows)


def test_name_of_more_than_ten_reviews_of_a_day_is_nobodys() -> None:
    """A form may write "Guest", in any language."""
    rows = [review(f"n{number}", "Guest", text=f"Other {number}") for number in range(11)]
    rows[3]["text"] = f"{WORDS} twice"
    assert ({}, {"n3": ["a"]}) == found([review("a", "Guest")], rows, "a")


@pytest.mark.parametrize("has_same_words", [True, False])
def test_many_reviews_of_one_name_and_day_take_no_time(*, has_same_words: bool) -> None:
    """Each may be each: that would be a hundred million pairs."""
    absent, rows = (
        [
            review(
                f"{letter}{number}", "Guest", text=WORDS if has_same_words else f"{letter}{number}"
            )
            for number in range(10_000)
        ]
        for letter in "on"
    )
    began = time.process_time()
    pairs, doubts = found(absent, rows, *(old["id"] for old in absent))
    assert time.process_time() - began < 10
    assert not pairs
    assert len(doubts) == (10_000 if has_same_words else 0)


# Corrected reviews without a row


def test_row_with_the_stars_of_another_may_be_a_corrected_review_without_a_row() -> None:
    """Of two reviews that both leave the table, stars alone do not tell which one was corrected."""
    absent = [review("a", text="Rude", rating=1), review("b", text=OTHER, rating=2)]
    row = review("c", text="Never again", rating=2)
    assert {"b": "c"} == found(absent, [row])[0]
    assert ({}, {"c": ["a"]}) == found(absent, [row], "a")
    row["text"] = OTHER
    assert ({"b": "c"}, {}) == found(absent, [row], "a")


def nameless(review_id: str, text: str | None = "Other words", **members: object) -> dict[str, Any]:
    return review(review_id, "Anonymous", text=text, **members)


@pytest.mark.parametrize(
    ("members", "is_doubt"),
    [
        (("text",), True),
        (("rating",), True),
        (("date",), True),
        (("date", "rating"), True),
        (("date", "text"), False),
        (("text", "rating"), False),
    ],
)
def test_review_without_a_name_may_be_a_row_with_its_words_or_day_and_stars(
    members: tuple[str, ...], *, is_doubt: bool
) -> None:
    row = nameless("b", **{"text": WORDS, **differing(*members)})
    pairs, doubts = found([nameless("a", WORDS)], [row], "a")
    assert is_doubt is ({"a": "b"} == pairs or {"b": ["a"]} == doubts)
    if members != ("rating",):  # day and words
        assert {} == pairs
        assert ({}, {}) == found([nameless("a", WORDS)], [row])


def test_day_and_stars_of_several_rows_without_a_name_are_no_evidence() -> None:
    """On a busy day they would be other customers' reviews."""
    rows = [nameless("b"), nameless("c", OTHER)]
    assert ({}, {}) == found([nameless("a", WORDS)], rows, "a")


def test_members_of_a_wrong_type_are_no_evidence() -> None:
    """The file may be edited by hand."""
    wrong = review("a", date=None, source={}, rating="5", location=[1], text=3)
    wrong["author"] = ["Ann"]
    assert ({}, {}) == found([wrong], [review("b")], "a")
