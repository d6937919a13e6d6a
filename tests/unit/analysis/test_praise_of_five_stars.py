"""Praise of five stars in words that others complain with is no complaint."""

import pytest

from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings
from reviewsd.domain.reviews import Business


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "They said 9 and arrived at 9. My second coat started at 11."),
        ("en", "Table for 4 at 7:30, seated at 7:30"),
        ("en", "Quoted me $50 per tire, paid $200 for four"),
        ("en", "They said 9, it was " + "9" * 400 + "."),
        ("en", "My appointment was moved to an earlier time, great!"),
        ("en", "The line moves like lightning, great staff"),
        ("en", "They are never cheap on quality."),
        ("de", "Pünktlichkeit ist hier kein Fremdwort"),
        ("de", "Warten musste ich nicht"),
        ("de", "5 Minuten im Wartezimmer und schon dran, top!"),
        ("de", "Ich war immer zu spät, sie waren geduldig"),
        ("de", "Kostenvoranschlag war 400, Rechnung 380"),
    ],
)
def test_praise_of_five_stars_is_no_complaint(language: str, text: str) -> None:
    rules = Rules(Business(name="B", language=language), InsightSettings(language=language))
    sentiments = [aspect.sentiment for aspect in rules.label(text, 5).aspects]
    assert "negative" not in sentiments
