"""Copies of a store that is in use (security-and-operations.md D12)."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from reviewsd.store.durable import sync

Result = TypeVar("Result")


def copy(connection: sqlite3.Connection, path: Path) -> None:
    """Copy a store to a new file, 0600 and on the disk; on error nothing is left behind.

    Raises:
        OSError: The file exists, or cannot be made.
        sqlite3.Error: Copying failed.
    """
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    try:
        with closing(sqlite3.connect(path)) as target:
            connection.backup(target)
            target.execute("PRAGMA application_id = 0")  # it is not the store in use (``kept``)
        sync(path.parent)
    except BaseException:
        path.unlink()
        raise


def save(connection: sqlite3.Connection, path: Path) -> str | None:
    """Copy a store; returns why it could not be, or None."""
    try:
        copy(connection, path)
    except (OSError, sqlite3.Error) as error:
        return str(error)
    return None


def examine(path: Path, work: Callable[[sqlite3.Cursor], Result]) -> Result:
    """Read a copy that nobody else uses; call it in a thread."""
    # immutable: otherwise a log would be made beside it
    with (
        closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as copied,
        closing(copied.cursor()) as cursor,
    ):
        return work(cursor)
