"""Writes sentences with counts and quotations (insights.md 5, ``faq`` to ``pull_quote``).

All numbers are counts, and every quotation is a verbatim piece of a review.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from reviewsd.analysis.counts import Example, Quote, Sums
from reviewsd.analysis.ranking import Ranking
from reviewsd.analysis.temporal import Months
from reviewsd.analysis.text import sentences
from reviewsd.analysis.value import AspectInsight
from reviewsd.domain.insights import FaqEntry
from reviewsd.domain.reviews import Review

MAX_FAQ: Final = 6
MIN_MENTIONS: Final = 5  # of an aspect with a question
MIN_QUOTE: Final = 40  # characters
MAX_QUOTE: Final = 160

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
    aspects: Iterable[RankedAspect], review_of: Callable[[str], Review]
) -> tuple[FaqEntry, ...]:
    """Return questions about the most mentioned aspects, with answers from the reviews."""
    entries: list[FaqEntry] = []
    for aspect in aspects:
        insight = aspect.insight
        if insight.mention_count < MIN_MENTIONS or len(entries) == MAX_FAQ:
            continue
        sign = "positive" if insight.positive_count >= insight.negative_count else "negative"
        best = aspect.ranking.best("positive" if sign == "positive" else "negative")
        quotation = "" if best is None else _quotation(best, review_of)
        label = insight.label.lower()
        entries.append(
            FaqEntry(
                question=_QUESTIONS.get(insight.id, f"What do customers say about {label}?"),
                answer=f"{_number(insight.mention_count, 'review')} mention {label}: {_split(insight)}."
                + quotation,
                example_review_ids=insight.example_review_ids,
            )
        )
    return tuple(entries)


def summary(
    total: Sums, aspects: Sequence[AspectInsight], months: Months, *, criticism: bool
) -> str | None:
    """Return up to three sentences with counts; None without reviews.

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


def pull_quote(quotes: Iterable[Quote], review_of: Callable[[str], Review]) -> str | None:
    """Return a sentence of 40 to 160 characters with the phrase of a candidate."""
    for quote in quotes:
        phrase = quote.example.phrase
        for sentence in sentences(review_of(quote.example.id).text or ""):
            if (
                MIN_QUOTE <= len(sentence) <= MAX_QUOTE
                and phrase in sentence
                and sentence[0].isupper()
                and "@" not in sentence
                and "://" not in sentence
            ):
                return sentence
    return None


def _quotation(example: Example, review_of: Callable[[str], Review]) -> str:
    if not example.phrase:
        return ""
    review = review_of(example.id)
    candidates = sentences(review.text or "")
    quotation = next(
        (s for s in candidates if example.phrase in s and len(s) <= MAX_QUOTE), example.phrase
    )
    return f" “{quotation}” \u2013 {review.author}, {review.date.isoformat()}"


def _split(insight: AspectInsight) -> str:
    parts = [
        (insight.positive_count, "positively"),
        (insight.neutral_count, "neutrally"),
        (insight.negative_count, "negatively"),
    ]
    return ", ".join(f"{count:,} {how}" for count, how in parts if count)


def _named(aspects: Sequence[AspectInsight], *, criticism: bool) -> str:
    praised = sorted(aspects, key=lambda a: (-a.positive_count, a.id))[:2]
    blamed = sorted(aspects, key=lambda a: (-a.negative_count, a.id))[:2]
    parts = []
    for what, chosen, count in (
        ("praised", praised, "positive_count"),
        ("criticized", blamed if criticism else (), "negative_count"),
    ):
        named = [
            f"{a.label.lower()} ({getattr(a, count):,} of {_number(a.mention_count, 'mention')})"
            for a in chosen
            if getattr(a, count)
        ]
        if named:
            parts.append(f"most {what}: {' and '.join(named)}")
    if not parts:
        return "" if aspects else "No aspect is mentioned."
    sentence = "; ".join(parts)
    return sentence[0].upper() + sentence[1:] + "."


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
