"""Copies of the store for the operator, with a summary of their contents (D12).

A copy is the SQLite file as it was between two transactions. To restore it, put it in the place of
``state.sqlite``. The keys are not in it, because copies of a database spread, and secrets must stay sealed
in them (H11). The keys never change by themselves, so they are copied once and stored apart.
``keys.check_keys`` refuses a copy that was restored without them.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir
from typing import Any, BinaryIO

from reviewsd.api.status import BackupContents
from reviewsd.store.sqlite import Database
from reviewsd.store.thread import InThread
from reviewsd.store.transactions import StoreError

_PREFIX = ".backup-"


class Backups:
    """Makes copies of the store.

    Args:
        store: The store to copy.
        directory: Holds a copy until it is read: the state directory.
        in_thread: Reads a copy.
    """

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


def _contents(path: Path) -> BackupContents:
    """Return a summary of a copy; call it in a thread."""
    # immutable: otherwise SQLite makes a log beside it
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:

        def column(query: str) -> Any:  # noqa: ANN401  a column
            (row,) = connection.execute(query).fetchall()
            return row[0]

        check = column("PRAGMA quick_check(1)")
        if check != "ok":
            raise StoreError(f"the copy is damaged: {check}")
        return BackupContents(
            bytes=column("PRAGMA page_count") * column("PRAGMA page_size"),
            schema=column("PRAGMA user_version"),
            subscriptions=column("SELECT COUNT(*) FROM subscription"),
            signed=column("SELECT COUNT(secret_sealed) FROM subscription"),
            requests=column("SELECT COUNT(*) FROM verification"),
            blocks=column("SELECT COUNT(*) FROM block"),
            sessions_ended=column("SELECT COUNT(*) FROM mcp_ended"),
        )
