"""``reviewsctl check``: configuration and data, without a daemon (R8)."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from reviewsctl.commands.data_options import ConfigFile, DataDir
from reviewsctl.daemon.session import Json, Quiet
from reviewsctl.terminal.output import EXIT_FOUND, telling
from reviewsd.api.texts import counted, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewsd.api.files import CheckReport, Facts

EPILOG: Final = """\b
    Examples:
      reviewsctl check
      reviewsctl check --config /etc/reviewsd/reviewsd.yaml --strict
      reviewsctl check --data export/ --json | jq -r '.problems[].lines[0]'"""


def check(
    *,
    config: ConfigFile = None,
    data: DataDir = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as problems.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Checks configuration and data, and names the line of a mistake.

    No daemon has to run. It prints every problem with its file, line and column, the first 20 of
    each file and then their number. Warnings are about valid data that look wrong: dates in the
    future, a review twice, insights about a missing review. With --data alone it needs no
    configuration. The exit code is 5 if there are problems.
    """
    from reviewsctl.daemon import local  # 25 ms, see main

    with telling(quiet=quiet, as_json=as_json) as step:
        answer = local.check(config, data, step)
    report = answer.value
    bad = bool(report.problem_count or (strict and report.warning_count))
    if as_json:
        typer.echo(answer.text)
    else:
        for line in _lines(report, strict=strict) if bad or not quiet else ():
            typer.echo(line)
    if bad:
        raise typer.Exit(EXIT_FOUND)


def _lines(report: "CheckReport", *, strict: bool) -> "Iterator[str]":
    for problem in report.problems:
        yield from map(printable, problem.lines)
    if (more := report.problem_count - len(report.problems)) > 0:
        yield f"... and at least {more:,} more"
    for warning in report.warnings:
        first, *rest = warning.lines
        yield f"{'' if strict else 'warning: '}{printable(first)}"
        yield from map(printable, rest)
    if (more := report.warning_count - len(report.warnings)) > 0:
        yield f"... and {counted(more, 'more warning')}"
    if report.problems or report.warnings:
        yield ""
    if report.config is not None:
        yield f"{'configuration':<15}{printable(report.config)}"
    if report.data_dir is not None:
        yield f"{'data':<15}{printable(report.data_dir)}"
    else:
        yield f"{'data':<15}not checked: first the configuration, or name it with --data"
    if report.unread_addresses:
        yield f"{'notices':<15}{report.unread}"
    if report.facts is not None:
        yield from _facts(report.facts)
    yield f"{'result':<15}{_verdict(report)}"


def _facts(facts: "Facts") -> "Iterator[str]":
    yield f"{'business':<15}{printable(facts.business)}"
    if facts.reviews:
        span = f"{facts.first} to {facts.last}, {facts.average:.2f} stars on average"
        yield f"{'reviews':<15}{facts.reviews:,}, {span}"
        stars = ", ".join(f"{facts.stars[key]:,} x {key}" for key in sorted(facts.stars)[::-1])
        yield f"{'stars':<15}{stars}"
    else:
        yield f"{'reviews':<15}none yet; to import them: reviewsctl import FILE"
    if facts.withheld:
        yield f"{'corrections':<15}{facts.withheld}"
    yield f"{'insights':<15}{_insights(facts)}"
    if facts.uncovered:
        are = "review is" if facts.uncovered == 1 else "reviews are"
        yield f"{'':<15}{facts.uncovered:,} {are} not in its per_review; insights of all are made"
        yield f"{'':<15}from the reviews, with kept labels, when you move insights.json away"


def _insights(facts: "Facts") -> str:
    if facts.insights:
        return f"of {counted(facts.analysed, 'review')}"
    return "made from the reviews; see: reviewsctl insights" if facts.made else "none"


def _verdict(report: "CheckReport") -> str:
    counts = [
        counted(count, noun)
        for count, noun in ((report.problem_count, "problem"), (report.warning_count, "warning"))
        if count
    ]
    return ", ".join(counts) or "all is well"
