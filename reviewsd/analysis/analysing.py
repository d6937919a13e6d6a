"""Labels and counts reviews, block by block; the entry point of this package (insights.md 2)."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from reviewsd.analysis.aspects import ASPECTS
from reviewsd.analysis.aspects import PROBLEMS as PROBLEM_IDS
from reviewsd.analysis.counting import BlockCounter, Catalogue
from reviewsd.analysis.counts import Counts
from reviewsd.analysis.kept_labels import KeptLabel, KeptLabels, merged
from reviewsd.analysis.labels import WORDLESS, Labels, label_key, text_key
from reviewsd.analysis.model_labels import AspectAnswer, Excerpted, ModelLabels, ReviewAnswer
from reviewsd.analysis.rules import Rules
from reviewsd.analysis.settings import PROBLEMS, InsightSettings
from reviewsd.analysis.text import has_words
from reviewsd.analysis.value import LocalWords
from reviewsd.domain.insights import PerReview
from reviewsd.domain.reviews import Business, Review

_MAX_CACHED: Final = 50_000  # labels of repeated texts
_MAX_BATCH: Final = 20_000  # characters of reviews that are read together


class KnownLabels(Protocol):
    """Labels of an earlier analysis, such as a dict."""

    def get(self, key: str, /) -> Labels | None:
        """Return the labels of a key (``label_key``), or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedBlock:
    """The results for a block of reviews."""

    counts: Counts
    entries: list[tuple[str, PerReview]]
    """The entries of ``per_review``, in the order of the reviews."""
    labels: dict[str, Labels]
    """The labels of all texts by ``label_key``."""


class Analyser:
    """Labels and counts reviews, block by block. The same reviews always give the same result.

    Args:
        business: The business of the reviews.
        settings: The owner's valid settings.
        words: The words of labels and sentences.
        stored_labels: Labels of a language model, which are used instead of those of the rules.
    """

    def __init__(
        self,
        business: Business,
        settings: InsightSettings,
        words: LocalWords,
        stored_labels: KeptLabels | None = None,
    ) -> None:
        self.rules = Rules(business, settings)
        self.catalogue = catalogue(settings, self.rules, words)
        self._stored_labels = KeptLabels() if stored_labels is None else stored_labels
        self._model_labels = ModelLabels(
            catalogue(settings.for_owner(), self.rules, words), business
        )
        self.lists = self._model_labels.lists
        """The ``ModelLabels.lists``."""
        parts = self.rules.digest, self._stored_labels.digest
        self.digest = hashlib.blake2b(b"".join(parts), digest_size=16).digest()
        """Digest of everything but the review that labels depend on."""
        self.analysed = 0
        """Number of texts without known labels."""
        self._earlier_labels: KnownLabels = {}
        self._cache: dict[str, Labels] = {}

    def reuse(self, labels: KnownLabels | None) -> None:
        """Use labels of an earlier analysis; their keys include the settings and rules."""
        self._earlier_labels = {} if labels is None else labels

    def labels_of(self, review: Review) -> Sequence[AspectAnswer] | None:
        """Return the aspects by which a language model labeled a review; None if it has no such labels."""
        if not self._stored_labels.digest:
            return None
        text, rating = review.text or "", review.rating
        stored = self._stored_labels.find(text_key(text, rating))
        return None if stored is None else self._checked(stored, text, rating).aspects or ()

    def block(self, reviews: Iterable[Review]) -> CountedBlock:
        """Label and count some reviews."""
        counter = BlockCounter(self.catalogue)
        entries: list[tuple[str, PerReview]] = []
        block_labels: dict[str, Labels] = {}
        for batch in _batches(reviews):
            texts: dict[str, tuple[str, int]] = {}
            keys = []
            for review in batch:
                key, text = "", review.text
                if has_words(text):
                    key = label_key(text, review.rating, self.digest)
                    texts[key] = text, review.rating
                keys.append(key)
            labels = self._labels(texts)
            block_labels |= labels
            for key, review in zip(keys, batch, strict=True):
                entries.append((review.id, counter.add(review, labels.get(key, WORDLESS))))
        return CountedBlock(counts=counter.counts, entries=entries, labels=block_labels)

    def _labels(self, texts: Mapping[str, tuple[str, int]]) -> dict[str, Labels]:
        """Return the labels of texts with their ratings, all by ``label_key``."""
        known = {key: self._cache.get(key) or self._earlier_labels.get(key) for key in texts}
        unread = {key: text for key, text in texts.items() if known[key] is None}
        self.analysed += len(unread)
        read = self.rules.label_all([*unread.values()])
        new = {
            key: self._with_stored(labels, *unread[key])
            for key, labels in zip(unread, read, strict=True)
        }
        # in the order of the texts, as what is kept has the same bytes whatever was known
        labels = {key: known_labels or new[key] for key, known_labels in known.items()}
        if len(self._cache) < _MAX_CACHED:
            self._cache |= labels
        return labels

    def _with_stored(self, labels: Labels, text: str, rating: int) -> Labels:
        """Return the labels of a text with those of a language model, if there are."""
        if not self._stored_labels.digest:
            return labels
        stored = self._stored_labels.find(text_key(text, rating))
        if stored is None:
            return labels
        is_current = stored.lists == self._model_labels.lists
        answer = self._checked(stored, text, rating)
        return merged(answer, labels, stored.model, is_current=is_current)

    def _checked(self, stored: KeptLabel, text: str, rating: int) -> ReviewAnswer:
        """Return the valid labels of a text; the file may have been edited."""
        review = Excerpted(id="", rating=rating, text=text)
        return self._model_labels.check(stored.labels, review, [])


def _batches(reviews: Iterable[Review]) -> Iterator[list[Review]]:
    """Yield neighboring reviews that are read together, which bounds the memory of their tokens."""
    batch: list[Review] = []
    size = 0
    for review in reviews:
        batch.append(review)
        size += len(review.text or "")
        if size > _MAX_BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def catalogue(settings: InsightSettings, rules: Rules, words: LocalWords) -> Catalogue:
    """Return the labels to count for a business; it has problems only if they are public."""
    problems = PROBLEM_IDS if PROBLEMS in settings.publish else ()
    labels = {name: words(f"aspect_{name}") for name in ASPECTS}
    labels |= {name: aspect.label for name, aspect in settings.aspects.items()}
    return Catalogue(
        aspects={name: label for name, label in labels.items() if name not in rules.uncounted},
        technicians=rules.technicians,
        services={service.id: service.label for service in rules.services},
        problems={name: words(f"problem_{name}") for name in problems},
        service_areas=rules.areas,
        topics={s.id: s.topic for s in rules.services if s.topic is not None},
        aliases={person.id: person.aliases for person in settings.technicians},
    )
