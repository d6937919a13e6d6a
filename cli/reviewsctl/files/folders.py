"""Folders in which another user may write: opened once, then used by their descriptor.

The kernel resolves a path in every call that names it. A user who can write in a folder could put
a link there between two calls, and root would read or replace the target of the link. So a folder
is opened once, and its files are made, read and replaced relative to its descriptor. No link in it
is followed, and modes and owners are set on open files. In the path of the folder, root follows
only links of its own.
"""

import contextlib
import errno
import fcntl
import os
import re
import shutil
import stat
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, Final, cast

from reviewsctl.daemon.units import ROOT
from reviewsctl.files.ownership import user_name

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = (
    os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
)  # a pipe is not waited for
_MAX_LINKS: Final = 40  # the limit of the kernel, path_resolution(7)
_BUFFER: Final = 1024 * 1024  # bytes
_DRAFT: Final = re.compile(r"\..+-[0-9a-f]{16}\.new")


class LinkError(OSError):
    """A link that is not followed; ``strerror`` has the reason."""

    def __init__(self, path: Path, owner: int | None = None) -> None:
        self.owner = owner
        """The uid of the owner, if that is the reason."""
        by = "" if owner is None else f" of {user_name(owner)}, and root follows only its own"
        super().__init__(errno.ELOOP, f"there is a link{by}", str(path))


class Draft:
    """A new file of ``Folder.draft``, private until ``put``."""

    def __init__(self, folder: "Folder", file: BinaryIO, aside: str, name: str) -> None:
        self.file = file
        self.folder = folder
        self.name = name
        """The name of the file that it replaces, or makes."""
        self.before = folder.look(name)
        """The facts of the file that was there at the beginning; None if there was none."""
        self._aside = aside

    def read(self) -> BinaryIO:
        """Open the written content for reading, after which nothing may be written."""
        self.file.flush()
        copy = os.fdopen(os.dup(self.file.fileno()), "rb")  # the name may belong to another file
        copy.seek(0)
        return copy

    def give(self, uid: int, gid: int) -> None:
        """Change the owner, if this process may; else it stays the owner."""
        with contextlib.suppress(PermissionError):
            os.fchown(self.file.fileno(), uid, gid)

    def put(self, mode: int) -> None:
        """Replace the file of its name; it is on the disk when this returns."""
        self.file.flush()
        os.fchmod(self.file.fileno(), mode)
        os.fsync(self.file.fileno())
        self.folder.rename(self._aside, self.name)
        self.folder.sync()


class Folder:
    """An open folder of ``opened``; its methods take names of its entries."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self.path = path
        """Its path, for messages."""

    @property
    def facts(self) -> os.stat_result:
        """The facts of the folder, such as owner and mode."""
        return os.fstat(self._descriptor)

    def look(self, name: str) -> os.stat_result | None:
        """Return the facts of an entry without following a link, or None if there is none."""
        try:
            return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading.

        Raises:
            LinkError: It is a link.
            OSError: It is no regular file, or cannot be read.
        """
        file = os.fdopen(self._opened(name, os.O_RDONLY), "rb")
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise OSError(errno.EINVAL, "it is not a regular file", str(self.path / name))
        return file

    def _opened(self, name: str, flags: int, mode: int = 0) -> int:
        """Return the descriptor of a file, with its whole path in the errors."""
        path = self.path / name
        try:
            return os.open(name, flags | _FILE, mode, dir_fd=self._descriptor)
        except OSError as fault:
            if fault.errno == errno.ELOOP:
                raise LinkError(path) from fault
            raise OSError(fault.errno, fault.strerror, str(path)) from fault

    @contextlib.contextmanager
    def _listable(self) -> Iterator[int]:
        """Yield a descriptor that can be listed and synced; the own one may be O_PATH."""
        descriptor = os.open(".", _FOLDER, dir_fd=self._descriptor)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def names(self) -> list[str]:
        """Return the sorted names of the entries."""
        with self._listable() as descriptor:
            return sorted(os.listdir(descriptor))  # noqa: PTH208  # of a descriptor

    @contextlib.contextmanager
    def folder(self, name: str, *, make: bool = False) -> "Iterator[Folder]":
        """Yield a folder in this one.

        Args:
            name: Its name.
            make: Whether a missing one is made, with the owner and the mode of this one.

        Raises:
            FileNotFoundError: It is missing.
            OSError: It is a link, or no folder.
        """
        if make:
            self._make_folder(name)
        descriptor = os.open(name, _FOLDER, dir_fd=self._descriptor)
        try:
            yield Folder(descriptor, self.path / name)
        finally:
            os.close(descriptor)

    def _make_folder(self, name: str) -> None:
        facts = self.facts
        try:
            os.mkdir(name, 0o700, dir_fd=self._descriptor)
        except FileExistsError:
            return
        descriptor = os.open(name, _FOLDER, dir_fd=self._descriptor)
        try:
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, facts.st_uid, facts.st_gid)
            os.fchmod(descriptor, facts.st_mode & 0o2775)
        finally:
            os.close(descriptor)

    def journal(self, name: str, mode: int) -> BinaryIO:
        """Open a file for reading and appending; a missing one is made.

        Raises:
            LinkError: It is a link.
            OSError: It is no regular file, has a second name, or cannot be written.
        """
        is_new = self.look(name) is None
        descriptor = self._opened(name, os.O_RDWR | os.O_APPEND | os.O_CREAT, mode)
        file = os.fdopen(descriptor, "r+b", buffering=0)
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1:
            file.close()
            fault = "it is not a regular file with one name"
            raise OSError(errno.EINVAL, fault, str(self.path / name))
        if is_new:
            os.fchmod(descriptor, mode)
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, self.facts.st_uid, self.facts.st_gid)
        return cast("BinaryIO", file)

    @contextlib.contextmanager
    def draft(self, name: str) -> Iterator[Draft]:
        """Yield a new file, which is removed unless ``put`` is called.

        It is locked meanwhile, so that ``sweep`` knows it from one of a killed command.
        """
        self.sweep()
        aside = f".{name}-{os.urandom(8).hex()}.new"
        try:  # a signal right after the open still removes the file
            descriptor = self._opened(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb", buffering=_BUFFER) as file:
                # a file system without locks has none, and nothing is swept there
                with contextlib.suppress(OSError):
                    fcntl.flock(file, fcntl.LOCK_EX)
                if self.look(aside) is None:  # another command took it for one that was left behind
                    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN), str(self.path / name))
                yield Draft(self, file, aside, name)
        finally:
            self.remove(aside)

    def sweep(self) -> None:
        """Remove the drafts of commands that were killed: those that no process has locked."""
        for name in filter(_DRAFT.fullmatch, self.names()):
            with (
                contextlib.suppress(OSError),  # it is locked, of another user, or gone meanwhile
                os.fdopen(self._opened(name, os.O_RDWR), "r+b", buffering=0) as file,
            ):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self.remove(name)

    def write(self, name: str, content: bytes | IO[bytes], mode: int) -> None:
        """Make or replace a file for the owner of the folder."""
        with self.draft(name) as new:
            if isinstance(content, bytes):
                new.file.write(content)
            else:
                shutil.copyfileobj(content, new.file)
            new.give(self.facts.st_uid, self.facts.st_gid)
            new.put(mode)

    def rename(self, name: str, new: str) -> None:
        """Rename an entry of any kind, which may replace another one."""
        os.replace(name, new, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._descriptor)

    def sync(self) -> None:
        """Wait until the names are on the disk."""
        with self._listable() as descriptor:
            os.fsync(descriptor)


@contextlib.contextmanager
def opened(path: Path, *, root: Path = ROOT, make: bool = False) -> Iterator[Folder]:
    """Open a folder, and yield it.

    Args:
        path: The folder; below ``root``, if there is one.
        root: The root of the system; below that of an image, no link is followed.
        make: Whether missing folders are made.

    Raises:
        LinkError: The path has a link that is not followed.
        OSError: It is missing, or no folder.
    """
    image, rest = root != ROOT, path.absolute()
    here = os.open(ROOT, _FOLDER)
    if image:
        here = _walked(here, root.absolute(), follow=True, make=False)
        rest = ROOT / rest.relative_to(root.absolute())
    here = _walked(here, rest, follow=not image, make=make)
    try:
        if not stat.S_ISDIR(os.fstat(here).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        yield Folder(here, path)
    finally:
        os.close(here)


def real(path: Path) -> Path:
    """Return the path of a file with its links resolved, as ``opened`` follows them; it may be missing.

    Raises:
        LinkError: The path has a link that is not followed.
    """
    if os.geteuid() != 0:
        return path.resolve()
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.close(_walked(os.open(ROOT, _FOLDER), path.absolute(), follow=True, make=False))
    return path.resolve()


def _walked(here: int, path: Path, *, follow: bool, make: bool) -> int:
    """Walk down from an open folder, which is closed, and check each link in the path."""
    todo, links, place = deque(path.parts[1:]), 0, ROOT
    try:
        while todo:
            name = todo.popleft()
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, 0o755, dir_fd=here)
            entry = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here)
            facts = os.fstat(entry)
            if not stat.S_ISLNK(facts.st_mode):
                os.close(here)
                here, place = entry, place / name
                continue
            try:
                links += 1
                if links > _MAX_LINKS or not follow:
                    raise LinkError(path)
                if os.geteuid() == 0 and facts.st_uid != 0:
                    raise LinkError(place / name, facts.st_uid)
                target = Path(os.readlink("", dir_fd=entry))
            finally:
                os.close(entry)
            todo.extendleft(reversed(target.parts[target.is_absolute() :]))
            if target.is_absolute():
                os.close(here)
                here, place = os.open(ROOT, _FOLDER), ROOT
    except OSError as fault:
        os.close(here)
        if isinstance(fault, LinkError):
            raise
        raise OSError(fault.errno, fault.strerror, str(path)) from fault
    return here
