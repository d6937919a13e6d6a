"""``reviewsctl insights label``: batches of reviews for a model, with verified answers (insights.md 7 and 12).

``reviewsd.offline.labeler`` makes the batches, and verifies the answers.
"""

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult

import msgspec

from reviewsctl.daemon import local
from reviewsctl.files.folders import Folder, opened
from reviewsctl.importing.options import Prompts
from reviewsctl.importing.reviews_file import commit
from reviewsctl.labeling.counts import ANSWERED, BYTES, SERVED_INSTEAD, Counts, line
from reviewsctl.labeling.endpoint import ModelError, is_loopback, parse_endpoint, read_key
from reviewsctl.labeling.model import Model
from reviewsctl.terminal.import_prompts import prompts
from reviewsctl.terminal.output import echo
from reviewsctl.terminal.remedies import to_write
from reviewsd.analysis.kept_labels import KeptLabels
from reviewsd.api.jobs import Step
from reviewsd.api.places import CORRECTIONS_FILE, LABELS_FILE
from reviewsd.api.texts import counted
from reviewsd.offline.labeler import Batch, Labeler, Plan
from reviewsd.offline.summarizer import MAX_REVIEWS, Summarizer, Written

BATCH: Final = 20  # reviews
MAX_USELESS: Final = 2  # batches in a row without a label; insights.md 12
_TRIES: Final = 2  # requests for the same
_RETRY: Final = "\n\nAn earlier answer was refused, for these faults:"
_QUOTED: Final = 120  # characters of an answer in a message


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
    summary: bool
    quiet: bool
    """Whether to print and ask nothing."""


def label(options: Options) -> tuple[Path, Counts]:
    """Label the reviews, with progress on stderr; return the file of the labels and the counts.

    Raises:
        CommandError: The data cannot be used, the answers of the model are of no use, or the user
            declined; labels of earlier batches are stored.
    """
    endpoint = parse_endpoint(options.endpoint)
    key = read_key(endpoint, options.key_file, options.key_env)
    counts = Counts()
    try:
        with (
            contextlib.closing(Model(endpoint, key, options.model, counts)) as model,
            prompts(silent=options.quiet) as dialog,
        ):
            return _run(options, endpoint, model, counts, dialog), counts
    except OSError as fault:
        raise ModelError(
            f"{fault.filename or 'the data directory'}: {fault.strerror}",
            to_write(Path(fault.filename or ".").parent, "name another --data DIR.", fault),
        ) from fault


def _run(
    options: Options, endpoint: SplitResult, model: Model, counts: Counts, dialog: Prompts
) -> Path:
    with local.data_folder(options.config, options.data) as data:
        labeler = Labeler(data, options.model, BATCH)
    useless = 0
    with opened(data.path) as folder:
        stored = LabelsFile(folder)
        labeler.recall(stored.labels)
        plan = labeler.plan(options.limit)
        counts.has_file = plan.has_file
        _agree(options, endpoint, plan, dialog)
        dialog.progress(Step(stage="labeling", done=0, total=plan.to_send))
        for batch in labeler.batches():
            lines = _labeled(batch, plan, labeler, model, counts)
            stored.add(lines)
            counts.asked += len(batch)
            dialog.progress(Step(stage="labeling", done=counts.asked, total=plan.to_send))
            useless = 0 if lines else useless + 1
            if useless == min(MAX_USELESS, plan.batches):
                raise _useless(options.model, model.answer)
        if options.summary:
            dialog.progress(Step(stage="writing the summary", done=0, total=1))
            summarizer = Summarizer(data, stored.labels, options.model)
            stored.add(_written(summarizer, model, counts))
    counts.reviews_by_model = labeler.by_model()
    counts.reviews_by_rules = labeler.with_words - counts.reviews_by_model
    counts.contradicting, counts.compared = labeler.contradicting()
    return data.path / LABELS_FILE


class LabelsFile:
    """insights.labels, which no other program may change while a run goes on."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._corrections = self._version(CORRECTIONS_FILE)
        self._file = self._version(LABELS_FILE)
        content = b""
        if self._file is not None:
            with folder.open(LABELS_FILE) as file:
                content = file.read()
        self.labels = KeptLabels(content)
        """All labels."""

    def add(self, lines: bytes) -> None:
        """Add lines, on the disk when this returns.

        Raises:
            ModelError: It was changed meanwhile, or reviews were erased or hidden, whose labels could be in the lines.
        """
        if not lines:
            return
        labels = KeptLabels(self.labels.encoded() + lines)
        with self._folder.draft(LABELS_FILE) as new:
            new.file.write(labels.encoded())
            for name, version in ((CORRECTIONS_FILE, self._corrections), (LABELS_FILE, self._file)):
                if self._version(name) != version:
                    detail = f"another program has changed {name} meanwhile"
                    raise ModelError(detail, "Run it again; labels of earlier batches are stored.")
            commit(new)
        self.labels, self._file = labels, self._version(LABELS_FILE)

    def _version(self, name: str) -> tuple[int, ...] | None:
        facts = self._folder.look(name)
        return None if facts is None else (facts.st_ino, facts.st_size, facts.st_mtime_ns)


def _labeled(batch: Batch, plan: Plan, labeler: Labeler, model: Model, counts: Counts) -> bytes:
    """Return the labels of a batch, after a second request if need be."""
    instructions, lines, refused = plan.instructions, b"", 0
    for _ in range(_TRIES):
        reviews = msgspec.json.encode(list(batch.values())).decode()
        verdict = labeler.judge(model.ask(instructions, reviews, plan.schema), batch)
        lines += verdict.lines
        counts.labels += verdict.judgement.labels
        refused = verdict.judgement.refused
        batch = verdict.again
        if not batch:
            break
        instructions = _with_faults(plan.instructions, verdict.judgement.faults)
    counts.refused += refused
    return lines


def _written(summarizer: Summarizer, model: Model, counts: Counts) -> bytes:
    """Return the summary, empty if it is not used: the better of two, if parts of the first are dropped."""
    instructions = summarizer.instructions
    best = Written(b"", 0, 0, [])
    for _ in range(_TRIES if summarizer.has_reviews else 0):
        answer = model.ask(instructions, summarizer.message, summarizer.schema)
        summary = summarizer.judge(answer)
        if not best.line or summary.sentences + summary.questions > best.sentences + best.questions:
            best = summary
        if not summary.faults:
            break
        instructions = _with_faults(summarizer.instructions, summary.faults)
    counts.sentences, counts.questions = best.sentences, best.questions
    counts.dropped = tuple(best.faults)
    return best.line


def _with_faults(instructions: str, faults: Iterable[str]) -> str:
    return "\n".join((f"{instructions}{_RETRY}", *(f"- {fault}" for fault in faults)))


def _useless(model: str, answer: str) -> ModelError:
    beginning = f"begins: {answer.strip()[:_QUOTED]}" if answer.strip() else "is empty"
    return ModelError(
        f"no label in the answers of {model} can be used; the last one {beginning}",
        "Check whether it supports answers by a JSON schema, or name a larger model. Labels of "
        "earlier batches are stored.",
    )


def _plan_lines(options: Options, endpoint: SplitResult, plan: Plan) -> list[str]:
    labeled = f", labeled already: {counted(plan.labeled, 'text')}" if plan.labeled else ""
    lines = [f"{counted(plan.reviews, 'review')}, {plan.wordless:,} without words{labeled}"]
    if plan.outdated:
        lines.append(
            f"with labels of another model, insights.yaml or version of reviewsd:"
            f" {counted(plan.outdated, 'text')}; they are used until the texts are labeled again"
        )
    if plan.to_send:
        tokens = line(plan.bytes // BYTES, ANSWERED * plan.to_send)
        lines.append(
            f"to label: {counted(plan.to_send, 'text')} in {counted(plan.batches, 'request')} to"
            f" {endpoint.netloc}, about {tokens}"
        )
    if plan.postponed:
        lines.append(f"--limit leaves out {counted(plan.postponed, 'text')}, which the rules label")
    if options.summary:
        lines.append(
            f"to write the summary: {MAX_REVIEWS} of all texts with counts in one or two requests"
        )
    if plan.has_file:
        lines.append(f"{SERVED_INSTEAD}; labels are only kept")
    return lines


def _agree(options: Options, endpoint: SplitResult, plan: Plan, dialog: Prompts) -> None:
    """Print the plan, and ask before texts leave this machine."""
    if not options.quiet:
        echo(*_plan_lines(options, endpoint, plan), err=True)
    if not (plan.to_send or options.summary) or is_loopback(endpoint) or options.yes:
        return
    people = f" and the {plan.people:,} people named in insights.yaml" if plan.people else ""
    clear = "" if endpoint.scheme == "https" else ", unencrypted"
    counts = [f"the text and stars of {counted(plan.to_send, 'review')}"] if plan.to_send else []
    if options.summary:
        counts.append(f"those of {MAX_REVIEWS} reviews with figures for the summary")
    question = (
        f"This sends {', '.join(counts)}{people}, and the name of the business, to"
        f" {endpoint.hostname}{clear}. Authors, dates, ids and"
        " replies are not sent."
    )
    if dialog.confirm is None:
        raise ModelError(question, "To agree, add --yes.", title="not sent")
    echo(question, err=True)
    if not dialog.confirm("Continue?"):
        raise ModelError("nothing was sent", title="declined")
