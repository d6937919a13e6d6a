"""Decides whether a configured name is that person or place in a text (insights.md 10, 4 and 5).

Many names are also words ("Mark", "Will", "Bath"), and customers have husbands, dogs and streets with the
same names. A name counts unless the words around it show one of these.
"""

from enum import Enum
from typing import Final

from reviewsd.analysis.text import BARRIERS, ENDS, Tokens, in_sentence
from reviewsd.analysis.wordlists import word_set

_WORDS: Final = word_set("names")
_OPENING: Final = word_set("opening-names")
"""Names that often begin a sentence as words."""
_ACTS: Final = word_set("acts")
_ADVERBS: Final = word_set("act-adverbs")
_AFTER_WORD: Final = word_set("after-word")
"""Words after the first word of a sentence that show that it is no name: "Mark my words"."""
DETERMINERS: Final = word_set("determiners")
_JOINERS: Final = word_set("name-joiners") | {","}
TITLES: Final = tuple(sorted(word_set("titles")))
SURNAME_ARTICLES: Final = tuple(sorted(word_set("surname-articles")))
"""German articles that customers put before a surname: "der Demir"."""
NOUN_SURNAMES: Final = word_set("noun-surnames")
"""Surnames that an article does not show to be one: "der Koch"."""
_STAFF: Final = word_set("person-before") | set(TITLES)
_CALLED: Final = word_set("called")
_JOBS: Final = _STAFF - _CALLED
_PLACE_BEFORE: Final = word_set("place-before")
_PLACE_PARTS: Final = word_set("place-parts")
RELATIONS: Final = word_set("relations")
_DECEASED: Final = word_set("deceased")
_LINKING: Final = word_set("linking")
_AUTHOR: Final = tuple(tuple(phrase.split("_")) for phrase in sorted(word_set("author")))
_PLAIN: Final = word_set("function") | word_set("never-people") | _ACTS

_AROUND: Final = 3  # tokens on each side that show whether the text is in capitals
_BEFORE: Final = 5  # tokens that may introduce a name
_GLUE: Final = "-@_"  # between the parts of one word
_DASHES: Final = frozenset({"-", "\u2013", "\u2014", "\n"})
_BEGIN: Final = "^"  # begin of a sentence, in the list "author"


class Naming(Enum):
    """The meaning of a configured name in a text."""

    MEANT = "the person or the place"
    NAMESAKE = "another person with the name"
    WORD = "a word, or a part of another name"


def is_staff(tokens: Tokens, start: int) -> bool:
    """Return whether a job, a title or thanks are before a name, and it is no relative: "meine Frau"."""
    words = tokens.words
    if start > 1 and words[start - 1] in RELATIONS and words[start - 2] in DETERMINERS:
        return False
    return start > 0 and words[start - 1] in _JOBS


def person(tokens: Tokens, start: int, end: int, owner: str) -> Naming:
    """Return the meaning of the name of a person.

    Args:
        tokens: The text.
        start: The first token of the name.
        end: The token after the name.
        owner: The id of the person.
    """
    if end - start > 1:
        return Naming.MEANT
    word = _word(tokens, start)
    if word in _WORDS and not _spelled(tokens, start, end, _STAFF):
        return Naming.WORD
    if word in _WORDS and start and tokens.words[start - 1] in DETERMINERS:
        return Naming.WORD
    if _glued(tokens, start, end) or _continues(tokens, end, owner.split("-")):
        return Naming.WORD
    if not is_staff(tokens, start) and _is_namesake(tokens.words, start, end):
        return Naming.NAMESAKE
    return Naming.MEANT


def place(tokens: Tokens, start: int, end: int) -> Naming:
    """Return the meaning of the name of a place; the arguments are those of ``person``."""
    words = tokens.words
    if end < len(words) and words[end] in _PLACE_PARTS and _adjacent(tokens, end):
        return Naming.WORD
    if end - start > 1:
        return Naming.MEANT
    if _word(tokens, start) in _WORDS and not _spelled(tokens, start, end, _PLACE_BEFORE):
        return Naming.WORD
    located = start > 0 and words[start - 1] in _PLACE_BEFORE
    if _glued(tokens, start, end) or (not located and _continues(tokens, end, [])):
        return Naming.WORD
    return Naming.MEANT


def _word(tokens: Tokens, at: int) -> str:
    return tokens.words[at].removesuffix("'s")


def _spelled(tokens: Tokens, start: int, end: int, before: frozenset[str]) -> bool:
    """Return whether a name that is a word too is spelled as a name.

    Args:
        tokens: The text.
        start: The first token of the name.
        end: The token after the name.
        before: Words that introduce a name, whatever its spelling.
    """
    words = tokens.words
    previous = words[start - 1] if start else ""
    next_word = words[end] if end < len(words) else ""
    around = tokens.cut(max(0, start - _AROUND), min(len(words), end + _AROUND))
    if not tokens.text[tokens.edges[2 * start]].isupper():
        return previous in before and around.islower()
    opens = not start or previous in ENDS
    acts = _acts(words, end) or words[start].endswith("'s")
    if around.isupper() and len(around) > tokens.length(start, end):
        return previous in before or (acts and (opens or previous in _JOINERS))
    if not opens:
        return True
    if _word(tokens, start) in _OPENING:
        return acts or next_word == "," or (next_word in _JOINERS and _is_capital(tokens, end + 1))
    return next_word not in _AFTER_WORD or not _STAFF.isdisjoint(words[end + 1 : end + 2])


def _acts(words: list[str], at: int) -> bool:
    """Return whether a verb of a person is at a token, or after one adverb."""
    if at < len(words) and words[at] in _ADVERBS:
        at += 1
    return at < len(words) and words[at] in _ACTS


def _is_capital(tokens: Tokens, at: int) -> bool:
    return at < len(tokens.words) and tokens.text[tokens.edges[2 * at]].isupper()


def _adjacent(tokens: Tokens, at: int) -> bool:
    """Return whether one blank is before a token, and a capital at its beginning."""
    begin = tokens.edges[2 * at]
    return tokens.edges[2 * at - 1] == begin - 1 and tokens.text[begin].isupper()


def _glued(tokens: Tokens, start: int, end: int) -> bool:
    """Return whether a name is a part of a word: "Rose-colored", "mark@b.example"."""
    text = tokens.text
    begin, stop = tokens.edges[2 * start], tokens.edges[2 * end - 1]
    before, after = text[max(0, begin - 2) : begin], text[stop : stop + 2]
    return (before[-1:] in _GLUE and before[:1].isalnum() and len(before) > 1) or (
        after[:1] in _GLUE and after[1:].isalnum()
    )


def _continues(tokens: Tokens, end: int, parts: list[str]) -> bool:
    """Return whether the next word continues another name: "Rose Bowl", "Union Station".

    Args:
        tokens: The text.
        end: The token after the name.
        parts: The parts of the whole name, of which customers misspell the last.
    """
    words = tokens.words
    if end >= len(words) or not _adjacent(tokens, end) or words[end - 1].endswith("'s"):
        return False
    next_word = words[end]
    if next_word in _PLAIN or any(part.startswith(next_word[:3]) for part in parts):
        return False
    return not tokens.cut(end - 1, end + 1).isupper()


def _is_namesake(words: list[str], start: int, end: int) -> bool:
    """Return whether the words around a name introduce a relative, a pet or the author."""
    before = list(in_sentence(reversed(words[max(0, start - _BEFORE) : start])))[::-1]
    if len(before) < _BEFORE:
        before.insert(0, _BEGIN)
    last = before[-1]
    if last in RELATIONS or (last in _DECEASED and before[-2:-1] and before[-2] in DETERMINERS):
        return True
    if last in _JOINERS and len(before) > 2 and before[-3] in RELATIONS:  # noqa: PLR2004
        return True
    if any(tuple(before[-len(phrase) :]) == phrase for phrase in _AUTHOR):
        return True
    if last in _LINKING and len(before) > 1:
        last = before[-2]
    if last in _CALLED:
        rest = [word for word in before if word not in _CALLED and word not in _LINKING]
        return rest[-1].removesuffix("'s") in RELATIONS
    return _is_signature(words, start, end) or _is_explained(words, end)


def _is_signature(words: list[str], start: int, end: int) -> bool:
    """Return whether a name ends the text after a dash or a line break."""
    dashed = start > 0 and words[start - 1] in _DASHES
    return dashed and ENDS.issuperset(words[end:])


def _is_explained(words: list[str], end: int) -> bool:
    """Return whether an apposition follows: "Kofi, my brother, came"."""
    after = words[end : end + 4]
    return (
        after[:1] == [","]
        and after[1:2] != []
        and after[1] in DETERMINERS
        and after[2:3] != []
        and after[2] in RELATIONS
        and (len(after) < 4 or after[3] in BARRIERS or after[3] == ",")  # noqa: PLR2004
    )
