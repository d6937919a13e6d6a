"""Recognizes the configured names of people and places (insights.md 3 and 5).

Many names are also words ("Mark", "Will", "Grace", "Bath"). These count only with a capital letter
that is not due to the start of a sentence.
"""

from collections.abc import Sequence
from typing import Final

from reviewsd.analysis.text import ENDS, Tokens
from reviewsd.analysis.wordlists import word_set

_WORDS: Final = word_set("names")
_OPENING: Final = word_set("opening-names")
"""Names that often begin a sentence as words."""
_ACTS: Final = word_set("acts")


_AROUND: Final = 3  # tokens on each side that show whether the text is in capitals


def is_name(tokens: Tokens, start: int, end: int) -> bool:
    """Return whether the words of a configured name are spelled as a name.

    Args:
        tokens: The text.
        start: The first token of the name.
        end: The token after the name.
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
    next_word = tokens.words[end] if end < len(tokens.words) else ""
    return word not in _OPENING or (word != "bill" and next_word in _ACTS)


def _begins_sentence(words: Sequence[str], at: int) -> bool:
    return at == 0 or words[at - 1] in ENDS
