"""Labels of reviews become the insights (insights.md 5).

Rules or a model may label; only this module counts. Each review is added once, in the order in which
``per_review`` shall list them.
"""

import datetime
import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec import UNSET

from reviewsd.analysis.labels import RULES, EntityLabel, Labels
from reviewsd.analysis.prose import Aspect, faq, pull_quote, summary
from reviewsd.analysis.ranking import Example, Mentions
from reviewsd.analysis.temporal import YEAR, Months, Sums, month_of
from reviewsd.analysis.value import (
    AspectInsight,
    EntityInsight,
    EntityLists,
    MadeInsights,
    Method,
)
from reviewsd.domain.insights import (
    AspectMention,
    DateRange,
    OverallSentiment,
    PerReview,
    Sentiment,
    slug,
)
from reviewsd.domain.reviews import Review

NOTE: Final = "Counted by rules from the words of the reviews; a clause may be misread."
WORD_WEIGHT: Final = 0.2  # how far the words move the score that the stars give; insights.md 4, 1

_QUOTABLE_STARS: Final = 4
_QUOTES: Final = 8  # candidates for the quotation kept of each month


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The labels of everything that may be counted, by id."""

    aspects: Mapping[str, str]
    technicians: Mapping[str, str]
    services: Mapping[str, str]
    problems: Mapping[str, str]
    service_areas: Mapping[str, str]
    topics: Mapping[str, str]
    """The label of the topic of each service that has one."""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What else technicians are called, by id."""


def sentiment_of(rating: int) -> Sentiment:
    """The sentiment of a review is that of its stars."""
    return "positive" if rating > 3 else "neutral" if rating == 3 else "negative"  # noqa: PLR2004


def score_of(rating: int, labels: Labels) -> float:
    """The score of a review, -1 to 1: its stars, moved a little by its words."""
    return round(max(-1.0, min(1.0, (rating - 3) / 2 + WORD_WEIGHT * labels.words)), 2)


class InsightsCounter:
    """Counts labelled reviews.

    Args:
        catalogue: The labels of what may be counted; ids that it lacks are left out.
        model: Who labelled, as published.
        note: What readers should know about that.
        per_review: Told each entry of ``per_review``; None: they are kept, and in the insights.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        model: str = RULES,
        note: str = NOTE,
        per_review: Callable[[str, PerReview], object] | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._model = model
        self._note = note
        self._total = Sums()
        self._signs: dict[Sentiment, int] = {"positive": 0, "neutral": 0, "negative": 0}
        self._first: datetime.date | None = None
        self._last: datetime.date | None = None
        self._months = Months()
        self._aspects: dict[str, Mentions] = {}
        self._entities: dict[str, dict[str, Mentions]] = {
            kind: {} for kind in ("technicians", "services", "problems", "service_areas", "topics")
        }
        self._topics = {
            service: (slug(topic), topic) for service, topic in catalogue.topics.items()
        }
        self._per_review: dict[str, PerReview] = {}
        self._tell = self._per_review.__setitem__ if per_review is None else per_review
        self._quotes: dict[int, list[tuple[int, int, float, Example]]] = {}
        self._read = self._foreign = self._wordless = 0

    def add(self, review: Review, labels: Labels) -> None:
        """Count one review."""
        sentiment = sentiment_of(review.rating)
        score = score_of(review.rating, labels)
        self._count(review, labels, sentiment, score)
        known = self._catalogue
        aspects = []
        for label in labels.aspects:
            if label.id not in known.aspects:
                continue
            aspects.append(
                AspectMention(id=label.id, sentiment=label.sentiment, phrase=label.phrase)
            )
            mentions = self._aspects.get(label.id)
            if mentions is None:
                mentions = self._aspects[label.id] = Mentions()
            mentions.add(
                review,
                label.sentiment,
                score=score,
                phrase=label.phrase,
                strength=label.strength,
            )
        technicians, services = labels.technicians, labels.services
        problems, areas = labels.problems, labels.service_areas
        topics = self._topics_of(services) if services else ()
        entry = PerReview(
            sentiment=sentiment,
            score=score,
            aspects=tuple(aspects),
            technicians=self._mention("technicians", technicians, review, score)
            if technicians
            else (),
            services=self._mention("services", services, review, score) if services else (),
            problems=self._mention("problems", problems, review, score) if problems else (),
            service_areas=self._mention("service_areas", areas, review, score) if areas else (),
            topics=self._mention("topics", topics, review, score) if topics else (),
        )
        self._tell(review.id, entry)
        if review.rating >= _QUOTABLE_STARS and labels.aspects:
            self._offer_quote(review, labels)

    def insights(self, generated_at: datetime.datetime | None = None) -> MadeInsights:
        """What has been counted.

        Args:
            generated_at: When the reviews were last updated.
        """
        aspects = [
            Aspect(insight=self._aspect(name, mentions), mentions=mentions)
            for name, mentions in _most_first(self._aspects)
        ]
        insights = tuple(each.insight for each in aspects)
        lists = {kind: self._list(kind) for kind in self._entities}
        return MadeInsights(
            generated_at=generated_at,
            model=self._model,
            review_count=self._total.count,
            date_range=DateRange(earliest=self._first, latest=self._last),
            overall_sentiment=self._overall(),
            aspects=insights,
            topics=lists.pop("topics"),
            entities=EntityLists(**lists),
            temporal=self._months.insight(),
            per_review=self._per_review,
            faq=faq(aspects),
            summary=summary(self._total, insights, self._months) or UNSET,
            pull_quote=self._pull_quote() or UNSET,
            method=Method(
                rules=self._model,
                languages={"en": self._read, "other": self._foreign},
                not_analysed=self._wordless,
                note=self._note,
            ),
        )

    def _count(self, review: Review, labels: Labels, sentiment: Sentiment, score: float) -> None:
        total = self._total
        total.count += 1
        total.stars += review.rating
        total.score += score
        total.positive += sentiment == "positive"
        self._signs[sentiment] += 1
        if labels.foreign:
            self._foreign += 1
        elif labels.analysed:
            self._read += 1
        else:
            self._wordless += 1
        day = review.date
        if self._first is None or day < self._first:
            self._first = day
        if self._last is None or day > self._last:
            self._last = day
        self._months.add(day, review.rating, score, sentiment)

    def _mention(
        self, kind: str, labels: Iterable[EntityLabel], review: Review, score: float
    ) -> tuple[str, ...]:
        names = []
        counted = self._entities[kind]
        for label in labels:
            mentions = counted.get(label.id)
            if mentions is None:
                if self._label(kind, label.id) is None:
                    continue
                mentions = counted[label.id] = Mentions()
            names.append(label.id)
            problem = kind == "problems"
            mentions.add(
                review,
                "negative" if problem else sentiment_of(review.rating),
                score=-1.0 if problem else score,
                phrase=label.phrase,
                strength=abs(score),
            )
        return tuple(names)

    def _topics_of(self, services: Iterable[EntityLabel]) -> tuple[EntityLabel, ...]:
        """The topics of services, each with the phrase of its first one."""
        topics: dict[str, EntityLabel] = {}
        for service in services:
            topic = self._topics.get(service.id)
            if topic is not None and topic[0] not in topics:
                topics[topic[0]] = EntityLabel(id=topic[0], phrase=service.phrase)
        return tuple(topics.values())

    def _label(self, kind: str, name: str) -> str | None:
        if kind == "topics":
            return next((label for topic, label in self._topics.values() if topic == name), None)
        known: Mapping[str, str] = getattr(self._catalogue, kind)
        return known.get(name)

    def _offer_quote(self, review: Review, labels: Labels) -> None:
        praise = labels.aspects
        for label in praise:
            if label.sentiment != "positive":
                return
        month = month_of(review.date)
        candidates = self._quotes.get(month)
        if candidates is None:
            candidates = self._quotes[month] = []
        worth = (review.rating, min(len(praise), 3), labels.words)
        full = len(candidates) == _QUOTES
        if full and candidates[0][:3] > worth:
            return
        best = max(praise, key=lambda label: (label.strength, label.id))
        day = review.date.toordinal()
        example = Example(best.strength, day, review.id, best.phrase or "", review)
        offer = (*worth, example)
        if not full:
            heapq.heappush(candidates, offer)
        elif candidates[0] < offer:
            heapq.heapreplace(candidates, offer)

    def _pull_quote(self) -> str | None:
        if self._last is None:
            return None
        last = month_of(self._last)
        offers = [
            offer
            for month in range(last - YEAR + 1, last + 1)
            for offer in self._quotes.get(month, ())
        ]
        return pull_quote(example for *_, example in sorted(offers, reverse=True))

    def _overall(self) -> OverallSentiment:
        count = self._total.count
        if not count:
            return OverallSentiment()
        share = {sign: round(100 * number / count, 1) for sign, number in self._signs.items()}
        return OverallSentiment(
            score=round(self._total.score / count, 2),
            positive_pct=share["positive"],
            neutral_pct=share["neutral"],
            negative_pct=share["negative"],
        )

    def _aspect(self, name: str, mentions: Mentions) -> AspectInsight:
        return AspectInsight(
            id=name,
            label=self._catalogue.aspects[name],
            mention_count=mentions.count,
            positive_count=mentions.positive,
            neutral_count=mentions.neutral,
            negative_count=mentions.negative,
            positive_pct=round(100 * mentions.positive / mentions.count, 1),
            score=round((mentions.positive - mentions.negative) / mentions.count, 2),
            top_phrases=mentions.top_phrases(),
            example_review_ids=tuple(example.id for example in mentions.examples()),
        )

    def _list(self, kind: str) -> tuple[EntityInsight, ...]:
        return tuple(
            self._entity(kind, name, mentions)
            for name, mentions in _most_first(self._entities[kind])
        )

    def _entity(self, kind: str, name: str, mentions: Mentions) -> EntityInsight:
        label = self._label(kind, name) or name
        aliases = self._catalogue.aliases.get(name) if kind == "technicians" else None
        return EntityInsight(
            id=name,
            name=label if kind == "technicians" else UNSET,
            label=label,
            aliases=aliases or UNSET,
            mention_count=mentions.count,
            positive_count=mentions.positive,
            neutral_count=mentions.neutral,
            negative_count=mentions.negative,
            positive_pct=round(100 * mentions.positive / mentions.count, 1),
            score=round(mentions.score / mentions.count, 2),
            average_rating=round(mentions.stars / mentions.count, 2),
            top_phrases=mentions.top_phrases(),
            example_review_ids=tuple(example.id for example in mentions.examples()),
        )


def _most_first(counted: Mapping[str, Mentions]) -> list[tuple[str, Mentions]]:
    return sorted(counted.items(), key=lambda item: (-item[1].count, item[0]))
