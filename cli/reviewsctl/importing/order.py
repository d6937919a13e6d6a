"""What an import is asked to do, how it ended, and how it talks with who asked."""

import datetime
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reviewsctl.importing.format import Format, Rules
from reviewsctl.importing.merge import MergeResult
from reviewsctl.importing.readers.watching import Tell

ALL = "all"
"""What ``--location`` takes for several locations in one file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What the operator wants."""

    exports: Sequence[Path]
    target: Path
    """The reviews.json that is to be written."""
    wanted: str
    """The format's name, or auto."""
    rules: Rules
    location: str | None
    name: str | None
    """Of the business, where reviews.json does not say."""
    replace: bool
    yes: bool
    """Whether what would be asked about is as it should be."""
    dry_run: bool
    now: datetime.datetime


@dataclass(slots=True, kw_only=True)
class Outcome:
    """How it went."""

    formats: Sequence[Format]
    files: int
    says: list[str] = field(default_factory=list)
    """What was recognised, for the operator, before the result."""
    notes: list[str] = field(default_factory=list)
    """What they should know of the result."""
    result: MergeResult = field(default_factory=MergeResult)
    rows: Counter[str] = field(default_factory=Counter)
    """Rows that were read, by the name of the format."""
    refused: int = 0
    refusals: list[tuple[str, str]] = field(default_factory=list)
    """The first of them: where, and why."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Rows that are no reviews, by reason."""
    skips: list[tuple[str, str]] = field(default_factory=list)
    """The first of them: where, and why."""
    twice: int = 0
    """Reviews that the export has more than once."""
    elsewhere: int = 0
    """Reviews of other locations."""
    business: Mapping[str, object] = field(default_factory=dict)
    """What the business of the file got from the export."""
    written: bool = False
    backup: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """How it is told and asked while it runs."""

    tell: Tell
    say: Callable[[Sequence[str]], None]
    """Shows lines, before what takes long or cannot be undone."""
    ask: Callable[[Mapping[str, str]], str] | None
    """Which location, of these with their descriptions; None where nobody can be asked."""
    confirm: Callable[[str], bool] | None = None
    """A question that yes or no answers."""


def reviews(count: int) -> str:
    """``1 review``, ``1,204 reviews``."""
    return f"{count:,} review{'' if count == 1 else 's'}"
