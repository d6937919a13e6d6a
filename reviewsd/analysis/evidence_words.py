"""The words that make a statement certain, of ``data/evidence.txt`` (insights.md 10, 1 and 3)."""

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from reviewsd.analysis.aspects import ASPECTS
from reviewsd.analysis.wordlists import data_lines
from reviewsd.api.spelling import without_accents

_BAR: Final = "|"
_STEM: Final = "*"


class WordSet:
    """A set of words and of beginnings of words, compared without accents.

    Args:
        words: The words; one that ends in ``*`` is a beginning.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        plain = [without_accents(word) for word in words]
        self._words = frozenset(word for word in plain if not word.endswith(_STEM))
        self._stems = tuple(word[:-1] for word in plain if word.endswith(_STEM))

    def __len__(self) -> int:
        return len(self._words) + len(self._stems)

    def __contains__(self, word: str) -> bool:
        plain = without_accents(word)
        return plain in self._words or plain.startswith(self._stems)

    def isdisjoint(self, words: Collection[str]) -> bool:
        """Return whether none of the words is in the set."""
        if not self._words.isdisjoint(words):
            return False
        return not any(word in self for word in words if self._stems or not word.isascii())


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceWords:
    """The lists of one language; a language without lists has empty ones."""

    alone: Mapping[str, WordSet]
    """Words that may be a wording alone, by aspect."""
    named: Mapping[str, WordSet]
    """All words that say something about an aspect, by aspect."""
    vague: WordSet
    """Words that say less of an aspect than others do."""
    opens: WordSet
    """Words that tie a sentence to the one before it."""
    refers: WordSet
    """Words that refer to a person or a thing in another sentence."""
    weakens: WordSet
    """Words that no quoted praise has."""
    compares: WordSet
    """Words of sentences that compare with other businesses or years."""
    conditions: WordSet
    reported: WordSet
    """Words before hearsay, promises and fears."""
    feared: WordSet
    """Words before what never happened."""
    customers: WordSet
    """Words before what customers did themselves."""
    solved: WordSet
    """Words of what a business makes good."""

    def names(self, aspect: str | None, words: Sequence[str]) -> bool:
        """Return whether a reader takes words as saying something about an aspect, or any.

        Args:
            aspect: An id; those of the owner have no list, so all their words do. None is any.
            words: Tokens.
        """
        lists = _of(self.named, aspect)
        return not lists or not all(word_set.isdisjoint(words) for word_set in lists)

    def is_answer(self, aspect: str | None, words: Sequence[str]) -> bool:
        """Return whether words answer what customers say about an aspect; the arguments are those of ``names``."""
        if not self.weakens.isdisjoint(words):
            return False
        return self.stand_alone(aspect, words) or (len(words) > 1 and self.names(aspect, words))

    def stand_alone(self, aspect: str | None, words: Sequence[str]) -> bool:
        """Return whether words say something about an aspect without further words."""
        lists = _of(self.alone, aspect)
        return not lists or any("_".join(words) in word_set for word_set in lists)


def _of(lists: Mapping[str, WordSet], aspect: str | None) -> list[WordSet]:
    """Return the list of an aspect, if any, or those of all aspects."""
    return [words for name, words in lists.items() if aspect in (None, name)]


@functools.cache
def evidence_words(language: str) -> EvidenceWords:
    """Return the words of a language (ISO 639)."""
    lists = _languages().get(language, {})
    aspects = {name: lists[name] for name in ASPECTS if name in lists}
    list_names = (
        "vague",
        "opens",
        "refers",
        "weakens",
        "compares",
        "reported",
        "feared",
        "customers",
        "solved",
    )
    return EvidenceWords(
        alone={name: WordSet(text.partition(_BAR)[0].split()) for name, text in aspects.items()},
        named={name: WordSet(text.replace(_BAR, "").split()) for name, text in aspects.items()},
        conditions=WordSet(lists.get("if", "").split()),
        **{name: WordSet(lists.get(name, "").split()) for name in list_names},
    )


@functools.cache
def _languages() -> dict[str, dict[str, str]]:
    languages: dict[str, dict[str, str]] = {}
    lists: dict[str, str] = {}
    for line in data_lines("evidence.txt"):
        if line.startswith("["):
            lists = languages[line.strip("[]")] = {}
        else:
            name, _, words = line.partition(": ")
            lists[name] = words
    return languages
