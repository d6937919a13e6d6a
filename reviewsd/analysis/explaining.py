"""Why a review has the labels it has (insights.md 8, ``--explain``)."""

from typing import Final

from reviewsd.analysis.aspects import ClauseMark
from reviewsd.analysis.clause_rules import ClauseReading, Decision
from reviewsd.analysis.labelling import Reading, labels_of
from reviewsd.analysis.labels import WORDLESS
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import InsightSettings
from reviewsd.api.insights import AspectExplanation, ClauseExplanation, Explanation
from reviewsd.domain.reviews import Business, Review

_MARKS: Final = {
    ClauseMark.OTHERS: "speaks of another business",
    ClauseMark.CONDITIONAL: "says what would have been or was expected",
}


def explain(review: Review, business: Business, settings: InsightSettings) -> Explanation:
    """A review clause by clause: words with valences, what matched, what was decided and why."""
    rules = Rules(business, settings)
    text = review.text
    if text is None or not text.strip():
        return Explanation(
            id=review.id, rating=review.rating, english=False, clauses=(), labels=WORDLESS
        )
    reading = rules.read(text, review.rating)
    return Explanation(
        id=review.id,
        rating=review.rating,
        english=reading.english,
        clauses=tuple(_clause(each, reading) for each in reading.clauses),
        labels=labels_of(reading, review.rating),
    )


def _clause(each: ClauseReading, reading: Reading) -> ClauseExplanation:
    cut = reading.tokens.cut
    decided = {decision.aspect: decision for decision in each.decisions}
    matched: dict[str, list[str]] = {}
    for match, sense in each.senses:
        matched.setdefault(sense.aspect, []).append(cut(match.start, match.end))
    return ClauseExplanation(
        text=cut(each.clause.start, each.clause.end),
        words=tuple((cut(word.at, word.at + 1), round(word.valence, 2)) for word in each.opinions),
        score=round(each.score, 2),
        contrasted=each.clause.contrasted,
        set_aside=None if each.mark is None else _MARKS.get(each.mark),
        aspects=tuple(
            _aspect(aspect, found, decided.get(aspect)) for aspect, found in matched.items()
        ),
    )


def _aspect(aspect: str, matched: list[str], decision: Decision | None) -> AspectExplanation:
    return AspectExplanation(
        aspect=aspect,
        matched=tuple(dict.fromkeys(matched)),
        sentiment=None if decision is None else decision.sentiment,
        score=0.0 if decision is None else round(decision.score, 2),
        why="not counted" if decision is None else decision.reason.value,
    )
