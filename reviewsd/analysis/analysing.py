"""Reviews are read by rules and counted, block by block: the door of this package (insights.md 2)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from reviewsd.analysis.aspects import knowledge
from reviewsd.analysis.counting import BlockCounter, Catalogue
from reviewsd.analysis.counts import Counts
from reviewsd.analysis.labels import WORDLESS, Labels, label_key
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import PROBLEMS, InsightSettings
from reviewsd.domain.insights import PerReview
from reviewsd.domain.reviews import Business, Review

_REMEMBERED: Final = 50_000  # labels that are found again while the same texts come


class KnownLabels(Protocol):
    """Labels made before, such as a dict."""

    def get(self, key: str, /) -> Labels | None:
        """Those of a key (``label_key``); None where there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedBlock:
    """A run of reviews that was read and counted."""

    counts: Counts
    entries: list[tuple[str, PerReview]]
    """Of ``per_review``, in the order of the reviews."""
    labels: dict[str, Labels]
    """Of every different text, by ``label_key``."""


class Analyser:
    """Reads and counts reviews, block by block. The same reviews always make the same block.

    Args:
        business: Whose reviews they are.
        settings: What the owner says; without ``faults``.
    """

    def __init__(self, business: Business, settings: InsightSettings) -> None:
        self.rules = Rules(business, settings)
        self.catalogue = catalogue(business, settings, self.rules)
        self.analysed = 0
        """How many texts had to be read, for want of known labels."""
        self._known: KnownLabels = {}
        self._remembered: dict[str, Labels] = {}

    def know(self, labels: KnownLabels | None) -> None:
        """Use labels made before, with whatever settings and rules.

        A key fits only where the same would be found again.
        """
        self._known = {} if labels is None else labels

    def block(self, reviews: Iterable[Review]) -> CountedBlock:
        """Read and count some reviews."""
        counter = BlockCounter(self.catalogue)
        entries = []
        found: dict[str, Labels] = {}
        for review in reviews:
            labels = WORDLESS
            text = review.text
            if text is not None and text.strip():
                key = label_key(text, review.rating, self.rules.digest)
                found[key] = labels = self._labels(key, text, review.rating)
            entries.append((review.id, counter.add(review, labels)))
        return CountedBlock(counts=counter.counts, entries=entries, labels=found)

    def _labels(self, key: str, text: str, rating: int) -> Labels:
        labels = self._remembered.get(key)
        if labels is None:
            labels = self._known.get(key)
            if labels is None:
                self.analysed += 1
                labels = self.rules.label(text, rating)
            if len(self._remembered) < _REMEMBERED:
                self._remembered[key] = labels
        return labels


def catalogue(
    business: Business, settings: InsightSettings, rules: Rules | None = None
) -> Catalogue:
    """Return what is counted in the reviews of a business: of problems nothing, unless they are public."""
    rules = rules or Rules(business, settings)
    return Catalogue(
        aspects=rules.aspects,
        technicians=rules.technicians,
        services={service.id: service.label for service in rules.services},
        problems=knowledge().problems if PROBLEMS in settings.publish else {},
        service_areas=rules.areas,
        topics={s.id: s.topic for s in rules.services if s.topic is not None},
        aliases={person.id: person.aliases for person in settings.technicians},
    )
