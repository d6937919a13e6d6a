"""Writes sentences with counts and quotations (insights.md 5, ``faq`` to ``pull_quote``, and 10).

All numbers are counts, and every quotation is a verbatim piece of a review.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from reviewsd.analysis.counts import Quote, Sums
from reviewsd.analysis.evidence import Evidence
from reviewsd.analysis.ranking import Ranking
from reviewsd.analysis.temporal import Months
from reviewsd.analysis.value import AspectInsight
from reviewsd.domain.insights import FaqEntry, Sentiment
from reviewsd.domain.reviews import Review

MAX_FAQ: Final = 6
MIN_MENTIONS: Final = 5  # of an aspect with a question
MIN_QUOTE: Final = 40  # characters
MAX_QUOTE: Final = 160
MIN_PRAISED, PRAISED_SHARE = 5, 0.75  # mentions, and the share of positive ones; insights.md 10, 2
MIN_CRITICIZED, CRITICIZED_SHARE = 3, 1 / 3  # negative reviews, and their share

_NAMED: Final = 2  # aspects in a sentence
_WORDINGS: Final = 3  # wordings of an aspect
_Z: Final = 1.96  # quantile of the normal distribution for 95 %

_QUESTIONS: Final = {
    "punctuality": "Do they come on time?",
    "pricing": "What do customers say about the prices?",
    "technical_knowledge": "Do they know their trade?",
    "communication": "Do they keep customers informed?",
    "friendliness": "Are they friendly?",
    "work_quality": "What do customers say about the quality of the work?",
    "response_time": "How quickly do they respond?",
    "cleanliness": "Do they work cleanly?",
    "scheduling": "How easy is it to get an appointment?",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedAspect:
    """A published aspect with its ranking."""

    insight: AspectInsight
    ranking: Ranking


def faq(
    aspects: Iterable[RankedAspect],
    evidence: Evidence,
    review_of: Callable[[str], Review],
    quoted: str | None,
) -> tuple[FaqEntry, ...]:
    """Return questions about the most mentioned aspects, each with an answer that a quotation shows.

    Args:
        aspects: The aspects, most mentioned first.
        evidence: Finds the quotations.
        review_of: Returns a review by its id.
        quoted: The pull quote, which is not repeated.
    """
    entries: list[FaqEntry] = []
    quotations = {quoted}
    for aspect in aspects:
        insight = aspect.insight
        if insight.mention_count < MIN_MENTIONS or len(entries) == MAX_FAQ:
            continue
        ranking = aspect.ranking
        sign: Sentiment = "positive" if ranking.positive >= ranking.negative else "negative"
        for example in ranking.best(sign):
            review = review_of(example.id)
            quotation = evidence.quotation(review, insight.id, sign, example.phrase)
            if not quotation or quotation in quotations:
                continue
            quotations.add(quotation)
            label = insight.label.lower()
            count = _number(insight.mention_count, "review")
            entries.append(
                FaqEntry(
                    question=_QUESTIONS.get(insight.id, f"What do customers say about {label}?"),
                    answer=f"{count} mention {label}: {_split(ranking)}. \u201c{quotation}\u201d"
                    f" \u2013 {review.author}, {review.date.isoformat()}",
                    example_review_ids=insight.example_review_ids,
                )
            )
            break
    return tuple(entries)


def summary(
    total: Sums, aspects: Sequence[RankedAspect], months: Months, *, criticism: bool
) -> str | None:
    """Return up to three sentences of counts and shared wordings; None without reviews.

    Args:
        total: Sums of all reviews.
        aspects: The aspects.
        months: Sums by month.
        criticism: Whether to include the most criticized aspects.
    """
    if not total.count:
        return None
    average = total.stars / total.count
    share = 100 * total.positive / total.count
    rated = (
        f"{_number(total.count, 'review')} give {average:.1f} of 5 stars on average;"
        f" {share:.0f} % of them are positive."
    )
    if total.count == 1:
        rated = f"1 review gives {average:.0f} of 5 stars."
    return " ".join(filter(None, (rated, _named(aspects, criticism=criticism), _years(months))))


def pull_quote(
    quotes: Iterable[Quote], evidence: Evidence, review_of: Callable[[str], Review]
) -> str | None:
    """Return a sentence of 40 to 160 characters that praises, of the best candidate that has one."""
    sentences = (evidence.praise(review_of(q.example.id), MIN_QUOTE, MAX_QUOTE) for q in quotes)
    return next(filter(None, sentences), None)


def _split(ranking: Ranking) -> str:
    parts = [
        (ranking.positive, "positively"),
        (ranking.neutral, "neutrally"),
        (ranking.negative, "negatively"),
    ]
    return ", ".join(f"{count:,} {how}" for count, how in parts if count)


def _named(aspects: Sequence[RankedAspect], *, criticism: bool) -> str:
    """Return the sentence on the aspects with the greatest shares of praise and of criticism."""
    praised = _leading(aspects, "positive", MIN_PRAISED, PRAISED_SHARE)
    blamed = [
        aspect
        for aspect in _leading(aspects, "negative", MIN_CRITICIZED, CRITICIZED_SHARE)
        if criticism and aspect not in praised
    ]
    signed: tuple[tuple[str, Sentiment, list[RankedAspect]], ...] = (
        ("praised", "positive", praised),
        ("criticized", "negative", blamed),
    )
    parts = [
        f"most {what}: {' and '.join(_content(aspect, sign) for aspect in chosen[:_NAMED])}"
        for what, sign, chosen in signed
        if chosen
    ]
    sentence = "; ".join(parts)
    return sentence and sentence[0].upper() + sentence[1:] + "."


def _leading(
    aspects: Sequence[RankedAspect], sign: Sentiment, least: int, share: float
) -> list[RankedAspect]:
    """Return the aspects with enough reviews of a sign, by the lower bound of its share.

    Args:
        aspects: The aspects.
        sign: The sentiment.
        least: Required mentions for praise, and negative reviews for criticism.
        share: Required share of the sentiment.
    """
    bounds = [
        (_lower_bound(aspect.ranking.of(sign), aspect.ranking.count), aspect)
        for aspect in aspects
        if aspect.ranking.of(sign) >= share * aspect.ranking.count
        and (aspect.ranking.count if sign == "positive" else aspect.ranking.negative) >= least
    ]
    bounds.sort(key=lambda pair: (-pair[0], pair[1].insight.id))
    return [aspect for _, aspect in bounds]


def _lower_bound(part: int, count: int) -> float:
    """Return the lower bound of Wilson's interval of a share, with 95 % confidence."""
    share, square = part / count, _Z * _Z
    spread = _Z * math.sqrt((share * (1 - share) + square / (4 * count)) / count)
    return (share + square / (2 * count) - spread) / (1 + square / count)


def _content(aspect: RankedAspect, sign: Sentiment) -> str:
    """Return an aspect with its counts and its most shared wordings, as quotations."""
    ranking = aspect.ranking
    head = f"{aspect.insight.label.lower()} ({ranking.of(sign):,} of {ranking.count:,})"
    texts = ranking.top_phrases(sign)[:_WORDINGS]
    return ", ".join([head, *(f"\u201c{text}\u201d" for text in texts)])


def _years(months: Months) -> str:
    now, before = months.year(), months.year(back=1)
    return (
        f"In the twelve months up to the newest review: {_in_year(now)};"
        f" in the twelve before: {_in_year(before)}."
    )


def _in_year(year: Sums) -> str:
    if not year.count:
        return "none"
    stars = f"{year.stars / year.count:.1f} stars"
    return f"{_number(year.count, 'review')} with {stars}{' on average' if year.count > 1 else ''}"


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
