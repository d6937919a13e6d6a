"""What was liked is praise and what was not is criticism, whatever the stars (insights.md 4, rule 5)."""

import datetime

import pytest

from reviewsd.analysis.evidence import Evidence
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.sentences import sentences
from reviewsd.analysis.settings import AspectSetting, InsightSettings, NamedTechnician
from reviewsd.domain.reviews import Business, Review

_OWN = {
    "parking": AspectSetting(label="Parking", words=("parking", "parkplatz")),
    "breakfast": AspectSetting(label="Breakfast", words=("breakfast",)),
}
_ANNA = NamedTechnician(name="Anna Berg", aliases=("Anna",))
_RULES = Rules(Business(name="Inn"), InsightSettings(aspects=_OWN, technicians=(_ANNA,)))


def _aspects(text: str, stars: int) -> dict[str, str]:
    return {a.id: a.sentiment for a in _RULES.label(text, stars).aspects if a.id in _OWN}


@pytest.mark.parametrize("stars", range(1, 6))
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Negative review: The parking", {"parking": "negative"}),
        ("Positive review: The parking", {"parking": "positive"}),
        ("Negative review: Breakfast only until 9", {"breakfast": "negative"}),
        ("Pros: Breakfast\nCons: Parking", {"breakfast": "positive", "parking": "negative"}),
        ("Negative review: Parkplatz zu klein", {"parking": "negative"}),
        ("Negative review: None, the breakfast was excellent", {"breakfast": "positive"}),
        ("Positive review: Nothing, the breakfast was awful", {"breakfast": "negative"}),
    ],
)
def test_half_decides_where_words_do_not(text: str, expected: dict[str, str], stars: int) -> None:
    assert expected == _aspects(text, stars)


@pytest.mark.parametrize("stars", range(2, 6))
@pytest.mark.parametrize(
    ("text", "sentiment"),
    [
        ("Negative review: Anna at the desk", "neutral"),
        ("Positive review: Anna at the desk", "positive"),
        ("Positive review: The view\n\nNegative review: Anna was rude", "negative"),
    ],
)
def test_person_is_praised_where_he_was_liked(text: str, sentiment: str, stars: int) -> None:
    """Under "Negative review" of five stars a mere name was praise."""
    (anna,) = _RULES.label(text, stars).technicians
    assert sentiment == anna.sentiment


def test_heading_is_no_opinion() -> None:
    bare = _RULES.label("It is by the harbour", 3).words
    assert bare == _RULES.label("Negative review: It is by the harbour", 3).words


def test_sentence_is_quoted_without_its_heading() -> None:
    reading = _RULES.read(
        "Positive review: The breakfast was lovely.\n\nNegative review: Stairs", 4
    )
    assert ["The breakfast was lovely.", "Stairs"] == [s.text for s in sentences(reading)]


def test_complaint_is_quoted_and_praise_of_its_half_alone() -> None:
    text = "Positive review: The breakfast was lovely.\n\nNegative review: The parking was terrible and cost too much."
    review = Review(
        id="a",
        author="A",
        rating=5,
        date=datetime.date(2026, 1, 1),
        text=text,
        source="booking",
        verified=True,
    )
    evidence = Evidence(_RULES)
    quotations = [
        evidence.quotation(review, aspect, sentiment, "")
        for aspect in ("breakfast", "parking")
        for sentiment in ("positive", "negative")
    ]
    assert [
        "The breakfast was lovely.",
        None,
        None,
        "The parking was terrible and cost too much.",
    ] == [quotation and quotation.text for quotation in quotations]


def test_problem_that_was_not_liked_counts_in_a_review_of_five_stars() -> None:
    text = "Positive review: The breakfast\n\nNegative review: The receptionist was rude to us."
    assert ["rude-staff"] == [problem.id for problem in _RULES.label(text, 5).problems]
    assert () == _RULES.label("The breakfast. The receptionist was rude to us.", 5).problems


def test_language_is_that_of_the_text_and_not_of_its_heading() -> None:
    text = "Positive review: Sehr nett\n\nNegative review: Das Zimmer war leider sehr laut und kalt"
    assert "de" == _RULES.label(text, 3).language
