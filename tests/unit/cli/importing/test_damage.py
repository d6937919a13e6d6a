"""Texts that a wrong encoding has damaged are found, and good ones are not."""

import pytest

from reviewsctl.importing.damage import is_damaged

NAMES = ["Dvořák", "Łukasz", "Zöhrer", "Füßl", "François", "Peña", "Città è", "São João"]


@pytest.mark.parametrize("text", [*NAMES, "Kinder 👶👍", "„Sehr schön“, 5 €"])
@pytest.mark.parametrize("damaged", ["utf-8", "cp1252", "mac_roman", "ascii"])
@pytest.mark.parametrize("read", ["utf-8", "cp1252", "mac_roman"])
def test_text_in_a_wrong_encoding_is_damaged(text: str, damaged: str, read: str) -> None:
    """Whatever letters the encoding has not became question marks."""
    wrong = text.encode(damaged, "replace").decode(read, "replace")
    assert (wrong != text) is is_damaged(wrong, text)


@pytest.mark.parametrize(
    "text",
    [
        "Zukunft ZÃ¶hrer",
        "schön\nZÃ¶hrer",
        "FÃ¼ÃŸl",
        "Ã‰milie",
        "Itâ€™s",
        "J\N{REPLACEMENT CHARACTER}rg",
    ],
)
def test_damage_shows_without_the_right_text(text: str) -> None:
    assert is_damaged(text)


@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("Was?Ja, gut", ""),
        ("viel Spaß” à», NÃO, Ã la carte, 20Â", ""),
        ("Wirklich schön?", "Wirklich schön!"),
        ("Sehr gut, danke", "Sehr schön, danke"),
        ("Zoehrer", "Zöhrer"),
        ("Super", "Super 👍"),
        ("ZÃ¶hrer", "ZÃ¶hrer"),
        ("Zöhrer", "Z?hrer"),
        ("Zöhrer", "ZÃ¶hrer"),
        ("VOLTO AMANHÃ…", ""),
        ("Book at https://acme.example/book?ref=g", "Book with us"),
        ("Book at https://acme.example/book?ref=ü", "Book for two in the café"),
        ("Gut. Warum?Weil es passt", "Gut"),
        ("Sehr gut ZÃ¶hrer, wirklich", "Sehr gut ZÃ¶hrer"),
    ],
)
def test_other_texts_are_not_damaged(text: str, there: str) -> None:
    """An edit or a repair of letters is none."""
    assert not is_damaged(text, there)


def test_name_has_no_question_mark_before_a_letter() -> None:
    assert is_damaged("?ukasz", is_name=True)
    assert not is_damaged("Ann?", is_name=True)
