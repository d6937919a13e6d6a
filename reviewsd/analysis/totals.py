"""Computes the insights from the counts of all blocks (insights.md 5)."""

import datetime
import functools
import heapq
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from reviewsd.analysis.claims import RankedAspect
from reviewsd.analysis.counting import KINDS, Catalogue
from reviewsd.analysis.counts import QUOTES, Counts, Quote, Sums
from reviewsd.analysis.evidence import Evidence
from reviewsd.analysis.labels import RULES
from reviewsd.analysis.prose import ProseWriter, pull_quote
from reviewsd.analysis.ranking import Ranking
from reviewsd.analysis.settings import PROBLEMS
from reviewsd.analysis.temporal import YEAR, Months
from reviewsd.analysis.value import (
    AspectInsight,
    EntityInsight,
    EntityLists,
    LocalWords,
    MadeInsights,
    Method,
)
from reviewsd.domain.insights import (
    DateRange,
    OverallSentiment,
    PerReview,
    Sentiment,
    least_mentions,
)
from reviewsd.domain.reviews import Review

MIN_MENTIONS: Final = 3
"""Mentions below which only the count is shown (insights.md 10, 2)."""
MIN_ASPECT_MENTIONS: Final = 5
"""``MIN_MENTIONS`` of an aspect, of which some are missed or misread (decision 475)."""
MIN_PROBLEM_MENTIONS: Final = 2
"""Reviews below which a problem is not listed."""
_MIN_READ_SHARE: Final = 0.95
"""Share of a person's mentions that have an opinion, below which the figures could mislead: most of the others blame
the person (decision 585)."""
_GOOD_STARS: Final = 4
_MIN_PRAISED_FOR: Final = 2  # reviews that praise a person for an aspect
_MAX_PRAISED_FOR: Final = 3  # aspects


class Totals:
    """Sums the counts of blocks.

    Args:
        catalogue: The labels to count.
        evidence: Finds quotations.
        words: The words of sentences.
    """

    def __init__(self, catalogue: Catalogue, evidence: Evidence, words: LocalWords) -> None:
        self._catalogue = catalogue
        self._evidence = evidence
        self._words = words
        self._total = Sums()
        self._months = Months()
        self._days: list[int] = []  # the first and the last day of each block
        self._signs: dict[Sentiment, int] = {"positive": 0, "neutral": 0, "negative": 0}
        self._languages: Counter[str] = Counter()
        self._models: dict[str, Counter[str]] = {}
        self._wordless = 0
        self._rankings: dict[str, dict[str, Ranking]] = {kind: {} for kind in ("aspects", *KINDS)}
        self._quotes: dict[int, list[Quote]] = {}

    @property
    def review_count(self) -> int:
        """Number of reviews in all blocks."""
        return self._total.count

    def add(self, counts: Counts) -> None:
        """Add the counts of a block."""
        if not counts.months:
            return
        for sums in counts.months.values():
            self._total.add(sums)
        self._months.add(counts.months)
        self._days += counts.earliest, counts.latest
        self._languages.update(counts.languages)
        self._wordless += counts.wordless
        for model, languages in counts.models.items():
            self._models.setdefault(model, Counter()).update(languages)
        for sentiment, positions in counts.sentiments.items():
            self._signs[sentiment] += len(positions)
        for kind, by_id in counts.mentions.items():
            rankings = self._rankings[kind]
            for name, mentions in by_id.items():
                ranking = rankings.get(name)
                if ranking is None:
                    aspect = name if kind == "aspects" else None
                    is_answer = functools.partial(self._evidence.is_answer, aspect)
                    ranking = rankings[name] = Ranking(is_answer)
                ranking.add(mentions)
        for month, quotes in counts.quotes.items():
            self._quotes.setdefault(month, []).extend(quotes)

    def insights(
        self,
        review_of: Callable[[str], Review],
        per_review: dict[str, PerReview],
        generated_at: datetime.datetime | None = None,
    ) -> MadeInsights:
        """Return the insights.

        Args:
            review_of: Returns a review by its id, for quotations.
            per_review: The entries, or an empty dict if the caller writes them.
            generated_at: Time of the last change of the reviews.
        """
        reviews_are_bad = 2 * self._total.positive < self._total.count
        aspects = [
            RankedAspect(
                insight=self._aspect(name, ranking),
                ranking=ranking,
                reviews_are_bad=reviews_are_bad,
            )
            for name, ranking in _most_first(self._rankings["aspects"])
        ]
        ordered = sorted(self._languages.items(), key=lambda item: (-item[1], item[0]))
        languages = dict(ordered)
        models = sorted(self._models, key=lambda name: (-self._models[name].total(), name))
        writer = ProseWriter(self._words, languages, {name: self._models[name] for name in models})
        evidence = self._evidence
        least = least_mentions(self._total.count)
        sure = [aspect for aspect in aspects if aspect.insight.mention_count >= least]
        faq = writer.faq(sure, evidence, review_of)
        quote = pull_quote(self._newest_quotes(), evidence, review_of, aspects, faq)
        lists = {kind: self._list(kind) for kind in KINDS}
        public = bool(self._catalogue.problems)  # problems, and the sentence about criticism

        return MadeInsights(
            generated_at=generated_at,
            model=", ".join((*models, RULES)),
            review_count=self._total.count,
            date_range=DateRange(earliest=_date(min, self._days), latest=_date(max, self._days)),
            overall_sentiment=self._overall(),
            aspects=tuple(aspect.insight for aspect in aspects),
            topics=lists.pop("topics"),
            entities=EntityLists(**lists),
            temporal=self._months.insight(),
            per_review=per_review,
            faq=faq,
            summary=writer.summary(self._total, sure, self._months, criticism=public) or UNSET,
            pull_quote=quote or UNSET,
            method=Method(
                rules=RULES,
                languages=languages,
                not_analysed=self._wordless,
                model=", ".join(models) or UNSET,
                labelled=writer.labelled if models else UNSET,
                note=writer.note,
                not_published=UNSET if public else (PROBLEMS,),
            ),
        )

    def rare_problems(self) -> list[str]:
        """Return the ids of problems that too few reviews mention to be public, or none with few stars."""
        return [
            name for name, ranking in self._rankings[PROBLEMS].items() if not _is_problem(ranking)
        ]

    def _newest_quotes(self) -> list[Quote]:
        """Return the best candidates of each of the newest twelve months, the best first."""
        last = self._months.last
        months = range(last - YEAR + 1, last + 1)
        best = [heapq.nlargest(QUOTES, self._quotes.get(month, ())) for month in months]
        return sorted((quote for quotes in best for quote in quotes), reverse=True)

    def _overall(self) -> OverallSentiment:
        count = self._total.count
        if not count:
            return OverallSentiment()
        share = {sign: round(100 * number / count, 1) for sign, number in self._signs.items()}
        return OverallSentiment(
            score=round(self._total.score, 2),
            positive_pct=share["positive"],
            neutral_pct=share["neutral"],
            negative_pct=share["negative"],
        )

    def _aspect(self, name: str, ranking: Ranking) -> AspectInsight:
        insight = AspectInsight(
            id=name,
            label=self._catalogue.aspects[name],
            mention_count=ranking.count,
            top_phrases=(),
            example_review_ids=tuple(example.id for example in ranking.examples()),
        )
        return (
            insight
            if ranking.count < MIN_ASPECT_MENTIONS
            else replace(insight, **_figures(ranking))
        )

    def _list(self, kind: str) -> tuple[EntityInsight, ...]:
        labels = self._catalogue.labels(kind)
        return tuple(
            self._entity(kind, name, labels[name], ranking)
            for name, ranking in _most_first(self._rankings[kind])
            if kind != PROBLEMS or _is_problem(ranking)
        )

    def _entity(self, kind: str, name: str, label: str, ranking: Ranking) -> EntityInsight:
        person = kind == "technicians"
        insight = EntityInsight(
            id=name,
            name=label if person else UNSET,
            label=label,
            aliases=(person and self._catalogue.aliases.get(name)) or UNSET,
            mention_count=ranking.count,
            praised_for=_praised_for(ranking) or UNSET,
            top_phrases=(),
            example_review_ids=tuple(example.id for example in ranking.examples()),
        )
        if ranking.count < MIN_MENTIONS:
            return insight
        insight = replace(insight, average_rating=round(ranking.stars / ranking.count, 2))
        if not person:
            score = round(ranking.hundredths / (100 * ranking.count), 2)
            return replace(insight, **_figures(ranking) | {"score": score})
        opinion_count = ranking.positive + ranking.negative
        if opinion_count < max(MIN_MENTIONS, _MIN_READ_SHARE * ranking.count):
            return insight
        share = round(100 * ranking.positive / opinion_count, 1)
        score = round((ranking.positive - ranking.negative) / opinion_count, 2)
        opinions = {"neutral_count": UNSET, "positive_pct": share, "score": score}
        return replace(insight, **_figures(ranking) | opinions)


def _praised_for(ranking: Ranking) -> dict[str, int]:
    """Return the aspects that most reviews praise in a person, each praised by several."""
    ordered = sorted(ranking.praised_for.items(), key=lambda item: (-item[1], item[0]))
    return {name: count for name, count in ordered[:_MAX_PRAISED_FOR] if count >= _MIN_PRAISED_FOR}


def _figures(ranking: Ranking) -> dict[str, object]:
    """Return the members that only an entity with enough mentions has."""
    return {
        "positive_count": ranking.positive,
        "neutral_count": ranking.neutral,
        "negative_count": ranking.negative,
        "positive_pct": round(100 * ranking.positive / ranking.count, 1),
        "score": round((ranking.positive - ranking.negative) / ranking.count, 2),
        "top_phrases": ranking.top_phrases(),
    }


def _is_problem(ranking: Ranking) -> bool:
    """Return whether enough reviews tell of a problem, and not only those that are content all the same."""
    return ranking.count >= MIN_PROBLEM_MENTIONS and ranking.stars < _GOOD_STARS * ranking.count


def _date(choose: Callable[[list[int]], int], days: list[int]) -> datetime.date | None:
    return datetime.date.fromordinal(choose(days)) if days else None


def _most_first(counted: Mapping[str, Ranking]) -> list[tuple[str, Ranking]]:
    return sorted(counted.items(), key=lambda item: (-item[1].count, item[0]))
