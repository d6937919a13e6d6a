"""Insights of a few reviews, made at once: what ``publish.made_insights`` does block by block."""

from collections.abc import Sequence
from dataclasses import dataclass

from reviewsd.analysis.analysing import Analyser, KnownLabels
from reviewsd.analysis.evidence import Evidence
from reviewsd.analysis.labels import Labels
from reviewsd.analysis.settings import InsightSettings
from reviewsd.analysis.totals import Totals
from reviewsd.analysis.value import MadeInsights
from reviewsd.domain.reviews import Business, Review
from reviewsd.pages.locales import words_of_insights


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """Insights, and the labels that make the next ones faster."""

    insights: MadeInsights
    labels: dict[str, Labels]
    """The labels of every different text; pass them as ``known_labels`` to the next call."""
    analysed: int
    """The number of texts that were read because their labels were not known."""


def analyse(
    reviews: Sequence[Review],
    business: Business,
    settings: InsightSettings,
    *,
    known_labels: KnownLabels | None = None,
) -> Made:
    """Insights made from reviews alone.

    The same arguments give the same value, in any process.

    Args:
        reviews: ``per_review`` lists them in this order.
        business: The business that is reviewed.
        settings: What the owner says; without ``faults``.
        known_labels: Labels made before, for ``Analyser.know``.
    """
    words = words_of_insights(business)
    analyser = Analyser(business, settings, words)
    analyser.reuse(known_labels)
    block = analyser.block(reviews)
    totals = Totals(analyser.catalogue, Evidence(analyser.rules), words)
    totals.add(block.counts)
    by_id = {review.id: review for review in reviews}
    insights = totals.insights(by_id.__getitem__, dict(block.entries), None)
    return Made(insights=insights, labels=block.labels, analysed=analyser.analysed)
