"""What ``reviewsctl insights --model`` asks: batches for a language model, and insights of its answers.

``reviewsctl`` runs ``reviewsd --insights labelled --model NAME`` and speaks with it in lines of JSON; it alone speaks with
the model. First it sends the records of earlier runs and an empty line, then ``next``, ``answer`` and
``end``; each has one line as its answer (insights.md 7).
"""

import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal

import msgspec
from msgspec import Raw, Struct

from reviewsd.analysis.analysing import catalogue
from reviewsd.analysis.labels import RULES, Labels, label_key
from reviewsd.analysis.model_labels import Excerpted, ModelLabels, ReviewAnswer, merged
from reviewsd.analysis.rules import Rules
from reviewsd.api.labelling import DataFolder, LabelBatch, LabelCommand, Labelled, Plan, Verdict
from reviewsd.app.insights import Folder
from reviewsd.domain.dataset import InsightsFile
from reviewsd.domain.reviews import Review
from reviewsd.publish import documents, made_insights

MAX_TEXT: Final = 10_000  # characters of a text that a model is sent; the rest is left out
BATCH_BYTES: Final = 32_000  # of texts; one that is longer is a batch of its own
_BESIDE: Final = 40  # bytes of a review that are not its text
_RULES: Final = "lexicon-"  # begins the model of what rules made


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

    def place(self) -> DataFolder:
        """Where it is."""
        given = self._folder.dataset.insights
        file: Literal["none", "rules", "other"] = "none"
        if given is not None:
            made = given.typed.model.startswith(_RULES) and not _has_model(given)
            file = "rules" if made else "other"
        return DataFolder(data_dir=str(self._folder.place), file=file)

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

    def serve(self, commands: Iterable[bytes], tell: Callable[[Struct], None]) -> None:
        """Answer commands until ``end``, or until there are no more."""
        decode = msgspec.json.Decoder(LabelCommand).decode
        left = iter(self._batches)
        keys: list[str] = []
        asked: list[Excerpted] = []
        again = False
        for line in commands:
            command = decode(line)
            match command.type:
                case "next":
                    keys, again = next(left, []), False
                    asked = [self._excerpt(key, str(n)) for n, key in enumerate(keys, start=1)]
                    content = msgspec.json.encode(asked).decode()
                    tell(LabelBatch(reviews=len(asked), content=content))
                case "answer":
                    verdict = self._judge(command.text, keys, asked, again=again)
                    again = verdict.record is None
                    tell(verdict)
                case "end":
                    tell(self._result())
                    return

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

    def _judge(self, text: str, keys: list[str], asked: list[Excerpted], *, again: bool) -> Verdict:
        judged = self._labels.judge(text, asked)
        by_rules = judged.bad and again
        record = None
        if not judged.bad or again:
            labels = {
                key: None if judged.bad else judged.said.get(each.id)
                for key, each in zip(keys, asked, strict=True)
            }
            self._known |= labels
            record = msgspec.to_builtins(_Record(model=self._model, labels=labels))
        return Verdict(
            labels=judged.labels,
            refused=judged.refused,
            faults=judged.faults,
            by_rules=by_rules,
            record=record,
        )

    def _result(self) -> Labelled:
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
        insights = Raw(msgspec.json.encode(members))
        return Labelled(by_model=by_model, by_rules=by_rules, insights=insights)


def run(labeller: Labeller, limit: int | None, lines: BinaryIO) -> None:
    """Speak with ``reviewsctl`` until it has what it wants, or is gone."""
    _tell(labeller.place())
    labeller.recall(iter(lambda: lines.readline().strip(), b""))
    _tell(labeller.plan(limit))
    labeller.serve(lines, _tell)


def _tell(document: Struct) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(document) + b"\n")
    sys.stdout.buffer.flush()


def _has_model(file: InsightsFile) -> bool:
    raw = file.members.get("method")
    if raw is None:
        return False
    method = msgspec.json.decode(raw)
    return isinstance(method, dict) and "model" in method
