"""Batches of reviews for a language model, and insights of its answers (insights.md 7).

``reviewsctl insights label`` sends the batches and keeps the records; nothing here uses the network.
"""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Raw, Struct

from reviewsd.analysis.analysing import catalogue
from reviewsd.analysis.labels import RULES, Labels, label_key
from reviewsd.analysis.model_labels import Excerpted, ModelLabels, ReviewAnswer, merged
from reviewsd.analysis.rules import Rules
from reviewsd.domain.insights_file import InsightsFile
from reviewsd.domain.reviews import Review
from reviewsd.offline.insights import Folder
from reviewsd.publish import documents, made_insights

MAX_TEXT: Final = 10_000  # characters of a text that a model is sent; the rest is left out
BATCH_BYTES: Final = 32_000  # of texts; one that is longer is a batch of its own
_BESIDE: Final = 40  # bytes of a review that are not its text
_RULES: Final = "lexicon-"  # begins the model of what rules made


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The requests that a model would be sent."""

    reviews: int
    wordless: int
    known: int
    """Different texts that have their labels, or that rules label after a model failed."""
    wanted: int
    """Different texts to send now."""
    left: int
    """Texts that the limit leaves for another run."""
    batches: int
    bytes: int
    """To send, roughly."""
    people: int
    """Named in insights.yaml, and so to the model."""
    instructions: str
    schema: dict[str, object]


@dataclass(frozen=True, slots=True)
class Batch:
    """Reviews for one request."""

    keys: tuple[str, ...]
    excerpts: tuple[Excerpted, ...]

    @property
    def content(self) -> str:
        """The reviews as a JSON array."""
        return msgspec.json.encode(self.excerpts).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The labels of an answer that passed the checks."""

    labels: int
    refused: int
    faults: tuple[str, ...]
    by_rules: bool
    """Whether the batch is left to the rules."""
    record: bytes | None
    """A line to keep for a later run; None if the model is to be asked again, with the faults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """The insights that are made with the labels."""

    by_model: int
    """Reviews."""
    by_rules: int
    """Reviews with words that no model labelled."""
    insights: bytes
    """A JSON object."""


class _Record(Struct, frozen=True, kw_only=True):
    """The labels of a batch by ``label_key``; None where they are left to the rules."""

    model: str
    labels: dict[str, ReviewAnswer | None]


@dataclass(slots=True)
class _Text:
    """A different text with its stars."""

    position: int
    """Of its newest review."""
    size: int
    reviews: int = 1


class Labeller:
    """The labels of one model for a data directory.

    Args:
        folder: The data directory.
        model: The name of the model.
        batch: How many reviews are asked for at once, at most.
    """

    def __init__(self, folder: Folder, model: str, batch: int) -> None:
        dataset = folder.dataset
        self._folder = folder
        self._model = model
        self._batch = batch
        self._rules = Rules(dataset.business, folder.settings)
        lists = catalogue(dataset.business, folder.settings.for_owner(), self._rules)
        self._labels = ModelLabels(lists, model)
        self._decode = msgspec.json.Decoder(Review).decode
        self._texts: dict[str, _Text] = {}
        self._wordless = 0
        for position, record in enumerate(dataset.records):
            self._enter(position, self._decode(record.raw))
        self._known: dict[str, ReviewAnswer | None] = {}
        self._batches: list[list[str]] = []

    @property
    def maker(self) -> Literal["none", "rules", "other"]:
        """What made the insights.json that is there."""
        insights = self._folder.dataset.insights
        if insights is None:
            return "none"
        by_rules = insights.typed.model.startswith(_RULES) and not _has_model(insights)
        return "rules" if by_rules else "other"

    def recall(self, lines: Iterable[bytes]) -> None:
        """Take the records of earlier runs; those of other models, lists or texts are not used."""
        decode = msgspec.json.Decoder(_Record).decode
        for line in lines:
            try:
                labels = decode(line).labels
            except msgspec.DecodeError:  # of another version, or edited
                continue
            self._known |= {key: said for key, said in labels.items() if key in self._texts}

    def plan(self, limit: int | None) -> Plan:
        """What there is to ask, the newest reviews first."""
        unknown = [key for key in self._texts if key not in self._known]
        wanted = unknown if limit is None else unknown[:limit]
        self._batches = list(self._packed(wanted))
        asked = sum(self._texts[key].size for key in wanted)
        each = len(self._labels.instructions) + len(msgspec.json.encode(self._labels.schema))
        return Plan(
            reviews=len(self._folder.dataset.records),
            wordless=self._wordless,
            known=len(self._known),
            wanted=len(wanted),
            left=len(unknown) - len(wanted),
            batches=len(self._batches),
            bytes=asked + each * len(self._batches),
            people=len(self._folder.settings.technicians),
            instructions=self._labels.instructions,
            schema=self._labels.schema,
        )

    def batches(self) -> Iterator[Batch]:
        """Return the batches of the last plan."""
        for keys in self._batches:
            excerpts = (self._excerpt(key, str(n)) for n, key in enumerate(keys, start=1))
            yield Batch(tuple(keys), tuple(excerpts))

    def judge(self, text: str, batch: Batch, *, is_last_try: bool) -> Verdict:
        """Check the answer of the model; after the last try a bad one is left to the rules."""
        judged = self._labels.judge(text, list(batch.excerpts))
        record = None
        if not judged.bad or is_last_try:
            labels = {
                key: None if judged.bad else judged.said.get(excerpt.id)
                for key, excerpt in zip(batch.keys, batch.excerpts, strict=True)
            }
            self._known |= labels
            record = msgspec.json.encode(_Record(model=self._model, labels=labels))
        return Verdict(
            labels=judged.labels,
            refused=judged.refused,
            faults=judged.faults,
            by_rules=judged.bad and is_last_try,
            record=record,
        )

    def _enter(self, position: int, review: Review) -> None:
        text = review.text
        if text is None or not text.strip():
            self._wordless += 1
            return
        key = label_key(text, review.rating, self._labels.digest)
        known = self._texts.get(key)
        if known is None:
            self._texts[key] = _Text(position, len(text[:MAX_TEXT].encode()) + _BESIDE)
        else:
            known.reviews += 1

    def _packed(self, keys: Iterable[str]) -> Iterator[list[str]]:
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

    def _review(self, key: str) -> Review:
        return self._decode(self._folder.dataset.records[self._texts[key].position].raw)

    def _excerpt(self, key: str, number: str) -> Excerpted:
        review = self._review(key)
        return Excerpted(id=number, rating=review.rating, text=(review.text or "")[:MAX_TEXT])

    def result(self) -> Labelled:
        """Make the insights: labels of the model where it has any, else of the rules."""
        labels: dict[str, Labels] = {}
        by_model = 0
        for key, said in self._known.items():
            if said is None:
                continue
            asked = self._excerpt(key, "1")
            other = self._rules.label(asked.text, asked.rating)
            own = label_key(asked.text, asked.rating, self._rules.digest)
            labels[own] = merged(self._labels.check(said, asked, []), other)  # may be edited
            by_model += self._texts[key].reviews
        dataset = self._folder.dataset
        by_rules = len(dataset.records) - self._wordless - by_model
        with tempfile.TemporaryDirectory() as folder:
            file = made_insights.make(
                dataset, self._folder.settings, lambda *_: None, folder=Path(folder), known=labels
            )
        method = msgspec.json.decode(file.members["method"], type=dict[str, object])
        method |= {
            "model": self._model,
            "labelled": {"model": by_model, "rules": by_rules},
            "note": f"Counted by rules; {by_model:,} reviews were labelled by the language model"
            f" {self._model}, {by_rules:,} by rules ({RULES}). A label may be wrong.",
        }
        own_members = {"model": self._model, "method": method}
        rendered = b"".join(documents.insights(file, dataset))
        members = msgspec.json.decode(rendered, type=dict[str, Raw])
        members |= {name: Raw(msgspec.json.encode(each)) for name, each in own_members.items()}
        insights = msgspec.json.encode(members)
        return Labelled(by_model=by_model, by_rules=by_rules, insights=insights)


def _has_model(file: InsightsFile) -> bool:
    raw = file.members.get("method")
    if raw is None:
        return False
    method = msgspec.json.decode(raw)
    return isinstance(method, dict) and "model" in method
