"""A sync: all sources that are asked for, one after the other, under one lock."""

import dataclasses
import datetime
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from reviewsctl.files.folders import opened, real
from reviewsctl.sources import readers, schedule, state
from reviewsctl.sources.faults import ReadFailedError
from reviewsctl.sources.paging import SourceReader
from reviewsctl.sources.run import Outcome, RunOptions, SourceRun
from reviewsctl.sources.state import SourceState
from reviewsctl.sources.wire import Wire
from reviewsd.api.places import REVIEWS_FILE
from reviewsd.config.schema import Config
from reviewsd.config.source_schema import ReviewSource


def state_folder(config: Config, environ: Mapping[str, str]) -> Path:
    """Return the folder of tokens and downloads: that of the unit, else the daemon's."""
    # systemd joins several by colons
    own = environ.get("STATE_DIRECTORY", "").partition(":")[0]
    return Path(own) if own else config.state_dir


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync:
    """Reads sources and imports what they have."""

    config: Config
    environ: Mapping[str, str]
    options: RunOptions
    now: Callable[[], datetime.datetime]
    reader: Callable[..., SourceReader] = readers.reader
    """Makes the reader of a source."""
    sleep: Callable[[float], None] = time.sleep
    report_wait: Callable[[str], None] = lambda _: None
    """Called with what a person waits for."""

    def run(self, names: Sequence[str]) -> Iterator[Outcome]:
        """Run the sources, and yield their outcomes.

        Args:
            names: Of the sources; all that are enabled if it is empty.

        Raises:
            BusyError: Another sync is running.
            StateUnreadableError: sources.json cannot be read.
            OSError: A folder of ours cannot be written.
        """
        with opened(self.config.data_dir) as folder, state.locked(folder):
            loaded = state.load(folder)
            states = {
                source.name: _current(source, loaded[source.name])
                for source in self.config.sources
                if source.name in loaded
            }
            if states != loaded and not self.options.dry_run:
                state.save(folder, states)
            for source in self.config.sources:
                before = states.get(source.name, SourceState())
                if source.name not in names and (names or not source.enabled):
                    continue
                if self.options.due and not schedule.is_due(before, self.now()):
                    continue
                outcome = self._run(source, before)
                if not self.options.dry_run:
                    states[source.name] = outcome.state
                    state.save(folder, states)
                yield outcome

    def _run(self, source: ReviewSource, before: SourceState) -> Outcome:
        now = self.now()
        day = now.date().isoformat()
        used = before.requests if before.day == day else 0
        folder = state_folder(self.config, self.environ)
        wire = Wire(
            allow_private=source.allow_private,
            requests_left=source.requests_per_day - used,
            now=self.now,
            sleep=self.sleep,
            report_wait=self.report_wait,
        )
        if source.type != "file":  # a file is there at once
            self.report_wait(f"reading {source.name} ...")
        run = SourceRun(
            source=source,
            before=before,
            target=real(self.config.data_dir / REVIEWS_FILE),
            spool=folder / "spool" / source.name,
            options=self.options,
            now=now,
        )
        try:
            reader = self.reader(source, wire, folder, self.environ, self.now)
        except ReadFailedError as fault:
            outcome = run.failed(fault)
        else:
            outcome = run.run(reader)
        counted = replace(outcome.state, day=day, requests=used + wire.requests)
        return dataclasses.replace(outcome, state=counted, requests=wire.requests)


def _current(source: ReviewSource, before: SourceState) -> SourceState:
    """Return the state of a source; the failures of one that is disabled are not reported any more."""
    return before if source.enabled else replace(before, failing_since=None)
