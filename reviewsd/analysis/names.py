"""Names of people and places: only those that were given, found as names (insights.md 3 and 5).

Many names are words as well ("Mark", "Will", "Grace", "Bath"). Such a one counts only where it is
written as a name: with a capital letter that the start of a sentence does not explain.
"""

from collections.abc import Sequence
from typing import Final

from reviewsd.analysis.text import ENDS, Tokens
from reviewsd.analysis.wordlists import word_set

_WORDS: Final = word_set("names")
_OPENING: Final = word_set("opening-names")
"""Those that begin sentences where they are no names."""
_ACTS: Final = word_set("acts")


_AROUND: Final = 3  # tokens that tell whether a text is written in capitals


def is_name(tokens: Tokens, start: int, end: int) -> bool:
    """Whether the tokens from ``start`` to ``end`` (exclusive) are written as a name.

    They are the words of a name that was given.
    """
    if end - start > 1:
        return True
    word = tokens.words[start].removesuffix("'s")
    if word not in _WORDS:
        return True
    text = tokens.text
    at = tokens.edges[2 * start]
    around = tokens.cut(max(0, start - _AROUND), min(len(tokens.words), end + _AROUND))
    if not text[at].isupper() or around.isupper():
        return False
    if not _begins_sentence(tokens.words, start):
        return True
    following = tokens.words[end] if end < len(tokens.words) else ""
    return word not in _OPENING or (word != "bill" and following in _ACTS)


def _begins_sentence(words: Sequence[str], at: int) -> bool:
    return at == 0 or words[at - 1] in ENDS
