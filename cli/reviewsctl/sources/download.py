"""A download: files that an import understands."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """The result of a complete read of a source."""

    files: Sequence[Path]
    look: str
    """For the next run's first look."""
    rows: int | None = None
    """Reviews in the files; None where only the import can count them."""
    is_current: bool = True
    """Whether it is all that the platform has at the moment."""


class SourceReader(Protocol):
    """A type of source: how its wire is read."""

    async def read(self, spool: Path, look: str, *, full: bool) -> Download | None:
        """Read everything, or find that nothing has changed.

        Args:
            spool: An empty folder for the files.
            look: That of the last complete read; empty without one.
            full: Whether to read everything even if a first look finds nothing new.

        Returns:
            The download; None if nothing has changed.

        Raises:
            ReadFailedError: It is not complete.
        """
