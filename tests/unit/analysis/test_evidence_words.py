from pathlib import Path

import pytest

from reviewsd.analysis import analysing
from reviewsd.analysis.aspects import ASPECTS
from reviewsd.analysis.evidence_words import WordSet, evidence_words

_LANGUAGES = ("de", "en", "es", "fr", "it", "nl", "pt")


def test_languages_are_those_of_the_rules() -> None:
    files = Path(analysing.__file__).parent.glob("data/??.txt")
    assert list(_LANGUAGES) == sorted(file.stem for file in files)


@pytest.mark.parametrize("language", _LANGUAGES)
def test_each_language_has_all_lists(language: str) -> None:
    words = evidence_words(language)
    assert set(ASPECTS) == set(words.named)
    lists = (words.opens, words.weakens, words.compares, words.conditions, words.reported)
    assert all(len(known) > 0 for known in (*words.named.values(), *lists))


def test_words_are_found_by_their_beginning_without_accents() -> None:
    words = WordSet(("fréund*", "nett"))
    assert "freundlich" in words
    assert "fréundlich" in words
    assert "nett" in words
    assert "nettes" not in words
    assert "" not in WordSet()
    assert not words.isdisjoint(["un", "fréundlich"])
    assert not WordSet(("tres",)).isdisjoint(["un", "très"])
    assert words.isdisjoint(["nettes", "neu"])


@pytest.mark.parametrize(
    ("aspect", "text", "expected"),
    [
        ("friendliness", "friendly", True),
        ("pricing", "fair", False),
        ("pricing", "fair price", True),
        ("work_quality", "great care", True),
        ("work_quality", "care", False),
        ("communication", "explained", False),
        ("communication", "explained everything", True),
        ("punctuality", "on time", True),
        ("response_time", "on time", False),
        (None, "on time", True),
        ("parking", "anything", True),
    ],
)
def test_lone_dependent_word_is_no_answer(aspect: str | None, text: str, *, expected: bool) -> None:
    assert expected is evidence_words("en").is_answer(aspect, text.split())


@pytest.mark.parametrize(
    ("aspect", "text", "expected"),
    [
        ("response_time", "selben Tag da", True),
        ("response_time", "nächsten Tag", False),
        ("response_time", "nie erreichbar", False),  # no answer to "how quick are they?"
        ("communication", "nie erreichbar", False),
    ],
)
def test_german_wording_of_a_time_is_no_answer(aspect: str, text: str, *, expected: bool) -> None:
    assert expected is evidence_words("de").is_answer(aspect, text.lower().split())


@pytest.mark.parametrize("word", ["sowas", "danach", "außerdem", "dazu"])
def test_german_sentence_about_the_one_before_opens_with_it(word: str) -> None:
    """No quotation alone is "Sowas nenn ich Fachmann", for example."""
    assert word in evidence_words("de").opens


def test_language_without_lists_takes_all_words() -> None:
    words = evidence_words("pl")
    assert words.names("pricing", ["cena"])
    assert words.is_answer(None, ["cena"])


@pytest.mark.parametrize(
    ("language", "vague", "clear"),
    [
        ("en", "helpful", "friendly"),
        ("de", "hilfsbereit", "freundlich"),
        ("es", "atento", "amable"),
        ("fr", "serviable", "aimable"),
        ("it", "disponibile", "gentile"),
        ("nl", "behulpzaam", "vriendelijk"),
    ],
)
def test_helpful_says_less_of_kindness_than_friendly(language: str, vague: str, clear: str) -> None:
    words = evidence_words(language)
    assert all(words.stand_alone("friendliness", [word]) for word in (vague, clear))
    assert [True, False] == [word in words.vague for word in (vague, clear)]
