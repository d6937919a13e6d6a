"""The answers of models in the data directory, a line of JSON for each batch (insights.md 7, cache).

A batch is on disk before the next request. A run that is killed while it writes leaves a line
without an end, which the next run takes away.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from reviewsctl.files.folders import Folder
from reviewsctl.labelling.endpoint import ModelError

NAME: Final = "insights.labels"
_MODE: Final = 0o644  # as insights.json: it says nothing that is not in there


@dataclass(frozen=True, slots=True)
class Records:
    """The file, which is this run's alone; made by ``opened``."""

    file: BinaryIO

    def lines(self) -> list[bytes]:
        """Return the whole lines; what is behind the last one is taken away."""
        with open(os.dup(self.file.fileno()), "rb") as reader:  # noqa: PTH123  a descriptor
            reader.seek(0)
            lines = [line for line in reader if line.endswith(b"\n")]
        self.file.truncate(sum(map(len, lines)))
        return lines

    def add(self, line: bytes) -> None:
        """Write a line, on the disk when this returns."""
        rest = memoryview(line + b"\n")
        while rest:
            rest = rest[self.file.write(rest) :]
        os.fsync(self.file.fileno())


@contextlib.contextmanager
def opened(folder: Folder) -> Iterator[Records]:
    """The file of a data directory, for the block.

    Raises:
        ModelError: Another run has it.
        OSError: It cannot be written, or is no file of its own.
    """
    with folder.journal(NAME, _MODE) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            raise ModelError("another run labels these reviews already") from fault
        folder.sync()
        try:
            yield Records(file)
        finally:
            if not os.fstat(file.fileno()).st_size:  # nothing was asked
                folder.remove(NAME)
