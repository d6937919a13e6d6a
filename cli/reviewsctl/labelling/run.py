"""``reviewsctl insights label``: batches of reviews for a model, with verified answers (insights.md 7).

``reviewsd.offline.labeller`` makes the batches, verifies the answers and counts.
"""

import contextlib
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult

import msgspec
import typer

from reviewsctl.daemon import local
from reviewsctl.files import folders
from reviewsctl.importing.options import Prompts
from reviewsctl.labelling import records
from reviewsctl.labelling.counts import ANSWERED, BYTES, Counts, Prices, line
from reviewsctl.labelling.endpoint import ModelError, is_loopback, key_of, parse
from reviewsctl.labelling.model import Model
from reviewsctl.terminal.import_prompts import prompts
from reviewsctl.terminal.output import echo
from reviewsctl.terminal.remedies import to_write
from reviewsd.api.jobs import Step
from reviewsd.offline.labeller import Batch, Labeller, Plan, Verdict

INSIGHTS: Final = "insights.json"
BATCH: Final = 20  # reviews
_RETRY: Final = "\n\nAn earlier answer for these reviews was refused, for these faults:\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of the command."""

    config: Path | None
    data: Path | None
    model: str
    endpoint: str
    key_file: Path | None
    key_env: str
    yes: bool
    limit: int | None
    prices: Prices | None
    max_cost: float | None
    replace: bool
    quiet: bool
    """Whether to print and ask nothing."""


def label(options: Options) -> tuple[Path, bytes, Counts]:
    """Label the reviews, with progress on stderr; return the folder, the insights and the counts.

    Raises:
        DaemonError: The data cannot be used, the model labelled nothing, or the user declined;
            labelled batches are stored.
    """
    numbers = (*(options.prices or ()), options.max_cost or 0.0)
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        raise typer.BadParameter("prices and costs must be finite and not negative")
    if options.max_cost is not None and options.prices is None:
        raise typer.BadParameter("--max-cost needs --prices")
    endpoint = parse(options.endpoint)
    key = key_of(endpoint, options.key_file, options.key_env)
    try:
        with (
            contextlib.closing(Model(endpoint, key)) as model,
            prompts(silent=options.quiet) as dialog,
        ):
            folder, insights, counts = _run(options, endpoint, model, dialog)
    except OSError as fault:
        raise ModelError(
            f"{fault.filename or 'the data directory'}: {fault.strerror}",
            to_write(Path(fault.filename or ".").parent, "name another --data DIR."),
        ) from fault
    if not counts.reviews_by_model:
        raise ModelError(
            f"{options.model} has labelled no review; {INSIGHTS} is not written",
            "Check whether it supports answers by a JSON schema.",
        )
    return folder, insights, counts


def _run(
    options: Options, endpoint: SplitResult, model: Model, dialog: Prompts
) -> tuple[Path, bytes, Counts]:
    with local.data_folder(options.config, options.data) as data:
        labeller = Labeller(data, options.model, BATCH)
    file = data.path / INSIGHTS
    if labeller.maker == "other" and not options.replace:
        raise ModelError(
            f"{file} exists, and the rules did not make it",
            "Replace it with --replace; it is kept as .bak.",
        )
    counts = Counts()
    with folders.opened(data.path) as folder, records.opened(folder) as stored:
        labeller.recall(stored.lines())
        before = folder.look(INSIGHTS)
        plan = labeller.plan(options.limit)
        _agree(options, endpoint, plan, dialog)
        for batch in labeller.batches():
            verdict = _labelled(batch, plan, labeller, model, counts, options)
            if verdict is None or verdict.record is None:
                counts.stopped = True
                break
            stored.add(verdict.record)
            judgement = verdict.judgement
            counts.asked += len(batch)
            counts.refused += judgement.refused
            counts.batches_by_rules += judgement.bad
            counts.labels += 0 if judgement.bad else judgement.labels
            dialog.progress(Step(stage="labelling", done=counts.asked, total=plan.to_send))
        if not options.replace and _changed(before, folder.look(INSIGHTS)):
            raise ModelError(
                f"another program has changed {file}", "Run it again; labelled batches are stored."
            )
    labelled = labeller.result()
    counts.reviews_by_model, counts.reviews_by_rules = labelled.by_model, labelled.by_rules
    return data.path, labelled.insights, counts


def _labelled(
    batch: Batch, plan: Plan, labeller: Labeller, model: Model, counts: Counts, options: Options
) -> Verdict | None:
    """Return the verified labels of a batch, by a second request if need be; None if it costs too much."""
    instructions, reviews = plan.instructions, msgspec.json.encode(list(batch.values())).decode()
    for is_last_try in (False, True):
        size = len(f"{instructions}{reviews}".encode()) + len(msgspec.json.encode(plan.schema))
        if not counts.affords(options.prices, options.max_cost, size, len(batch)):
            return None
        reply = model.ask(options.model, instructions, reviews, plan.schema)
        counts.add(reply, size)
        verdict = labeller.judge(reply.text, batch, is_last_try=is_last_try)
        if verdict.record is not None:
            break
        faults = "\n".join(f"- {fault}" for fault in verdict.judgement.faults)
        instructions = f"{plan.instructions}{_RETRY}{faults}"
    return verdict


def _agree(options: Options, endpoint: SplitResult, plan: Plan, dialog: Prompts) -> None:
    """Print the plan, and ask before texts leave this machine."""
    labelled = f", {plan.labelled:,} texts are labelled already" if plan.labelled else ""
    lines = [f"{plan.reviews:,} reviews, {plan.wordless:,} of them without words{labelled}"]
    if plan.to_send:
        tokens = line(options.prices, plan.bytes // BYTES, ANSWERED * plan.to_send)
        lines.append(
            f"to label: {plan.to_send:,} texts in {plan.batches:,} requests, about {tokens}"
        )
    if plan.postponed:
        lines.append(f"--limit leaves out {plan.postponed:,} texts, which the rules label")
    if not options.quiet:
        echo(*lines, err=True)
    if not plan.to_send or is_loopback(endpoint) or options.yes:
        return
    people = f" and the {plan.people:,} people named in insights.yaml" if plan.people else ""
    clear = "" if endpoint.scheme == "https" else ", unencrypted"
    question = (
        f"This sends the text and stars of {plan.to_send:,} reviews{people} to {endpoint.hostname}"
        f"{clear}. Authors, dates, ids and replies are not sent."
    )
    if dialog.confirm is None:
        raise ModelError(question, "To agree, add --yes.", title="not sent")
    echo(question, err=True)
    if not dialog.confirm("Continue?"):
        raise ModelError("nothing was sent", title="declined")


def _changed(before: os.stat_result | None, now: os.stat_result | None) -> bool:
    if before is None or now is None:
        return before is not now
    return (before.st_ino, before.st_mtime_ns) != (now.st_ino, now.st_mtime_ns)
