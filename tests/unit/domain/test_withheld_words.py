"""Removal of withheld words from insights.json (corrections.md)."""

import json

import pytest

from reviewsd.domain.corrected import Withheld
from reviewsd.domain.withheld_words import remove_words

HIDDEN = "Bob stole my grandmother's ring and laughed about it"
SHOWN = ("A fine ring, well repaired", "Very friendly")
WITHHELD = Withheld(
    reasons={"defamation": 1}, ids=frozenset({"h"}), texts=(HIDDEN,), names=("Jane Doe", "Cher")
)


def cleaned(**members: object) -> dict[str, object]:
    text = json.dumps(members).encode()
    result: dict[str, object] = json.loads(remove_words(text, WITHHELD, lambda: SHOWN))
    return result


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("One says: bob STOLE my grandmother's ring.", False),
        ("laughed about it", False),
        ("a fine ring", True),
        ("my ring", True),
        ("Jane Doe was there", False),
        ("Cher was there", True),
        ("Customers praise the repairs", True),
    ],
)
def test_string_goes_if_it_has_withheld_words_or_names(text: str, *, stays: bool) -> None:
    """Four words in a row, or a shorter phrase that no review has that is shown."""
    assert cleaned(summary=text) == ({"summary": text} if stays else {})
    phrases = [{"id": "rings", "label": "Rings", "top_phrases": ["fine", text]}]
    expected = ["fine", text] if stays else ["fine"]
    (aspect,) = json.loads(json.dumps(cleaned(aspects=phrases)["aspects"]))
    assert expected == aspect["top_phrases"]


@pytest.mark.parametrize("name", ["bob stole my grandmother's ring", "laughed", "Jane Doe"])
def test_member_whose_name_has_withheld_words_goes(name: str) -> None:
    """The names of ``praised_for``, and members of other programs, are text as well."""
    person = {"id": "p", "praised_for": {name: 2, "friendly": 3}}
    assert cleaned(entities={"technicians": [person]}, extra={name: {"friendly": 1}}) == {
        "entities": {"technicians": [{"id": "p", "praised_for": {"friendly": 3}}]},
        "extra": {},
    }


def test_known_members_stay_whatever_words_are_withheld() -> None:
    withheld = Withheld(
        reasons={"other": 1}, texts=("The summary of it",), ids=frozenset(), names=()
    )
    text = b'{"summary":"Fine."}'
    assert text == remove_words(text, withheld, lambda: SHOWN)


def test_ids_and_entries_of_withheld_reviews_go() -> None:
    aspect = {"id": "a", "example_review_ids": ["h", "s"], "review_ids": ["h"]}
    result = cleaned(aspects=[aspect], per_review={"h": {"sentiment": "negative"}, "s": {}})
    assert result == {
        "aspects": [{"id": "a", "example_review_ids": ["s"], "review_ids": []}],
        "per_review": {"s": {}},
    }


def test_answer_with_withheld_words_goes_with_its_question() -> None:
    entries = [
        {"question": "Are they honest?", "answer": "No: Bob stole my grandmother's ring."},
        {"question": "Are they friendly?", "answer": "Very friendly."},
    ]
    assert {"faq": entries[1:]} == cleaned(faq=entries)


def test_person_whom_only_a_withheld_review_names_goes() -> None:
    people = ["Bob", {"id": "bob", "name": "Bob"}, {"name": "Ann", "review_ids": ["s"]}]
    result = cleaned(entities={"technicians": people, "services": ["ring", "laughed"]})
    assert result == {"entities": {"technicians": people[2:], "services": ["ring", "laughed"]}}


def test_numbers_keep_their_spelling() -> None:
    text = b'{"overall_sentiment": {"score": 0.50}, "trend": "stable"}'
    assert b'{"overall_sentiment":{"score":0.50},"trend":"stable"}' == remove_words(
        text, WITHHELD, lambda: SHOWN
    )


def test_each_place_with_something_withheld_is_named() -> None:
    """The owner finds it in the file, where it still stands."""
    insights = {
        "summary": "Bob stole my grandmother's ring.",
        "aspects": [
            {"id": "a", "example_review_ids": ["s", "h"]},
            {"id": "b", "top_phrases": ["fine", "Jane Doe was there"]},
        ],
        "per_review": {"s": {}, "h": {}},
        "faq": [{"question": "Honest?", "answer": "laughed about it"}],
    }
    places: list[str] = []
    remove_words(json.dumps(insights).encode(), WITHHELD, lambda: SHOWN, places.append)
    assert [
        "$.summary",
        "$.aspects[0].example_review_ids[1]",
        "$.aspects[1].top_phrases[1]",
        "$.per_review.h",
        "$.faq[0].answer",
    ] == places
