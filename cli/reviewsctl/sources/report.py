"""The output of ``sync`` and ``sources list``."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from reviewsctl.importing.outcomes import Fate
from reviewsctl.importing.report import LOSSES, MAX_IN_JSON, ImportResult, details, refusals
from reviewsctl.sources.run import Outcome
from reviewsctl.sources.state import SourceState
from reviewsctl.terminal.columns import table as laid_out
from reviewsctl.terminal.times import ago, until
from reviewsd.api.texts import counted, printable
from reviewsd.config.source_schema import ReviewSource

_MOST: Final = 20  # reviews that a dry run lists
_HEADINGS: Final = ("NAME", "TYPE", "STATE", "LAST COMPLETE READ", "NEXT", "REVIEWS")


def lines(
    outcome: Outcome,
    seconds: float,
    width: int,
    *,
    dry_run: bool,
    verbose: bool = False,
) -> Iterator[str]:
    """Yield the lines of one outcome of a run; its name is padded to ``width`` characters."""
    state, indent = outcome.state, " " * (width + 2)
    yield f"{outcome.name:<{width}}  {_summary(outcome, seconds, dry_run=dry_run)}"
    if outcome.waiting:
        return
    if state.state == "warn":
        yield f"{indent}warning: {state.detail}"
    yield from (f"{indent}{line}" for line in outcome.shown)
    if outcome.removal_at is not None:
        yield (
            f"{indent}{len(state.missing):,} missing; removed if a read after {outcome.removal_at:%Y-%m-%d %H:%M} "
            "UTC misses them too"
        )
    if state.remedy:
        yield from (f"{indent}{line}" for line in state.remedy.splitlines())
    if outcome.removed_for_age:
        yield f"{indent}{counted(outcome.removed_for_age, 'review')} left, as they were read too long ago"
    result, notes = outcome.result, outcome.notes
    if result is not None and (verbose or dry_run):
        yield from (f"{indent}{line}" for line in _listed(result, outcome.name, verbose=verbose))
        notes = result.notes if verbose else result.merge.corrected
    yield from (f"{indent}note: {note}" for note in notes)
    if outcome.warning:
        yield f"{indent}warning: {outcome.warning}"


def _listed(result: ImportResult, name: str, *, verbose: bool) -> Iterator[str]:
    """Yield the reviews that are new, changed or gone; the first of them without ``verbose``."""
    listed = [line.strip() for line in details(result, LOSSES)]
    most = len(listed) if verbose else _MOST
    yield from listed[:most]
    if (more := len(listed) - most) > 0:
        yield f"and {more:,} more: reviewsctl sync {name} --dry-run --full -v"


def _summary(outcome: Outcome, seconds: float, *, dry_run: bool) -> str:
    state = outcome.state
    if outcome.waiting:
        return f"waiting: {outcome.waiting}; sync again in a minute"
    if not state.is_read:
        verb = "failed" if state.state == "failed" else "stopped"
        again = ""
        if state.next_at is not None and state.tried_at is not None and verb == "failed":
            again = f"; tried again {until(state.next_at, state.tried_at)}"
        return f"{verb}: {state.detail}{'' if dry_run else again}"
    if outcome.is_unchanged or outcome.merge is None:
        return "unchanged" if outcome.is_unchanged else "no reviews"
    new, changed, removed = map(outcome.merge.count, (Fate.NEW, Fate.CHANGED, Fate.REMOVED))
    cost = f"{counted(outcome.requests, 'request')}, " if outcome.requests else ""
    return (
        f"{counted(state.reviews, 'review')} read: {new:,} new, {changed:,} changed, {removed:,} gone "
        f"({cost}{seconds:.0f} s)"
    )


def document(outcome: Outcome) -> dict[str, object]:
    """Return one outcome as JSON."""
    state = outcome.state
    members: dict[str, object] = {"source": outcome.name, "state": state.state}
    members |= {"unchanged": outcome.is_unchanged, "reviews": state.reviews}
    members["requests"] = outcome.requests
    if outcome.merge is not None:
        for fate in (Fate.NEW, Fate.CHANGED, Fate.REMOVED):
            members[fate.value] = outcome.merge.count(fate)
    if outcome.result is not None:
        rows = outcome.result.rows
        members["rows"] = rows.rows.total()
        members["refused"] = rows.refused
        members["refusals"] = refusals(rows, MAX_IN_JSON)
    more = {
        "shown": list(outcome.shown),
        "missing": 0 if outcome.removal_at is None else len(state.missing),
        "detail": state.detail,
        "remedy": state.remedy,
        "removed_for_age": outcome.removed_for_age,
        "notes": list(outcome.notes),
        "waiting": outcome.waiting,
        "warning": outcome.warning,
    }
    return members | _said(more) | _times(state)


def _said(members: Mapping[str, object]) -> dict[str, object]:
    """Return the members that say something."""
    return {name: value for name, value in members.items() if value}


def _times(state: SourceState) -> dict[str, object]:
    times = {"read_at": state.read_at, "tried_at": state.tried_at, "next_at": state.next_at}
    return {name: f"{time:%Y-%m-%dT%H:%M:%SZ}" for name, time in times.items() if time is not None}


def listed(source: ReviewSource, state: SourceState) -> dict[str, object]:
    """Return a source as JSON."""
    return {
        "name": source.name,
        "type": source.type,
        "enabled": source.enabled,
        "state": state.state,
        "reviews": state.reviews,
        **_said({"detail": state.detail, "remedy": state.remedy}),
        **_times(state),
    }


def table(
    sources: Sequence[ReviewSource], states: Mapping[str, SourceState], now: datetime.datetime
) -> Iterator[str]:
    """Yield a table of the sources; what is wrong with one stands below it."""
    rows = [_row(source, states.get(source.name, SourceState()), now) for source in sources]
    heading, *texts = laid_out(_HEADINGS, rows)
    yield heading
    indent = " " * (max(len(source.name) for source in sources) + 2)
    for source, text in zip(sources, texts, strict=True):
        state = states.get(source.name, SourceState())
        yield text
        yield from (
            f"{indent}{printable(line)}"
            for line in filter(None, (state.detail, *state.remedy.splitlines()))
        )


def _row(source: ReviewSource, state: SourceState, now: datetime.datetime) -> list[str]:
    next_run = until(state.next_at, now) if state.next_at else "now"
    if not source.enabled:
        next_run = "disabled"
    elif state.state == "stopped":
        next_run = "daily"
    read = ago(state.read_at, now) if state.read_at else "never"
    return [source.name, source.type, state.state, read, next_run, f"{state.reviews:,}"]
