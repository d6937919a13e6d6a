"""What the daemon and its publishing process say to each other.

Apart from ``publication``, which does the work, so that the daemon does not load what only its child
needs: the analyser's word lists take memory, and time at the start.
"""

import hashlib
from pathlib import Path
from typing import Literal

from msgspec import Struct
from pyroaring import __croaring_version__

from reviewsd.analysis.labels import RULES
from reviewsd.api.jobs import Guard, Step
from reviewsd.publish.compiler import CompileSettings
from reviewsd.publish.sources import MAX_BYTES
from reviewsd.snapshot import layout


class PublicationOrder(Struct, frozen=True, kw_only=True):
    """What to publish, and how."""

    data_dir: str
    snapshots: str
    """The directory of the snapshot folders."""
    settings: CompileSettings
    max_bytes: int = MAX_BYTES
    """Greatest size of a file."""
    max_shrink: float | None = None
    """The share of the reviews that a reload may lose; None: all of them."""
    insights: Literal["auto", "file"]
    """Whether insights are made where there is no insights.json (``data.insights``)."""
    templates_dir: str | None = None
    """Where the operator's templates are (``pages.templates_dir``)."""

    @property
    def templates_path(self) -> Path | None:
        """The same as a path."""
        return None if self.templates_dir is None else Path(self.templates_dir)

    def build_key(self, version: str) -> str:
        """What goes into a snapshot beside the files; another build_key wants a new snapshot."""
        libraries = __croaring_version__  # its bytes are in the snapshot
        parts = (version, layout.LAYOUT, self.settings, self.insights, RULES, libraries)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


class Published(Struct, frozen=True, tag_field="type", tag="published"):
    """There is a new snapshot."""

    revision: str
    insights_fault: str = ""
    """The traceback of what kept insights from being made."""
    bytecode: dict[str, bytes] = {}
    """Of all templates that were used (``pages.environment``), where some had to be compiled."""


class Unchanged(Struct, frozen=True, tag_field="type", tag="unchanged"):
    """The snapshot that was there has these bytes already."""

    revision: str
    insights_fault: str = ""
    bytecode: dict[str, bytes] = {}


class Refused(Struct, frozen=True, tag_field="type", tag="refused"):
    """The data must not be published."""

    problems: tuple[str, ...]


class PublicationFailed(Struct, frozen=True, tag_field="type", tag="failed"):
    """The data could not be published now; another time it may."""

    problem: str


Outcome = Published | Unchanged | Refused | PublicationFailed
JobMessage = Step | Outcome


class MemoryLimit(Struct, frozen=True):
    """What the child may take."""

    size: int
    """Bytes."""
    text: str
    """What that is, for the operator."""


class Job(Struct, frozen=True, kw_only=True):
    """One run of the child."""

    order: PublicationOrder
    version: str
    now: float
    lifted: frozenset[Guard] = frozenset()
    memory: MemoryLimit | None = None
    bytecode: dict[str, bytes] = {}
    """Of the templates of an earlier run."""
