"""Messages between the daemon and its publishing process.

They are separate from ``publication``, so that the daemon does not import the analyser's word lists,
which take memory and time.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from msgspec import Struct
from pyroaring import __croaring_version__

from reviewsd.analysis.labels import RULES
from reviewsd.api.jobs import Guard, ReloadOutcome, Step
from reviewsd.config.schema import Config, Pages
from reviewsd.pages.settings import MachineSettings
from reviewsd.publish.sources import MAX_BYTES
from reviewsd.snapshot import layout


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileSettings:
    """The settings that a snapshot depends on."""

    base_url: str
    authority: str
    """Domain name of the Atom ids, which the operator owned in ``year`` (RFC 4151)."""
    year: int
    max_resource: int = 1 << 20
    """Greatest size in bytes of an MCP resource (mcp.md 5.5)."""
    pages: Pages = field(default_factory=Pages)
    machines: MachineSettings = field(default_factory=MachineSettings)


class PublicationOrder(Struct, frozen=True, kw_only=True):
    """The files to publish, and the settings."""

    data_dir: str
    snapshots: str
    """The directory of the snapshot folders."""
    settings: CompileSettings
    max_bytes: int = MAX_BYTES
    """Greatest size of a file."""
    max_shrink: float | None = None
    """The share of the reviews that a reload may lose; None has no limit."""
    insights: Literal["auto", "file"]
    """Whether insights are made without insights.json (``data.insights``)."""

    @classmethod
    def from_config(cls, config: Config, version: str, tools: str) -> "PublicationOrder":
        """Return the order of a configuration.

        Args:
            config: The configuration.
            version: Version of the program.
            tools: The result of ``tools/list``.
        """
        shrink = config.data.max_shrink
        return cls(
            data_dir=str(config.data_dir),
            snapshots=str(config.state_dir / "snapshots"),
            settings=CompileSettings(
                base_url=config.base_url,
                authority=config.authority,
                year=config.feeds.year,
                pages=config.pages,
                machines=MachineSettings(
                    crawlers=config.crawlers,
                    security=config.security,
                    registry_auth=config.mcp.registry_auth,
                    version=version,
                    tools=tools,
                ),
            ),
            max_shrink=None if shrink is None else float(shrink.rstrip("%")) / 100,
            insights=config.data.insights,
        )

    @property
    def templates_path(self) -> Path | None:
        """The folder of the operator's templates (``pages.templates_dir``)."""
        folder = self.settings.pages.templates_dir
        return None if folder is None else Path(folder)

    def build_key(self, version: str) -> str:
        """Return a digest of everything but the files that a snapshot depends on."""
        libraries = __croaring_version__  # the snapshot has its bitmaps
        parts = (version, layout.LAYOUT, self.settings, self.insights, RULES, libraries)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


class Outcome(Struct, frozen=True, kw_only=True, tag_field="type", tag="outcome"):
    """The outcome of a run."""

    result: ReloadOutcome
    """Invalid data is "refused"; a reason that may pass is "failed"."""
    problems: tuple[str, ...] = ()
    """The reasons, one line each."""
    revision: str = ""
    """The current snapshot, if it has the content of the files."""
    insights_fault: str = ""
    """The traceback of a failed analysis."""
    bytecode: dict[str, bytes] = {}
    """The bytecode of all templates (``pages.environment``), if some had to be compiled."""
    left_out: tuple[str, ...] = ()
    """Findings about pictures that are not published."""


JobMessage = Step | Outcome


class MemoryLimit(Struct, frozen=True):
    """The memory limit of the child."""

    size: int
    """The limit in bytes."""
    text: str
    """The limit in words, for the operator."""


class Job(Struct, frozen=True, kw_only=True):
    """One run of the child."""

    order: PublicationOrder
    version: str
    now: float
    lifted: frozenset[Guard] = frozenset()
    memory: MemoryLimit | None = None
    bytecode: dict[str, bytes] = {}
    """The bytecode of templates of an earlier run."""
