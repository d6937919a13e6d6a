"""Explains how the rules read a review (insights.md 8, ``insights explain``)."""

from msgspec import Struct

from reviewsd.analysis.aspects import ASPECTS
from reviewsd.analysis.clause_rules import SET_ASIDE, ClauseReading, Decision, SenseMatch
from reviewsd.analysis.labeling import Reading, labels_of
from reviewsd.analysis.labels import WORDLESS, Labels
from reviewsd.analysis.patterns import within_longer
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings
from reviewsd.analysis.text import has_words
from reviewsd.domain.reviews import Business, Review


class AspectExplanation(Struct, frozen=True, kw_only=True, rename={"reason": "why"}):
    """The sentiment of a clause about an aspect."""

    aspect: str
    matched: tuple[str, ...]
    """Quotations that name, praise or criticize it."""
    sentiment: str | None
    """None if it was not counted."""
    score: float
    reason: str


class ClauseExplanation(
    Struct, frozen=True, kw_only=True, rename={"exclusion_reason": "set_aside"}
):
    """One clause."""

    text: str
    words: tuple[tuple[str, float], ...]
    """Opinion words with their valence in context, -4 to 4."""
    score: float
    """The score of all its words, -1 to 1."""
    contrasted: bool
    """Whether its sentence has a contrast word."""
    exclusion_reason: str | None
    """Why it does not count; None if it counts."""
    aspects: tuple[AspectExplanation, ...]


class Explanation(Struct, frozen=True, kw_only=True):
    """A review as the rules read it, with its labels, in the form that ``insights explain --json`` prints."""

    id: str
    rating: int
    language: str
    """The language of the text (ISO 639); empty without words."""
    is_read: bool
    """Whether the rules know the language."""
    clauses: tuple[ClauseExplanation, ...]
    labels: Labels
    names: dict[str, dict[str, str]] = {}
    """The names of everything that can be labeled, by member of ``Labels``, then by id."""


def explain(review: Review, business: Business, settings: InsightSettings) -> Explanation:
    """Explain a review clause by clause: words with valences, matches, and decisions with reasons."""
    rules = Rules(business, settings)
    text = review.text
    if not has_words(text):
        return Explanation(
            id=review.id,
            rating=review.rating,
            language="",
            is_read=False,
            clauses=(),
            labels=WORDLESS,
        )
    reading = rules.read(text, review.rating)
    return Explanation(
        id=review.id,
        rating=review.rating,
        language=reading.lexicon.language,
        is_read=reading.lexicon.is_known,
        clauses=tuple(_clause(clause, reading) for clause in reading.clauses),
        labels=labels_of(reading, review.rating),
    )


def _clause(clause: ClauseReading, reading: Reading) -> ClauseExplanation:
    cut = reading.tokens.cut
    decisions = {decision.aspect: decision for decision in clause.decisions}
    matches: dict[str, list[SenseMatch]] = {}
    inner = within_longer(clause.senses)
    for start, end, sense in clause.senses:
        if (start, end) in inner and sense.aspect in ASPECTS:
            continue  # decisions leave it out as well
        matches.setdefault(sense.aspect, []).append((start, end, sense))
    texts = {
        aspect: [cut(start, end) for start, end, _ in _outermost(found)]
        for aspect, found in matches.items()
    }
    return ClauseExplanation(
        text=cut(clause.clause.start, clause.clause.end),
        words=tuple(
            (cut(at, at + 1), round(valence, 2)) for at, valence in clause.opinions.items()
        ),
        score=round(clause.score, 2),
        contrasted=clause.clause.contrasted,
        exclusion_reason=None if clause.mark is None else SET_ASIDE.get(clause.mark),
        aspects=tuple(
            _aspect(aspect, quotations, decisions.get(aspect))
            for aspect, quotations in texts.items()
        ),
    )


def _outermost(matches: list[SenseMatch]) -> list[SenseMatch]:
    inner = within_longer(matches)
    return [match for match in matches if match[:2] not in inner]


def _aspect(aspect: str, texts: list[str], decision: Decision | None) -> AspectExplanation:
    return AspectExplanation(
        aspect=aspect,
        matched=tuple(dict.fromkeys(texts)),
        sentiment=None if decision is None else decision.sentiment,
        score=0.0 if decision is None else round(decision.score, 2),
        reason="not counted" if decision is None else decision.reason.value,
    )
