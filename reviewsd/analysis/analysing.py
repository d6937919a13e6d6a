"""Reviews become insights, by rules: the door of this package (insights.md 2)."""

import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from reviewsd.analysis.aspects import knowledge
from reviewsd.analysis.counting import Catalogue, InsightsCounter
from reviewsd.analysis.labels import WORDLESS, Labels, label_key
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import Settings
from reviewsd.analysis.value import MadeInsights
from reviewsd.domain.insights import PerReview
from reviewsd.domain.reviews import Business, Review


class EarlierLabels(Protocol):
    """Labels of an earlier call, such as a dict."""

    def get(self, key: str, /) -> Labels | None:
        """Those of a key; None where there are none."""


class LabelStore(EarlierLabels, Protocol):
    """Keeps labels for the next call, such as a dict; it may forget some within this one."""

    def __setitem__(self, key: str, labels: Labels, /) -> None:
        """Keep those of a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Insights, and what to keep so that the next ones are made faster."""

    insights: MadeInsights
    labels_by_key: dict[str, Labels]
    """Of every different text; ``earlier`` of the next call. Empty where ``keep`` has them."""
    analysed: int
    """How many texts had to be read, for want of earlier labels."""


def analyse(
    reviews: Iterable[Review],
    business: Business,
    settings: Settings,
    *,
    generated_at: datetime.datetime | None = None,
    earlier: EarlierLabels | None = None,
    keep: LabelStore | None = None,
    per_review: Callable[[str, PerReview], object] | None = None,
) -> Made:
    """Insights made from reviews alone.

    The same arguments give the same value, in any process.

    Args:
        reviews: Each is looked at once; ``per_review`` lists them in this order.
        business: Whose reviews they are.
        settings: What the owner says; without ``faults``.
        generated_at: When the reviews were last updated.
        earlier: Labels by key as made before, with whatever settings and rules: a key fits only
            where the same would be found again.
        keep: Where labels are kept, if not in memory.
        per_review: Told each entry of ``per_review``, which is empty then: it may be as large as the
            reviews.
    """
    rules = Rules(business, settings)
    counter = InsightsCounter(catalogue(business, settings, rules), per_review=per_review)
    in_memory: dict[str, Labels] = {}
    kept = in_memory if keep is None else keep
    known = {} if earlier is None else earlier
    analysed = 0
    for review in reviews:
        text = review.text
        if text is None or not text.strip():
            counter.add(review, WORDLESS)
            continue
        key = label_key(text, review.rating, rules.digest)
        labels = kept.get(key)
        if labels is None:
            labels = known.get(key)
            if labels is None:
                analysed += 1
                labels = rules.label(text, review.rating)
            kept[key] = labels
        counter.add(review, labels)
    return Made(insights=counter.insights(generated_at), labels_by_key=in_memory, analysed=analysed)


def catalogue(business: Business, settings: Settings, rules: Rules | None = None) -> Catalogue:
    """What may be labelled in the reviews of a business."""
    rules = rules or Rules(business, settings)
    return Catalogue(
        aspects=rules.aspects,
        technicians=rules.technicians,
        services={service.id: service.label for service in rules.services},
        problems=knowledge().problems,
        service_areas=rules.areas,
        topics={s.id: s.topic for s in rules.services if s.topic is not None},
        aliases={person.id: person.aliases for person in settings.technicians},
    )
