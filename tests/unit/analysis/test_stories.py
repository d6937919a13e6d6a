"""Customers tell what happened (insights.md 4): ``stories.txt`` has the kinds of their sentences."""

from pathlib import Path

import pytest

from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings
from reviewsd.domain.reviews import Business

_RULES = Rules(Business(name="Acme", language="en"), InsightSettings(language="en"))


def _stories(signs: str) -> list[tuple[str, str, str]]:
    """Return aspect, sign and sentence of the lines with one of these signs."""
    lines = (Path(__file__).parent / "stories.txt").read_text("utf-8").splitlines()
    rows = [line.split(" ", 2) for line in lines if line and not line.startswith("#")]
    return [(aspect, sign, text) for aspect, sign, text in rows if sign in signs]


@pytest.mark.parametrize(("aspect", "sign", "text"), _stories("+-"))
def test_story_says_what_it_shows(aspect: str, sign: str, text: str) -> None:
    """The stars agree, so what is tested is that the words are known."""
    labels = _RULES.label(text, 5 if sign == "+" else 1)
    result = {item.id: item.sentiment for item in labels.aspects}
    assert result.get(aspect) == ("positive" if sign == "+" else "negative")


@pytest.mark.parametrize("stars", [2, 4])
@pytest.mark.parametrize(("aspect", "sign", "text"), _stories("0"))
def test_unrelated_story_is_not_about_work(aspect: str, sign: str, text: str, stars: int) -> None:
    result = {item.id for item in _RULES.label(text, stars).aspects}
    assert aspect not in result, sign
