"""Runs of a model over the reviews, in batches with verified answers (insights.md 7).

``reviewsd.offline.labeller`` makes the batches, verifies the answers and counts.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

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
_RETRY: Final = "\n\nAn earlier answer for these reviews was refused, for these faults:\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelOptions:
    """The options of a run."""

    config: Path | None
    data: Path | None
    model: str
    limit: int | None
    replace: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """The functions that ask the user and show the progress."""

    agree: Callable[[Plan], None]
    """Called with the plan; raises ``ModelError`` if the user declines."""
    step: Callable[[int, int], None]
    """Called with the number of labelled reviews, and their total."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The result of a run."""

    folder: Path
    requested: int = 0
    """Reviews that this run has sent to the model."""
    labels: int = 0
    refused: int = 0
    """Labels that failed the verification."""
    batches_by_rules: int = 0
    stopped: bool = False
    """Whether the cost limit has ended it."""
    by_model: int = 0
    by_rules: int = 0
    insights: bytes = b""


def run(options: LabelOptions, model: Model, bill: Bill, prompts: Prompts) -> Outcome:
    """Label the reviews, and count.

    Raises:
        ModelError: The run has failed; labelled batches are stored.
        DaemonError: The data or the configuration cannot be used.
        OSError: The folder cannot be written.
    """
    with local.data_folder(options.config, options.data) as data:
        labeller = Labeller(data, options.model, BATCH)
    folder = data.path
    if labeller.maker == "other" and not options.replace:
        raise ModelError(
            f"{folder / INSIGHTS} exists, and the rules did not make it",
            "Replace it with --replace; it is kept as .bak.",
        )
    outcome = Outcome(folder=folder)
    with folders.opened(folder) as open_folder, records.opened(open_folder) as stored:
        labeller.recall(stored.lines())
        before = open_folder.look(INSIGHTS)
        plan = labeller.plan(options.limit)
        prompts.agree(plan)
        batches = _Batches(labeller, options.model, plan, model, bill, stored, outcome)
        prompts.step(0, plan.to_send)
        for batch in labeller.batches():
            if not batches.label(batch):
                outcome.stopped = True
                break
            prompts.step(outcome.requested, plan.to_send)
        if not options.replace and _changed(before, open_folder.look(INSIGHTS)):
            raise ModelError(
                f"another program has changed {folder / INSIGHTS}",
                "Run it again; labelled batches are stored.",
            )
    labelled = labeller.result()
    outcome.by_model, outcome.by_rules = labelled.by_model, labelled.by_rules
    outcome.insights = labelled.insights
    return outcome


@dataclass(frozen=True, slots=True)
class _Batches:
    """Labels one batch after the other."""

    labeller: Labeller
    name: str
    plan: Plan
    model: Model
    bill: Bill
    records: Records
    outcome: Outcome

    def label(self, batch: Batch) -> bool:
        """Label a batch; return False if that would cost too much."""
        instructions = self.plan.instructions
        verdict = self._ask(batch, instructions, is_last_try=False)
        if verdict is not None and verdict.record is None:
            faults = "\n".join(f"- {fault}" for fault in verdict.judgement.faults)
            verdict = self._ask(batch, f"{instructions}{_RETRY}{faults}", is_last_try=True)
        if verdict is None or verdict.record is None:
            return False
        self.records.add(verdict.record)
        judgement = verdict.judgement
        self.outcome.requested += len(batch)
        self.outcome.refused += judgement.refused
        self.outcome.batches_by_rules += judgement.bad
        self.outcome.labels += 0 if judgement.bad else judgement.labels
        return True

    def _ask(self, batch: Batch, instructions: str, *, is_last_try: bool) -> Verdict | None:
        """Ask the model, and return the verified labels; None if that would cost too much."""
        question = Question(
            model=self.name,
            system=instructions,
            content=msgspec.json.encode(list(batch.values())).decode(),
            schema=self.plan.schema,
        )
        if not self.bill.affords(question.size, len(batch)):
            return None
        reply = self.model.ask(question)
        self.bill.add(reply, question.size)
        return self.labeller.judge(reply.text, batch, is_last_try=is_last_try)


def _changed(before: os.stat_result | None, now: os.stat_result | None) -> bool:
    if before is None or now is None:
        return before is not now
    return (before.st_ino, before.st_mtime_ns) != (now.st_ino, now.st_mtime_ns)
