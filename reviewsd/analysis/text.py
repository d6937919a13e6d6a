"""Splits a review's text into tokens, sentences and clauses (insights.md 4, rule 2).

Tokens keep their offsets, so that quotations are verbatim.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple, TypeGuard

from msgspec import Struct

from reviewsd.domain.halves import halves

# Possessive quantifiers keep the time linear in the text. Each branch begins with a character and not
# with a lookaround, so that it fails fast; words, the most frequent kind, come first.
_MARKS: Final = (
    r"|[.](?<!\bdr[.])(?<!\bmr[.])(?<!\bms[.])(?<!\bst[.])(?<!\bsr[.])(?<!\bhr[.])(?<!\bm[.])"  # "Dr. Lee"
    r"(?<!\bmrs[.])(?<!\bmme[.])(?<!\bsra[.])(?<!\bsig[.])(?<!\bdhr[.])"
    r"(?:(?!\w)|(?<=[^\W\d_]{3}[.])(?=[^\W\d_]{2})(?!(?:com|co|net|org|de|fr|es|it|nl|pt|uk)\b))"  # food.The room
    r"|[!?](?:(?!\w)|(?<=[^\W\d_]{2}[!?])(?=[^\W\d_]{2}))|[,;:()\u2013\u2014\u2026\n]"
    r"|[$\u00a3\u20ac]?\d++(?:[.,:]\d++)*+(?:[ \u00a0]?\u20ac)?+"  # 8:30, 1,200, $99.50, 45 euros
    r"|-(?:-++|(?<=\s-)(?=\s)))"
)
_TOKEN: Final = re.compile(r"([^\W\d_]++(?:'[^\W\d_]++)*+" + _MARKS)  # word, didn't
_ASCII_TOKEN: Final = re.compile(r"([a-z]++(?:'[a-z]++)*+" + _MARKS)  # the same, a quarter faster
_ELIDED_TOKEN: Final = re.compile(r"([^\W\d_]++(?:'(?=\w))?+" + _MARKS)  # l', accueil

ENDS: Final = frozenset(".!?\n\u2026")
BREAKS: Final = frozenset({";", ":", "\u2013", "\u2014", "-", "--", "---", "(", ")"})
BARRIERS: Final = ENDS | BREAKS
"""Tokens that end all patterns."""

_MAX_SUBJECT: Final = 3  # words
_BACK: Final = 12  # words in which a clause has its verb, without which it is a part of the subject
_NOWHERE: Final[frozenset[str]] = frozenset()
_CLOSERS: Final = frozenset("\"'\u2019\u201d)!?.")


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """The words of a language that show where clauses begin."""

    abbreviations: frozenset[str] = frozenset()
    """Words before a full stop within a sentence."""
    contrasts: frozenset[str] = frozenset()
    """Words that begin a clause, and mark all clauses of their sentence."""
    no_contrast_after: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Words after which a contrast word is none."""
    joiners: frozenset[str] = frozenset()
    """Words that begin a clause before a pronoun, as a comma does."""
    pronouns: frozenset[str] = frozenset()
    after_comma: frozenset[str] = frozenset()
    """Further words that begin a clause after a comma."""
    finite: frozenset[str] = frozenset()
    """Verbs that make a clause of the one to three words before them."""

    @cached_property
    def bounds(self) -> frozenset[str]:
        """All tokens that may be where a clause begins or ends."""
        return BARRIERS | self.joiners | self.contrasts | {","}


class Clause(Struct, frozen=True, gc=False):
    """A clause: tokens ``start`` to ``end`` (exclusive)."""

    start: int
    end: int
    contrasted: bool
    """Whether its sentence has a contrast word."""
    sentence: int
    """The index of its sentence, from 0."""


class Tokens(NamedTuple):
    """The tokens of a text."""

    text: str
    words: list[str]
    """Lower case, with straight apostrophes; separators are tokens as well."""
    edges: list[int]
    """Begin and end of each token, so twice as many as words."""

    def cut(self, start: int, end: int) -> str:
        """Return the text of the tokens ``start`` to ``end`` (exclusive), verbatim."""
        return self.text[self.edges[2 * start] : self.edges[2 * end - 1]]

    def length(self, start: int, end: int) -> int:
        """Return the length of ``cut``."""
        return self.edges[2 * end - 1] - self.edges[2 * start]


def fold(text: str) -> str:
    """Return the text in lower case, with straight apostrophes, without changing its length."""
    folded = text.lower()
    if len(folded) != len(text):  # such as U+0130, which becomes two characters
        folded = "".join(low if len(low := c.lower()) == 1 else c for c in text)
    return folded.replace("\u2019", "'")


def tokenise(text: str, *, elides: bool = False) -> Tokens:
    """Split a text into tokens.

    Args:
        text: The text.
        elides: Whether an apostrophe ends a word, as in French and Italian.
    """
    folded = fold(text)
    pattern = _ELIDED_TOKEN if elides else _ASCII_TOKEN if folded.isascii() else _TOKEN
    parts = pattern.split(folded)  # gaps and tokens alternate
    return Tokens(text, parts[1::2], list(itertools.accumulate(map(len, parts))))


def has_words(text: str | None) -> TypeGuard[str]:
    """Return whether a text has letters; "!!! :)" and "10/10" are as good as none."""
    return text is not None and any(map(str.isalpha, text))


def words_of(text: str, *, elides: bool = False) -> list[str]:
    """Return the words of a text without separators, to compare names and patterns."""
    words = tokenise(text, elides=elides).words
    return [word for word in words if word not in BARRIERS and word != ","]


def clauses(words: list[str], grammar: Grammar) -> list[Clause]:
    """Return the clauses of a token list, in order and without separators."""
    bounds_of_clauses = grammar.bounds
    abbreviations, contrasts, joiners = grammar.abbreviations, grammar.contrasts, grammar.joiners
    last = len(words) - 1
    result: list[Clause] = []
    sentence = 0
    start = 0
    bounds: list[tuple[int, int]] = []
    contrasted = False
    is_bound = map(bounds_of_clauses.__contains__, words)
    for at in (*itertools.compress(itertools.count(), is_bound), last + 1):
        word = words[at] if at <= last else "\n"
        if word in BARRIERS:
            if word == "." and words[at - 1] in abbreviations and 0 < at < last:
                continue
        elif not _begins_clause(words, at, start, grammar):
            continue
        if start < at:
            bounds.append((start, at))
        start = at + 1
        if word in ENDS:
            for first, end in bounds:
                result.append(Clause(first, end, contrasted, sentence))
            sentence += bool(bounds)
            bounds.clear()
            contrasted = False
        elif word in contrasts:
            contrasted = True
            start = at
        elif word in joiners:
            start = at
    return result


def in_sentence(words: Iterable[str]) -> Iterator[str]:
    """Return the words before the first token that ends a sentence."""
    return itertools.takewhile(lambda word: word not in ENDS, words)


def first_word(words: Sequence[str], clause: Clause, grammar: Grammar) -> str:
    """Return the first word of a clause, after one that joins or contrasts."""
    has_link = words[clause.start] in grammar.joiners or words[clause.start] in grammar.contrasts
    return words[min(clause.start + has_link, clause.end - 1)]


def _begins_clause(words: list[str], at: int, start: int, grammar: Grammar) -> bool:
    """Return whether a clause begins with the comma, joiner or contrast word at ``at``.

    Args:
        words: The tokens of the text.
        at: The token.
        start: The first token of the clause so far.
        grammar: The words of the language.
    """
    word = words[at]
    if word in grammar.contrasts:
        before = words[at - 1] if at else ""
        return before not in grammar.no_contrast_after.get(word, _NOWHERE)
    after = words[at + 1] if at + 1 < len(words) else ""
    if after in grammar.pronouns or (word == "," and after in grammar.after_comma):
        return True
    finite = grammar.finite
    if finite.isdisjoint(words[at + 2 : at + 2 + _MAX_SUBJECT]):
        return False  # most commas; what follows is slower
    return not finite.isdisjoint(words[max(start, at - _BACK) : at]) and _has_subject(
        words, at + 1, grammar
    )


def _has_subject(words: list[str], first: int, grammar: Grammar) -> bool:
    """Return whether a subject of one to three words and its verb follow."""
    for at in range(first, min(first + _MAX_SUBJECT + 1, len(words))):
        if words[at] in grammar.finite:
            return at > first
        if words[at] in grammar.bounds:
            return False
    return False


def sentence_spans(tokens: Tokens, abbreviations: AbstractSet[str]) -> list[tuple[int, int]]:
    """Return the begin and end of each sentence and heading of a half in the text, without blanks around it.

    A full stop after an abbreviation or an initial ends none: "Dr. J. Hill".
    """
    text, edges = tokens.text, tokens.edges
    ends = []
    start = 0
    for at, word in enumerate(tokens.words):
        if word not in ENDS:
            continue
        before = tokens.words[at - 1] if at else ""
        if word == "." and (before in abbreviations or (len(before) == 1 and before.isalpha())):
            continue
        if edges[2 * at] < start or text[edges[2 * at + 1] : edges[2 * at + 1] + 1] == ")":
            continue  # a closing mark of the previous sentence, or an aside that ends
        start = edges[2 * at + 1]
        while start < len(text) and text[start] in _CLOSERS:
            start += 1
        ends.append(start)
    spans = []
    begins = sorted({0, *ends, *(half.start for half in halves(text))})
    for begin, end in itertools.pairwise([*begins, len(text)]):
        piece = text[begin:end]
        if (stripped := piece.strip()) and stripped not in ENDS:
            begin += len(piece) - len(piece.lstrip())  # noqa: PLW2901
            spans.append((begin, begin + len(stripped)))
    return spans
