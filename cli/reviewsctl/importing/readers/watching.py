"""Reports the progress of reading large files."""

import io
from collections.abc import Callable
from dataclasses import replace
from typing import BinaryIO

from reviewsctl.importing.readers.parts import Part, WatchedFile
from reviewsd.api.jobs import Step

MEGABYTE = 1_000_000
WORTH_SHOWING = 8 * MEGABYTE  # bytes; less is read at once

Report = Callable[[Step], None]


class Reading:
    """Counts the bytes that are read, and reports each megabyte.

    Args:
        stage: The name of the stage.
        total: Bytes of all files together.
        report: Called with the progress, in megabytes, since the number of rows is not known.
    """

    def __init__(self, stage: str, total: int, report: Report) -> None:
        self._stage = stage
        self._total = total
        self._report = report
        self._done = 0

    def watched(self, part: Part) -> Part:
        """Return a file that is counted while it is read."""
        return replace(part, open=lambda: self.file(part.open()))

    def file(self, file: BinaryIO) -> BinaryIO:
        """Return an open file that is counted while it is read."""
        return io.BufferedReader(WatchedFile(file, self._count), MEGABYTE)

    def _count(self, read: int) -> None:
        before = self._done // MEGABYTE
        self._done += read
        now = self._done // MEGABYTE
        if now != before and self._total >= WORTH_SHOWING:
            total = self._total // MEGABYTE
            stage = f"{self._stage} (MB)"
            self._report(Step(stage=stage, done=min(now, total), total=total))
