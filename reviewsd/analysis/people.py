"""Decides what a review says of a person: the clauses that speak of them count, not its stars (insights.md 10, 4).

A clause speaks of a person if it has the name, or follows such a clause and begins with "he" or "she". Where
these clauses have no opinion, a good review praises the person by naming them, and a bad one says nothing.
"""

from collections.abc import Sequence
from typing import Final

from reviewsd.analysis.clause_rules import OVERRULES, ClauseReading, Reason
from reviewsd.analysis.lexicon import Lexicon
from reviewsd.analysis.patterns import Match
from reviewsd.analysis.text import Tokens
from reviewsd.analysis.wordings import wordings
from reviewsd.domain.insights import Sentiment

_CLEAR: Final = 0.25  # absolute score of clauses with an opinion
_GOOD_STARS: Final = 4
_STARS: Final = Reason.STARS


def opinion_of(
    tokens: Tokens,
    lexicon: Lexicon,
    clauses: Sequence[ClauseReading],
    mentions: Sequence[Match],
    rating: int,
) -> tuple[Sentiment, tuple[str, ...]]:
    """Return the sentiment of the clauses about a person, and their wordings."""
    own = _own(tokens.words, lexicon, clauses, mentions)
    scores = [
        score
        for clause in own
        if clause.mark is None
        for score in (clause.score, *(d.score for d in clause.decisions if d.reason is not _STARS))
    ]
    score = max([0.0, *scores]) + min([0.0, *scores])
    sentiment: Sentiment = "positive" if rating >= _GOOD_STARS else "neutral"
    if score >= _CLEAR:
        sentiment = "positive"
    elif score <= -(OVERRULES if rating >= _GOOD_STARS else _CLEAR):
        sentiment = "negative"
    texts = (
        text
        for clause in own
        for decision in clause.decisions
        if decision.sentiment == sentiment
        for text in wordings(tokens, lexicon, decision, clause)
    )
    return sentiment, tuple(dict.fromkeys(texts))


def _own(
    words: Sequence[str],
    lexicon: Lexicon,
    clauses: Sequence[ClauseReading],
    mentions: Sequence[Match],
) -> list[ClauseReading]:
    own = []
    starts = iter(mentions)
    mention = next(starts, None)
    continued = False
    links = lexicon.grammar.joiners | lexicon.grammar.contrasts
    for clause in clauses:
        start, end = clause.clause.start, clause.clause.end
        named = False
        while mention is not None and mention.start < end:
            named = named or mention.start >= start
            mention = next(starts, None)
        subject = words[min(start + (words[start] in links), end - 1)]
        continued = named or (continued and subject in lexicon.third_person)
        if continued:
            own.append(clause)
    return own
