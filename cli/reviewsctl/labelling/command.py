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
from reviewsctl.labelling.run import INSIGHTS, Order, Outcome, Talk, run
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
    """Of a million tokens sent, and received."""
    max_cost: float | None
    replace: bool


def label(
    options: Options, config: Path | None, data: Path | None, *, quiet: bool
) -> tuple[Outcome, Bill]:
    """Have the reviews labelled, with progress on stderr.

    Args:
        options: About the model.
        config: The configuration file, if it is to be another than the daemon would find.
        data: The data directory, if it is to be another than the configuration's.
        quiet: Print and ask nothing.

    Raises:
        DaemonError: The data cannot be used, the model labelled nothing, or the user declined.
    """
    numbers = (*(options.prices or ()), options.max_cost or 0.0)
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        raise typer.BadParameter("prices and costs are finite numbers that are not negative")
    if options.max_cost is not None and options.prices is None:
        raise typer.BadParameter("--max-cost needs --prices")
    endpoint = addresses.parse(options.endpoint)
    key = addresses.key_of(endpoint, options.key_file, options.key_env)

    def tell(line: str) -> None:
        if not quiet:
            typer.echo(printable(line), err=True)

    model = Model(endpoint, key)
    prices = Prices(*options.prices) if options.prices else Prices()
    bill = Bill(prices, options.max_cost)
    order = Order(
        config=config, data=data, model=options.model, limit=options.limit, replace=options.replace
    )

    def agree(plan: Plan) -> None:
        for line in planned(plan, prices):
            tell(line)
        if plan.wanted and not endpoint.loopback and not options.yes:
            _ask(plan, endpoint, quiet=quiet)

    with contextlib.closing(model), contextlib.closing(_Steps(quiet=quiet)) as steps:
        try:
            outcome = run(order, model, bill, Talk(agree=agree, step=steps.tell))
        except OSError as fault:
            raise ModelError(
                f"{fault.filename or 'the data directory'}: {fault.strerror}",
                to_write(Path(fault.filename or ".").parent, "name another --data DIR."),
            ) from fault
    if not outcome.by_model:
        raise ModelError(
            f"{options.model} has labelled no review; {INSIGHTS} is not written",
            "See whether it can answer by a JSON schema.",
        )
    return outcome, bill


def planned(plan: Plan, prices: Prices) -> Iterator[str]:
    """What is going to be asked, for people."""
    known = f", {plan.known:,} texts are labelled already" if plan.known else ""
    yield f"{plan.reviews:,} reviews, {plan.wordless:,} of them without words{known}"
    if plan.wanted:
        cost = estimate(prices, plan.bytes, plan.wanted)
        yield f"to label: {plan.wanted:,} texts in {plan.batches:,} requests, {cost}"
    if plan.left:
        yield f"--limit leaves {plan.left:,} texts for another time; rules label these"


def summary_lines(outcome: Outcome, bill: Bill, model: str) -> Iterator[str]:
    """How it went, for people."""
    if outcome.asked:
        yield f"used {bill.line()}"
        yield (
            f"{outcome.labels:,} labels for {outcome.asked:,} texts; refused, as not in the lists"
            f" or not in the text: {outcome.refused:,}"
        )
    if outcome.batches_by_rules:
        yield (
            f"{outcome.batches_by_rules:,} requests had too many faults twice; rules label"
            " their reviews"
        )
    if outcome.stopped:
        yield "stopped by --max-cost; the same command goes on from there"
    yield (
        f"labelled {outcome.by_model:,} reviews by {model}, {outcome.by_rules:,} by rules;"
        " all are counted by rules"
    )


def document(outcome: Outcome, bill: Bill) -> dict[str, object]:
    """The same under ``--json``."""
    return {
        "type": "result",
        "reviews_by_model": outcome.by_model,
        "reviews_by_rules": outcome.by_rules,
        "asked": outcome.asked,
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
    what = f"This sends the text and stars of {plan.wanted:,} reviews{people} to {endpoint.host}{clear}."
    kept = "Authors, dates, ids and replies stay here."
    if quiet or not sys.stdin.isatty():
        raise ModelError(f"{what} {kept}", "If that is wanted, say --yes.", title="not asked")
    typer.echo(printable(f"{what} {kept}"), err=True)
    if not typer.confirm("Go on?", default=False, err=True):
        raise ModelError("nothing was sent", title="not wanted")


class _Steps:
    """Progress on stderr, from the first step on: a question comes before."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._stack = contextlib.ExitStack()
        self._tell: Callable[[Step], None] | None = None

    def tell(self, done: int, total: int) -> None:
        """So many reviews are asked, of so many."""
        if self._quiet or not total:
            return
        if self._tell is None:
            self._tell = self._stack.enter_context(progress.shown(console(err=True)))
        self._tell(Step(stage="labelling", done=done, total=total))

    def close(self) -> None:
        """Take it away."""
        self._stack.close()
