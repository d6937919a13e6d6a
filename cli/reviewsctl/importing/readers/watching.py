"""Reports the progress of reading large files."""

import io
from collections.abc import Callable
from dataclasses import replace
from typing import BinaryIO

from reviewsctl.importing.readers.parts import Part
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
        return io.BufferedReader(_Counted(file, self._count), MEGABYTE)

    def _count(self, read: int) -> None:
        before = self._done // MEGABYTE
        self._done += read
        now = self._done // MEGABYTE
        if now != before and self._total >= WORTH_SHOWING:
            total = self._total // MEGABYTE
            stage = f"{self._stage} (MB)"
            self._report(Step(stage=stage, done=min(now, total), total=total))


class _Counted(io.RawIOBase):
    """A file that reports the bytes that are read."""

    def __init__(self, file: BinaryIO, count: Callable[[int], None]) -> None:
        self._file = file
        self._count = count

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return whether the file can seek."""
        return self._file.seekable()

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        """Read a chunk, and count it."""
        chunk = self._file.read(len(buffer))
        buffer[: len(chunk)] = chunk
        self._count(len(chunk))
        return len(chunk)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the position of the file."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the position of the file."""
        return self._file.tell()

    def close(self) -> None:
        """Close the file too."""
        if not self.closed:
            self._file.close()
        super().close()
