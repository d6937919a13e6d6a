"""Pages in another language than the reviews are warned of (data-model.md 5)."""

import json

import pytest

from reviewsd.analysis.language import LIBRARY
from reviewsd.domain.dataset import load
from reviewsd.offline.page_language import language_doubts
from tests.support.columns import review

pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no detector of languages is installed")

GERMAN = "Sehr freundlicher Service, die Reparatur war nach einer Stunde fertig. Nummer {}"
ENGLISH = "Very friendly service, and the repair was done within an hour. Number {}"
POLISH = "Bardzo miła obsługa, naprawa była gotowa po godzinie. Polecam każdemu. Numer {}"


def reasons(*texts: str, language: str | None = "en") -> list[str]:
    """Return the warnings about reviews with these texts."""
    reviews = [review(f"r{n}", text=text.format(n)) for n, text in enumerate(texts)]
    business = {"name": "B"} | ({} if language is None else {"language": language})
    dataset = load(json.dumps({"business": business, "reviews": reviews}).encode(), None)
    return [f"{warning.path}: {warning.reason}" for warning in language_doubts(dataset)]


@pytest.mark.parametrize("language", ["en", "en-GB", None])
def test_german_reviews_on_english_pages_are_warned_of(language: str | None) -> None:
    reason = '13 of 13 reviews are in German, and the pages in English; write "de" here'
    assert [f"$.business.language: {reason}"] == reasons(*[GERMAN] * 13, language=language)


def test_reviews_in_the_language_of_the_pages_have_no_warning() -> None:
    assert [] == reasons(*[GERMAN] * 13, language="de-AT")
    assert [] == reasons(*[ENGLISH] * 13)


@pytest.mark.parametrize("language", ["en_IE", "english"])
def test_language_that_is_no_tag_has_only_the_warning_of_that(language: str) -> None:
    assert [] == reasons(*[ENGLISH] * 13, *[GERMAN] * 99, language=language)


def test_three_quarters_of_the_texts_decide() -> None:
    assert 1 == len(reasons(*[GERMAN] * 6, *[ENGLISH] * 2, "", " ", "!!! :)", "10/10"))
    assert [] == reasons(*[GERMAN] * 5, *[ENGLISH] * 3)


def test_fewer_than_five_texts_have_no_warning() -> None:
    assert [] == reasons(*[GERMAN] * 4)
    assert 1 == len(reasons(*[GERMAN] * 5))


def test_language_that_pages_do_not_have_is_not_recommended() -> None:
    assert [] == reasons(*[POLISH] * 9)
    (reason,) = reasons(*[GERMAN] * 9, language="pl")
    assert "the pages in English" in reason


def test_only_the_newest_texts_are_read() -> None:
    assert "1,000 of 1,000 newest reviews" in reasons(*[GERMAN] * 1_001)[0]
