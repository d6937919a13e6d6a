"""Which language a review is in (insights.md 4, rule 8).

English unless another language wins: "English if in doubt" the other way round would lose reviews in
telegram style, which have hardly any stop words.
"""

import functools
from collections.abc import Sequence
from typing import Final

from reviewsd.analysis.wordlists import data_lines

ENGLISH: Final = "en"
OTHER: Final = "other"

_LEAST: Final = 2  # different stop words of another language, before it can win


@functools.cache
def stop_words() -> dict[str, frozenset[str]]:
    """The stop words by language, English first; read once."""
    found = {}
    for line in data_lines("languages.txt"):
        language, _, words = line.partition(": ")
        found[language] = frozenset(words.split())
    return found


def is_english(text: str, words: Sequence[str]) -> bool:
    """Whether the rules for English may be applied to a text."""
    lists = stop_words()
    english = len(lists[ENGLISH].intersection(words))
    if english * 3 >= len(words) and english > _LEAST:
        return True  # told without a set of the words, as of most texts
    different = set(words)
    if english * 3 >= len(different) and english > _LEAST:
        return True
    if not text.isascii() and _foreign_script(text):
        return False
    if len(_foreign_words() & different) <= max(english, _LEAST - 1):
        return True
    others = [len(listed & different) for name, listed in lists.items() if name != ENGLISH]
    return max(others) <= max(english, _LEAST - 1)


@functools.cache
def _foreign_words() -> frozenset[str]:
    lists = stop_words()
    return frozenset().union(*(listed for name, listed in lists.items() if name != ENGLISH))


def _foreign_script(text: str) -> bool:
    """Whether most letters are beyond Latin (U+0250 and up)."""
    letters = [c for c in text if c.isalpha()]
    return 2 * sum(c > "\u024f" for c in letters) > len(letters)
