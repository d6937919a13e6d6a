"""Files that must stay at their paths while the daemon uses them.

An open file lives on without its name. The daemon goes on as if nothing had happened, and its next start
finds nothing, or another file. So it looks who is at the path; and whether somebody has cut short what
never becomes shorter by itself. A store that is overwritten in its place, as ``cp`` does, keeps all of
that; so it bears a mark of its own.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from twisted.logger import Logger

from reviewsd.store.durable import sync

DELETED = "was deleted"
REPLACED = "was replaced by another file"
CUT = "was cut short"
OVERWRITTEN = "was overwritten"

_MARK_AT, _MARK_SIZE = 68, 4
"""Of SQLite's header: the application's id, big-endian (SQLite file format 1.3)."""

Copy = Callable[[Path], str | None]
"""Copies what a store holds to a new file; returns why it cannot, or None."""


class KeptFile:
    """One of them.

    Args:
        path: Where it is to stay.
        grows: It never becomes shorter, unless by somebody else.
    """

    def __init__(self, path: Path, *, grows: bool = False) -> None:
        self.path = path
        self._grows = grows
        self._size = 0  # when it was last looked at; it may be cut, and grow again
        self._identity: tuple[int, int] | None = None

    @property
    def noted(self) -> bool:
        """Whether it is known which file is to stay there."""
        return self._identity is not None

    def note(self) -> None:
        """Remember the file that is there now.

        Raises:
            OSError: There is none, or it cannot be reached.
        """
        found = self.path.stat()
        self._identity, self._size = _identity(found), found.st_size if self._grows else 0

    def fate(self) -> str | None:
        """What has become of the file, to go on after its name; None while it is where it was."""
        try:
            found = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return DELETED
        except OSError as error:
            return f"cannot be reached ({error.strerror})"
        if _identity(found) != self._identity:
            return REPLACED
        if found.st_size < self._size:
            return CUT
        if self._grows:
            self._size = found.st_size
        return None

    def is_at(self, descriptor: int) -> bool:
        """Whether it is the file that a descriptor is open for."""
        return _identity(os.fstat(descriptor)) == self._identity


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


class KeptStore:
    """The file of a store, with its log, and the copy that is made when it is lost.

    Args:
        path: Of the file.
    """

    _log = Logger()

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log = KeptFile(path.resolve().with_name(f"{path.resolve().name}-wal"), grows=True)
        self._file = KeptFile(path, grows=True)
        self._saved = path.with_name(f"{path.name}.saved")
        self._unsaved: str | None = None  # why what is lost could not be saved
        self._mark = b""
        self._descriptor = -1
        self.fate: str | None = None
        """What had become of the file when it was last looked at; None while it is in its place."""

    @property
    def reason(self) -> str:
        """What is wrong, and what to do, for the operator."""
        return (
            f"{self.path.name} {self.fate} while it was in use: requests are refused, deliveries go"
            " on. Save what it holds: reviewsctl backup FILE; then stop the daemon, put FILE in its"
            " place, and start"
        )

    @property
    def noted(self) -> bool:
        """Whether it was open once."""
        return self._file.noted

    def note(self) -> None:
        """Remember the files that have been opened, and the mark that is in the store's.

        To close any descriptor of a file ends the process's locks on it, those of SQLite, too. So one
        stays open for as long as the file is the same.
        """
        self._file.note()
        self.log.note()
        if self._descriptor >= 0 and not self._file.is_at(self._descriptor):
            self.close()
        if self._descriptor < 0:
            self._descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        self._mark = self._read_mark()

    def close(self) -> None:
        """When nobody uses the file any more."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def look(self) -> bool:
        """Look at the file; returns whether it has gone from its place, or come back to it."""
        if self.fate == OVERWRITTEN:  # for good
            return False
        before, self.fate = self.fate, self._file.fate()
        if self.fate is None and self._descriptor >= 0 and self._read_mark() != self._mark:
            self.fate = OVERWRITTEN
        return before != self.fate

    def _read_mark(self) -> bytes:
        return os.pread(self._descriptor, _MARK_SIZE, _MARK_AT)

    def tell(self, copy: Copy) -> None:
        """Log what has become of the file; what is lost is saved."""
        if self.fate is None:
            self._saved.unlink(missing_ok=True)
            self._log.info("the store {path} is in its place again", path=self.path)
        else:
            self._log.error("the store: {reason}", reason=self.reason)
            self.save(copy)
            if self.fate == OVERWRITTEN:
                self._part()
            if self.fate in {DELETED, REPLACED, OVERWRITTEN} and self.log.fate() is None:
                # It is open, too. The next start would apply it to whatever file it finds.
                self.log.path.unlink()

    def _part(self) -> None:
        """Move what was put there into a file of its own: SQLite would write its log into it."""
        aside = self.path.with_name(f"{self.path.name}.new")
        try:
            shutil.copy(self.path, aside)
            aside.rename(self.path)
        except OSError as error:
            self._log.error(
                "{path} has now parts of both stores ({reason})", path=self.path, reason=str(error)
            )

    @property
    def unsaved(self) -> bool:
        """Whether what is lost has yet to be saved."""
        return self._unsaved is not None

    def save(self, copy: Copy) -> None:
        """Copy what a lost store holds to where the next start finds it."""
        aside = self._saved.with_name(f"{self._saved.name}.new")
        try:
            aside.unlink(missing_ok=True)
            failure = copy(aside)
            if failure is None:
                aside.rename(self._saved)
                sync(self._saved.parent)
        except OSError as error:
            failure = str(error)
        if failure is None:
            self._log.info("what the store holds is saved as {saved}", saved=self._saved)
        elif failure != self._unsaved:
            self._log.error(
                "what the store holds cannot be saved as {saved} ({reason}): a restart loses it",
                saved=self._saved,
                reason=failure,
            )
        self._unsaved = failure

    def release(self) -> None:
        """Before the file is opened for the first time: put what was saved in its place, if it is gone.

        Raises:
            OSError: That failed.
        """
        if not self._saved.exists():
            return
        if self.path.exists():
            self._log.warn(
                "{saved} is what was in use when another file was put in the place of {path}:"
                " remove the one that is not wanted",
                saved=self._saved,
                path=self.path,
            )
            return
        self.log.path.unlink(missing_ok=True)  # it belongs to the file that is gone
        self._saved.rename(self.path)
        sync(self.path.parent)
        self._log.warn("{path} had been deleted; it is put back as it was saved", path=self.path)
