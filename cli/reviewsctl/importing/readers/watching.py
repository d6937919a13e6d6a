"""How far the reading of a large file is."""

import io
from collections.abc import Callable
from dataclasses import replace
from typing import BinaryIO

from reviewsctl.importing.readers.parts import Part
from reviewsd.api.jobs import Step

MEGABYTE = 1_000_000
WORTH_SHOWING = 8 * MEGABYTE  # bytes; less is read in a blink

Tell = Callable[[Step], None]


class Reading:
    """Counts the bytes of files and tells of every megabyte.

    Args:
        stage: What is being done.
        total: Bytes of all files together.
        tell: Told; in megabytes, since rows are not known before they are read.
    """

    def __init__(self, stage: str, total: int, tell: Tell) -> None:
        self._stage = stage
        self._total = total
        self._tell = tell
        self._done = 0

    def watched(self, part: Part) -> Part:
        """The same file, counted while it is read."""
        return replace(part, open=lambda: self.file(part.open()))

    def file(self, file: BinaryIO) -> BinaryIO:
        """The same open file, counted while it is read."""
        return io.BufferedReader(_Counted(file, self._count), MEGABYTE)

    def _count(self, read: int) -> None:
        before = self._done // MEGABYTE
        self._done += read
        now = self._done // MEGABYTE
        if now != before and self._total >= WORTH_SHOWING:
            total = self._total // MEGABYTE
            stage = f"{self._stage} (MB)"
            self._tell(Step(stage=stage, done=min(now, total), total=total))


class _Counted(io.RawIOBase):
    """A file that tells how much of it is read."""

    def __init__(self, file: BinaryIO, count: Callable[[int], None]) -> None:
        self._file = file
        self._count = count

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """As the file."""
        return self._file.seekable()

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        """Reads, and counts."""
        chunk = self._file.read(len(buffer))
        buffer[: len(chunk)] = chunk
        self._count(len(chunk))
        return len(chunk)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """As the file."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """As the file."""
        return self._file.tell()

    def close(self) -> None:
        """Closes the file too."""
        if not self.closed:
            self._file.close()
        super().close()
