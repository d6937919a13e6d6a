"""Selects the labels of a text from all its matches (insights.md 4, rule 6)."""

from typing import Final, NamedTuple

from reviewsd.analysis.aspects import ClauseMark
from reviewsd.analysis.clause_rules import ClauseReading, Decision
from reviewsd.analysis.labels import AspectLabel, EntityLabel, Labels
from reviewsd.analysis.lexicon import Lexicon
from reviewsd.analysis.people import Mention, opinion_of
from reviewsd.analysis.problems import is_problem
from reviewsd.analysis.text import Tokens
from reviewsd.analysis.wordings import wordings
from reviewsd.domain.insights import Sentiment

MAX_PHRASE: Final = 120  # characters; insights.md 4, rule 6
_NEAR: Final = 4  # words between the name of an aspect and its opinion
_COUNTING: Final = (None, ClauseMark.WISHED)  # marks of clauses whose words count
PROBLEM_STARS: Final = 4  # reviews with more stars have none, but where they say what was not liked


class Reading(NamedTuple):
    """A text with all matches and decisions."""

    tokens: Tokens
    lexicon: Lexicon
    """The words of its language."""
    clauses: list[ClauseReading]
    entities: dict[str, dict[str, list[Mention]]]
    """The mentions of each entity, by kind, then by id."""
    quotable: bool
    """Whether the text is in the language of the business, in which it is quoted."""


def labels_of(reading: Reading, rating: int) -> Labels:
    """Return the labels of a reading."""
    tokens, lexicon, clauses, entities, quotable = reading
    leads = lexicon.leads
    strongest: dict[str, tuple[float, Decision, ClauseReading]] = {}
    wordings_by_opinion: dict[tuple[str, Sentiment], list[str]] = {}
    problems: dict[str, EntityLabel] = {}
    expected = "positive" if rating > PROBLEM_STARS - 1 else "negative"  # preferred in a tie
    total = 0.0
    scored = 0
    for index, clause in enumerate(clauses):
        if clause.opinions and clause.mark in _COUNTING:
            total += clause.score
            scored += 1
        for decision in clause.decisions:
            strength = abs(decision.score)
            best = strongest.get(decision.aspect)
            if (
                best is None
                or strength > best[0]
                or (strength == best[0] and decision.sentiment == expected != best[1].sentiment)
            ):
                strongest[decision.aspect] = (strength, decision, clause)
            texts = wordings(tokens, lexicon, decision, clause) if quotable else ()
            if texts:
                wordings_by_opinion.setdefault((decision.aspect, decision.sentiment), []).extend(
                    texts
                )
            problem = decision.problem
            if (
                problem is not None
                and clause.stars <= PROBLEM_STARS
                and problem not in problems
                and is_problem(tokens, lexicon, clauses, index, decision)
            ):
                phrase = _phrase(tokens, decision, clause, leads)
                problems[problem] = EntityLabel(id=problem, phrase=phrase, wordings=tuple(texts))
    aspects = []
    for aspect, (strength, decision, clause) in strongest.items():
        label = AspectLabel(
            id=aspect,
            sentiment=decision.sentiment,
            phrase=_phrase(tokens, decision, clause, leads),
            strength=round(strength, 2),
            wordings=tuple(wordings_by_opinion.get((aspect, decision.sentiment), ())),
        )
        aspects.append(label)
    return Labels(
        words=round(total / scored, 2) if scored else 0.0,
        language=lexicon.language,
        aspects=tuple(aspects),
        problems=tuple(problems.values()),
        **_entities(reading, rating) if entities else {},  # type: ignore[arg-type]  # kinds
    )


def _entities(reading: Reading, rating: int) -> dict[str, tuple[EntityLabel, ...]]:
    """Return the labels of the entities of a reading, by kind."""
    return {
        kind: tuple(
            _entity(reading, kind, name, matches, rating) for name, matches in mentions.items()
        )
        for kind, mentions in reading.entities.items()
    }


def _entity(
    reading: Reading, kind: str, name: str, matches: list[Mention], rating: int
) -> EntityLabel:
    phrase = _around(reading, matches[0])
    if kind != "technicians" or not reading.lexicon.is_known:
        return EntityLabel(id=name, phrase=phrase)
    tokens, lexicon = reading.tokens, reading.lexicon
    opinion = opinion_of(tokens, lexicon, reading.clauses, matches, rating)
    return EntityLabel(
        id=name,
        phrase=phrase,
        sentiment=opinion.sentiment,
        wordings=opinion.wordings if reading.quotable else (),
        praised_for=opinion.praised_for if opinion.sentiment == "positive" else (),
    )


def _phrase(
    tokens: Tokens, decision: Decision, reading: ClauseReading, leads: frozenset[str]
) -> str:
    """Return the match with adjacent words that belong to it; at least two words if the clause has them."""
    words = tokens.words
    first = reading.clause.start
    start, end = decision.start, decision.end
    least = max(first, start - 3)
    while start > least and words[start - 1] in leads:
        start -= 1
    if not decision.score or end - start == 1:  # extend the name of the aspect to its opinion
        name, after = start, end
        for at in reading.opinions:
            is_near = name - _NEAR <= at <= name + _NEAR
            if is_near and "," not in words[min(at, name) : max(at, after)]:
                start, end = min(start, at), max(end, at + 1)
    if end - start == 1 and start > first and words[start - 1] != ",":
        start -= 1
    return _fit(tokens, start, end)


def _around(reading: Reading, match: Mention) -> str:
    """Return the clause of a mention, shortened to the greatest length of a phrase."""
    tokens = reading.tokens
    start, end = match.start, match.end
    for item in reading.clauses:
        clause = item.clause
        if clause.start <= match.start < clause.end:
            start, end = clause.start, max(match.end, clause.end)
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
