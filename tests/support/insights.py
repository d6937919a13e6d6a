"""Analyses of generated reviews: the content of insights.json (data-model.md 2).

Technicians and services follow Zipf's law, so that the mention filters have dense cases and rare ones.
"""

import random
import unicodedata
from collections.abc import Sequence

import msgspec

from tests.support import vocabulary
from tests.support.texts import AspectMention
from tests.support.vocabulary import Weighted

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


def _entities(labels: Sequence[str]) -> list[dict[str, object]]:
    return [{"id": _IDS[label], "name": label, "label": label} for label in labels]


MEMBERS: dict[str, object] = {
    "version": 1,
    "model": "lexicon-1",
    "aspects": [
        {
            "id": aspect,
            "label": aspect.replace("_", " ").capitalize(),
            "top_phrases": [item for of, item in vocabulary.PRAISE if of == aspect][:3],
        }
        for aspect in vocabulary.ASPECTS
    ],
    "entities": {kind: _entities(labels) for kind, labels in _LABELS.items() if kind != "topics"},
    "topics": _entities(vocabulary.TOPICS),
    "faq": [
        {
            "question": "How fast do they come?",
            "answer": "Many reviewers speak of the same day.",
        }
    ],
    "summary": "Customers praise quick, tidy work at a fair price; a few waited too long.",
    "pull_quote": "Found the fault in minutes.",
}
"""The members of insights.json beside ``per_review``, without figures."""
