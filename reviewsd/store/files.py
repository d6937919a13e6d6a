"""Files of the store: durable writes, and the identity of an open SQLite store.

A file that is deleted or replaced while it is open continues to exist without a name. The daemon would
work as before, and lose everything at its next start.
"""

import os
from pathlib import Path

from reviewsd.store.transactions import StoreError

_PIECE = 1 << 20  # bytes
_REMEDY = (
    "while it was in use: new requests are refused, deliveries go on. Save the open data:"
    " reviewsctl backup FILE; then stop the daemon, run reviewsctl restore FILE --force, and start it"
)


def sync(path: Path) -> None:
    """Wait until a file's content, or the names in a directory, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def create(path: Path, content: bytes) -> None:
    """Create a file with mode 0600, durably and atomically.

    An existing file is not changed, because another process may have created it at the same time; so the
    caller reads the file afterwards.
    """
    temporary = path.with_name(f"{path.name}-{os.urandom(8).hex()}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - it is a descriptor
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        path.hardlink_to(temporary)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()
    sync(path.parent)


def renew(path: Path) -> None:
    """Write a file's content again, in place, and wait until it is on the disk.

    After a failed fsync the kernel may mark pages as clean that differ from the disk ("fsyncgate",
    PostgreSQL 2018). Only pages that are written again reach the disk. Do not call this function for a file
    that SQLite has open: closing a second descriptor releases SQLite's locks (POSIX).
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        offset = 0
        while piece := os.pread(descriptor, _PIECE, offset):
            offset += os.pwrite(descriptor, piece, offset)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class OpenFiles:
    """The database file and its write-ahead log, as they were when they were opened.

    The path of the database is not resolved, so that a link that was changed is found too.
    """

    def __init__(self, path: Path) -> None:
        resolved = path.resolve()
        self.log = resolved.with_name(f"{resolved.name}-wal")
        self._paths = (path, self.log)
        self._opened: tuple[os.stat_result, ...] = ()

    def record(self) -> None:
        """Record the identity of the open files.

        Raises:
            OSError: One of them cannot be examined.
        """
        self._opened = tuple(path.stat() for path in self._paths)

    def missing(self, *, connected: bool) -> StoreError | None:
        """Return an error if the paths no longer lead to the files that were recorded, else None.

        The write-ahead log exists only while the connection is open.
        """
        paths = self._paths if connected else self._paths[:1]
        for path, opened in zip(paths, self._opened, strict=False):
            try:
                is_open = os.path.samestat(path.stat(), opened)
            except (FileNotFoundError, NotADirectoryError):
                return StoreError(f"{path.name} was deleted {_REMEDY}")
            except OSError as error:
                return StoreError(f"{path.name} cannot be reached ({error.strerror})")
            if not is_open:
                return StoreError(f"{path.name} was replaced by another file {_REMEDY}")
        return None
