"""``reviewsctl insights label``: from its options to what it prints (insights.md 7)."""

import contextlib
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from reviewsctl.labelling import endpoint as addresses
from reviewsctl.labelling.bill import Bill, Prices, estimate
from reviewsctl.labelling.endpoint import Endpoint
from reviewsctl.labelling.errors import ModelError
from reviewsctl.labelling.model import Model
from reviewsctl.labelling.run import INSIGHTS, LabelOptions, Outcome, Prompts, run
from reviewsctl.terminal import progress
from reviewsctl.terminal.escaping import printable
from reviewsctl.terminal.output import console
from reviewsctl.terminal.remedies import to_write
from reviewsd.api.jobs import Step
from reviewsd.offline.labeller import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of the command, without those of the data."""

    model: str
    endpoint: str
    key_file: Path | None
    key_env: str
    yes: bool
    limit: int | None
    prices: tuple[float, float] | None
    """The prices of a million tokens sent and received."""
    max_cost: float | None
    replace: bool


def label(
    options: Options, config: Path | None, data: Path | None, *, quiet: bool
) -> tuple[Outcome, Bill]:
    """Label the reviews, with progress on stderr.

    Args:
        options: The options of the command.
        config: The configuration file, or None for that of the daemon.
        data: The data directory, or None for that of the configuration.
        quiet: Whether to print and ask nothing.

    Raises:
        DaemonError: The data cannot be used, the model labelled nothing, or the user declined.
    """
    numbers = (*(options.prices or ()), options.max_cost or 0.0)
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        raise typer.BadParameter("prices and costs must be finite and not negative")
    if options.max_cost is not None and options.prices is None:
        raise typer.BadParameter("--max-cost needs --prices")
    endpoint = addresses.parse(options.endpoint)
    key = addresses.key_of(endpoint, options.key_file, options.key_env)

    def show(line: str) -> None:
        if not quiet:
            typer.echo(printable(line), err=True)

    model = Model(endpoint, key)
    prices = Prices(*options.prices) if options.prices else Prices()
    bill = Bill(prices, options.max_cost)
    run_options = LabelOptions(
        config=config, data=data, model=options.model, limit=options.limit, replace=options.replace
    )

    def agree(plan: Plan) -> None:
        for line in planned(plan, prices):
            show(line)
        if plan.to_send and not endpoint.loopback and not options.yes:
            _ask(plan, endpoint, quiet=quiet)

    with contextlib.closing(model), contextlib.closing(_Steps(quiet=quiet)) as steps:
        try:
            prompts = Prompts(agree=agree, step=steps.show)
            outcome = run(run_options, model, bill, prompts)
        except OSError as fault:
            raise ModelError(
                f"{fault.filename or 'the data directory'}: {fault.strerror}",
                to_write(Path(fault.filename or ".").parent, "name another --data DIR."),
            ) from fault
    if not outcome.by_model:
        raise ModelError(
            f"{options.model} has labelled no review; {INSIGHTS} is not written",
            "Check whether it supports answers by a JSON schema.",
        )
    return outcome, bill


def planned(plan: Plan, prices: Prices) -> Iterator[str]:
    """Yield the plan as sentences."""
    labelled = f", {plan.labelled:,} texts are labelled already" if plan.labelled else ""
    yield f"{plan.reviews:,} reviews, {plan.wordless:,} of them without words{labelled}"
    if plan.to_send:
        cost = estimate(prices, plan.bytes, plan.to_send)
        yield f"to label: {plan.to_send:,} texts in {plan.batches:,} requests, {cost}"
    if plan.postponed:
        yield f"--limit leaves out {plan.postponed:,} texts, which the rules label"


def summary_lines(outcome: Outcome, bill: Bill, model: str) -> Iterator[str]:
    """Yield the result as sentences."""
    if outcome.requested:
        yield f"used {bill.line()}"
        yield (
            f"{outcome.labels:,} labels for {outcome.requested:,} texts; refused, as not in the lists"
            f" or not in the text: {outcome.refused:,}"
        )
    if outcome.batches_by_rules:
        yield (
            f"{outcome.batches_by_rules:,} requests had too many faults twice; rules label"
            " their reviews"
        )
    if outcome.stopped:
        yield "stopped by --max-cost; the same command continues there"
    yield (
        f"labelled {outcome.by_model:,} reviews by {model}, {outcome.by_rules:,} by rules;"
        " all are counted by rules"
    )


def document(outcome: Outcome, bill: Bill) -> dict[str, object]:
    """Return the result as a JSON object."""
    return {
        "type": "result",
        "reviews_by_model": outcome.by_model,
        "reviews_by_rules": outcome.by_rules,
        "asked": outcome.requested,
        "labels": outcome.labels,
        "refused": outcome.refused,
        "batches_by_rules": outcome.batches_by_rules,
        "stopped": outcome.stopped,
        "tokens_in": bill.tokens_in,
        "tokens_out": bill.tokens_out,
        "tokens_estimated": bill.guessed,
        "cost": bill.cost,
    }


def _ask(plan: Plan, endpoint: Endpoint, *, quiet: bool) -> None:
    people = f" and the {plan.people:,} people named in insights.yaml" if plan.people else ""
    clear = "" if endpoint.tls else ", unencrypted"
    question = f"This sends the text and stars of {plan.to_send:,} reviews{people} to {endpoint.host}{clear}."
    private = "Authors, dates, ids and replies are not sent."
    if quiet or not sys.stdin.isatty():
        raise ModelError(f"{question} {private}", "To agree, add --yes.", title="not sent")
    typer.echo(printable(f"{question} {private}"), err=True)
    if not typer.confirm("Continue?", default=False, err=True):
        raise ModelError("nothing was sent", title="declined")


class _Steps:
    """Shows progress on stderr from the first step on, after any question."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._stack = contextlib.ExitStack()
        self._show: Callable[[Step], None] | None = None

    def show(self, done: int, total: int) -> None:
        """Show the number of labelled reviews, and their total."""
        if self._quiet or not total:
            return
        if self._show is None:
            self._show = self._stack.enter_context(progress.shown(console(err=True)))
        self._show(Step(stage="labelling", done=done, total=total))

    def close(self) -> None:
        """Remove the progress bar."""
        self._stack.close()
