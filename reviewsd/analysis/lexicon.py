"""The words of one language, and the valences of words and clauses, after VADER (insights.md 4, 9 and 11).

Hutto, C.J. and Gilbert, E.E. (2014): VADER: A Parsimonious Rule-based Model for Sentiment Analysis
of Social Media Text. Its rules for negation and boosters are used, those for capitals and emoticons
are not.
"""

import functools
import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from reviewsd.analysis.language_data import LanguageData, load
from reviewsd.analysis.patterns import PatternMatcher
from reviewsd.analysis.spelling import Spelling
from reviewsd.analysis.text import Grammar, Tokens, in_sentence, tokenise, words_of

WINDOW: Final = 3  # words before an opinion word that can negate or boost it

_BOOST: Final = 0.293  # VADER's B_INCR
_FADE: Final = (1.0, 0.95, 0.9)  # factor of a booster by its distance
_NEGATED: Final = -0.74  # VADER's N_SCALAR
_NOT_BAD: Final = -0.4  # "not bad" is not as good as "good"
_SQUASH: Final = 15.0  # VADER's alpha: a sum of 15 ** 0.5 makes 0.71


class Lexicon:
    """The words of one language; without its file it has none.

    Args:
        language: The code of the language (ISO 639).
        data: The content of its file.
    """

    def __init__(self, language: str, data: LanguageData) -> None:
        self.language = language
        self.is_known = bool(data.patterns)
        """Whether the language has a file."""
        self.endings = data.endings
        self.valences = data.valences
        lists = {name: frozenset(words) for name, words in data.words.items()}
        none = frozenset[str]()
        self.negations = lists.get("negations", none)
        self._alternatives = lists.get("alternatives", none)
        self.leads = self.negations | lists.get("leads", none)
        """Words that a phrase may begin with before what matched."""
        numbers = lists.get("numbers", none)
        self.never_first = lists.get("never-first", none)
        """Words that no wording begins with."""
        self.never_last = lists.get("never-last", none) | numbers
        """Words that no wording ends with."""
        self.empty_words = self.never_first | self.never_last | lists.get("units", none)
        """Words that say nothing about an aspect: "in four days"."""
        self.telling = lists.get("telling", none)
        """Phrases of such words that say something all the same: "on the hour", each with "_" between its words."""
        contrasts = lists.get("contrasts", none)
        self.separators = contrasts | {","}
        """Tokens that are in no wording."""
        self.never_alone = self.empty_words | self.separators | lists.get("never-alone", none)
        """Words that are no wording alone, such as an adjective in the form before a noun: "nettes"."""
        self.never_alone |= _inflected(self.valences, lists.get("attributive", none))
        self.oblique = _inflected(self.valences, lists.get("oblique", none))
        """Opinion words in the form of another case, with which no wording begins: "netten Service"."""
        self.third_person = lists.get("third-person", none)
        self.comparing = lists.get("comparing", none)
        self.repairing = lists.get("repairing", none)
        self.grammar = Grammar(
            abbreviations=lists.get("abbreviations", none),
            contrasts=contrasts,
            no_contrast_after={word: lists.get(f"no-{word}-after", none) for word in contrasts},
            joiners=lists.get("joiners", none),
            pronouns=lists.get("pronouns", none),
            after_comma=lists.get("after-comma", none),
            finite=lists.get("finite", none),
        )
        self._excused = lists.get("excused", none)
        self._excuses = lists.get("excuses", none)
        self._never = lists.get("never", none)
        self._such = lists.get("such", none)
        self._boosters = dict.fromkeys(data.words.get("boosters", ()), _BOOST)
        self._boosters |= dict.fromkeys(data.words.get("dampeners", ()), -_BOOST)
        self._excess = lists.get("excess", none)
        self._modifiers = self.negations | self._boosters.keys() | self._excess
        self.function_words = self._modifiers | numbers
        """Negations, boosters and numbers."""
        features = lists.get("features", none)
        self._elides = "elisions" in features
        self._matcher = PatternMatcher(data)
        for pattern, sense in data.patterns:
            self._matcher.add(pattern, sense)
        self._spelling: Spelling | None = None
        if "accents" in features or not data.patterns:
            vocabulary = self._matcher.vocabulary(self.valences)
            self._spelling = Spelling(
                itertools.chain(*data.words.values(), self.valences, vocabulary),
                lists.get("distinct", none),
                lists.get("compounds", none),
                data.words.get("transliterations", ()),
            )

    def matcher(self) -> PatternMatcher:
        """Return a matcher of the patterns of the language, to which more may be added."""
        return self._matcher.copy()

    def spelling(self) -> Spelling | None:
        """Return the spelling of the language, to which words may be added; None if it has no accents."""
        return None if self._spelling is None else self._spelling.copy()

    def tokenise(self, text: str) -> Tokens:
        """Split a text into tokens."""
        return tokenise(text, elides=self._elides)

    def words_of(self, text: str) -> list[str]:
        """Return the words of a text without separators."""
        return words_of(text, elides=self._elides)

    def negated(self, words: Sequence[str], at: int, start: int, end: int = 0) -> bool:
        """Return whether one of the three words before token ``at`` negates it, after any comma.

        Beside "or" six words count, and commas do not: "aren't competent, friendly or helpful". A negation does not
        negate another one: "no fuss no upselling", "non ... per niente". "Never had such good food" is no negation.

        Args:
            words: The tokens of the text.
            at: The first token of what may be negated.
            start: The first token of the clause.
            end: The token after what may be negated; 0 if it is one token.
        """
        if words[at] in self.negations:
            return False
        first = at - 2 * WINDOW
        first = first if first > start else start  # noqa: FURB136  max() takes three times as long
        if self.negations.isdisjoint(words[first:at]):
            return False
        is_listed = not self._alternatives.isdisjoint(words[at - 1 : at + 2])
        if not is_listed:
            first = max(first, at - WINDOW)
        for back in range(at - 1, first - 1, -1):
            if words[back] == "," and not is_listed:
                return False
            if words[back] in self.negations:
                is_such = words[back] in self._never and not self._such.isdisjoint(
                    words[back + 1 : end or at]
                )
                if not is_such and not self._is_excused(words, back):
                    return True
        return False

    def _is_excused(self, words: Sequence[str], at: int) -> bool:
        """Return whether a negation increases the praise: "couldn't be happier", "not only"."""
        return words[at] in self._excused and not self._excuses.isdisjoint(
            in_sentence(words[at + 1 : at + 5])
        )

    def valence(self, words: Sequence[str], at: int, start: int) -> float:
        """Return the valence of the opinion word at a token, with negation and boosters applied.

        Args:
            words: The tokens of the text.
            at: The token.
            start: The first token of its clause.
        """
        valence = self.valences[words[at]]
        first = at - WINDOW
        before = words[first if first > start else start : at]  # noqa: FURB136
        if self._modifiers.isdisjoint(before):
            return valence
        sign = 1.0 if valence > 0 else -1.0
        if before[-1] in self._excess and valence > 0:
            return -valence / 2
        for word, fade in zip(reversed(before), _FADE, strict=False):
            if word in self._boosters:
                valence += sign * self._boosters[word] * fade
        if self.negated(words, at, start):
            valence *= _NEGATED if sign > 0 else _NOT_BAD
        return valence


@functools.lru_cache(maxsize=16)  # of the languages without a file, each is as small as the next
def lexicon_of(language: str) -> Lexicon:
    """Return the lexicon of a language (ISO 639)."""
    return Lexicon(language, load(language))


def _inflected(words: Collection[str], endings: Iterable[str]) -> frozenset[str]:
    """Return the words that are another one with one of these endings."""
    return frozenset(
        word
        for ending in endings
        for word in words
        if word.endswith(ending) and word.removesuffix(ending) in words
    )


def score(valences: Iterable[float]) -> float:
    """Return the sentiment of the opinions of a clause, -1 to 1."""
    total = sum(valences)
    return total / math.sqrt(total * total + _SQUASH)
