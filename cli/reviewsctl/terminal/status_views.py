"""Views for the operator, as pure functions of a value and a time.

Every text of the daemon passes ``printable``, so a hostile review cannot steer the terminal.
"""

import datetime
from collections.abc import Iterator

from reviewsctl.terminal.hub_views import Field
from reviewsctl.terminal.insights import origin_line
from reviewsctl.terminal.output import colored
from reviewsctl.terminal.times import ago, days_ago, duration, moment, until, when
from reviewsd.api.hub import HubState
from reviewsd.api.jobs import ConfigChanges, ReloadResult
from reviewsd.api.status import SnapshotStatus, Status
from reviewsd.api.texts import counted, printable


def status_fields(
    status: Status, now: datetime.datetime, sources: str | None = None
) -> Iterator[Field]:
    """Yield the view of ``reviewsctl status``, with the state first, and that of the sources."""
    data, hub = status.data, status.hub
    is_unready = status.snapshot is not None and hub is not None and hub.store != "ok"
    if data.state == "ok" and not is_unready:
        yield "state", colored("ok", "green")
    else:
        yield "state", colored("unready" if is_unready else data.state, "bold yellow")
    if is_unready:
        text = "reviews are served, but the hub answers 503, as its store fails"
        yield "", colored(text, "yellow")
    if data.state != "ok":
        yield "", colored(_explanation(status, now), "yellow")
        yield from (("", printable(line)) for line in data.problems)
    yield from _snapshot(status.snapshot, now)
    if hub is not None:
        yield from _hub(hub, now)
    yield "data", f"{printable(data.dir)}{_last_reload(status, now)}"
    if sources is not None:
        yield "sources", printable(sources)
    yield from _config(status.config)
    yield "address", printable(status.base_url)
    yield "listening", printable(", ".join(status.listen))
    uptime = duration(status.uptime_seconds)
    program = f"reviewsd {printable(status.version)}"
    if status.installed_at is not None:
        program += f", installed {moment(status.installed_at)}"
    yield "daemon", f"{program}, pid {status.pid}, up {uptime}"


def _snapshot(snapshot: SnapshotStatus | None, now: datetime.datetime) -> Iterator[Field]:
    if snapshot is None:
        yield "serving", "nothing yet: requests are answered with 503, or wait"
        return
    content = counted(snapshot.review_count, "review")
    if snapshot.insights:
        content += " and insights"
    yield "serving", f"{content}, published {when(snapshot.published_at, now)}"
    yield "revision", printable(snapshot.revision)
    if snapshot.newest_review is not None:
        days = (now.date() - snapshot.newest_review).days
        yield "newest", f"review of {snapshot.newest_review}, {days_ago(days)}"
    if snapshot.updated_at is not None:
        yield "updated", f"{moment(snapshot.updated_at)}, says the data"
    if (origin := snapshot.insights_origin) is not None:
        line = origin_line(origin)
        yield "insights", line if origin.fault is None else colored(line, "yellow")


def reload_text(result: ReloadResult) -> str:
    """Return the outcome of a reload, with the reason if it was not applied."""
    revision = printable(result.revision or "")
    count = counted(result.review_count or 0, "review")
    served = "the last good data keeps serving" if revision else "nothing is served yet"
    match result.outcome:
        case "published":
            done = colored("published", "green")
            text = f"{done}: revision {revision} with {count}, {result.seconds:.2f} s"
            return text + _more(result)
        case "unchanged":
            done, seconds = colored("unchanged", "green"), f"{result.seconds:.2f} s"
            text = f"{done}: revision {revision} with {count} keeps serving, {seconds}"
            return text + _more(result)
        case "refused" if result.config.problems:
            reason = "the configuration has faults; nothing is changed"
            remedy = "Fix it, then run reviewsctl reload again."
        case "refused":
            reason = f"the new data has problems; {served}"
            remedy = "Fix the data; the daemon notices the change."
        case "failed":
            reason = f"the new data could not be loaded; {served}"
            retry = "" if result.retry_at is None else "The daemon tries again. "
            remedy = f"{retry}See its log: journalctl -u reviewsd"
    error = colored(f"Error: reload {result.outcome}", "bold red")
    problems = "".join(f"  {printable(line)}\n" for line in result.problems)
    return f"{error}: {reason}\n{problems}{remedy}"


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


def _config(config: ConfigChanges) -> Iterator[Field]:
    """Yield the row about a configuration with faults, or that needs a restart."""
    if config.problems:
        yield "config", colored("has faults; no change of it was applied", "yellow")
        yield from (("", printable(line)) for line in config.problems)
    elif config.restart:
        keys = printable(", ".join(config.restart))
        yield "config", colored(f"needs a restart: {keys}", "yellow")


def _hub(hub: HubState, now: datetime.datetime) -> Iterator[Field]:
    parts = [counted(hub.active, "subscription")]
    if hub.pending:
        parts.append(f"{hub.pending:,} not confirmed by the subscriber")
    if hub.due:
        parts.append(f"{hub.due:,} to be delivered")
    if hub.oldest_due_at is not None:
        parts.append(f"the oldest for {duration((now - hub.oldest_due_at).total_seconds())}")
    if hub.in_flight:
        parts.append(f"{hub.in_flight:,} under way")
    yield "hub", ", ".join(parts)
    if hub.store != "ok":
        yield "", colored(f"the state store fails: {printable(hub.store)}", "bold yellow")
    elif hub.paused:
        yield "", colored("paused; resume with: reviewsctl hub resume", "bold yellow")
    if hub.opened_networks:
        networks = printable(", ".join(hub.opened_networks))
        text = f"callbacks may be in {networks} (hub.callbacks.allow_networks)"
        yield "", colored(text, "yellow")
