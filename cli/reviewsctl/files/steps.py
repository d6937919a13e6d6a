"""Steps of ``reviewsctl service`` as values, which are first planned, then done or only printed."""

import contextlib
import errno
import os
import shlex
import shutil
import stat
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from reviewsctl.daemon.units import ROOT
from reviewsctl.files.folders import opened
from reviewsctl.files.ownership import user_name
from reviewsd.api.texts import counted

_MAX_SHOWN: Final = 6
"""Copies of one folder that are shown one by one."""


@dataclass(frozen=True, slots=True)
class WriteFile:
    """A file with a text."""

    path: Path
    text: str

    def __str__(self) -> str:
        return f"write {self.path}, mode 644"

    def do(self, root: Path) -> None:
        """Do the step in the system below ``root``."""
        with opened(self.path.parent, root=root, make=True) as folder:
            folder.write(self.path.name, self.text.encode(), 0o644)


@contextlib.contextmanager
def read(source: Path) -> Iterator[BinaryIO]:
    """Open a file that is copied to one that all may read.

    Raises:
        OSError: It is a link, or another user's file that not all may read.
    """
    with opened(source.parent) as folder, folder.open(source.name) as file:
        facts = os.fstat(file.fileno())
        if facts.st_uid != folder.facts.st_uid and not facts.st_mode & stat.S_IROTH:
            text = f"it is {user_name(facts.st_uid)}'s, and not for all to read"
            raise PermissionError(errno.EACCES, text, str(source))
        yield file


@dataclass(frozen=True, slots=True)
class CopyFile:
    """A copy of a file."""

    source: Path
    path: Path
    mode: int = 0o644

    def __str__(self) -> str:
        return f"install -D -m {self.mode:o} {shlex.join((str(self.source), str(self.path)))}"

    def do(self, root: Path) -> None:
        """Do the step in the system below ``root``."""
        with (
            read(self.source) as source,
            opened(self.path.parent, root=root, make=True) as folder,
            folder.draft(self.path.name) as new,
        ):
            shutil.copyfileobj(source, new.file)
            new.put(self.mode)


@dataclass(frozen=True, slots=True)
class Run:
    """A command of the system, or of ours."""

    command: tuple[str, ...]
    shown: str = ""
    """Its text for people, where it names many files."""

    def __str__(self) -> str:
        return self.shown or shlex.join(self.command)

    def do(self, root: Path) -> None:
        """Run the command with the output of this one."""
        del root  # an argument of the command
        subprocess.run(self.command, check=True)  # noqa: S603  # planned here


Step: TypeAlias = "WriteFile | CopyFile | Run"


def grouped(steps: Iterable[Step]) -> Iterator[tuple[str, Sequence[Step]]]:
    """Yield the steps with their texts; many copies from one folder to another have one, as kept versions."""
    for _, group in groupby(steps, _folders):
        copies = list(group)
        first = copies[0]
        if isinstance(first, CopyFile) and len(copies) > _MAX_SHOWN:
            text = f"copy {counted(len(copies), 'file')} of {first.source.parent} to {first.path.parent}"
            yield text, copies
        else:
            yield from ((str(step), [step]) for step in copies)


def _folders(step: Step) -> object:
    """Return the folders of a copy; else the step."""
    return (step.source.parent, step.path.parent) if isinstance(step, CopyFile) else step


def systemctl(root: Path, verb: str, *units: str) -> Run:
    """Return the step that enables or disables units: at once in the running system."""
    where = ("--now",) if root == ROOT else (f"--root={root}",)
    return Run(("systemctl", verb, *where, *units))
