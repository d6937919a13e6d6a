"""The state store on SQLite: transactions run one after the other, in a thread of their own.

An acknowledged transaction is durable (security-and-operations.md F13, F14, D1, D10) because:

- ``synchronous=FULL``: the log is on the disk before a commit returns. With ``NORMAL`` a power
  loss takes acknowledged commits with it; ``tests/system/crash`` shows both.
- There is exactly one connection. SQLite's WAL-reset bug corrupts with two, so the connection holds
  the file's lock for as long as it is open, and no other connection can be opened.
- After an I/O error, a full disk or damage the connection is closed. After a failed fsync the kernel
  may call pages clean that never reached the disk ("fsyncgate"): commits appended behind such a gap
  in the log would be lost with it at the next power loss. So the next use writes the log's content
  once more, opens, and checks the whole file, before anything new is written.
- The database and its log must still be at their paths. If they are not, the next start would not
  find what is written, so nothing is acknowledged any more (``OpenFiles``).

A store that fails does not stop the daemon: reads are served from memory. ``run`` raises StoreError
until the store works again, and each call tries (D9). A failed commit has an unknown outcome, as
after a crash: it was not acknowledged, but may be there.

``postgres`` has the same interface: callers see only ``run`` and ``SqlCursor``.
"""

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from twisted.enterprise.adbapi import ConnectionPool
from twisted.internet.base import ReactorBase
from twisted.logger import Logger

from reviewsd.runtime.counters import Counters
from reviewsd.store.durable import renew, sync
from reviewsd.store.open_files import OpenFiles
from reviewsd.store.schema import MIGRATIONS
from reviewsd.store.thread import Purpose, StoreThread
from reviewsd.store.transactions import (
    NewerSchemaError,
    Numbers,
    SqlCursor,
    StoreError,
    Texts,
    wall_clock,
)

BUSY_SECONDS = 1.0
"""How long another program's lock is waited for: it blocks every transaction behind it."""

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
"""Primary result codes that blame the file or the disk; any other is a bug of ours."""


Result = TypeVar("Result")

for many in (Numbers, Texts):
    sqlite3.register_adapter(many, json.dumps)


class Database:
    """The one connection to the one file.

    Args:
        path: The file, in a directory that only this daemon uses (D7). It and its log are 0600.
        reactor: Results come back to its thread; it must be running.
        counters: Count transactions.
        wall: The wall clock, milliseconds since 1970 UTC.
    """

    _log = Logger()

    def __init__(
        self,
        path: Path,
        reactor: ReactorBase,
        counters: Counters | None = None,
        wall: Callable[[], int] = wall_clock,
    ) -> None:
        self._path = path
        self._files = OpenFiles(path)
        self._reactor = reactor
        self._counters = counters or Counters()
        self._wall = wall
        self._thread: StoreThread | None = None
        self._healthy = False
        self._failure: StoreError | None = None  # the one that is in the log

    @property
    def healthy(self) -> bool:
        """Whether the last use of the store found it working; False until ``open``."""
        return self._healthy

    def now(self) -> int:
        """Return the wall clock, milliseconds since 1970 UTC."""
        return self._wall()

    async def open(self) -> None:
        """Start the thread; create, check and migrate the file.

        Raises:
            NewerSchemaError: The file belongs to a newer program.
            StoreError: The store does not work now. ``run`` may be called all the same, and tries
                again.
        """
        pool = ConnectionPool(
            "sqlite3",
            os.fspath(self._path),
            timeout=BUSY_SECONDS,
            isolation_level="IMMEDIATE",
            check_same_thread=False,
            cp_min=1,
            cp_max=1,
            cp_openfun=self._prepare,
            cp_reactor=self._reactor,
        )
        self._thread = StoreThread(pool, self._reactor, self._counters)
        await self._thread.call(Purpose.WORK, self._connection)

    async def run(
        self, work: Callable[[SqlCursor], Result], purpose: Purpose = Purpose.WORK
    ) -> Result:
        """Run a transaction: all that ``work`` does, or nothing of it.

        ``work`` runs in the store's thread: it must not touch what the reactor's thread uses. It
        is never aborted half way: cancelling this only stops waiting for the result.

        Args:
            work: Reads and writes rows.
            purpose: The queue in which the transaction waits.

        Returns:
            What ``work`` returned, after the commit is on the disk.

        Raises:
            StoreError: The store cannot be used now. If the commit itself failed, the outcome is
                unknown.
            Exception: What ``work`` raised; the transaction is rolled back.
        """
        return await self._opened().transact(purpose, self._transact, work, purpose)

    async def changed(self) -> bool:
        """Return False: no other node uses this store."""
        return False

    async def backup(self, path: Path) -> None:
        """Copy the store as it is between two transactions (D12); the copy is 0600 and fsynced.

        Raises:
            FileExistsError: ``path`` exists; it is left as it was.
            OSError: ``path`` cannot be made.
            StoreError: Copying failed, or the store cannot be used; nothing is left behind.
        """
        await self._opened().call(Purpose.WORK, self._back_up, path)

    async def close(self) -> None:
        """End the transactions that are queued, then the connection and the thread."""
        thread, self._thread = self._thread, None
        if thread is not None:
            await thread.close()
        self._healthy = False

    def _opened(self) -> StoreThread:
        if self._thread is None:
            raise StoreError("the store is not open")
        return self._thread

    # All methods below run in the store's thread.

    def _transact(
        self, pool: ConnectionPool, work: Callable[[SqlCursor], Result], purpose: Purpose
    ) -> Result:
        connection = self._connection(pool)
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
                pool.disconnect(connection)
            raise self._failed(error) from error
        if purpose.acknowledged and (missing := self._files.missing(connected=True)):
            raise self._failed(missing)
        return result

    def _connection(self, pool: ConnectionPool) -> sqlite3.Connection:
        """Return the connection, opened anew unless it is open.

        A connection whose files are missing is returned too: it has the only copy of the data.

        Raises:
            StoreError: The file cannot be opened, is damaged or missing.
        """
        connected = bool(pool.connections)
        missing = self._files.missing(connected=connected)
        try:
            if missing is not None and not connected:
                raise missing
            connection: sqlite3.Connection = pool.connect()
        except (OSError, sqlite3.Error, StoreError) as error:
            if isinstance(error, sqlite3.Error) and not _is_outage(error):
                raise
            raise self._failed(error) from error
        if missing is None:
            self._works()
        else:
            self._failed(missing)
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make a new connection fit for use, or close it and raise."""
        try:
            self._path.chmod(0o600)  # it is still empty when it is new; the log follows its mode
            if self._files.log.exists():  # after a crash, or an error
                renew(self._files.log)
            _configure(connection)
            _check(connection)
            _migrate(connection)
            self._files.note()
            # SQLite makes the log's name durable too, but ignores a failure.
            sync(self._path.parent)
        except BaseException:
            connection.close()
            raise

    def _back_up(self, pool: ConnectionPool, path: Path) -> None:
        connection = self._connection(pool)
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

    def _works(self) -> None:
        if self._failure is not None:
            self._log.info("the store {path} works again", path=self._path)
        self._healthy, self._failure = True, None

    def _failed(self, error: Exception) -> StoreError:
        """Note and log that the store failed; return the error to raise."""
        failure = error if isinstance(error, StoreError) else StoreError(str(error))
        self._healthy = False
        if str(failure) != str(self._failure):
            self._log.warn(
                "the store {path} cannot be used: {reason}", path=self._path, reason=str(failure)
            )
        self._failure = failure
        return failure


def _is_outage(error: sqlite3.Error) -> bool:
    # An error of the module itself, as for a wrong number of parameters, has no code.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF in _OUTAGES


def _configure(connection: sqlite3.Connection) -> None:
    for name, value in _PRAGMAS.items():
        answer = connection.execute(f"PRAGMA {name} = {value}").fetchall()
        if answer not in ([], [(value,)]):  # SQLite takes a failed change of the mode for no error
            raise StoreError(f"{name} stays {answer[0][0]}")


def _check(connection: sqlite3.Connection) -> None:
    """Read the whole file (D10).

    Raises:
        StoreError: The file is damaged, or of a newer program.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise NewerSchemaError(
            f"its schema has version {version}, and this program knows up to {len(MIGRATIONS)}: "
            "run the newer program, or restore a backup of the older one"
        )
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise StoreError(f"it is damaged: {found}")


def _migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema up to date (D11)."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for number, statements in enumerate(MIGRATIONS[version:], version + 1):
        connection.execute("BEGIN IMMEDIATE")
        for statement in statements:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number}")
        connection.commit()
    # Written in any case: a store that opens can be written to.
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
