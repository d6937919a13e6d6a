"""The language of a review."""

import pytest

from reviewsd.analysis.language import Detector
from reviewsd.analysis.language_data import has_data
from reviewsd.domain.reviews import primary_language
from tests.support.detector import needs_detector


@needs_detector
@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Muy buen servicio y muy amables, llegaron a tiempo", "es"),
        ("Sehr freundlich und p\u00fcnktlich, gerne wieder", "de"),
        ("SEHR GUTER SERVICE", "de"),
        ("Tr\u00e8s bon travail, je recommande pour les prix", "fr"),
        ("Ottimo lavoro, sono stati molto gentili", "it"),
        (
            "\u041e\u0442\u043b\u0438\u0447\u043d\u0430\u044f \u0440\u0430\u0431\u043e\u0442\u0430",
            "ru",
        ),
        (
            "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643\u0645 \u062e\u062f\u0645\u0629 \u0645\u0645\u062a\u0627\u0632\u0629",
            "ar",
        ),
        ("Fast, clean, cheap", "en"),
        ("De Luca Plumbing fixed the leak, la familia is happy", "en"),
        (
            "Positive review: Sehr nett\n\nNegative review: Zimmer laut",
            "de",
        ),  # as the page marks it
        ("Very good\x07 and\x00 quick\ud800\ufdd0 people\x85", "en"),  # refused by the detector
        ("<html lang='de'>Very good and quick, friendly people</html>", "en"),
        ("\U0001f600" * 50, "en"),
        ("x" * 10_000, "en"),
        ("ok", "en"),
    ],
)
def test_language_of_text(text: str, language: str) -> None:
    assert language == Detector("en", has_data).language_of(text)


@pytest.mark.parametrize("text", ["Super", "Top!", "Alles gut", "ok"])
def test_language_of_short_text_is_that_of_the_business(text: str) -> None:
    """The words are those of several languages."""
    assert ["de", "en"] == [Detector(tag, has_data).language_of(text) for tag in ("de", "en")]


@needs_detector
@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Een kapster die luistert, en het kapsel is perfect.", "nl"),  # Afrikaans without the hint
        ("Personale cordiale e locale pulitissimo.", "it"),  # Latin
    ],
)
def test_language_without_rules_counts_if_no_hint_changes_it(text: str, language: str) -> None:
    assert language == Detector(language, has_data).language_of(text)
    assert "pl" == Detector(language, has_data).language_of(
        "Firma godna polecenia, przyjechali szybko i naprawili wszystko."
    )


def test_language_of_the_business_may_be_unknown_to_the_detector() -> None:
    assert "xyz" == Detector("xyz", has_data).language_of("123 456 789")


def test_language_is_that_of_the_business_without_the_detector() -> None:
    """Python 3.14 and Linux on ARM have no wheel of it."""
    assert "de" == Detector("de", has_data, None).language_of(
        "They were on time, and friendly to all of us."
    )


def test_region_of_a_tag_does_not_matter() -> None:
    assert "de" == primary_language("DE-at")
