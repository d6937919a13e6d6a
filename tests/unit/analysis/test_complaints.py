"""Phrases that complain, and what they hide."""

import pytest

from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings
from reviewsd.domain.reviews import Business


def _opinions(text: str, language: str = "en", *, stars: int = 5) -> list[tuple[str, str]]:
    rules = Rules(Business(name="B", language=language), InsightSettings(language=language))
    return [(aspect.id, aspect.sentiment) for aspect in rules.label(text, stars).aspects]


@pytest.mark.parametrize(
    ("text", "aspect"),
    [
        ("Best bread in town. Slowest counter too. Will be back.", "response_time"),
        ("Best bread in town. The line never moves. Will be back.", "response_time"),
        ("Lovely man. They came an hour after they'd said. Hedge is perfect.", "punctuality"),
        ("Lovely man. He's always running late. Hedge is perfect.", "punctuality"),
        ("Lovely woman. She's booked solid until June. Hair is perfect.", "scheduling"),
        ("Lovely woman. My appointment was pushed back. Hair is perfect.", "scheduling"),
        ("Great pizza. A bit pricey. Will be back.", "pricing"),
    ],
)
def test_complaint_counts_in_a_review_of_three_stars_only(text: str, aspect: str) -> None:
    """In a review of five stars it is mostly about the weather or the old roof (decision 450)."""
    assert (aspect, "negative") in _opinions(text, stars=3)
    assert (aspect, "negative") not in _opinions(text)


@pytest.mark.parametrize(
    "text",
    [
        "Tolle Farbe. Angefangen hat sie 40 Minuten später als ausgemacht. Immer wieder!",
        "Tolle Farbe. Pünktlichkeit ist hier ein Fremdwort. Immer wieder!",
        "Tolle Farbe. Man sitzt eine halbe Stunde im Wartebereich. Immer wieder!",
    ],
)
def test_german_complaint_counts_in_a_review_of_three_stars_only(text: str) -> None:
    assert ("punctuality", "negative") in _opinions(text, "de", stars=3)
    assert ("punctuality", "negative") not in _opinions(text, "de")


def test_complaint_that_is_negated_is_praise() -> None:
    assert ("pricing", "positive") in _opinions("Great pizza and not at all pricey.")


def test_complaint_after_a_noun_of_contrast_counts_in_a_review_of_five_stars() -> None:
    text = "Lovely place. Only gripe is the dirty bathroom. Will be back."
    assert ("cleanliness", "negative") in _opinions(text)


def test_praise_within_a_longer_complaint_is_a_part_of_it() -> None:
    """ "Back within a week" is no praise of a leak."""
    rules = Rules(Business(name="B"), InsightSettings())
    labels = rules.label("The leak came back within a week.", 2)
    assert [("work_quality", "negative")] == [(a.id, a.sentiment) for a in labels.aspects]
