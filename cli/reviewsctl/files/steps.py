"""Steps of ``reviewsctl service`` as values, which are first planned, then done or only printed."""

import contextlib
import difflib
import errno
import grp
import os
import pwd
import shlex
import shutil
import stat
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

from reviewsctl.files.data_files import owner_files
from reviewsctl.files.folders import ROOT, Folder, opened
from reviewsctl.files.ownership import user_name
from reviewsctl.terminal.words import counted
from reviewsd.api.places import KEPT_FOLDER


@dataclass(frozen=True, slots=True)
class MakeFolder:
    """A folder that has to exist."""

    path: Path

    def __str__(self) -> str:
        return f"install -d -m 755 {self.path}"

    def do(self, root: Path) -> None:
        """Do the step below a root."""
        with opened(self.path, root=root, make=True):
            pass


@dataclass(frozen=True, slots=True)
class GiveFolder:
    """A folder with data that is to belong to a user, and be writable for a group."""

    path: Path
    user: str
    group: str

    def __str__(self) -> str:
        return f"chown -R {self.user}:{self.group} {self.path} && chmod g+ws {self.path}"

    def do(self, root: Path) -> None:
        """Give the folder, the files in it, and what reviewsctl keeps there; links stay."""
        try:
            uid, gid = pwd.getpwnam(self.user).pw_uid, grp.getgrnam(self.group).gr_gid
        except KeyError as fault:
            raise OSError(errno.ENOENT, f"there is no user {self.user}", str(self.path)) from fault
        with opened(self.path, root=root) as folder:
            _give(folder, uid, gid, {KEPT_FOLDER})


def _give(folder: Folder, uid: int, gid: int, inside: Collection[str] | None) -> None:
    """Give a folder to a user: files, and the folders of certain names, or all of them."""
    for name in folder.names():
        facts = folder.look(name)
        if facts is None:
            continue
        if stat.S_ISDIR(facts.st_mode) and (inside is None or name in inside):
            with folder.folder(name) as inner:
                _give(inner, uid, gid, None)
        elif stat.S_ISREG(facts.st_mode):
            with folder.open(name) as file:
                os.fchown(file.fileno(), uid, gid)
    folder.give(uid, gid)


@dataclass(frozen=True, slots=True)
class WriteFile:
    """A file with a text."""

    path: Path
    text: str
    base: str | None = None
    """The text it is derived from; the preview of a new file shows only the difference."""

    def __str__(self) -> str:
        return f"write {self.path}, mode 644"

    def preview(self, root: Path) -> str:
        """Return what the step would change below a root."""
        try:
            there = self._there(root)
        except (OSError, UnicodeDecodeError):
            return f"{self}: what is there cannot be read"
        if there == self.text:
            return f"keep {self.path}, it is as it should be"
        if there is None and self.base in {None, self.text}:
            return f"{self}: new, {counted(len(self.text.splitlines()), 'line')}"
        changed = "".join(f"\n    {line}" for line in _changed(there or self.base or "", self.text))
        return f"{self}: {'new, ' if there is None else ''}changed lines:{changed}"

    def changes(self, root: Path) -> bool:
        """Return whether the file is there below a root and has another text."""
        return self._there(root) not in {None, self.text}

    def _there(self, root: Path) -> str | None:
        try:
            return below(root, self.path).read_text()
        except FileNotFoundError:
            return None

    def do(self, root: Path) -> None:
        """Do the step below a root."""
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
    """A copy of a file, unless its place is taken."""

    source: Path
    path: Path
    mode: int = 0o644

    def __str__(self) -> str:
        return f"install -m 644 {self.source} {self.path}"

    def do(self, root: Path) -> None:
        """Do the step below a root."""
        with read(self.source) as source, opened(self.path.parent, root=root) as folder:
            if folder.look(self.path.name) is None:
                with folder.draft(self.path.name) as new:
                    shutil.copyfileobj(source, new.file)
                    new.put(self.mode)


@dataclass(frozen=True, slots=True)
class CopyFolder:
    """A copy of what ``reviewsctl`` keeps beside the data; its private files stay private."""

    source: Path
    """The data directory."""
    path: Path

    def __str__(self) -> str:
        return f"cp -R {self.source / KEPT_FOLDER} {self.path}"

    def files(self) -> Iterator[Path]:
        """Yield the files to copy."""
        names = owner_files(self.source)
        yield from (self.source / name for name in names if name.startswith(KEPT_FOLDER))

    def do(self, root: Path) -> None:
        """Do the step below a root."""
        for file in self.files():
            target = self.path / file.relative_to(self.source)
            MakeFolder(target.parent).do(root)
            CopyFile(file, target, file.stat().st_mode & 0o644).do(root)


@dataclass(frozen=True, slots=True)
class Run:
    """A command of the system, or of ours."""

    command: tuple[str, ...]

    def __str__(self) -> str:
        return shlex.join(self.command)

    def do(self, root: Path) -> None:
        """Run the command with the output of this one."""
        del root  # an argument of the command
        subprocess.run(self.command, check=True)  # noqa: S603  # planned here


def systemctl(root: Path, verb: str, *units: str) -> Run:
    """Return the step that enables or disables units: at once in the running system."""
    where = ("--now",) if root == ROOT else (f"--root={root}",)
    return Run(("systemctl", verb, *where, *units))


@dataclass(frozen=True, slots=True)
class RemoveFile:
    """A file that is not to be there any more."""

    path: Path

    def __str__(self) -> str:
        return f"rm {self.path}"

    def do(self, root: Path) -> None:
        """Remove the file below a root."""
        with opened(self.path.parent, root=root) as folder:
            folder.remove(self.path.name)


Step: TypeAlias = "MakeFolder | GiveFolder | WriteFile | CopyFile | CopyFolder | RemoveFile | Run"


def _changed(before: str, after: str) -> Iterator[str]:
    """Return the lines that differ, the old with a minus and the new with a plus."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return (line for line in lines if not line.startswith(("---", "+++", "@@")))


def below(root: Path, path: Path) -> Path:
    """Return the place of an absolute path below a root."""
    return root / path.relative_to("/")
