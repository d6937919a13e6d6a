"""Copies of the store for the operator, with a summary of their contents (D12).

A copy is the SQLite file as it was between two transactions. ``reviewsctl backup`` puts it into an archive
with the keys that unseal its secrets, and ``reviewsctl restore`` puts both back. ``keys.check_keys`` refuses
a copy that was restored without its keys (H11).
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir
from typing import Any, BinaryIO
from urllib.parse import quote

from reviewsd.api.status import BackupContents
from reviewsd.store.sqlite import BUSY_SECONDS, Database, copy_to_file
from reviewsd.store.transactions import InThread, StoreError

IN_POSTGRESQL = (
    "The state is in PostgreSQL, which has tools of its own: pg_dump makes the backup. The keys"
    " (secret.key, mcp.key) belong to it."
)
_PREFIX = ".backup-"


class Backups:
    """Makes copies of the store, which are in the directory (that of the state) until they are read."""

    def __init__(self, store: Database, directory: Path, in_thread: InThread) -> None:
        self._store = store
        self._directory = directory
        self._in_thread = in_thread
        for copy in directory.glob(f"{_PREFIX}*"):  # left by a daemon that was killed
            copy.unlink(missing_ok=True)

    async def make(self) -> tuple[BinaryIO, BackupContents]:
        """Return a copy, which is removed when it is closed, and a summary of its contents.

        Raises:
            StoreError: The store cannot be copied.
        """
        # A backup must work also where the state directory has been deleted.
        directory = self._directory if self._directory.is_dir() else Path(gettempdir())
        path = directory / f"{_PREFIX}{token_hex(8)}"
        try:
            await self._store.backup(path)
            return await self._in_thread(lambda: (path.open("rb"), _contents(path)))
        except OSError as error:
            raise StoreError(f"no copy could be made: {error.strerror}") from error
        finally:
            path.unlink(missing_ok=True)


def of_stopped_daemon(file: Path) -> tuple[BinaryIO, BackupContents]:
    """Return a copy of a store that no daemon has open, as ``Backups.make`` does.

    Raises:
        StoreError: The store cannot be copied.
        OSError: No copy can be made.
    """
    path = file.with_name(f"{_PREFIX}{token_hex(8)}")
    try:
        # rw: after a crash SQLite has to read its log into the file
        address = f"file:{quote(str(file))}?mode=rw"
        with closing(sqlite3.connect(address, BUSY_SECONDS, uri=True)) as connection:
            copy_to_file(connection, path)
        return path.open("rb"), _contents(path)
    except sqlite3.Error as error:
        raise StoreError(f"{file} cannot be copied: {error}") from error
    finally:
        path.unlink(missing_ok=True)


def _contents(path: Path) -> BackupContents:
    """Return a summary of a copy; call it in a thread."""
    address = (
        f"file:{quote(str(path))}?mode=ro&immutable=1"  # immutable: else SQLite makes a -wal file
    )
    with closing(sqlite3.connect(address, uri=True)) as connection:

        def value(query: str) -> Any:  # noqa: ANN401  of a column
            (row,) = connection.execute(query).fetchall()
            return row[0]

        check = value("PRAGMA quick_check(1)")
        if check != "ok":
            raise StoreError(f"the copy is damaged: {check}")
        return BackupContents(
            bytes=value("PRAGMA page_count") * value("PRAGMA page_size"),
            schema=value("PRAGMA user_version"),
            subscriptions=value("SELECT COUNT(*) FROM subscription"),
            signed=value("SELECT COUNT(secret_sealed) FROM subscription"),
            requests=value("SELECT COUNT(*) FROM verification"),
            blocks=value("SELECT COUNT(*) FROM block"),
            sessions_ended=value("SELECT COUNT(*) FROM mcp_ended"),
        )
