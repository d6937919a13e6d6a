"""The options of an import, its way to talk with the operator, and its result."""

import datetime
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from reviewsctl.importing.format import Format
from reviewsctl.importing.merge import IsGone
from reviewsctl.importing.outcomes import MergeResult
from reviewsctl.importing.readers.watching import Report
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.staging import Place

ALL: Final = "all"
"""The value of ``location`` for all locations of an export."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedRead:
    """Decisions of a sync, which takes the place of the operator at a terminal."""

    is_current: bool
    """Whether the platform itself was read completely: then no export is newer, and none begins later."""
    is_gone: IsGone
    check: Callable[[MergeResult, Collection[Place]], None]
    """Called with the outcome and the locations that are replaced before anything is written; raises
    ImportRefusedError so that nothing is. It takes the place of the question about what goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """The options of one import."""

    exports: Sequence[Path]
    target: Path
    """The reviews.json that is written."""
    format_name: str
    """The format, or auto."""
    settings: Settings
    replace: bool
    yes: bool
    """Whether all questions are answered with yes."""
    dry_run: bool
    now: datetime.datetime
    synced: SyncedRead | None = None
    """Set by ``reviewsctl sync``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """Functions by which a running import talks with the operator."""

    progress: Report
    show: Callable[[Sequence[str]], None]
    """Shows lines, before what takes long or cannot be undone."""
    choose: Callable[[Mapping[str, str]], str] | None
    """Asks for one of these locations, which have descriptions; None without a terminal."""
    confirm: Callable[[str], bool] | None = None
    """Asks a question that is answered by yes or no; None without a terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCounts:
    """Counts of the rows of all exports."""

    rows: Mapping[str, int]
    """Rows that were read, by the name of the format."""
    refused: int = 0
    refusals: Sequence[tuple[str, str]] = ()
    """The first of them: where, and why."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Rows that are no reviews, by reason."""
    skips: Sequence[tuple[str, str]] = ()
    """The first of them: where, and why."""
    notes: Mapping[str, int] = field(default_factory=Counter)
    """Rows that the result mentions, by the name of the note (``report``)."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """The titles of the locations, by their ids."""

    @property
    def untaken(self) -> int:
        """Rows that were refused or skipped."""
        return self.refused + sum(self.skipped.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """The result of an import."""

    formats: Sequence[Format]
    files: int
    rows: RowCounts
    merge: MergeResult
    twice: int
    """Reviews that the export has more than once."""
    elsewhere: int
    """Reviews of other locations, which were left out."""
    notes: Sequence[str]
    """Notes for the operator."""
    is_written: bool = False
    backup: Path | None = None
    """The version that was replaced."""
