"""What the mentions of an aspect let a sentence claim: praise, criticism, or that opinions differ (insights.md 10)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from reviewsd.analysis.aspects import RECOMMENDATION
from reviewsd.analysis.ranking import Ranking
from reviewsd.analysis.value import AspectInsight
from reviewsd.domain.insights import Sentiment

MIN_MENTIONS: Final = 5  # of a sentiment that a sentence names, and of an aspect with a question
_SHARES: Final[Mapping[Sentiment, float]] = {"positive": 0.6, "negative": 0.65}
"""Share of the mentions of an aspect that most praise, or criticize (decisions 584 and 650)."""
_MISSED: Final[Mapping[Sentiment, int]] = {"positive": 3, "negative": 0}
"""Mentions that may have been missed and say the opposite: more complaints than praise."""
_MIXED_SHARE: Final = 0.35  # of either sentiment where opinions differ
_MIN_MIXED: Final = 4  # mentions of either sentiment where opinions differ (decision 650)
_MOSTLY_BAD: Final = 1.5
"""Praise for each complaint where opinions differ although most reviews are bad: half of their complaints are missed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedAspect:
    """A published aspect with its ranking."""

    insight: AspectInsight
    ranking: Ranking
    reviews_are_bad: bool
    """Whether most reviews of the business are bad."""


def claimed(aspect: RankedAspect) -> tuple[Sentiment, ...]:
    """Return the sentiments that an answer claims: that of most mentions, or both of a divided aspect."""
    ranking = aspect.ranking
    for sentiment in _SHARES:
        if _prevails(ranking, sentiment):
            return (sentiment,)
    is_doubtful = aspect.reviews_are_bad and aspect.insight.id != RECOMMENDATION
    if is_doubtful and ranking.positive < _MOSTLY_BAD * ranking.negative:
        return ()
    if min(ranking.positive, ranking.negative) >= max(_MIN_MIXED, _MIXED_SHARE * ranking.count):
        return tuple(_SHARES)
    return ()


def _prevails(ranking: Ranking, sentiment: Sentiment) -> bool:
    """Return whether enough reviews, and enough of the mentions, have a sentiment."""
    share = _SHARES[sentiment] * (ranking.count + _MISSED[sentiment])
    return ranking.of(sentiment) >= max(MIN_MENTIONS, share)


def leading(aspects: Iterable[RankedAspect], sentiment: Sentiment) -> list[RankedAspect]:
    """Return the aspects of which most mentions have a sentiment, those with the most first."""
    found = [
        aspect
        for aspect in aspects
        if aspect.insight.id != RECOMMENDATION and _prevails(aspect.ranking, sentiment)
    ]
    return sorted(found, key=lambda a: (-a.ranking.of(sentiment), a.insight.id))
