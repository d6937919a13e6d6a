"""A run: the reviews in batches to the model, its answers checked and kept, then insights (insights.md 7).

``reviewsd.offline.labeller`` makes the batches, checks the answers and counts.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reviewsctl.daemon import local
from reviewsctl.files import folders
from reviewsctl.labelling import records
from reviewsctl.labelling.bill import Bill
from reviewsctl.labelling.errors import ModelError
from reviewsctl.labelling.model import Model, Question
from reviewsctl.labelling.records import Records
from reviewsd.offline.labeller import Batch, Labeller, Plan, Verdict

INSIGHTS: Final = "insights.json"
BATCH: Final = 20  # reviews
_AGAIN: Final = "\n\nAn earlier answer for these reviews was refused, for these faults:\n"


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
    with local.data_folder(order.config, order.data) as data:
        labeller = Labeller(data, order.model, BATCH)
    folder = data.place
    if labeller.maker == "other" and not order.replace:
        raise ModelError(
            f"{folder / INSIGHTS} is there, and rules did not make it",
            "Replace it with --replace; it is kept as .bak.",
        )
    outcome = Outcome(folder=folder)
    with folders.opened(folder) as open_folder, records.opened(open_folder) as kept:
        labeller.recall(kept.lines())
        before = open_folder.look(INSIGHTS)
        plan = labeller.plan(order.limit)
        talk.agree(plan)
        asking = _Asking(labeller, order.model, plan, model, bill, kept, outcome)
        talk.step(0, plan.wanted)
        for batch in labeller.batches():
            if not asking.label(batch):
                outcome.stopped = True
                break
            talk.step(outcome.asked, plan.wanted)
        if not order.replace and _changed(before, open_folder.look(INSIGHTS)):
            raise ModelError(
                f"{folder / INSIGHTS} was changed by somebody else meanwhile",
                "Run it again; what is labelled is kept.",
            )
    labelled = labeller.result()
    outcome.by_model, outcome.by_rules = labelled.by_model, labelled.by_rules
    outcome.insights = labelled.insights
    return outcome


@dataclass(frozen=True, slots=True)
class _Asking:
    """The batches, one after the other."""

    labeller: Labeller
    name: str
    plan: Plan
    model: Model
    bill: Bill
    kept: Records
    outcome: Outcome

    def label(self, batch: Batch) -> bool:
        """Have a batch labelled; return False if that would cost too much."""
        instructions = self.plan.instructions
        verdict = self._ask(batch, instructions, is_last_try=False)
        if verdict is not None and verdict.record is None:
            faults = "\n".join(f"- {fault}" for fault in verdict.faults)
            verdict = self._ask(batch, f"{instructions}{_AGAIN}{faults}", is_last_try=True)
        if verdict is None or verdict.record is None:
            return False
        self.kept.add(verdict.record)
        self.outcome.asked += len(batch.keys)
        self.outcome.refused += verdict.refused
        self.outcome.batches_by_rules += verdict.by_rules
        self.outcome.labels += 0 if verdict.by_rules else verdict.labels
        return True

    def _ask(self, batch: Batch, instructions: str, *, is_last_try: bool) -> Verdict | None:
        """Ask the model, and return what passed the checks; None if asking would cost too much."""
        question = Question(
            model=self.name, system=instructions, content=batch.content, schema=self.plan.schema
        )
        if not self.bill.affords(question.size, len(batch.keys)):
            return None
        reply = self.model.ask(question)
        self.bill.add(reply, question.size)
        return self.labeller.judge(reply.text, batch, is_last_try=is_last_try)


def _changed(before: os.stat_result | None, now: os.stat_result | None) -> bool:
    if before is None or now is None:
        return before is not now
    return (before.st_ino, before.st_mtime_ns) != (now.st_ino, now.st_mtime_ns)
