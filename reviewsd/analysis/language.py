"""Detects English by stop words (insights.md 4, rule 8).

A text without evidence of another language counts as English, because telegram style has hardly any
stop words.
"""

import functools
from collections.abc import Sequence
from typing import Final

from reviewsd.analysis.wordlists import data_lines

ENGLISH: Final = "en"
OTHER: Final = "other"

_LEAST: Final = 2  # different stop words that are evidence of another language


@functools.cache
def stop_words() -> dict[str, frozenset[str]]:
    """Return the stop words by language, English first."""
    lists = {}
    for line in data_lines("languages.txt"):
        language, _, words = line.partition(": ")
        lists[language] = frozenset(words.split())
    return lists


def is_english(text: str, words: Sequence[str]) -> bool:
    """Return whether the rules for English apply to a text."""
    lists = stop_words()
    english = len(lists[ENGLISH].intersection(words))
    if english * 3 >= len(words) and english > _LEAST:
        return True  # the usual case, without a set of the words
    distinct = set(words)
    if english * 3 >= len(distinct) and english > _LEAST:
        return True
    if not text.isascii() and _foreign_script(text):
        return False
    if len(_foreign_words() & distinct) <= max(english, _LEAST - 1):
        return True
    foreign = [len(stops & distinct) for name, stops in lists.items() if name != ENGLISH]
    return max(foreign) <= max(english, _LEAST - 1)


@functools.cache
def _foreign_words() -> frozenset[str]:
    lists = stop_words()
    return frozenset().union(*(stops for name, stops in lists.items() if name != ENGLISH))


def _foreign_script(text: str) -> bool:
    """Return whether most letters are not Latin (U+0250 and up)."""
    letters = [c for c in text if c.isalpha()]
    return 2 * sum(c > "\u024f" for c in letters) > len(letters)
