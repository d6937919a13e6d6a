"""Folders in which somebody else may write, and files in them: opened once, then used by descriptor.

A path is looked up anew by every call that names it. Whoever may write in a folder can put a link
there, before the first call or between two, and root would open, replace or open up to others what
the link leads to. So a folder is opened once, and files are made, read and replaced relative to it.
No link is followed in it; modes and owners are set on what is open. On the way to it, root follows
only links of its own, since others' may lead where only root can go.
"""

import contextlib
import errno
import os
import shutil
import stat
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, cast

from reviewsctl.files.ownership import user_name

ROOT: Final = Path("/")

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_LINKS: Final = 40  # as many as the kernel follows, path_resolution(7)
_BUFFER: Final = 1024 * 1024  # bytes


class LinkError(OSError):
    """There is a link that is not followed; ``strerror`` says why not."""

    def __init__(self, path: Path, owner: int | None = None) -> None:
        self.owner = owner
        """The uid, where another one's link would be followed."""
        by = "" if owner is None else f" of {user_name(owner)}, and root follows only its own"
        super().__init__(errno.ELOOP, f"there is a link{by}", str(path))


class Draft:
    """A new file, private until ``put``; made by ``Folder.draft``."""

    def __init__(self, folder: "Folder", file: BinaryIO, aside: str, name: str) -> None:
        self.file = file
        """To write."""
        self._folder = folder
        self._aside = aside
        self._name = name

    def read(self) -> BinaryIO:
        """Open what was written so far; nothing may be written after that."""
        self.file.flush()
        written = os.fdopen(os.dup(self.file.fileno()), "rb")  # its name may be another file's
        written.seek(0)
        return written

    def give(self, uid: int, gid: int) -> None:
        """Give it to somebody; who is neither root nor that one may not, and keeps it."""
        with contextlib.suppress(PermissionError):
            os.fchown(self.file.fileno(), uid, gid)

    def put(self, mode: int) -> None:
        """Put it in the place of what has its name, on the disk when this returns."""
        self.file.flush()
        os.fchmod(self.file.fileno(), mode)
        os.fsync(self.file.fileno())
        self._folder.rename(self._aside, self._name)
        self._folder.sync()


class Folder:
    """An open folder; all names are of entries in it. Made by ``opened``."""

    def __init__(self, descriptor: int, path: Path) -> None:
        self._descriptor = descriptor
        self.path = path
        """As it was named, for messages."""

    @property
    def facts(self) -> os.stat_result:
        """Its owner and mode."""
        return os.fstat(self._descriptor)

    @property
    def private(self) -> bool:
        """Whether only this user can make and rename files in it, beside root."""
        facts = self.facts
        return facts.st_uid == os.geteuid() and not facts.st_mode & 0o022

    def look(self, name: str) -> os.stat_result | None:
        """What there is, a link taken for itself."""
        try:
            return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading.

        Raises:
            LinkError: It is a link.
            OSError: It is no file, or cannot be read.
        """
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        path = self.path / name
        try:
            file = os.fdopen(os.open(name, flags, dir_fd=self._descriptor), "rb")
        except OSError as fault:
            if fault.errno == errno.ELOOP:
                raise LinkError(path) from fault
            raise OSError(fault.errno, fault.strerror, str(path)) from fault
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            raise OSError(errno.EINVAL, "it is no regular file", str(path))
        return file

    def names(self) -> list[str]:
        """Return the names of what is in the folder, in order."""
        descriptor = os.open(".", _FOLDER, dir_fd=self._descriptor)  # this one is only a place
        try:
            return sorted(os.listdir(descriptor))  # noqa: PTH208  # of a descriptor
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def folder(self, name: str, *, make: bool = False) -> "Iterator[Folder]":
        """Open a folder in this one for the block.

        Args:
            name: Its name.
            make: Make it if there is none, with the owner and the mode of this one.

        Raises:
            FileNotFoundError: There is none.
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
        """Open a file for reading, and for writing at its end; it is made where there is none.

        Raises:
            LinkError: It is a link.
            OSError: It is no file, has another name as well, or cannot be written.
        """
        flags = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        path, made = self.path / name, self.look(name) is None
        try:
            descriptor = os.open(name, flags | os.O_CREAT, mode, dir_fd=self._descriptor)
        except OSError as fault:
            if fault.errno == errno.ELOOP:
                raise LinkError(path) from fault
            raise OSError(fault.errno, fault.strerror, str(path)) from fault
        file = os.fdopen(descriptor, "r+b", buffering=0)
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1:
            file.close()
            raise OSError(errno.EINVAL, "it is no regular file of one name", str(path))
        if made:
            os.fchmod(descriptor, mode)
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, self.facts.st_uid, self.facts.st_gid)
        return cast("BinaryIO", file)

    @contextlib.contextmanager
    def draft(self, name: str) -> Iterator[Draft]:
        """A new file for the block; without ``put`` nothing remains of it."""
        aside = f".{name}-{os.urandom(8).hex()}.new"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:  # it is removed even if a signal comes right after it was made
            descriptor = os.open(aside, flags, 0o600, dir_fd=self._descriptor)
            with os.fdopen(descriptor, "wb", buffering=_BUFFER) as file:
                yield Draft(self, file, aside, name)
        finally:
            self.remove(aside)

    def write(self, name: str, content: bytes, mode: int) -> None:
        """Make or replace a file."""
        with self.draft(name) as new:
            new.file.write(content)
            new.put(mode)

    def keep(self, name: str, backup: str) -> None:
        """Give a file a second name, in place of what has it; the file itself never has none."""
        aside, here = f".{backup}-{os.urandom(8).hex()}", self._descriptor
        try:
            os.link(name, aside, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)
            self.rename(aside, backup)
        except OSError:  # a file system without links
            with self.open(name) as there, self.draft(backup) as new:
                facts = os.fstat(there.fileno())
                shutil.copyfileobj(there, new.file)
                new.give(facts.st_uid, facts.st_gid)
                new.put(facts.st_mode & 0o777)
        finally:
            self.remove(aside)

    def rename(self, name: str, new: str) -> None:
        """Rename an entry, whatever it is, in place of what has that name."""
        os.replace(name, new, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        """Remove a file, should there be one."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._descriptor)

    def sync(self) -> None:
        """Wait until its names are on the disk."""
        descriptor = os.open(".", _FOLDER, dir_fd=self._descriptor)  # this one is only a place
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def opened(path: Path, *, root: Path = ROOT, make: bool = False) -> Iterator[Folder]:
    """A folder for the block.

    Args:
        path: Absolute where there is a ``root``.
        root: Of the system; in one that is only an image, no link is followed.
        make: Make what is not there.

    Raises:
        LinkError: There is a link on the way that is not followed.
        OSError: It is not there, or no folder.
    """
    image = root != ROOT
    here = os.open(ROOT, _FOLDER)
    if image:
        here = _walked(here, root.absolute(), follow=True, make=False)
    here = _walked(here, path.absolute(), follow=not image, make=make)
    try:
        if not stat.S_ISDIR(os.fstat(here).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        yield Folder(here, path)
    finally:
        os.close(here)


def real(path: Path) -> Path:
    """Where a file is, links followed as ``opened`` follows them; it need not be there.

    Raises:
        LinkError: There is a link that is not followed.
    """
    for each, facts in steps(path) if os.geteuid() == 0 else ():
        if stat.S_ISLNK(facts.st_mode):
            _check_link(each, facts)
    return path.resolve()


def _walked(here: int, path: Path, *, follow: bool, make: bool) -> int:
    """Go down from an open folder, which is closed; each link on the way is looked at."""
    todo, links = deque(path.parts[1:]), 0
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
                here = entry
                continue
            try:
                links += 1
                if links > _MAX_LINKS or not follow:
                    raise LinkError(path)
                _check_link(path, facts)
                target = Path(os.readlink("", dir_fd=entry))
            finally:
                os.close(entry)
            todo.extendleft(reversed(target.parts[target.is_absolute() :]))
            if target.is_absolute():
                os.close(here)
                here = os.open(ROOT, _FOLDER)
    except OSError as fault:
        os.close(here)
        if isinstance(fault, LinkError):
            raise
        raise OSError(fault.errno, fault.strerror, str(path)) from fault
    return here


def _check_link(path: Path, facts: os.stat_result) -> None:
    if os.geteuid() == 0 and facts.st_uid != 0:
        raise LinkError(path, facts.st_uid)


def steps(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield each folder, link and file that the kernel visits to find one, as far as they exist."""
    todo, here, links = deque(path.absolute().parts[1:]), Path("/"), 0
    yield here, here.lstat()
    while todo:
        name = todo.popleft()
        if name == "..":
            here = here.parent
            continue
        each = here / name
        try:
            facts = each.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return
        yield each, facts
        if not stat.S_ISLNK(facts.st_mode):
            here = each
            continue
        links += 1
        if links > _MAX_LINKS:
            return
        target = each.readlink()
        if target.is_absolute():
            here = Path("/")
        todo.extendleft(reversed(target.parts[target.is_absolute() :]))
