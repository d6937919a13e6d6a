"""Functions that return when a file is on the disk."""

import os
from pathlib import Path

_PIECE = 1 << 20  # bytes


def sync(path: Path) -> None:
    """Wait until a file's content, or the names in a directory, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def create(path: Path, content: bytes) -> None:
    """Create a file with mode 0600, durably and atomically.

    An existing file is not changed: another process may have created it at the same time.
    """
    temporary = path.with_name(f"{path.name}-{os.urandom(8).hex()}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - it is a descriptor
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()
    sync(path.parent)


def renew(path: Path) -> None:
    """Write a file's content again, in place, and wait until it is on the disk.

    After a failed fsync the kernel may mark pages as clean that differ from the disk ("fsyncgate",
    PostgreSQL 2018). Only pages that are written again reach it. Do not call it for a file that SQLite
    has open: closing a second descriptor releases SQLite's locks (POSIX).
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        offset = 0
        while piece := os.pread(descriptor, _PIECE, offset):
            offset += os.pwrite(descriptor, piece, offset)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
