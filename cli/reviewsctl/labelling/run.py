"""A run: the reviews in batches to the model, its labels through the checks of ``reviewsd`` to insights.

``reviewsd --insights labelled`` has the reviews, makes the batches, checks the answers and counts; here is what
asks the model, what keeps its labels, and what may be spent (insights.md 7).
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from reviewsctl.daemon import program
from reviewsctl.daemon.program import Conversation
from reviewsctl.files import folders
from reviewsctl.labelling import records, wire
from reviewsctl.labelling.asking import Model
from reviewsctl.labelling.bill import Bill
from reviewsctl.labelling.errors import ModelError
from reviewsctl.labelling.records import Records
from reviewsctl.labelling.wire import Question
from reviewsd.api.labelling import DataFolder, LabelBatch, LabelCommand, Labelled, Plan, Verdict

INSIGHTS: Final = "insights.json"
BATCH: Final = 20  # reviews
_AGAIN: Final = "\n\nAn earlier answer for these reviews was refused, for these faults:\n"


def _line(command: LabelCommand) -> bytes:
    return msgspec.json.encode(command) + b"\n"


_NEXT: Final = _line(LabelCommand(type="next"))
_END: Final = _line(LabelCommand(type="end"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is wanted."""

    config: Path | None
    data: Path | None
    model: str
    limit: int | None
    replace: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """Where people are told and asked."""

    agree: Callable[[Plan], None]
    """Told what is going to be asked; raises what ends the run where that is not wanted."""
    step: Callable[[int, int], None]
    """How many reviews are asked, of how many."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """How it went."""

    folder: Path
    asked: int = 0
    """Reviews that the model was asked for in this run."""
    labels: int = 0
    refused: int = 0
    """Labels that were not believed."""
    batches_by_rules: int = 0
    stopped: bool = False
    """Whether what it may cost has ended it."""
    by_model: int = 0
    by_rules: int = 0
    insights: bytes = b""


def run(order: Order, model: Model, bill: Bill, talk: Talk) -> Outcome:
    """Have the reviews labelled, and count.

    Raises:
        ModelError: It cannot be, or not any longer; what has been labelled is kept.
        DaemonError: The data or the configuration cannot be used.
        OSError: The folder cannot be written.
    """
    arguments = ["--insights=labelled", f"--model={order.model}", f"--batch={BATCH}"]
    if order.limit is not None:
        arguments.append(f"--limit={order.limit}")
    with program.conversation(order.config, order.data, *arguments) as labeller:
        place = labeller.hear(DataFolder)
        folder = Path(place.data_dir)
        if place.file == "other" and not order.replace:
            raise ModelError(
                f"{folder / INSIGHTS} is there, and rules did not make it",
                "Replace it with --replace; it is kept as .bak.",
            )
        with folders.opened(folder) as open_folder, records.opened(open_folder) as kept:
            for line in kept.lines():
                labeller.tell(line)
            labeller.tell(b"\n")
            before = open_folder.look(INSIGHTS)
            plan = labeller.hear(Plan)
            talk.agree(plan)
            outcome = Outcome(folder=folder)
            asking = _Asking(labeller, order.model, plan, model, bill, kept, outcome)
            talk.step(0, plan.wanted)
            while asking.go_on():
                talk.step(outcome.asked, plan.wanted)
            if not order.replace and _changed(before, open_folder.look(INSIGHTS)):
                raise ModelError(
                    f"{folder / INSIGHTS} was changed by somebody else meanwhile",
                    "Run it again; what is labelled is kept.",
                )
        labeller.tell(_END)
        labelled = labeller.hear(Labelled)
    outcome.by_model, outcome.by_rules = labelled.by_model, labelled.by_rules
    outcome.insights = bytes(labelled.insights)
    return outcome


@dataclass(frozen=True, slots=True)
class _Asking:
    """The batches, one after the other."""

    labeller: Conversation
    name: str
    plan: Plan
    model: Model
    bill: Bill
    kept: Records
    outcome: Outcome

    def go_on(self) -> bool:
        """Have the next batch labelled; whether there is one and it may be paid for."""
        self.labeller.tell(_NEXT)
        batch = self.labeller.hear(LabelBatch)
        if not batch.reviews:
            return False
        verdict = self._ask(batch, self.plan.instructions)
        if verdict is not None and verdict.record is None:
            faults = "\n".join(f"- {fault}" for fault in verdict.faults)
            verdict = self._ask(batch, f"{self.plan.instructions}{_AGAIN}{faults}")
        if verdict is None or verdict.record is None:
            self.outcome.stopped = True
            return False
        self.kept.add(msgspec.json.encode(verdict.record))
        self.outcome.asked += batch.reviews
        self.outcome.refused += verdict.refused
        self.outcome.batches_by_rules += verdict.by_rules
        self.outcome.labels += 0 if verdict.by_rules else verdict.labels
        return True

    def _ask(self, batch: LabelBatch, instructions: str) -> Verdict | None:
        """What of an answer is believed; None where asking would cost too much."""
        question = Question(
            model=self.name, system=instructions, content=batch.content, schema=self.plan.schema
        )
        size = len(wire.body(self.model.api, question))
        if not self.bill.affords(size, batch.reviews):
            return None
        reply = self.model.ask(question)
        self.bill.add(reply, size)
        self.labeller.tell(_line(LabelCommand(type="answer", text=reply.text)))
        return self.labeller.hear(Verdict)


def _changed(before: os.stat_result | None, now: os.stat_result | None) -> bool:
    if before is None or now is None:
        return before is not now
    return (before.st_ino, before.st_mtime_ns) != (now.st_ino, now.st_mtime_ns)
