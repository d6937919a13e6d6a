"""Finds the dictionary word of a word as customers spell it (insights.md 11).

Words are found without their accents and umlauts as well ("punktlich", "puenktlich"), with an apostrophe
("gab's" is "gabs"), and a compound by its last part ("Zimmerpreis" is a price).
"""

from collections.abc import Iterable, Iterator
from typing import Final

from reviewsd.api.spelling import without_accents

_MAX_CACHED: Final = 50_000  # bounds the memory of words that were looked up
_MAX_WORD: Final = 40  # characters
_MIN_PART: Final = 3  # letters before the last part of a compound


class Spelling(dict[str, str]):
    """Maps words to dictionary words, and all others to themselves.

    Args:
        words: The dictionary; of words that differ in accents alone, the first is meant without them.
        distinct: Words that are not other words without accents, such as "schon".
        compounds: Last parts of compounds.
        transliterations: Letters and their other spelling, such as ``ä=ae``.
    """

    def __init__(
        self,
        words: Iterable[str] = (),
        distinct: Iterable[str] = (),
        compounds: Iterable[str] = (),
        transliterations: Iterable[str] = (),
    ) -> None:
        super().__init__()
        self._compounds = frozenset(compounds)
        self._letters = str.maketrans(dict(pair.split("=") for pair in transliterations))
        self._cached = 0
        self.update((word, word) for word in distinct)
        self.add(words)

    def copy(self) -> "Spelling":
        """Return a spelling with the same words, to which more may be added."""
        copy = Spelling()
        copy.update(self)
        copy._compounds, copy._letters = self._compounds, self._letters
        return copy

    def add(self, words: Iterable[str]) -> None:
        """Add words to the dictionary; an exact spelling comes before one without accents."""
        added = tuple(words)
        self.update((word, word) for word in added)
        for word in added:
            for spelled in self._spellings(word):
                self.setdefault(spelled, word)

    def __missing__(self, word: str) -> str:
        if len(word) > _MAX_WORD:
            return word
        plain = without_accents(word)
        spelling = self.get(plain) or self.get(plain.replace("'", "")) or self._last_part(word)
        if self._cached < _MAX_CACHED:
            self._cached += 1
            self[word] = spelling
        return spelling

    def _spellings(self, word: str) -> Iterator[str]:
        if not word.isascii():
            yield without_accents(word)
            yield without_accents(word.translate(self._letters))

    def _last_part(self, word: str) -> str:
        """Return the last part of a compound, or the word if it is none."""
        if self._compounds:
            for at in range(_MIN_PART, len(word) - 1):  # the longest part first
                if word[at:] in self._compounds:
                    return self[word[at:]]
        return word
