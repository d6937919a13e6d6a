"""Cuts short wordings out of reviews, to be counted over all reviews (insights.md 10, 3).

A wording has an opinion word or a phrase of its aspect, begins and ends at word classes that can, and is
neither negated nor conditional nor only wished. Inflections count as one wording.
"""

import functools
from collections.abc import Collection, Sequence
from typing import Final

from reviewsd.analysis.clause_rules import ClauseReading, Decision, Reason
from reviewsd.analysis.lexicon import Lexicon
from reviewsd.analysis.text import Tokens, fold
from reviewsd.api.spelling import without_accents

MAX_WORDS: Final = 5
_NEAR: Final = 3  # words between the name of an aspect and its opinion
_STEM: Final = 5  # letters of a word that distinguish wordings
_MAX_KEYS: Final = 10_000  # bounds the memory of keys
_STARS: Final = Reason.STARS


def wordings(
    tokens: Tokens, lexicon: Lexicon, decision: Decision, reading: ClauseReading
) -> list[str]:
    """Return the wordings of a decision, verbatim; the arguments are those of ``wording_spans``."""
    text, _, edges = tokens
    texts = []
    for start, end in wording_spans(tokens, lexicon, decision, reading):
        texts.append(text[edges[2 * start] : edges[2 * end - 1]])
    return texts


def wording_spans(
    tokens: Tokens,
    lexicon: Lexicon,
    decision: Decision,
    reading: ClauseReading,
    *,
    negations: bool = False,
) -> Collection[tuple[int, int]]:
    """Return the first token of each wording of a decision, and the token after it.

    Args:
        tokens: The text.
        lexicon: The words of its language.
        decision: A decision of the clause.
        reading: The clause.
        negations: Whether to include the opposite, negated: "friendly" of "not friendly".
    """
    if decision.reason is _STARS or reading.mark is not None or decision.sentiment == "neutral":
        return ()
    positive = decision.sentiment == "positive"
    words = tokens.words
    first = reading.clause.start
    has_negation = reading.has_negation
    spans: dict[tuple[int, int], None] = {}
    aspect = decision.aspect
    for start, end, sense in reading.senses:
        if sense.aspect != aspect:
            continue
        opposite = has_negation and lexicon.negated(words, start, first, end)
        if opposite and not negations:
            continue
        strength = sense.strength
        if strength:
            if (strength > 0) is (positive is opposite):
                continue
            span: tuple[int, int] | None = (start, end)
        elif reading.opinions:
            negating = lexicon if has_negation and not negations else None
            span = _with_opinion(words, negating, (start, end), reading, positive=positive)
        else:
            continue
        if span is not None and (span := _trimmed(words, lexicon, *span)) is not None:
            spans[span] = None
    return spans


def _trimmed(
    words: Sequence[str], lexicon: Lexicon, start: int, end: int
) -> tuple[int, int] | None:
    """Return a span without the words that cannot begin or end a wording; None if nothing stands alone."""
    if end - start > 1:
        while (
            start < end
            and words[start] in lexicon.never_first
            and lexicon.negations.isdisjoint(words[start : start + 2])
        ):
            start += 1
        while end > start and words[end - 1] in lexicon.never_last:
            end -= 1
    size = end - start
    if _is_cut(words, lexicon, start, end):
        return None
    if size == 1:
        return None if words[start] in lexicon.never_alone else (start, end)
    span = words[start:end]
    if not 0 < size <= MAX_WORDS or lexicon.empty_words.issuperset(span):
        return None
    if span[0] in lexicon.oblique:
        return None
    if "_".join(span) in lexicon.never_alone:
        return None
    return (start, end) if lexicon.separators.isdisjoint(span) else None


def _is_cut(words: Sequence[str], lexicon: Lexicon, start: int, end: int) -> bool:
    """Return whether a span has half of an expression ("clean" of "clean up"), or ends with the adverb of the next word."""
    pairs = ["_".join(words[at - 1 : at + 1]) for at in (start, end)]
    after = words[end] if end < len(words) else ""
    if after.isalpha() and after not in lexicon.never_first and after not in lexicon.separators:
        pairs.append(f"{words[end - 1]}_*")
    return not lexicon.never_alone.isdisjoint(pairs)


@functools.lru_cache(_MAX_KEYS)
def key(text: str) -> str:
    """Return what the inflections and spellings of a wording have in common: "explains", "explained"."""
    return " ".join([without_accents(word)[:_STEM] for word in fold(text).split()])


def _with_opinion(
    words: Sequence[str],
    negating: Lexicon | None,
    match: tuple[int, int],
    reading: ClauseReading,
    *,
    positive: bool,
) -> tuple[int, int] | None:
    """Return the name of an aspect with the nearest opinion of a sign, if one is near.

    Args:
        words: The tokens of the text.
        negating: The lexicon whose negations exclude an opinion, if any.
        match: The tokens of the name of the aspect.
        reading: Its clause.
        positive: The sign of the opinion.
    """
    best: tuple[int, int] | None = None
    opinions = reading.opinions
    name, after = match
    for at in range(name - _NEAR, after + _NEAR):
        if at not in opinions or (opinions[at] > 0) is not positive:
            continue
        if negating is not None and negating.negated(words, at, reading.clause.start):
            continue
        start, end = min(name, at), max(after, at + 1)
        if best is None or end - start < best[1] - best[0]:
            best = start, end
    return best
