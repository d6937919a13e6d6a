"""Views for the operator, as pure functions of a value and a time.

Every text of the daemon passes ``printable`` and is not read as rich markup, so a hostile review
cannot steer the terminal.
"""

import datetime
from collections.abc import Iterable, Iterator, Mapping

from rich.table import Table
from rich.text import Text

from reviewsctl.terminal.escaping import printable
from reviewsctl.terminal.hub_views import hub_state
from reviewsctl.terminal.insights import origin_line
from reviewsctl.terminal.times import ago, days_ago, duration, moment, until, when
from reviewsctl.terminal.words import counted
from reviewsd.api.hub import HubState
from reviewsd.api.jobs import ConfigChanges, ReloadResult
from reviewsd.api.status import SnapshotStatus, Status


def render_status(status: Status, now: datetime.datetime, sources: str | None = None) -> Table:
    """Return the view of ``reviewsctl status``, with the state first.

    Args:
        status: The answer of the daemon.
        now: The current time.
        sources: The state of the sources, if there are any.
    """
    data = status.data
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    if data.state == "ok":
        table.add_row("state", Text("ok", style="green"))
    else:
        table.add_row("state", Text(data.state, style="bold yellow"))
        table.add_row("", Text(_explanation(status, now), style="yellow"))
        for line in data.problems:
            table.add_row("", Text(printable(line)))
    for name, text in _snapshot(status.snapshot, now):
        table.add_row(name, text)
    if status.hub is not None:
        table.add_row("hub", _hub(status.hub))
        if status.hub.paused or status.hub.store != "ok":
            table.add_row("", hub_state(status.hub))
    table.add_row("data", Text(f"{printable(data.dir)}{_last_reload(status, now)}"))
    if sources is not None:
        table.add_row("sources", Text(printable(sources)))
    for name, text in _config(status.config):
        table.add_row(name, text)
    if status.unknown_parameters:
        table.add_row("ignored", Text(_ignored(status.unknown_parameters)))
    table.add_row("address", Text(printable(status.base_url)))
    table.add_row("listening", Text(printable(", ".join(status.listen))))
    table.add_row(
        "daemon",
        Text(
            f"reviewsd {printable(status.version)}, pid {status.pid}, "
            f"up {duration(status.uptime_seconds)}"
        ),
    )
    return table


def _snapshot(
    snapshot: SnapshotStatus | None, now: datetime.datetime
) -> Iterator[tuple[str, Text]]:
    """Yield the rows about the served data."""
    if snapshot is None:
        yield "serving", Text("nothing yet: requests are answered with 503, or wait")
        return
    content = counted(snapshot.review_count, "review")
    if snapshot.insights:
        content += " and insights"
    yield "serving", Text(f"{content}, published {when(snapshot.published_at, now)}")
    yield "revision", Text(printable(snapshot.revision))
    if snapshot.newest_review is not None:
        days = (now.date() - snapshot.newest_review).days
        yield "newest", Text(f"review of {snapshot.newest_review}, {days_ago(days)}")
    if snapshot.updated_at is not None:
        yield "updated", Text(f"{moment(snapshot.updated_at)}, says the data")
    if (origin := snapshot.insights_origin) is not None:
        style = "yellow" if origin.fault is not None else ""
        yield "insights", Text(origin_line(origin), style=style)


def render_reload(result: ReloadResult) -> Text:
    """Return the outcome of a reload, with the reason if it was not applied."""
    revision = printable(result.revision or "")
    count = counted(result.review_count or 0, "review")
    match result.outcome:
        case "published":
            text = f": revision {revision} with {count}, {result.seconds:.2f} s"
            return Text.assemble(("published", "green"), text, _more(result))
        case "unchanged":
            text = f": revision {revision} with {count} keeps serving, {result.seconds:.2f} s"
            return Text.assemble(("unchanged", "green"), text, _more(result))
        case "refused" if result.config.problems:
            reason = "the configuration has faults"
            remedy = "Fix it, then run reviewsctl reload again."
            return Text.assemble(
                ("Error: reload refused", "bold red"),
                f": {reason}; nothing is changed\n{_block(result.problems)}{remedy}",
            )
        case "refused":
            reason = "the new data has problems"
            remedy = "Fix the data; the daemon notices the change."
        case "failed":
            reason = "the new data could not be loaded"
            retry = "" if result.retry_at is None else "The daemon tries again. "
            remedy = f"{retry}See its log: journalctl -u reviewsd"
    text = f": {reason}; the last good data keeps serving\n{_block(result.problems)}{remedy}"
    return Text.assemble(("Error: reload " + result.outcome, "bold red"), text)


def _more(result: ReloadResult) -> str:
    origin = result.insights_origin
    insights = "" if origin is None else f"\ninsights: {origin_line(origin)}"
    return insights + _changes(result.config)


def _changes(config: ConfigChanges) -> str:
    lines = []
    if config.applied:
        lines.append(f"\nconfiguration: {printable(', '.join(config.applied))} changed")
    if config.restart:
        keys = printable(", ".join(config.restart))
        lines.append(f"\nconfiguration: {keys} changed; takes effect after a restart")
    return "".join(lines)


def _explanation(status: Status, now: datetime.datetime) -> str:
    """Explain a state other than ok (interfaces.md 1.2)."""
    match status.data.state:
        case "starting":
            return "the data is being published for the first time"
        case "failing":
            return f"the data could not be published: {_last_failure(status, now)}"
        case "waiting":
            return "there is no valid data yet; reviewsctl import EXPORT writes it"
    serving = "" if status.snapshot is None else moment(status.snapshot.published_at)
    return f"serving data of {serving}; last reload failed: {_last_failure(status, now)}"


def _last_failure(status: Status, now: datetime.datetime) -> str:
    data, reasons = status.data, []
    if data.last_reload is not None:
        reasons.append(f"{data.last_reload.outcome} {ago(data.last_reload.at, now)}")
    if data.failing_since is not None:
        reasons.append(f"failing since {when(data.failing_since, now)}")
    if data.retry_at is not None:
        reasons.append(f"tried again {until(data.retry_at, now)}")
    if not data.problems:
        reasons.append("see journalctl -u reviewsd")
    return ", ".join(reasons)


def _last_reload(status: Status, now: datetime.datetime) -> str:
    last = status.data.last_reload
    if last is None:
        return ""
    return f", last reload {last.outcome} {ago(last.at, now)} ({last.seconds:.2f} s)"


def _config(config: ConfigChanges) -> Iterator[tuple[str, Text]]:
    """Yield the row about a configuration with faults, or that needs a restart."""
    if config.problems:
        yield "config", Text("has faults; no change of it was applied", style="yellow")
        yield from (("", Text(printable(line))) for line in config.problems)
    elif config.restart:
        keys = printable(", ".join(config.restart))
        yield "config", Text(f"needs a restart: {keys}", style="yellow")


def _ignored(parameters: Mapping[str, int]) -> str:
    """Return unknown parameters of searches, with their counts."""
    counts = ", ".join(f"{printable(name)} ({times:,})" for name, times in parameters.items())
    return f"unknown search parameters: {counts}"


def _hub(hub: HubState) -> str:
    return f"{counted(hub.active, 'subscription')}, {hub.pending:,} pending, {hub.due:,} due, {hub.in_flight:,} in flight"


def _block(lines: Iterable[str]) -> str:
    return "".join(f"  {printable(line)}\n" for line in lines)
