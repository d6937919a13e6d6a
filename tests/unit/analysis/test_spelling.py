"""Words as customers spell them."""

import pytest

from reviewsd.analysis.lexicon import lexicon_of
from reviewsd.analysis.spelling import Spelling
from reviewsd.api.spelling import without_accents

_GERMAN = Spelling(
    ("p\u00fcnktlich", "preis", "sch\u00f6n", "gro\u00df", "service", "gabs"),
    distinct=("schon",),
    compounds=("preis", "service"),
    transliterations=("\u00e4=ae", "\u00f6=oe", "\u00fc=ue"),
)


@pytest.mark.parametrize(
    ("spelled", "word"),
    [
        ("p\u00fcnktlich", "p\u00fcnktlich"),
        ("punktlich", "p\u00fcnktlich"),
        ("puenktlich", "p\u00fcnktlich"),
        ("gross", "gro\u00df"),
        ("pr\u00e9is", "preis"),
        ("gab's", "gabs"),
        ("zimmerpreis", "preis"),
        ("fr\u00fchst\u00fccksservice", "service"),
        ("schon", "schon"),  # a word of its own, and not "sch\u00f6n"
        ("unbekannt", "unbekannt"),
        ("einpreis", "preis"),
        ("apreis", "apreis"),  # too short for a compound
        ("x" * 50 + "preis", "x" * 50 + "preis"),
        ("", ""),
    ],
)
def test_dictionary_word(spelled: str, word: str) -> None:
    assert word == _GERMAN[spelled]


def test_added_word_is_no_compound() -> None:
    spelling = _GERMAN.copy()
    spelling.add(["rosenpreis"])
    assert ("rosenpreis", "preis") == (spelling["rosenpreis"], _GERMAN["rosenpreis"])


def test_accents_are_removed() -> None:
    assert "aeoeuss" == without_accents("\u00e6\u0153\u00fc\u00df")


@pytest.mark.parametrize(
    ("language", "spelled", "word"),
    [
        ("de", "grosse", "gro\u00dfe"),
        ("es", "comodo", "c\u00f3modo"),
        ("es", "engano", "enga\u00f1o"),
        ("fr", "telephone", "t\u00e9l\u00e9phone"),
        ("fr", "repare", "r\u00e9par\u00e9"),
        ("pt", "economico", "econ\u00f3mico"),
    ],
)
def test_first_word_of_list_counts_without_accents(language: str, spelled: str, word: str) -> None:
    """In any process; once the order of a set decided between "große" and "größe"."""
    spelling = lexicon_of(language).spelling()
    assert spelling is not None
    assert spelling[spelled] == word
