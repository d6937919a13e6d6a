"""Makes batches of reviews for a language model, and insights from its answers (insights.md 7).

``reviewsctl insights label`` sends the batches and stores the records; nothing here uses the network.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import msgspec
from msgspec import Struct

from reviewsd.analysis.analysing import catalogue
from reviewsd.analysis.labels import RULES, Labels, label_key
from reviewsd.analysis.model_labels import Excerpted, Judgement, ModelLabels, ReviewAnswer, merged
from reviewsd.analysis.rules import Rules
from reviewsd.domain.insights_file import InsightsFile
from reviewsd.domain.reviews import Review
from reviewsd.offline.insights import Folder
from reviewsd.pages.locales import words_of_insights

MAX_TEXT: Final = 10_000  # characters of a text that are sent
BATCH_BYTES: Final = 32_000  # of texts; a longer text is a batch of its own
_OVERHEAD: Final = 40  # bytes of a review in addition to its text
_RULES: Final = "lexicon-"  # prefix of the model of insights that rules made


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The requests that a model would be sent."""

    reviews: int
    wordless: int
    labelled: int
    """Distinct texts with labels of an earlier run, or left to the rules by one."""
    to_send: int
    """Distinct texts to send in this run."""
    postponed: int
    """Distinct texts over the limit, for another run."""
    batches: int
    bytes: int
    """Approximate size of all requests."""
    people: int
    """Number of people in insights.yaml; the model is sent their names."""
    instructions: str
    schema: dict[str, object]


Batch = Mapping[str, Excerpted]
"""Reviews for one request, by the ``label_key`` of their texts."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A checked answer."""

    judgement: Judgement
    record: bytes | None
    """A line to store for later runs; None if the batch must be sent again, with the faults."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """Insights from labels."""

    by_model: int
    """Reviews that the model labelled."""
    by_rules: int
    """Reviews with words that rules labelled."""
    insights: bytes
    """A JSON object."""


class _Record(Struct, frozen=True, kw_only=True):
    """The labels of a batch by ``label_key``; None if they are left to the rules."""

    model: str
    labels: dict[str, ReviewAnswer | None]


@dataclass(slots=True)
class _Text:
    """A distinct text with a rating."""

    position: int
    """Position of its newest review."""
    size: int
    reviews: int = 1


class Labeller:
    """The labels of one model for a data directory.

    Args:
        folder: The data directory.
        model: The name of the model.
        batch: The most reviews of a request.
    """

    def __init__(self, folder: Folder, model: str, batch: int) -> None:
        dataset = folder.dataset
        self._folder = folder
        self._model = model
        self._batch = batch
        self._rules = Rules(dataset.business, folder.settings)
        lists = catalogue(
            folder.settings.for_owner(),
            self._rules,
            words_of_insights(dataset.business.language),
        )
        self._labels = ModelLabels(lists, model)
        self._decode = msgspec.json.Decoder(Review).decode
        self._texts: dict[str, _Text] = {}
        self._wordless = 0
        for position, record in enumerate(dataset.records):
            self._add(position, self._decode(record.raw))
        self._answers: dict[str, ReviewAnswer | None] = {}
        self._batches: list[list[str]] = []

    @property
    def maker(self) -> Literal["none", "rules", "other"]:
        """The maker of the insights.json in the directory."""
        insights = self._folder.dataset.insights
        if insights is None:
            return "none"
        by_rules = insights.typed.model.startswith(_RULES) and not _has_model(insights)
        return "rules" if by_rules else "other"

    def recall(self, lines: Iterable[bytes]) -> None:
        """Load the records of earlier runs; those for other models, lists or texts are ignored."""
        decode = msgspec.json.Decoder(_Record).decode
        for line in lines:
            try:
                labels = decode(line).labels
            except msgspec.DecodeError:  # written by another version, or edited
                continue
            self._answers |= {key: answer for key, answer in labels.items() if key in self._texts}

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
            labelled=len(self._answers),
            to_send=len(keys),
            postponed=len(unknown) - len(keys),
            batches=len(self._batches),
            bytes=text_bytes + request_bytes * len(self._batches),
            people=len(self._folder.settings.technicians),
            instructions=instructions,
            schema=schema,
        )

    def batches(self) -> Iterator[Batch]:
        """Yield the batches of the last plan."""
        for keys in self._batches:
            yield {key: self._excerpt(key, str(n)) for n, key in enumerate(keys, start=1)}

    def judge(self, text: str, batch: Batch, *, is_last_try: bool) -> Verdict:
        """Check the answer of the model; after the last try the rules label a refused batch."""
        judgement = self._labels.judge(text, list(batch.values()))
        if judgement.bad and not is_last_try:
            return Verdict(judgement, None)
        labels = {
            key: None if judgement.bad else judgement.said.get(excerpt.id)
            for key, excerpt in batch.items()
        }
        self._answers |= labels
        return Verdict(judgement, msgspec.json.encode(_Record(model=self._model, labels=labels)))

    def result(self) -> Labelled:
        """Make insights from the labels of the model, and of the rules where it has none."""
        labels: dict[str, Labels] = {}
        by_model = 0
        for key, answer in self._answers.items():
            if answer is None:
                continue
            excerpt = self._excerpt(key, "1")
            rule_labels = self._rules.label(excerpt.text, excerpt.rating)
            checked = self._labels.check(answer, excerpt, [])  # a record may have been edited
            rule_key = label_key(excerpt.text, excerpt.rating, self._rules.digest)
            labels[rule_key] = merged(checked, rule_labels)
            by_model += self._texts[key].reviews
        folder = self._folder
        by_rules = len(folder.dataset.records) - self._wordless - by_model
        file = folder.make(folder.settings, labels)
        method = msgspec.json.decode(file.members["method"], type=dict[str, object])
        method |= {
            "model": self._model,
            "labelled": {"model": by_model, "rules": by_rules},
            "note": f"Counted by rules; {by_model:,} reviews were labelled by the language model"
            f" {self._model}, {by_rules:,} by rules ({RULES}). A label may be wrong.",
        }
        members: dict[str, object] = {**folder.members(file), "model": self._model}
        insights = msgspec.json.encode(members | {"method": method})
        return Labelled(by_model=by_model, by_rules=by_rules, insights=insights)

    def _add(self, position: int, review: Review) -> None:
        text = review.text
        if text is None or not text.strip():
            self._wordless += 1
            return
        key = label_key(text, review.rating, self._labels.digest)
        entry = self._texts.get(key)
        if entry is None:
            self._texts[key] = _Text(position, len(text[:MAX_TEXT].encode()) + _OVERHEAD)
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
        record = self._folder.dataset.records[self._texts[key].position]
        review = self._decode(record.raw)
        return Excerpted(id=number, rating=review.rating, text=(review.text or "")[:MAX_TEXT])


def _has_model(file: InsightsFile) -> bool:
    method = msgspec.json.decode(file.members.get("method", b"null"))
    return isinstance(method, dict) and "model" in method
