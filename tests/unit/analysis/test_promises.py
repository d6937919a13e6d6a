"""What was promised is compared with what happened, where both are numbers (decision 545)."""

import pytest

from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings
from reviewsd.domain.reviews import Business


def _labels(text: str, language: str = "en", stars: int = 3) -> list[str]:
    rules = Rules(Business(name="B", language=language), InsightSettings(language=language))
    labels = rules.label(text, stars)
    problems = [problem.id for problem in labels.problems]
    return [f"{aspect.id} {aspect.sentiment}" for aspect in labels.aspects] + problems


@pytest.mark.parametrize(
    "text",
    [
        "He said 9, it was past eleven.",
        "Checked in at 2:00 for a 2:00. Got seen 3:15.",
        "They said between 8 and 12. Guy came at 3.",
        "We had an 11:00 appointment and weren't seen until 12:30.",
        "Window was 12-4. At 4:45 I called.",
        "They were to be here at seven and pulled in at half past eight.",
    ],
)
def test_later_time_than_promised_is_a_late_arrival(text: str) -> None:
    assert ["punctuality negative", "late-arrival"] == _labels(text)


@pytest.mark.parametrize(
    "text",
    [
        "Told me 20 minutes, took two hours.",
        "They said an hour, it took three.",
        "Job took nine days and not the four they told us.",
        "I waited on them seven weeks and it was said two.",
    ],
)
def test_longer_duration_than_promised_is_a_late_finish(text: str) -> None:
    assert ["punctuality negative", "late-finish"] == _labels(text)


@pytest.mark.parametrize(
    "text",
    [
        "Quoted 80, paid 140.",
        "The bill was $140 though they had said $90.",
        "He said it would be $80. It was $140.",
    ],
)
def test_higher_amount_than_promised_is_above_the_quote(text: str) -> None:
    assert ["pricing negative", "price-above-quote"] == _labels(text)


@pytest.mark.parametrize(
    ("text", "praise"),
    [
        ("My appointment was at 9 and I was seen at 9.", "punctuality positive"),
        ("He had me down for two hours and it was two hours.", "punctuality positive"),
        ("They quoted me $80 and I paid $80.", "pricing positive"),
        ("Quoted 2,300 for the steps and 2,300 is what I paid.", "pricing positive"),
    ],
)
def test_kept_promise_is_praise(text: str, praise: str) -> None:
    assert [praise] == _labels(text)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Um zehn sollte er da sein, kurz vor zwölf kam er.", "punctuality negative"),
        ("Termin um 14 Uhr. Um 14:50 wurde ich aufgerufen.", "punctuality negative"),
        ("Aus versprochenen 3 Tagen wurden 3 Wochen.", "punctuality negative"),
        ("Vereinbart waren 80 €, bezahlt habe ich 140 €.", "pricing negative"),
        ("Kostenvoranschlag 1.850, Rechnung 1.790.", "pricing positive"),
        ("Er wollte um acht kommen und stand um acht vor der Tür.", "punctuality positive"),
    ],
)
def test_german_promise_is_compared(text: str, label: str) -> None:
    assert label in _labels(text, "de")


def test_time_at_which_the_customer_came_is_not_compared() -> None:
    assert [] == _labels("Check in is from 3. We were there at 3.")


def test_numbers_of_different_kinds_are_not_compared() -> None:
    assert "punctuality negative" not in _labels("They said 3 rooms, took 4 hours.")


def test_complaint_by_numbers_contradicts_five_stars() -> None:
    text = "Pavers level, joints tight. You're told 8 and it's closer to 10:30. Lovely crew."
    assert "punctuality negative" in _labels(text, stars=5)
