import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.analysis.lexicon import lexicon_of
from reviewsd.analysis.text import clauses, fold, sentence_spans, tokenise


def _clauses(text: str) -> list[str]:
    tokens = tokenise(text)
    return [
        tokens.cut(clause.start, clause.end)
        for clause in clauses(tokens.words, lexicon_of("en").grammar)
    ]


def sentences(text: str, language: str = "en") -> list[str]:
    abbreviations = lexicon_of(language).grammar.abbreviations
    return [text[begin:end] for begin, end in sentence_spans(tokenise(text), abbreviations)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Didn\u2019t work", ["didn't", "work"]),
        ("$1,200.50 at 8:30am", ["$1,200.50", "at", "8:30", "am"]),
        ("45\u20ac, 1.200 \u20ac \u20ac50", ["45\u20ac", ",", "1.200 \u20ac", "\u20ac50"]),
        ("same-day a/c", ["same", "day", "a", "c"]),
        ("Good... bad", ["good", ".", ".", ".", "bad"]),
        ("so - no", ["so", "-", "no"]),
        ("www.acme.com", ["www", ".", "acme", "com"]),
        ("good food.The room", ["good", "food", ".", "the", "room"]),
        ("Great!!Really", ["great", "!", "really"]),
        ("\u0130stanbul", ["\u0130stanbul"]),  # its lower case has two characters
        ("\U0001f600\U0001f600", []),
    ],
)
def test_tokens(text: str, words: list[str]) -> None:
    assert tokenise(text).words == words


@given(st.text(st.sampled_from("aBdr 059'.,:;!?()$-_@~\t\n\x1c"), max_size=60))
def test_ascii_text_has_the_same_tokens_behind_an_accent(text: str) -> None:
    assert tokenise(text).words == tokenise(f"\u00e9,{text}").words[2:]


def test_apostrophe_ends_a_word_where_the_language_elides() -> None:
    text = "L'accueil, c'est 'super', un po' d\u2019attente"
    words = ["l'", "accueil", ",", "c'", "est", "super", ",", "un", "po", "d'", "attente"]
    assert words == tokenise(text, elides=True).words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("On time. Clean!", ["On time", "Clean"]),
        ("Great work, but they were late.", ["Great work,", "but they were late"]),
        ("Late, rude and dirty", ["Late, rude and dirty"]),
        ("He came, and left", ["He came", "and left"]),
        ("He came, he left", ["He came", "he left"]),
        ("Nothing but good things", ["Nothing but good things"]),
        ("It took a while to fix", ["It took a while to fix"]),
        ("Fast; cheap: good \u2013 yes", ["Fast", "cheap", "good", "yes"]),
        ("Fast -- cheap --- good", ["Fast", "cheap", "good"]),
        ("Kind although slow", ["Kind", "although slow"]),
        ("Dr. Kim was late", ["Dr. Kim was late"]),
        ("", []),
        ("...", []),
        (
            "The food was cold and the bill was a shock",
            ["The food was cold", "and the bill was a shock"],
        ),
        ("Grace was sweet, Luca wasn't", ["Grace was sweet", "Luca wasn't"]),
        ("Stan and his team were prompt", ["Stan and his team were prompt"]),
        ("It was clean and quiet", ["It was clean and quiet"]),
    ],
)
def test_clauses(text: str, expected: list[str]) -> None:
    assert _clauses(text) == expected


def test_a_contrast_word_marks_all_clauses_of_its_sentence() -> None:
    result = clauses(tokenise("Nice, but late. Clean.").words, lexicon_of("en").grammar)
    assert [(clause.contrasted, clause.sentence) for clause in result] == [
        (True, 0),
        (True, 0),
        (False, 1),
    ]


@given(st.text())
def test_folding_keeps_every_place(text: str) -> None:
    assert len(fold(text)) == len(text)


@given(st.text())
def test_every_token_is_where_it_says(text: str) -> None:
    tokens = tokenise(text)
    for at, word in enumerate(tokens.words):
        assert fold(tokens.cut(at, at + 1)) == word


@given(st.text(alphabet='ab .,;!?\n\u2019"()-'))
def test_sentences_are_verbatim_and_in_order(text: str) -> None:
    at = 0
    for sentence in sentences(text):
        at = text.index(sentence, at) + len(sentence)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I've banked with Acme C.U. many years."),
        ("en", "Ask for J. Hill at the desk."),
        ("en", "Dr. Hill is kind."),
        ("de", "Ich bin zufrieden mit der Behandlung bei Fr. Dr. Hill."),
        ("fr", "Mme. Hill est douce."),
    ],
)
def test_initial_or_abbreviation_of_the_language_ends_no_sentence(language: str, text: str) -> None:
    """A quotation on a page ended with "C.U.", one with "bei Fr."."""
    assert [text] == sentences(text, language)


def test_sentences_take_their_end_and_closing_marks_along() -> None:
    text = 'He said "done." We paid Mr. Lee. Wow!!'
    assert sentences(text) == ['He said "done."', "We paid Mr. Lee.", "Wow!!"]


def test_a_run_of_marks_is_read_once() -> None:
    assert sentences("Wow" + "!" * 200_000 + " Ok.") == ["Wow" + "!" * 200_000, "Ok."]
