import pytest

from reviewsd.analysis.lexicon import lexicon_of, score


def _score(text: str) -> float:
    lexicon = lexicon_of("en")
    words = lexicon.tokenise(text).words
    known = lexicon.valences
    return score([lexicon.valence(words, at, 0) for at, word in enumerate(words) if word in known])


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("bad", "good"),
        ("good", "very good"),
        ("very bad", "bad"),
        ("not good", "good"),
        ("a bit rude", "friendly"),
        ("really rude", "a bit rude"),
        ("too good", "good"),
    ],
)
def test_order_of_scores(less: str, more: str) -> None:
    assert _score(less) < _score(more)


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("not bad", 1),
        ("not good", -1),
        ("never once rude", 1),
        ("couldn't be happier, great people", 1),
        ("not only friendly", 1),
        ("no, great", 1),  # a comma ends the reach of a negation
        ("hardly professional", -1),
        ("the toilet was leaking", 0),  # why they came, not how they were
        ("", 0),
    ],
)
def test_sign_of_scores(text: str, sign: int) -> None:
    value = _score(text)
    assert (value > 0) - (value < 0) == sign


def test_scores_stay_within_one() -> None:
    assert 0.9 < _score("great " * 500) <= 1
    assert -1 <= _score("awful " * 500) < -0.9
