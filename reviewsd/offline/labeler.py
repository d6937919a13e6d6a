"""Makes batches of reviews for a language model, and labels from its answers (insights.md 7 and 12).

``reviewsctl insights label`` sends the batches and stores the lines; nothing here uses the network.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from reviewsd.analysis.kept_labels import KeptLabel, KeptLabels, encoded
from reviewsd.analysis.labels import text_key
from reviewsd.analysis.model_labels import (
    MAX_REFUSED,
    Excerpted,
    Judgement,
    ModelLabels,
    ReviewAnswer,
    contradicts,
)
from reviewsd.analysis.text import has_words
from reviewsd.domain.reviews import Review
from reviewsd.offline.insights import Folder

MAX_TEXT: Final = 10_000  # characters of a text that are sent
BATCH_BYTES: Final = 32_000  # of texts; a longer text is a batch of its own
_OVERHEAD: Final = 40  # bytes of a review in addition to its text


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The requests that a model would be sent."""

    reviews: int
    wordless: int
    labeled: int
    """Distinct texts with labels of the model."""
    outdated: int
    """Distinct texts to send although a model labeled them: another one, or with other lists."""
    to_send: int
    """Distinct texts to send in this run."""
    postponed: int
    """Distinct texts over the limit, for another run."""
    batches: int
    bytes: int
    """Approximate size of all requests."""
    people: int
    """Number of people in insights.yaml; the model is sent their names."""
    has_file: bool
    """Whether there is an insights.json, which is served instead."""
    instructions: str
    schema: dict[str, object]


Batch = Mapping[str, Excerpted]
"""Reviews for one request, by the ``text_key`` of their texts."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A checked answer."""

    judgement: Judgement
    lines: bytes
    """Lines of the labeled texts, to store."""
    again: Batch
    """The other reviews, to be sent again with the faults; empty if they are few."""


@dataclass(slots=True)
class _Text:
    """A distinct text with a rating."""

    position: int
    """Position of its newest review."""
    size: int
    rating: int
    reviews: int = 1


class Labeler:
    """The labels of one model for a data directory.

    Args:
        folder: The data directory.
        model: The name of the model.
        batch: The most reviews of a request.
    """

    def __init__(self, folder: Folder, model: str, batch: int) -> None:
        self._folder = folder
        self._model = model
        self._batch = batch
        self._labels = ModelLabels(folder.lists(), folder.dataset.business)
        self._texts: dict[str, _Text] = {}
        self._wordless = 0
        for position, review in enumerate(folder.reviews()):
            self._add(position, review)
        self._outdated: set[str] = set()
        self._answers: dict[str, ReviewAnswer] = {}
        self._batches: list[list[str]] = []

    def recall(self, stored_labels: KeptLabels) -> None:
        """Load the labels of earlier runs."""
        for key in self._texts:
            label = stored_labels.find(key)
            if label is None:
                continue
            if (label.model, label.lists) == (self._model, self._labels.lists):
                self._answers[key] = label.labels
            else:
                self._outdated.add(key)

    def plan(self, limit: int | None) -> Plan:
        """Plan the requests for texts without labels, the newest reviews first."""
        unknown = [key for key in self._texts if key not in self._answers]
        keys = unknown if limit is None else unknown[:limit]
        self._batches = list(self._split(keys))
        text_bytes = sum(self._texts[key].size for key in keys)
        instructions, schema = self._labels.instructions, self._labels.schema
        request_bytes = len(instructions) + len(msgspec.json.encode(schema))
        return Plan(
            reviews=len(self._folder.dataset.records),
            wordless=self._wordless,
            labeled=len(self._answers),
            outdated=len(self._outdated.intersection(keys)),
            to_send=len(keys),
            postponed=len(unknown) - len(keys),
            batches=len(self._batches),
            bytes=text_bytes + request_bytes * len(self._batches),
            people=len(self._folder.settings.technicians),
            has_file=self._folder.dataset.insights is not None,
            instructions=instructions,
            schema=schema,
        )

    def batches(self) -> Iterator[Batch]:
        """Yield the batches of the last plan."""
        for keys in self._batches:
            yield {key: self._excerpt(key, str(n)) for n, key in enumerate(keys, start=1)}

    def judge(self, text: str, batch: Batch) -> Verdict:
        """Check the answer of the model. A refused review has no label, so a later run sends it again."""
        judgement = self._labels.judge(text, batch.values())
        lines = []
        refused = {}
        for key, excerpt in batch.items():
            answer = judgement.answers.get(excerpt.id)
            if answer is None:
                refused[key] = excerpt
                continue
            self._answers[key] = answer
            label = KeptLabel(text=key, model=self._model, lists=self._labels.lists, labels=answer)
            lines.append(encoded(label))
        is_bad = len(refused) > MAX_REFUSED * len(batch)
        return Verdict(judgement, b"".join(lines), refused if is_bad else {})

    def by_model(self) -> int:
        """Return the number of reviews that a model has labeled, in this run or before."""
        keys = self._answers.keys() | self._outdated
        return sum(self._texts[key].reviews for key in keys)

    @property
    def with_words(self) -> int:
        """The number of reviews with words."""
        return len(self._folder.dataset.records) - self._wordless

    def contradicting(self) -> tuple[int, int]:
        """Return how many texts have labels that contradict the stars, and how many have opinions."""
        opinions = [
            contradicts(answer, self._texts[key].rating)
            for key, answer in self._answers.items()
            if answer.aspects
        ]
        return sum(opinions), len(opinions)

    def _add(self, position: int, review: Review) -> None:
        text = review.text
        if not has_words(text):
            self._wordless += 1
            return
        key = text_key(text, review.rating)
        entry = self._texts.get(key)
        if entry is None:
            size = len(text[:MAX_TEXT].encode()) + _OVERHEAD
            self._texts[key] = _Text(position, size, review.rating)
        else:
            entry.reviews += 1

    def _split(self, keys: Iterable[str]) -> Iterator[list[str]]:
        """Yield the keys in batches, by number and size."""
        batch: list[str] = []
        total = 0
        for key in keys:
            size = self._texts[key].size
            if batch and (len(batch) == self._batch or total + size > BATCH_BYTES):
                yield batch
                batch, total = [], 0
            batch.append(key)
            total += size
        if batch:
            yield batch

    def _excerpt(self, key: str, number: str) -> Excerpted:
        review = self._folder.review(self._texts[key].position)
        return Excerpted(id=number, rating=review.rating, text=(review.text or "")[:MAX_TEXT])
