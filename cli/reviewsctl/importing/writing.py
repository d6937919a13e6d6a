"""Replacing reviews.json: whole or not at all, the old one kept (interfaces.md 2)."""

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from reviewsctl.importing.faults import ImportRefusedError

_BUFFER = 1024 * 1024
_MODE = (
    0o644  # of a file that was not there: the daemon runs as somebody else, and the data are public
)


class Draft:
    """A new version of a file, beside it until ``commit``; made by ``draft``."""

    def __init__(self, path: Path, file: BinaryIO, temporary: Path) -> None:
        self.file = file
        self._path = path
        self._temporary = temporary
        self._before = _look(path)

    def commit(self) -> Path | None:
        """Puts it in the file's place, with its owner and mode; returns where the old one is now.

        Raises:
            ImportRefusedError: Somebody else wrote the file meanwhile.
        """
        self.file.flush()
        there = _look(self._path)
        if _signature(there) != _signature(self._before):
            raise ImportRefusedError(
                f"{self._path} was changed by somebody else meanwhile; it is as they left it",
                "Run the import again.",
            )
        descriptor = self.file.fileno()
        if there is not None:
            # who is neither root nor its owner cannot give it away; then it is theirs
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, there.st_uid, there.st_gid)
        os.fchmod(descriptor, _MODE if there is None else stat.S_IMODE(there.st_mode))
        os.fsync(descriptor)
        backup = None if there is None else self._keep()
        self._temporary.replace(self._path)
        _sync_folder(self._path.parent)
        return backup

    def _keep(self) -> Path:
        backup = self._path.with_name(f"{self._path.name}.bak")
        aside = self._temporary.with_suffix(".bak")
        try:
            os.link(self._path, aside)  # the file itself never has no name
        except OSError:
            shutil.copy2(self._path, aside)  # a file system without links
        aside.replace(backup)
        return backup


@contextlib.contextmanager
def draft(path: Path) -> Iterator[Draft]:
    """A new version of a file for the block; without ``commit`` nothing remains of it."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", suffix=".new", dir=path.parent)
    temporary = Path(name)
    try:
        with open(handle, "wb", buffering=_BUFFER) as file:  # noqa: PTH123  # a descriptor
            yield Draft(path, file, temporary)
    finally:
        temporary.unlink(missing_ok=True)


def _look(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _signature(there: os.stat_result | None) -> tuple[int, ...] | None:
    if there is None:
        return None
    return (there.st_dev, there.st_ino, there.st_size, there.st_mtime_ns)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
