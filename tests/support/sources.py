"""Sources for tests: a business with a configuration, and syncs of it at any time of day."""

import datetime
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reviewsctl.sources.run import Outcome, RunOptions
from reviewsctl.sources.state import SourceState
from reviewsctl.sources.sync import Sync
from reviewsd.api.status import SOURCES_FILE
from reviewsd.config.load import load

START = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
"""A time after the files that tests write, so that these have not changed lately."""


@dataclass(slots=True)
class Business:
    """A folder with a configuration that has sources."""

    folder: Path
    sources: str
    """The section, in YAML."""
    now: datetime.datetime = START
    pauses: list[float] = field(default_factory=list)
    """Seconds that were to be waited between requests."""
    told: list[str] = field(default_factory=list)
    """What a sync tells while it runs."""
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.folder / "data").mkdir()
        (self.folder / "in").mkdir()
        self.configure(self.sources)

    def configure(self, sources: str) -> None:
        """Write the configuration."""
        file = self.folder / "reviewsd.yaml"
        file.write_text(
            "base_url: https://reviews.example.com\ndata_dir: data\nstate_dir: state\n"
            f"sources:\n{sources}"
        )
        file.chmod(0o644)

    @property
    def reviews_file(self) -> Path:
        return self.folder / "data" / "reviews.json"

    def export(self, text: str, minutes: int = 60) -> Path:
        """Write the table of the shop, so many minutes ago, so that a sync takes it as complete."""
        file = self.folder / "in" / "shop.csv"
        file.write_text(text)
        written = time.time() - minutes * 60
        os.utime(file, (written, written))
        return file

    @property
    def authors(self) -> list[str]:
        return [review["author"] for review in json.loads(self.reviews_file.read_text())["reviews"]]

    @property
    def states(self) -> dict[str, Any]:
        text = (self.folder / "data" / ".reviewsctl" / SOURCES_FILE).read_text()
        sources: dict[str, Any] = json.loads(text)["sources"]
        return sources

    def sync(self, names: Sequence[str] = (), **options: bool) -> list[Outcome]:
        """Run a sync whose pauses are only kept."""
        sync = Sync(
            config=load(self.folder / "reviewsd.yaml", {}).config,
            environ=self.environ,
            options=RunOptions(**options),
            now=lambda: self.now,
            sleep=self.pauses.append,
            report_wait=self.told.append,
        )
        return list(sync.run(names))

    def state(self) -> SourceState:
        """Run a sync of a single source and return its state."""
        (outcome,) = self.sync()
        return outcome.state


def table(numbers: str) -> str:
    """A CSV of reviews, one for each character."""
    rows = "".join(
        f"{number},5,2026-01-{1 + ord(number) % 28:02},Ann {number}\n" for number in numbers
    )
    return f"id,rating,date,author\n{rows}"
