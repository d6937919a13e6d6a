"""Counts the labels of reviews, from rules or from a model; ``totals`` sums the blocks (insights.md 5)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from reviewsd.analysis.counts import (
    CANDIDATES,
    QUOTES,
    Counts,
    Example,
    MentionCounts,
    Quote,
    SentimentCounts,
    Sums,
    offer,
)
from reviewsd.analysis.labels import AspectLabel, EntityLabel, Labels
from reviewsd.analysis.temporal import month_of
from reviewsd.analysis.wordings import key
from reviewsd.domain.insights import AspectMention, PerReview, Sentiment, slug
from reviewsd.domain.reviews import Review

KINDS: Final = ("technicians", "services", "problems", "service_areas", "topics")
"""Kinds of entities; ``aspects`` are another kind."""

_STARS: Final = 50  # hundredths of a score for each star; insights.md 4, 1
_WORDS: Final = 20  # hundredths of a score for the words
_NEUTRAL: Final = 3  # stars
_QUOTABLE_STARS: Final = 4
_MOST_PRAISED: Final = 3  # praised aspects that count for a quotation


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The labels of everything to count, by id."""

    aspects: Mapping[str, str]
    technicians: Mapping[str, str]
    services: Mapping[str, str]
    problems: Mapping[str, str]
    service_areas: Mapping[str, str]
    topics: Mapping[str, str]
    """The label of the topic of each service that has one."""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Further names of technicians, by id."""

    def labels(self, kind: str) -> Mapping[str, str]:
        """Return the labels of a kind by id."""
        if kind == "topics":
            return {slug(label): label for label in self.topics.values()}
        labels: Mapping[str, str] = getattr(self, kind)
        return labels


def sentiment_of(rating: int) -> Sentiment:
    """Return the sentiment of a review, which depends on its stars alone."""
    return "positive" if rating > _NEUTRAL else "neutral" if rating == _NEUTRAL else "negative"


def hundredths_of(rating: int, labels: Labels) -> int:
    """Return the score of a review, -100 to 100, from its stars and, with less weight, its words."""
    return max(-100, min(100, round(_STARS * (rating - _NEUTRAL) + _WORDS * labels.words)))


class BlockCounter:
    """Counts the labelled reviews of a block.

    Args:
        catalogue: The labels to count; other ids are ignored.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self.counts = Counts()
        self._aspects = catalogue.aspects
        self._labels_by_kind = {kind: catalogue.labels(kind) for kind in KINDS}
        self._topics = {
            service: EntityLabel(id=slug(topic)) for service, topic in catalogue.topics.items()
        }
        self._position = -1  # of the current review
        self._day = 0  # of the current review

    def add(self, review: Review, labels: Labels) -> PerReview:
        """Count one review.

        Returns:
            Its entry of ``per_review``.
        """
        sentiment = sentiment_of(review.rating)
        hundredths = hundredths_of(review.rating, labels)
        self._position += 1
        self._day = review.date.toordinal()
        self._count(review, labels, sentiment, hundredths)
        aspects = []
        for label in labels.aspects:
            if label.id in self._aspects:
                aspects.append(
                    AspectMention(id=label.id, sentiment=label.sentiment, phrase=label.phrase)
                )
                self._mention("aspects", label, review, hundredths, label.sentiment, label.strength)
        entities = {}
        if labels.technicians or labels.services or labels.problems or labels.service_areas:
            topics = self._topics_of(labels.services)
            lists = (labels.technicians, labels.services, labels.problems, labels.service_areas)
            for kind, mentions in zip(KINDS, (*lists, topics), strict=True):
                if mentions:
                    entities[kind] = self._entities(kind, mentions, review, hundredths, sentiment)
        if aspects and review.rating >= _QUOTABLE_STARS:
            self._offer_quote(review, labels)
        return PerReview(
            sentiment=sentiment, score=hundredths / 100, aspects=tuple(aspects), **entities
        )

    def _count(self, review: Review, labels: Labels, sentiment: Sentiment, hundredths: int) -> None:
        counts = self.counts
        day = self._day
        if not self._position:
            counts.earliest = counts.latest = day
        elif day < counts.earliest:
            counts.earliest = day
        elif day > counts.latest:
            counts.latest = day
        counts.sentiments.setdefault(sentiment, []).append(self._position)
        sums = counts.months.get(month := month_of(review.date))
        if sums is None:
            sums = counts.months[month] = Sums()
        sums.count += 1
        sums.stars += review.rating
        sums.hundredths += hundredths
        sums.positive += sentiment == "positive"
        if labels.language:
            counts.languages[labels.language] = counts.languages.get(labels.language, 0) + 1
            if labels.model:
                languages = counts.models.setdefault(labels.model, {})
                languages[labels.language] = languages.get(labels.language, 0) + 1
        else:
            counts.wordless += 1

    def _mention(
        self,
        kind: str,
        label: AspectLabel | EntityLabel,
        review: Review,
        hundredths: int,
        sentiment: Sentiment,
        strength: float,
    ) -> None:
        by_id = self.counts.mentions.get(kind)
        if by_id is None:
            by_id = self.counts.mentions[kind] = {}
        mentions = by_id.get(label.id)
        if mentions is None:
            mentions = by_id[label.id] = MentionCounts()
        mentions.stars += review.rating
        mentions.hundredths += hundredths
        counts = mentions.sentiments.get(sentiment)
        if counts is None:
            counts = mentions.sentiments[sentiment] = SentimentCounts()
        counts.at.append(self._position)
        texts = label.wordings
        if texts:
            counts.wordings += texts if len(texts) == 1 else _distinct(texts)
        examples = counts.examples
        if len(examples) == CANDIDATES:
            least, oldest, _, _ = examples[0]
            if strength < least or (strength == least and self._day < oldest):
                return  # the usual case, without an Example
        offer(examples, Example(strength, self._day, review.id, label.phrase or ""), CANDIDATES)

    def _entities(
        self,
        kind: str,
        labels: Iterable[EntityLabel],
        review: Review,
        hundredths: int,
        sentiment: Sentiment,
    ) -> tuple[str, ...]:
        labels_of_kind = self._labels_by_kind[kind]
        strength = abs(hundredths) / 100
        if kind == "problems":
            sentiment, hundredths = "negative", -100
        names = []
        for label in labels:
            if label.id in labels_of_kind:
                names.append(label.id)
                own = label.sentiment or sentiment
                self._mention(kind, label, review, hundredths, own, strength)
                if label.praised_for:
                    praised = self.counts.mentions[kind][label.id].praised_for
                    praised += [aspect for aspect in label.praised_for if aspect in self._aspects]
        return tuple(names)

    def _topics_of(self, services: Iterable[EntityLabel]) -> tuple[EntityLabel, ...]:
        """Return the topics of services, each with the phrase of its first service."""
        topics: dict[str, EntityLabel] = {}
        for service in services:
            topic = self._topics.get(service.id)
            if topic is not None and topic.id not in topics:
                topics[topic.id] = EntityLabel(id=topic.id, phrase=service.phrase)
        return tuple(topics.values())

    def _offer_quote(self, review: Review, labels: Labels) -> None:
        """Offer a review as the source of the quotation.

        A review that blames something is none, unless a model labeled it and says where the blame stands.
        """
        praise = [label for label in labels.aspects if label.sentiment == "positive"]
        if not praise or (len(praise) < len(labels.aspects) and not labels.model):
            return
        quotes = self.counts.quotes.setdefault(month_of(review.date), [])
        worth = (review.rating, min(len(praise), _MOST_PRAISED), labels.words)
        if len(quotes) == QUOTES and quotes[0][:3] > worth:
            return
        best = max(praise, key=lambda label: (label.strength, label.id))
        example = Example(best.strength, self._day, review.id, best.phrase or "")
        offer(quotes, Quote(*worth, example), QUOTES)


def _distinct(texts: Iterable[str]) -> Iterable[str]:
    """Return the texts without those that are inflections of others."""
    return {key(text): text for text in texts}.values()
