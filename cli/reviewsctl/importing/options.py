"""The options of an import, and its way to talk with the operator."""

import datetime
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from reviewsctl.importing.outcomes import MergeResult
from reviewsctl.importing.settings import Settings
from reviewsctl.importing.staging import Place
from reviewsd.api.jobs import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedRead:
    """Decisions of a sync, which takes the place of the operator at a terminal."""

    name: str
    """The name of the source in the configuration."""
    is_current: bool
    """Whether the platform itself was read completely: then no export is newer, and none begins later."""
    is_one_file: bool = False
    """Whether it is always the same file that is read, so that a table is what its owner has now."""
    by_hand: str = "reviewsctl import FILE"
    """The command that imports it once by hand."""
    is_gone: Callable[[str], bool]
    """Called with the merge key of each review that may be removed, returns whether it is."""
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
    verbose: bool = False
    is_unpublished: bool = False
    """Whether nobody can have a copy of the file, so that it need not list which reviews were removed."""
    synced: SyncedRead | None = None
    """Set by ``reviewsctl sync``."""

    @property
    def consent(self) -> str:
        """The option that answers a question with yes; of a sync, the command that has it."""
        return "--yes" if self.synced is None else f"once by hand: {self.synced.by_hand} --yes"

    def setting(self, name: str, value: str) -> str:
        """Return how to write a setting: as an option or, of a sync, in the configuration of its source."""
        if self.synced is not None:
            name_of_ours, equals, column = value.partition("=")
            value = f'{{{name_of_ours}: "{column}"}}' if equals else value
            return f"import.{name}: {value}"
        if name in {"map", "source"}:
            return f"--{name} {shlex.quote(value)}"
        return f"--set {shlex.quote(f'{name}={value}')}"


class Question(NamedTuple):
    """A possible mistake that the operator is asked about."""

    doubt: str
    remedy: str
    """The words for the command line or the configuration that spare the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """Functions by which a running import talks with the operator."""

    progress: Callable[[Step], None]
    show: Callable[[Sequence[str]], None]
    """Shows lines, before what takes long or cannot be undone."""
    choose: Callable[[Mapping[str, str]], str] | None
    """Asks for one of these locations, which have descriptions; None without a terminal."""
    source: Callable[[str], str] | None = None
    """Asks where the reviews of a table were written, with a default; None without a terminal."""
    confirm: Callable[[str], bool] | None = None
    """Asks a question that is answered by yes or no; None without a terminal."""
    described: list[str] = field(default_factory=list)
    """Lines on how the export is read, until a question or a failure shows them; else they follow the result."""
