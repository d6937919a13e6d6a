"""Finds the patterns of one language and the owner's words in a text (insights.md 4, rule 10, and 11)."""

import functools
from collections.abc import Hashable, Iterable, Iterator
from typing import Final, NamedTuple

from reviewsd.analysis.lexicon import Lexicon, lexicon_of
from reviewsd.analysis.patterns import BARRIER, EUROS, MONEY, NUMBER, OTHER_WORD, Match
from reviewsd.analysis.text import BARRIERS, Tokens

_MAX_KINDS: Final = 50_000  # bounds the memory of words in no pattern
_MAX_WORD: Final = 30  # characters
_PLURAL: Final = "n"
_CURRENCIES: Final = "$\u00a3\u20ac"  # before an amount


class OwnerPhrase(NamedTuple):
    """A name or phrase from the settings, with the payload of its matches."""

    text: str
    payload: Hashable
    has_plural: bool = False
    """Whether the last word is found in the plural as well."""
    is_person: bool = False
    """Whether ``{staff}`` in patterns matches the last word, as in "Grace was kind"."""


class LanguageMatcher:
    """Finds the patterns of a lexicon and the owner's words.

    Args:
        lexicon: The words of the language.
        owned: The owner's words, which are found in every language.
    """

    def __init__(self, lexicon: Lexicon, owned: Iterable[OwnerPhrase]) -> None:
        self.lexicon = lexicon
        self._patterns = lexicon.matcher()
        self._spelling = lexicon.spelling()
        people: dict[str, None] = {}
        for item in owned:
            for words in self._forms(item):
                if item.is_person:
                    people.update(dict.fromkeys(words[-1:]))
                if self._spelling is not None:
                    self._spelling.add(words)
                self._patterns.add_words(words, item.payload)
        self._kinds = _Kinds(self._patterns.vocabulary(lexicon.valences, people))
        self._kinds.update(dict.fromkeys(BARRIERS, BARRIER))

    def find(self, text: str) -> tuple[Tokens, list[Match]]:
        """Return the tokens of a text, spelled as in the dictionary, and all matches by start, shorter ones first."""
        tokens = self.lexicon.tokenise(text)
        if self._spelling is not None:
            tokens = tokens._replace(words=list(map(self._spelling.__getitem__, tokens.words)))
        return tokens, self._patterns.find(list(map(self._kinds.__getitem__, tokens.words)))

    def _forms(self, item: OwnerPhrase) -> Iterator[list[str]]:
        words = self.lexicon.words_of(item.text)
        yield words
        if item.has_plural and item.text[-1:].isalpha() and _PLURAL in self.lexicon.endings.lines:
            for form in self.lexicon.endings.forms(words[-1], _PLURAL):
                if form != words[-1]:
                    yield [*words[:-1], form]


class _Kinds(dict[str, int]):
    """Maps tokens to kinds, with a bounded cache of words in no pattern."""

    def __missing__(self, word: str) -> int:
        if word.isalpha():
            if len(self) < _MAX_KINDS and len(word) < _MAX_WORD:
                self[word] = OTHER_WORD
            return OTHER_WORD
        if word[0] in _CURRENCIES:
            return self[MONEY]
        if word[0].isdigit():
            return self[EUROS if word[-1] == EUROS else NUMBER]
        return self.get(word.removesuffix("'s"), OTHER_WORD)


@functools.lru_cache(maxsize=16)  # a matcher takes 0.1 s to build, most of it with the first texts
def matcher_of(language: str, owned: tuple[OwnerPhrase, ...]) -> LanguageMatcher:
    """Return the matcher of a language (ISO 639) and of the owner's words."""
    return LanguageMatcher(lexicon_of(language), owned)
