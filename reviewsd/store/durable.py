"""Files that are on the disk when a function returns."""

import os
from pathlib import Path

_PIECE = 1 << 20  # bytes that are read and written at once


def sync(path: Path) -> None:
    """Wait until a file's content, or the names in a directory, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def create(path: Path, content: bytes) -> None:
    """Make a file that only its owner may read: whole and durable, or not at all.

    One that is there already stays as it is: another process may have made it at the same time.
    """
    aside = path.with_name(f"{path.name}-{os.urandom(8).hex()}.new")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - it is a descriptor
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    try:
        path.hardlink_to(aside)
    except FileExistsError:
        pass
    finally:
        aside.unlink()
    sync(path.parent)


def renew(path: Path) -> None:
    """Write a file's content once more, in place, and wait until it is on the disk.

    After a failed fsync the kernel may hold pages that differ from the disk, and think that they do
    not ("fsyncgate", PostgreSQL 2018): only what is written again gets there. Not for a file that
    SQLite has open: closing a second descriptor of it gives up SQLite's locks (POSIX).
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        offset = 0
        while piece := os.pread(descriptor, _PIECE, offset):
            offset += os.pwrite(descriptor, piece, offset)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
