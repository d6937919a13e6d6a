"""The state store on SQLite: transactions run one after the other, in a thread of their own.

An acknowledged transaction is durable (security-and-operations.md F13, F14, D1, D10) because:

- ``synchronous=FULL``: the log is on the disk before a commit returns. With ``NORMAL`` a power
  loss takes acknowledged commits with it; ``tests/system/crash`` shows both.
- There is exactly one connection. SQLite's WAL-reset bug corrupts with two, so the connection holds
  the file's lock for as long as it is open, and no other connection can be opened.
- After an I/O error, a full disk or damage the connection is closed. After a failed fsync the kernel
  may mark pages as clean that never reached the disk ("fsyncgate"), and commits after such a gap in
  the log would be lost at the next power loss. So the next use writes the log's content again, opens
  the file, and checks all of it, before anything new is written.
- The database and its log must still be at their paths. Otherwise the next start would not find
  the commits, so nothing is acknowledged any more (``OpenFiles``).
"""

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TypeVar

from twisted.internet.base import ReactorBase

from reviewsd.runtime.counters import Counters
from reviewsd.store.files import OpenFiles, renew, sync
from reviewsd.store.schema import MIGRATIONS, check_version
from reviewsd.store.transactions import (
    Purpose,
    SqlCursor,
    Store,
    StoreError,
    wall_clock,
)

BUSY_SECONDS = 1.0
"""Longest wait for another program's lock; the transactions behind it wait as well."""

_PRAGMAS = {
    "locking_mode": "exclusive",  # before the log is touched: then it needs no shared memory
    "journal_mode": "wal",
    "synchronous": "full",
    "foreign_keys": "on",
}

_OUTAGES = frozenset(
    {
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_NOTADB,
    }
)
"""Primary result codes that mean a fault of the file or the disk; any other is a bug of ours."""

Result = TypeVar("Result")

sqlite3.register_adapter(list, json.dumps)  # for ``MANY``


class Database(Store):
    """The one connection to the one file.

    Args:
        path: The file, in a directory that only this daemon uses (D7). It and its log are 0600.
        reactor: Receives the results in its thread; it must be running.
        counters: Count transactions.
    """

    def __init__(self, path: Path, reactor: ReactorBase, counters: Counters | None = None) -> None:
        super().__init__(path, reactor, counters)
        self._path = path
        self._files = OpenFiles(path)
        self._connection: sqlite3.Connection | None = None

    def now(self) -> int:
        """Return the wall clock, milliseconds since 1970 UTC."""
        return wall_clock()

    async def backup(self, path: Path) -> None:
        """Copy the store as it is between two transactions (D12); the copy is 0600 and fsynced.

        Raises:
            FileExistsError: ``path`` exists; it is not changed.
            OSError: ``path`` cannot be made.
            StoreError: Copying failed, or the store cannot be used; ``path`` is removed.
        """
        await self._call(partial(self._back_up, path))

    # The methods below run in the store's thread.

    def _transact(self, work: Callable[[SqlCursor], Result], purpose: Purpose) -> Result:
        connection = self._connect()
        if self._failure is not None and purpose is not Purpose.WORK:
            raise StoreError(str(self._failure))
        try:
            with closing(connection.cursor()) as cursor:
                try:
                    result = work(cursor)
                    connection.commit()
                except BaseException:
                    connection.rollback()
                    raise
        except sqlite3.Error as error:
            if not _is_outage(error):
                raise
            if self._failure is None:  # else the connection has the only copy of the data
                self._disconnect()
            raise self._failed(error) from error
        if purpose.acknowledged and (missing := self._files.missing(connected=True)):
            raise self._failed(missing)
        return result

    def _connect(self) -> sqlite3.Connection:
        """Return the connection; open it if it is closed.

        A connection with missing files is returned too: it has the only copy of the data.

        Raises:
            StoreError: The file cannot be opened, is damaged or missing.
        """
        missing = self._files.missing(connected=self._connection is not None)
        try:
            if self._connection is None:
                if missing is not None:
                    raise missing
                self._connection = self._open_file()
        except (OSError, sqlite3.Error, StoreError) as error:
            if isinstance(error, sqlite3.Error) and not _is_outage(error):
                raise
            raise self._failed(error) from error
        if missing is None:
            self._succeeded()
        else:
            self._failed(missing)
        return self._connection

    def _open_file(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level="IMMEDIATE")
        try:
            self._path.chmod(0o600)  # it is still empty when it is new; the log follows its mode
            if self._files.log.exists():  # after a crash, or an error
                renew(self._files.log)
            _configure(connection)
            _migrate(connection)
            self._files.record()
            # SQLite makes the log's name durable too, but ignores a failure.
            sync(self._path.parent)
        except BaseException:
            connection.close()
            raise
        return connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _back_up(self, path: Path) -> None:
        copy_to_file(self._connect(), path)


def copy_to_file(connection: sqlite3.Connection, path: Path) -> None:
    """Copy a store to a new file; exceptions as those of ``Database.backup``."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    try:
        with closing(sqlite3.connect(path)) as target:
            connection.backup(target)
        sync(path.parent)
    except BaseException as error:
        path.unlink()
        if isinstance(error, sqlite3.Error):
            raise StoreError(f"the backup failed: {error}") from error
        raise


def _is_outage(error: sqlite3.Error) -> bool:
    # An error of the module itself, as for a wrong number of parameters, has no code.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _OUTAGES


def _configure(connection: sqlite3.Connection) -> None:
    for name, value in _PRAGMAS.items():
        rows = connection.execute(f"PRAGMA {name} = {value}").fetchall()
        if rows not in ([], [(value,)]):  # SQLite reports a failed change of the mode as no error
            raise StoreError(f"{name} stays {rows[0][0]}")


def _migrate(connection: sqlite3.Connection) -> None:
    """Read the whole file (D10), and bring the schema up to date (D11).

    Raises:
        StoreError: The file is damaged, or of a newer program.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    check_version(version)
    (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise StoreError(f"it is damaged: {result}")
    for number, statements in enumerate(MIGRATIONS[version:], version + 1):
        connection.execute("BEGIN IMMEDIATE")
        for statement in statements:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number}")
        connection.commit()
    # This is written in any case, so that a store that opens is writable.
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
