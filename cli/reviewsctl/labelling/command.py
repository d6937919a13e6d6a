"""``reviewsctl insights --model``: from its options to what it prints (insights.md 7)."""

import contextlib
import datetime
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from reviewsctl.labelling import endpoint as addresses
from reviewsctl.labelling.asking import Model
from reviewsctl.labelling.bill import Bill, Prices, estimate
from reviewsctl.labelling.endpoint import Endpoint
from reviewsctl.labelling.errors import ModelError
from reviewsctl.labelling.records import NAME
from reviewsctl.labelling.run import Order, Outcome, Talk, run
from reviewsctl.labelling.wire import Api
from reviewsctl.terminal import progress
from reviewsctl.terminal.escaping import printable
from reviewsctl.terminal.output import console
from reviewsctl.terminal.remedies import to_write
from reviewsd.api.jobs import Step
from reviewsd.offline.labeller import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Those of the command that are about the model."""

    model: str
    endpoint: str
    api: Api
    key_file: Path | None
    key_env: str
    yes: bool
    limit: int | None
    prices: Prices
    max_cost: float | None
    seconds: float


def label(
    options: Options, config: Path | None, data: Path | None, *, replace: bool, quiet: bool
) -> tuple[Outcome, Bill]:
    """Have the reviews labelled, telling on stderr how far it is.

    Args:
        options: About the model.
        config: The configuration file, if it is to be another than the daemon would find.
        data: The data directory, if it is to be another than the configuration's.
        replace: Whether an insights.json that rules did not make may be replaced.
        quiet: Tell and ask nothing.

    Raises:
        DaemonError: It cannot be done, or is not wanted.
    """
    if not options.endpoint:
        raise typer.BadParameter("--model needs --endpoint URL")
    numbers = (options.prices.tokens_in, options.prices.tokens_out, options.max_cost)
    if not all(each is None or math.isfinite(each) for each in (*numbers, options.seconds)):
        raise typer.BadParameter("prices, costs and seconds are finite numbers")
    if options.max_cost is not None and options.prices.cost(1, 1) is None:
        raise typer.BadParameter("--max-cost needs --input-price and --output-price")
    endpoint = addresses.parse(options.endpoint)
    key = addresses.key_of(endpoint, options.key_file, options.key_env)

    def tell(line: str) -> None:
        if not quiet:
            typer.echo(printable(line), err=True)

    model = Model(
        endpoint=endpoint,
        api=options.api,
        key=key,
        seconds=options.seconds,
        sleep=time.sleep,
        tell=tell,
        now=lambda: datetime.datetime.now(datetime.UTC),
    )
    bill = Bill(options.prices, options.max_cost)
    order = Order(
        config=config, data=data, model=options.model, limit=options.limit, replace=replace
    )

    def agree(plan: Plan) -> None:
        for line in planned(plan, options.prices):
            tell(line)
        if plan.wanted and not endpoint.loopback and not options.yes:
            _ask(plan, endpoint, quiet=quiet)

    with contextlib.closing(_Steps(quiet=quiet)) as steps:
        try:
            return run(order, model, bill, Talk(agree=agree, step=steps.tell)), bill
        except OSError as fault:
            raise ModelError(
                f"{fault.filename or 'the data directory'}: {fault.strerror}",
                to_write(Path(fault.filename or ".").parent, "name another --data DIR."),
            ) from fault


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


def interrupted() -> dict[str, object]:
    """What is told after Ctrl-C."""
    detail = f"nothing was written but {NAME}; the same command goes on from there"
    return {"title": "interrupted", "detail": detail}


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
