"""Valences of words and of clauses, after VADER (insights.md 4, rules 4 and 9).

Hutto, C.J. and Gilbert, E.E. (2014): VADER: A Parsimonious Rule-based Model for Sentiment Analysis
of Social Media Text. Its rules for negation and boosters are used, those for capitals and emoticons
are not.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from reviewsd.analysis.wordlists import data_lines, word_list, word_set

WINDOW: Final = 3  # words before an opinion word that can negate or boost it

_BOOST: Final = 0.293  # VADER's B_INCR
_FADE: Final = (1.0, 0.95, 0.9)  # factor of a booster by its distance
_NEGATED: Final = -0.74  # VADER's N_SCALAR
_NOT_BAD: Final = -0.4  # "not bad" is not as good as "good"
_SQUASH: Final = 15.0  # VADER's alpha: a sum of 15 ** 0.5 makes 0.71

NEGATIONS: Final = word_set("negations")
_EXCUSED: Final = word_set("excused")
_EXCUSES: Final = word_set("excuses")
_BOOSTERS: Final = dict.fromkeys(word_list("boosters"), _BOOST) | dict.fromkeys(
    word_list("dampeners"), -_BOOST
)


@functools.cache
def valences() -> Mapping[str, float]:
    """Return the opinion words with their valences, -4 to 4."""
    lexicon: dict[str, float] = {}
    for line in data_lines("opinion-words.txt"):
        word, _, valence = line.partition(" ")
        lexicon[word] = float(valence)
    for line in data_lines("own-words.txt"):
        number, _, words = line.partition(": ")
        lexicon.update(dict.fromkeys(words.split(), float(number)))
    return {word: valence for word, valence in lexicon.items() if valence}


class Opinion(Struct, frozen=True, gc=False):
    """The token of an opinion word, and its valence in context."""

    at: int
    valence: float


def opinions(
    words: Sequence[str], tokens: Sequence[tuple[int, float]], start: int
) -> list[Opinion]:
    """Return the opinions of a clause, with negation and boosters applied.

    Args:
        words: The tokens of the text.
        tokens: Opinion words of the clause by token, with the valence of the word alone.
        start: The first token of the clause.
    """
    return [Opinion(at, _in_context(words, at, value, start)) for at, value in tokens]


def score(parts: Sequence[Opinion]) -> float:
    """Return the sentiment of a clause, -1 to 1."""
    total = sum([opinion.valence for opinion in parts])
    return total / math.sqrt(total * total + _SQUASH)


def negated(words: Sequence[str], at: int, start: int) -> bool:
    """Return whether one of the three words before token ``at`` negates it; commas end the search."""
    first = at - WINDOW
    first = first if first > start else start  # noqa: FURB136  max() takes three times as long
    if NEGATIONS.isdisjoint(words[first:at]):
        return False
    for back in range(at - 1, first - 1, -1):
        if words[back] == ",":
            return False
        if words[back] in NEGATIONS and not _excused(words, back):
            return True
    return False


def _excused(words: Sequence[str], at: int) -> bool:
    """Return whether a negation increases the praise: "couldn't be happier", "not only"."""
    return words[at] in _EXCUSED and not _EXCUSES.isdisjoint(words[at + 1 : at + 5])


def _in_context(words: Sequence[str], at: int, valence: float, start: int) -> float:
    """Return the valence of an opinion word in its context."""
    first = at - WINDOW
    before = words[first if first > start else start : at]  # noqa: FURB136
    if _MODIFIERS.isdisjoint(before):
        return valence
    sign = 1.0 if valence > 0 else -1.0
    if before[-1] == "too" and valence > 0:
        return -valence / 2
    for word, fade in zip(reversed(before), _FADE, strict=False):
        if word in _BOOSTERS:
            valence += sign * _BOOSTERS[word] * fade
    if negated(words, at, start):
        valence *= _NEGATED if sign > 0 else _NOT_BAD
    return valence


_MODIFIERS: Final = NEGATIONS | _BOOSTERS.keys() | {"too"}
