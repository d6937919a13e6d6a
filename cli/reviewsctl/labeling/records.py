"""The labels of a run: each batch is on disk before the next request, and all are published at its end.

A batch is appended to a journal in the folder of reviewsctl, because the daemon would publish every
change of insights.labels. At the end of the run, also by Ctrl-C or an error, the journal is merged into
insights.labels. The journal of a run that was killed is merged by the next run.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from typing import BinaryIO, Final

from reviewsctl.files.folders import Folder
from reviewsctl.importing.reviews_file import commit
from reviewsctl.labeling.endpoint import ModelError
from reviewsctl.terminal.interruption import signals_deferred
from reviewsd.analysis.kept_labels import KeptLabels
from reviewsd.api.places import KEPT_FOLDER, LABELS_FILE

_PRIVATE: Final = 0o600


class Records:
    """The journal, which is this run's alone, and the labels of earlier runs; made by ``opened``."""

    def __init__(self, folder: Folder, own: Folder, journal: BinaryIO) -> None:
        self._folder = folder
        self._own = own
        self._journal = journal

    def labels(self) -> KeptLabels:
        """Return all labels; the last line of a journal without an end is left out."""
        return KeptLabels(self._kept() + self._whole_lines())

    def add(self, lines: bytes) -> None:
        """Append lines, on the disk when this returns."""
        rest = memoryview(lines)
        while rest:
            rest = rest[self._journal.write(rest) :]
        os.fsync(self._journal.fileno())

    def merge(self) -> None:
        """Replace insights.labels by all labels, and remove the journal.

        Raises:
            ModelError: Another program has removed the journal, to erase reviews.
            ImportRefusedError: Another program is writing the file.
        """
        if self._own.look(LABELS_FILE) is None:
            raise ModelError("reviews were erased meanwhile", "Run it again.")
        if added := self._whole_lines():
            with self._folder.draft(LABELS_FILE) as new:
                new.file.write(KeptLabels(self._kept() + added).encoded())
                commit(new)
        self._own.remove(LABELS_FILE)

    def _kept(self) -> bytes:
        if self._folder.look(LABELS_FILE) is None:
            return b""
        with self._folder.open(LABELS_FILE) as file:
            return file.read()

    def _whole_lines(self) -> bytes:
        with open(os.dup(self._journal.fileno()), "rb") as reader:  # noqa: PTH123  a descriptor
            reader.seek(0)
            content = reader.read()
        lines = content[: content.rfind(b"\n") + 1]
        self._journal.truncate(len(lines))
        return lines


@contextlib.contextmanager
def opened(folder: Folder) -> Iterator[Records]:
    """Open the records of a data directory for the block, and merge them at its end.

    Raises:
        ModelError: Another run has it.
        OSError: It cannot be written, or is no file of its own.
    """
    with (
        folder.folder(KEPT_FOLDER, make=True) as own,
        own.journal(LABELS_FILE, _PRIVATE) as journal,
    ):
        try:
            fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            raise ModelError("another run labels these reviews already") from fault
        own.sync()
        records = Records(folder, own, journal)
        try:
            yield records
        finally:
            with signals_deferred():
                records.merge()
