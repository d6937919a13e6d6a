"""The states of all sources for ``status`` and ``doctor``, from sources.json."""

import contextlib
import datetime
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from reviewsctl.doctor.verdict import Diagnosis, fail, ok, warn
from reviewsctl.files.folders import opened
from reviewsctl.sources.state import SourceState, StateUnreadableError, load
from reviewsctl.terminal.times import ago

_STATES: Final = ("ok", "warn", "failed", "stopped", "new")


def states(data: Path) -> Mapping[str, SourceState]:
    """Return the states of the sources of a data directory, by name; none if it cannot be opened.

    Raises:
        StateUnreadableError: sources.json cannot be read.
    """
    with contextlib.suppress(OSError), opened(data) as folder:
        return load(folder)
    return {}


def line(data: Path, now: datetime.datetime) -> str | None:
    """Return the line of ``status``; None without sources."""
    try:
        by_name = states(data)
    except StateUnreadableError as error:
        return error.detail
    if not by_name:
        return None
    counts = Counter(source.state for source in by_name.values())
    parts = [f"{counts[state]} {state}" for state in _STATES if counts[state]]
    runs = [source.tried_at for source in by_name.values() if source.tried_at is not None]
    last = f"; last run {ago(max(runs), now)}" if runs else ""
    return f"{', '.join(parts)}{last}"


def diagnoses(data: Path, now: datetime.datetime) -> list[Diagnosis]:
    """Return the diagnosis of each source for ``doctor``."""
    try:
        by_name = states(data)
    except StateUnreadableError as error:
        return [fail(error.detail, "Write it again: reviewsctl sync")]
    return [_diagnosis(name, state, now) for name, state in by_name.items()]


def _diagnosis(name: str, state: SourceState, now: datetime.datetime) -> Diagnosis:
    read = "never read completely" if state.read_at is None else f"read {ago(state.read_at, now)}"
    detail = f"{name}: {read}"
    match state.state:
        case "stopped":
            return fail(f"{detail}, stopped: {state.detail}", state.remedy)
        case "warn":
            return warn(f"{detail}, {state.detail}", state.remedy)
        case "failed":
            remedy = state.remedy or "The next sync tries again."
            return warn(f"{detail}, failed: {state.detail}", remedy)
    return ok(detail)
