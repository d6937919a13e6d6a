"""Words as customers spell them."""

import pytest

from reviewsd.analysis.spelling import Spelling, without_accents

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
