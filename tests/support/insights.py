"""Analyses of generated reviews: the content of insights.json (data-model.md 2).

Technicians and services follow Zipf's law, so that the mention filters have dense cases and rare
ones. All counts are exact.
"""

import random
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from tests.support import vocabulary
from tests.support.texts import AspectMention
from tests.support.vocabulary import Weighted

_MAX_EXAMPLES = 5  # example_review_ids of each entity
_SENTIMENTS = ("positive", "neutral", "negative")
_OPINIONS = {
    5: ("positive", 0.8),
    4: ("positive", 0.5),
    3: ("neutral", 0.0),
    2: ("negative", -0.4),
    1: ("negative", -0.8),
}


def _slug(label: str) -> str:
    plain = unicodedata.normalize("NFKD", label.casefold()).encode("ascii", "ignore").decode()
    return plain.replace(" ", "-")


def _zipf(labels: Sequence[str], exponent: float) -> Weighted[str]:
    return Weighted.of(labels, [rank**-exponent for rank in range(1, len(labels) + 1)])


TECHNICIANS = _zipf(vocabulary.TECHNICIANS, 1.4)  # the first in 12 %, the last in 0.07 %
SERVICES = _zipf(vocabulary.SERVICES, 1.0)
_PROBLEMS = _zipf(vocabulary.PROBLEMS, 1.0)
_AREAS = _zipf(vocabulary.AREAS, 1.0)
_TOPICS = _zipf(vocabulary.TOPICS, 0.7)
_LABELS = {
    "technicians": vocabulary.TECHNICIANS,
    "services": vocabulary.SERVICES,
    "problems": vocabulary.PROBLEMS,
    "service_areas": vocabulary.AREAS,
    "topics": vocabulary.TOPICS,
}
_IDS = {label: _slug(label) for labels in _LABELS.values() for label in labels}


def some(rng: random.Random, labels: Weighted[str], first: float, second: float) -> list[str]:
    """No label, one with the chance ``first``, or two with the chance ``first * second``."""
    if rng.random() >= first:
        return []
    drawn = [labels.one(rng)]
    if rng.random() < second and (label := labels.one(rng)) not in drawn:
        drawn.append(label)
    return drawn


class Analysis(msgspec.Struct, frozen=True):
    """A member of ``per_review``."""

    sentiment: str
    score: float
    aspects: list[AspectMention]
    technicians: list[str]
    services: list[str]
    problems: list[str]
    service_areas: list[str]
    topics: list[str]


def analyse(
    rng: random.Random,
    rating: int,
    mentions: list[AspectMention],
    technicians: list[str],
    services: list[str],
) -> Analysis:
    """Return the analysis of a review with these stars that names these aspects and labels."""
    sentiment, score = _OPINIONS[rating]
    complains = rating <= 3
    return Analysis(
        sentiment=sentiment,
        score=round(score + rng.random() * 0.2 - 0.1, 2),
        aspects=mentions,
        technicians=_ids(technicians),
        services=_ids(services),
        problems=_ids(some(rng, _PROBLEMS, 0.5 if complains else 0.05, 0.1)),
        service_areas=_ids(some(rng, _AREAS, 0.1, 0)),
        topics=_ids(some(rng, _TOPICS, 0.5, 0.1)),
    )


def _ids(labels: list[str]) -> list[str]:
    return [_IDS[label] for label in labels]


@dataclass(slots=True)
class _Tally:
    """Counts of an aspect, an entity, a topic, a month, or of all reviews."""

    sentiments: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_SENTIMENTS, 0))
    score: float = 0.0
    stars: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, review_id: str, rating: int, sentiment: str, score: float) -> None:
        self.sentiments[sentiment] += 1
        self.score += score
        self.stars += rating
        if len(self.examples) < _MAX_EXAMPLES:
            self.examples.append(review_id)

    @property
    def total(self) -> int:
        return sum(self.sentiments.values())

    def percent(self, sentiment: str) -> float:
        return round(100 * self.sentiments[sentiment] / max(self.total, 1), 1)

    def average(self) -> dict[str, object]:
        """Return the members of a month."""
        return {
            "average_rating": round(self.stars / self.total, 2) if self.total else None,
            "score": round(self.score / max(self.total, 1), 3),
            "positive_pct": self.percent("positive"),
        }

    def facts(self) -> dict[str, object]:
        """Return the members of an entity."""
        counts = {f"{sentiment}_count": count for sentiment, count in self.sentiments.items()}
        return {
            "mention_count": self.total,
            **counts,
            **self.average(),
            "example_review_ids": self.examples,
        }


class Summary:
    """Counts the analyses into the members of insights.json beside ``per_review``."""

    def __init__(self) -> None:
        self._overall = _Tally()
        self._aspects = {aspect: _Tally() for aspect in vocabulary.ASPECTS}
        self._entities = {
            member: {_IDS[label]: _Tally() for label in labels}
            for member, labels in _LABELS.items()
        }
        self._months: dict[str, _Tally] = {}
        self._days: set[str] = set()

    @property
    def total(self) -> int:
        """The number of counted reviews."""
        return self._overall.total

    def add(self, review_id: str, rating: int, date: str, analysis: Analysis) -> None:
        """Count one analysed review."""
        counted = (review_id, rating, analysis.sentiment, analysis.score)
        self._overall.add(*counted)
        self._months.setdefault(date[:7], _Tally()).add(*counted)
        self._days.add(date)
        for aspect in analysis.aspects:
            self._aspects[aspect.id].add(review_id, rating, aspect.sentiment, analysis.score)
        for member, tallies in self._entities.items():
            for entity in getattr(analysis, member):
                tallies[entity].add(*counted)

    def members(self) -> dict[str, object]:
        """Name and value of each member; the counts are exact."""
        overall = self._overall
        entities = {member: self._entity_list(member) for member in _LABELS}
        topics = entities.pop("topics")
        return {
            "review_count": overall.total,
            "date_range": {
                "earliest": min(self._days, default=None),
                "latest": max(self._days, default=None),
            },
            "overall_sentiment": {
                "score": overall.average()["score"],
                **{f"{sentiment}_pct": overall.percent(sentiment) for sentiment in _SENTIMENTS},
            },
            "aspects": [
                {
                    "id": aspect,
                    "label": aspect.replace("_", " ").capitalize(),
                    **counters.facts(),
                    "top_phrases": [item for of, item in vocabulary.PRAISE if of == aspect][:3],
                }
                for aspect, counters in self._aspects.items()
            ],
            "entities": entities,
            "topics": topics,
            "temporal": {
                "monthly": [
                    {"month": month, "review_count": counters.total, **counters.average()}
                    for month, counters in sorted(self._months.items())
                ],
                "trend": "stable",
            },
            "faq": [
                {
                    "question": "How fast do they come?",
                    "answer": "Many reviewers speak of the same day.",
                    "example_review_ids": self._aspects["speed"].examples,
                }
            ],
            "summary": "Customers praise quick, tidy work at a fair price; a few waited too long.",
            "pull_quote": "Found the fault in minutes.",
        }

    def _entity_list(self, member: str) -> list[dict[str, object]]:
        return [
            {
                "id": _IDS[label],
                "name": label,
                "label": label,
                **counters.facts(),
                "top_phrases": [],
            }
            for label, counters in zip(
                _LABELS[member], self._entities[member].values(), strict=True
            )
        ]
