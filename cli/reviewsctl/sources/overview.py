"""How all sources are, for ``status`` and ``doctor``: from sources.json, which has no secrets."""

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

_NAME: Final = "sources"
_STATES: Final = ("ok", "failed", "stopped", "new")


def states(data: Path) -> Mapping[str, SourceState]:
    """Return the states of the sources of a data directory, by name; none where it is not for us.

    Raises:
        StateUnreadableError: sources.json cannot be read.
    """
    with contextlib.suppress(OSError), opened(data) as folder:
        return load(folder)
    return {}


def line(data: Path, now: datetime.datetime) -> str | None:
    """Return the line of ``status``; None without sources."""
    try:
        known = states(data)
    except StateUnreadableError as error:
        return str(error)
    if not known:
        return None
    counts = Counter(each.state for each in known.values())
    parts = [f"{counts[state]} {state}" for state in _STATES if counts[state]]
    runs = [each.tried_at for each in known.values() if each.tried_at is not None]
    last = f"; last run {ago(max(runs), now)}" if runs else ""
    return f"{', '.join(parts)}{last}"


def diagnoses(data: Path, now: datetime.datetime) -> list[Diagnosis]:
    """Return what ``doctor`` says of each source; nothing without sources."""
    try:
        known = states(data)
    except StateUnreadableError as error:
        return [fail(_NAME, str(error), "It is written again by: reviewsctl sync")]
    return [_diagnosis(name, state, now) for name, state in known.items()]


def _diagnosis(name: str, state: SourceState, now: datetime.datetime) -> Diagnosis:
    read = "never read completely" if state.read_at is None else f"read {ago(state.read_at, now)}"
    said = f"{name}: {read}"
    match state.state:
        case "stopped":
            return fail(_NAME, f"{said}, stopped: {state.detail}", state.remedy)
        case "failed":
            return warn(_NAME, f"{said}, failed: {state.detail}", "It is tried again by itself.")
    return ok(_NAME, said)
