"""From everything that was found in a text to what is published of it (insights.md 4, rule 6)."""

from typing import Final, NamedTuple

from reviewsd.analysis.aspects import ClauseMark
from reviewsd.analysis.clause_rules import ClauseReading, Decision
from reviewsd.analysis.labels import AspectLabel, EntityLabel, Labels
from reviewsd.analysis.lexicon import NEGATIONS
from reviewsd.analysis.patterns import Match
from reviewsd.analysis.text import Tokens
from reviewsd.analysis.wordlists import word_set

MAX_PHRASE: Final = 120  # characters; insights.md 4, rule 6
_COUNTING: Final = (None, ClauseMark.WISHED)  # marks of clauses whose words count
PROBLEM_STARS: Final = 4  # problems are looked for in reviews of at most so many


class Reading(NamedTuple):
    """A text with everything that was found in it."""

    tokens: Tokens
    english: bool
    clauses: list[ClauseReading]
    entities: dict[str, dict[str, Match]]
    """By kind, then by id: where the entity is first mentioned."""


def labels_of(reading: Reading, rating: int) -> Labels:
    """What is published of a reading."""
    tokens = reading.tokens
    strongest: dict[str, tuple[float, Decision, ClauseReading]] = {}
    problems: dict[str, EntityLabel] = {}
    expected = "positive" if rating > PROBLEM_STARS - 1 else "negative"  # settles a tie
    total = 0.0
    scored = 0
    for each in reading.clauses:
        if each.opinions and each.mark in _COUNTING:
            total += each.score
            scored += 1
        for decision in each.decisions:
            strength = abs(decision.score)
            best = strongest.get(decision.aspect)
            if (
                best is None
                or strength > best[0]
                or (strength == best[0] and decision.sentiment == expected != best[1].sentiment)
            ):
                strongest[decision.aspect] = (strength, decision, each)
            problem = decision.problem
            if problem is not None and rating <= PROBLEM_STARS and problem not in problems:
                phrase = _phrase(tokens, decision, each)
                problems[problem] = EntityLabel(id=problem, phrase=phrase)
    return Labels(
        words=round(total / scored, 2) if scored else 0.0,
        analysed=reading.english,
        foreign=not reading.english,
        aspects=tuple(
            [  # a list, as a generator takes longer
                AspectLabel(
                    id=aspect,
                    sentiment=decision.sentiment,
                    phrase=_phrase(tokens, decision, each),
                    strength=round(strength, 2),
                )
                for aspect, (strength, decision, each) in strongest.items()
            ]
        ),
        problems=tuple(problems.values()),
        **{
            kind: tuple(
                EntityLabel(id=name, phrase=_around(reading, match))
                for name, match in found.items()
            )
            for kind, found in reading.entities.items()
        },
    )


_LEAD: Final = NEGATIONS | word_set("leads")


def _phrase(tokens: Tokens, decision: Decision, reading: ClauseReading) -> str:
    """What matched, with the words that belong to it; at least two words where the clause has."""
    words = tokens.words
    first = reading.clause.start
    start, end = decision.start, decision.end
    least = max(first, start - 3)
    while start > least and words[start - 1] in _LEAD:
        start -= 1
    if not decision.score or end - start == 1:  # the word that names it, up to its opinion
        near = [each.at for each in reading.opinions if -4 <= each.at - start <= 4]  # noqa: PLR2004
        if near:  # in the order of the text
            start, end = min(start, near[0]), max(end, near[-1] + 1)
    if end - start == 1 and start > first and words[start - 1] != ",":
        start -= 1
    return _fit(tokens, start, end)


def _around(reading: Reading, match: Match) -> str:
    """The clause of a mention, or as much of it as a phrase may have."""
    tokens = reading.tokens
    start, end = match.start, match.end
    for each in reading.clauses:
        if each.clause.start <= match.start < each.clause.end:
            start, end = each.clause.start, max(match.end, each.clause.end)
    while tokens.length(start, end) > MAX_PHRASE and (start, end) != (match.start, match.end):
        if end - match.end > match.start - start:
            end -= 1
        else:
            start += 1
    return _fit(tokens, start, end)


def _fit(tokens: Tokens, start: int, end: int) -> str:
    text, _, edges = tokens
    begin = edges[2 * start]
    while edges[2 * end - 1] - begin > MAX_PHRASE and end - start > 1:
        end -= 1
    return text[begin : min(edges[2 * end - 1], begin + MAX_PHRASE)]
