"""The states of the sources that ``reviewsctl sync`` keeps in the data directory, for notices and metrics."""

import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from reviewsd.api.places import KEPT_FOLDER
from reviewsd.api.status import SOURCES_FILE, SOURCES_VERSION, SourceCondition
from reviewsd.config.source_schema import SourceName
from reviewsd.runtime.counters import Counts, key

STATES: Final = ("new", "ok", "warn", "failed", "stopped")


class _File(msgspec.Struct, frozen=True):
    version: int
    sources: dict[SourceName, SourceCondition]


_decoder = msgspec.json.Decoder(_File)


@dataclass(frozen=True, slots=True)
class SourceReport:
    """The content of sources.json."""

    sources: Mapping[str, SourceCondition] = field(default_factory=dict)
    """By name; empty where no source was ever read."""
    problem: str = ""
    """The reason why the file cannot be used; it has no sources then."""

    def counts(self) -> Counts:
        """Return the gauges of the sources."""
        counts: dict[str, float] = {"sources_readable": not self.problem}
        for name, source in self.sources.items():
            for state in STATES:
                counts[key("source_state", name, state)] = source.state == state
            counts[key("source_reviews", name)] = source.reviews
            counts[key("source_failures", name)] = source.failures
            for gauge, time in (("read", source.read_at), ("success", source.confirmed_at)):
                if time is not None:
                    counts[key(f"source_last_{gauge}_timestamp_seconds", name)] = time.timestamp()
        return counts


class SourceStates:
    """Reads the states of the sources, again only when their file has changed.

    Args:
        data_dir: The data directory.
    """

    def __init__(self, data_dir: Path) -> None:
        self._file = data_dir / KEPT_FOLDER / SOURCES_FILE
        self._read: tuple[object, SourceReport] = (None, SourceReport())

    def load(self) -> SourceReport:
        """Return the states as the file has them; it blocks, so it runs in a thread."""
        try:
            facts = self._file.stat()
            if not stat.S_ISREG(facts.st_mode):
                return _unusable("it is no file")
            version = (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns)
            if version != self._read[0]:
                self._read = (version, _parsed(self._file.read_bytes()))
        except FileNotFoundError:
            return SourceReport()
        except OSError as fault:
            return _unusable(fault.strerror or str(fault))
        return self._read[1]


def _parsed(content: bytes) -> SourceReport:
    try:
        decoded = _decoder.decode(content)
    except ValueError as fault:
        return _unusable(str(fault))
    if decoded.version != SOURCES_VERSION:
        return _unusable("it is of another version of reviewsctl")
    unknown = [source.state for source in decoded.sources.values() if source.state not in STATES]
    return (
        _unusable(f"it has an unknown state {unknown[0]!r}")
        if unknown
        else SourceReport(decoded.sources)
    )


def _unusable(reason: str) -> SourceReport:
    return SourceReport(problem=f"{KEPT_FOLDER}/{SOURCES_FILE} cannot be read: {reason}")
