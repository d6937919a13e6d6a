"""Replacing reviews.json: whole or not at all, the old one kept (interfaces.md 2)."""

import contextlib
import os
from collections.abc import Iterator
from typing import BinaryIO

from reviewsctl.files import folders
from reviewsctl.files.folders import Folder
from reviewsctl.importing.errors import ImportRefusedError

_MODE = (
    0o644  # of a file that was not there: the daemon runs as somebody else, and the data are public
)


class Draft:
    """A new version of a file, beside it until ``commit``; made by ``draft``."""

    def __init__(self, folder: Folder, name: str, new: folders.Draft) -> None:
        self._folder = folder
        self._name = name
        self._new = new
        self._before = folder.look(name)

    @property
    def file(self) -> BinaryIO:
        """To write."""
        return self._new.file

    def commit(self) -> str | None:
        """Puts it in the file's place, with its owner and mode; returns the name of the old one.

        Raises:
            ImportRefusedError: Somebody else wrote the file meanwhile.
        """
        there = self._folder.look(self._name)
        if _signature(there) != _signature(self._before):
            raise ImportRefusedError(
                f"{self._folder.path / self._name} was changed by somebody else meanwhile; it is as "
                "they left it",
                "Run the import again.",
            )
        if there is None:
            self._new.put(_MODE)
            return None
        backup = f"{self._name}.bak"
        self._folder.keep(self._name, backup)
        self._new.give(there.st_uid, there.st_gid)
        self._new.put(there.st_mode & 0o777)
        return backup


@contextlib.contextmanager
def draft(folder: Folder, name: str) -> Iterator[Draft]:
    """A new version of a file for the block; without ``commit`` nothing remains of it."""
    with folder.draft(name) as new:
        yield Draft(folder, name, new)


def _signature(there: os.stat_result | None) -> tuple[int, ...] | None:
    if there is None:
        return None
    return (there.st_dev, there.st_ino, there.st_size, there.st_mtime_ns)
