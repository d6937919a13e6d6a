"""Numbers in a text are times of day, durations or amounts by the words around them."""

import pytest

from reviewsd.analysis.lexicon import lexicon_of
from reviewsd.analysis.quantities import KINDS


def _values(text: str, language: str = "en") -> dict[str, float]:
    lexicon = lexicon_of(language)
    words = lexicon.tokenise(text).words
    return lexicon.quantities.values(words, 0, len(words), KINDS)[1]


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("at 9:30", 570),
        ("at half past nine", 570),
        ("at quarter to ten", 585),
        ("at ten to two", 110),
        ("at twenty past four", 260),
        ("by 3 pm", 180),
        ("at noon", 720),
        ("from 8 to 10", 600),
        ("from 8-10", 600),
        ("at 5.40 pm", 340),
    ],
)
def test_time_of_day_is_in_minutes(text: str, minutes: float) -> None:
    """A range counts by its end."""
    assert minutes == _values(text)["time"]


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("um halb zwölf", 690),
        ("um kurz vor zwölf", 716),
        ("um Viertel vor drei", 165),
        ("um 14 Uhr", 840),
        ("um zehn nach acht", 490),
    ],
)
def test_german_time_of_day_is_in_minutes(text: str, minutes: float) -> None:
    assert minutes == _values(text, "de")["time"]


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("20 minutes", 20),
        ("an hour", 60),
        ("half an hour", 30),
        ("two hours and a half", 150),
        ("two weeks", 20160),
    ],
)
def test_duration_is_in_minutes(text: str, minutes: float) -> None:
    assert minutes == _values(text)["duration"]


@pytest.mark.parametrize(
    ("text", "amount"), [("$1,200", 1200), ("80 bucks", 80), ("45 €", 45), ("£95.50", 95.5)]
)
def test_amount_is_in_its_currency(text: str, amount: float) -> None:
    assert {"amount": amount} == _values(text)


def test_number_before_a_unit_of_something_else_has_no_value() -> None:
    assert {} == _values("3 rooms")


def test_year_is_no_amount() -> None:
    assert "amount" not in _values("2019 and")
