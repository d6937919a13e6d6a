"""Finds sentences of reviews that show a statement (insights.md 10, 1).

A sentence shows an aspect if one of its clauses has a phrase or an opinion of the aspect with the sign of the
statement, and no clause says the opposite, speaks of another business or is only supposed. The few
candidates of each statement are read again, so labels need not keep their sentences.
"""

import collections
from collections.abc import Iterator
from typing import Final, NamedTuple

from reviewsd.analysis.clause_rules import ClauseReading
from reviewsd.analysis.labelling import Reading
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.text import ENDS, sentence_spans
from reviewsd.analysis.wordings import wordings
from reviewsd.domain.insights import Sentiment
from reviewsd.domain.reviews import Review

MAX_QUOTATION: Final = 200  # characters
_OPPOSITE: Final = 0.25  # absolute score of a clause that says the opposite
_LONG: Final = 2  # blanks in a wording that shows an aspect without an opinion word
_CLEAR: Final = 0.25  # absolute score of a decision that shows an aspect
_UNWANTED: Final = ("@", "://", "\n")


class Evidence:
    """Finds quotations.

    Args:
        rules: The rules that labeled the reviews.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def quotation(self, review: Review, aspect: str, sentiment: Sentiment, phrase: str) -> str:
        """Return a sentence that shows an aspect with a sentiment, verbatim; "" without one.

        Args:
            review: The review.
            aspect: The id of the aspect.
            sentiment: The sentiment of the statement.
            phrase: The phrase of the label, whose sentence is the evidence in a language without rules.
        """
        reading = self._rules.read(review.text or "", review.rating)
        for text, clause in _shown(reading, aspect, sentiment, phrase):
            if len(text) <= MAX_QUOTATION:
                return text
            if clause is not None and (alone := _alone(reading, clause)):
                return alone
        return ""

    def praise(self, review: Review, least: int, most: int) -> str:
        """Return a sentence of a length that praises any aspect, verbatim; "" without one."""
        reading = self._rules.read(review.text or "", review.rating)
        shown = _shown(reading, None, "positive")
        return next((text for text, _ in shown if least <= len(text) <= most), "")


class _Sentence(NamedTuple):
    text: str
    clauses: list[ClauseReading]

    def is_quotable(self, sentiment: Sentiment) -> bool:
        """Return whether the sentence stands alone, and nothing in it says the opposite."""
        text, clauses = self
        first = next((c for c in text if c.isalnum()), "")
        if not first.isupper() or text.isupper() or "?" in text or " " not in text:
            return False
        if any(mark in text for mark in _UNWANTED) or text.count("(") != text.count(")"):
            return False
        sign = 1 if sentiment == "positive" else -1
        return not any(
            clause.mark is not None
            or clause.score * sign <= -_OPPOSITE
            or any(d.sentiment not in (sentiment, "neutral") for d in clause.decisions)
            for clause in clauses
        )


def _sentences(reading: Reading) -> Iterator[_Sentence]:
    """Yield the sentences of a text that do not begin with a contrast."""
    tokens = reading.tokens
    rest = collections.deque(reading.clauses)
    for begin, end in sentence_spans(tokens):
        clauses = []
        while rest and tokens.edges[2 * rest[0].clause.start] < end:
            clauses.append(rest.popleft())
        if (
            not clauses
            or tokens.words[clauses[0].clause.start] not in reading.lexicon.grammar.contrasts
        ):
            yield _Sentence(tokens.text[begin:end], clauses)


def _shown(
    reading: Reading, aspect: str | None, sentiment: Sentiment, phrase: str = ""
) -> Iterator[tuple[str, ClauseReading | None]]:
    """Yield the quotable sentences that show an aspect, or any, each with its clause that does.

    Args:
        reading: The review.
        aspect: The id of the aspect, or None for any.
        sentiment: The sentiment of the statement.
        phrase: A piece of the sentence that is the evidence in a language without rules.
    """
    for sentence in _sentences(reading) if reading.quotable else ():
        if not reading.lexicon.is_known:
            if phrase and phrase in sentence.text:
                yield sentence.text, None
            continue
        clause = next((c for c in sentence.clauses if _shows(reading, c, aspect, sentiment)), None)
        if clause is not None and sentence.is_quotable(sentiment):
            yield sentence.text, clause


def _shows(
    reading: Reading, clause: ClauseReading, aspect: str | None, sentiment: Sentiment
) -> bool:
    """Return whether a clause has an opinion word of the sign, or a long wording, about an aspect."""
    agrees = clause.score * (1 if sentiment == "positive" else -1) > 0
    return any(
        aspect in (None, decision.aspect)
        and decision.sentiment == sentiment
        and abs(decision.score) >= _CLEAR
        and any(
            agrees or text.count(" ") >= _LONG
            for text in wordings(reading.tokens, reading.lexicon, decision, clause, negations=True)
        )
        for decision in clause.decisions
    )


def _alone(reading: Reading, clause: ClauseReading) -> str:
    """Return a clause that stands alone, because it begins a sentence or has a subject of its own."""
    tokens = reading.tokens
    start, end = clause.clause.start, clause.clause.end
    if start and tokens.words[start - 1] not in ENDS:
        grammar = reading.lexicon.grammar
        start += tokens.words[start] in grammar.joiners | grammar.contrasts
        if tokens.words[start] not in grammar.pronouns:
            return ""
    if tokens.words[end - 1] == ",":
        end -= 1
    text = tokens.cut(start, end)
    return text if len(text) <= MAX_QUOTATION else ""
