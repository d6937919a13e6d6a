"""Replacing a file of the data folder: whole or not at all (interfaces.md 2)."""

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import BinaryIO

from reviewsctl.files import folders
from reviewsctl.files.folders import Folder
from reviewsctl.importing.errors import ImportRefusedError

_MODE = 0o644  # of a new file: the daemon runs as another user, and the data are public


class Draft:
    """A new version of a file, beside it until ``commit``; made by ``draft``."""

    def __init__(self, folder: Folder, name: str, new: folders.Draft) -> None:
        self._folder = folder
        self._name = name
        self._new = new
        self._before = folder.look(name)

    @property
    def file(self) -> BinaryIO:
        """The file to write to."""
        return self._new.file

    def check(self) -> None:
        """Check that the file is the one that was there at the beginning.

        Raises:
            ImportRefusedError: Another program wrote it meanwhile.
        """
        if _signature(self._folder.look(self._name)) != _signature(self._before):
            raise ImportRefusedError(
                f"{self._folder.path / self._name} was changed by another program meanwhile; it is as "
                "that left it",
                "Run the command again.",
            )

    @property
    def draft(self) -> folders.Draft:
        """The new version, as its folder has it."""
        return self._new

    def commit(self, keep: Callable[[], object]) -> None:
        """Put the new version in the place of the file, with its owner and mode.

        Args:
            keep: Called before, where there is a file to be replaced.

        Raises:
            ImportRefusedError: Another program wrote the file meanwhile.
        """
        self.check()
        if self._before is None:
            self._new.put(_MODE)
            return
        keep()
        self._new.give(self._before.st_uid, self._before.st_gid)
        self._new.put(self._before.st_mode & 0o777)


@contextlib.contextmanager
def draft(folder: Folder, name: str) -> Iterator[Draft]:
    """Write a new version of a file for the block; without ``commit`` nothing remains of it."""
    with folder.draft(name) as new:
        yield Draft(folder, name, new)


def _signature(facts: os.stat_result | None) -> tuple[int, ...] | None:
    if facts is None:
        return None
    return (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns)
