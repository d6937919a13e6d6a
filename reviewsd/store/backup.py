"""A copy of the store for the operator to keep, and what is in it (D12).

The copy is the SQLite file as it was between two transactions; put in the place of ``state.sqlite`` it
is the store again. The keys are not in it: what sealed secrets are for (H11) is that a copy of the
database, which is what gets around, opens nothing. They never change by themselves, so they are kept
once, and apart. ``check_keys`` sees to it that they are not forgotten when a copy is put back.
"""

from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir
from typing import Any, BinaryIO, Protocol, TypeVar

from reviewsd.api.status import BackupContents
from reviewsd.store import key_check
from reviewsd.store.copies import examine
from reviewsd.store.interface import InThread
from reviewsd.store.secrets import Secrets
from reviewsd.store.transactions import OtherKeysError, SqlCursor, StoreError

T = TypeVar("T")

_PREFIX = ".backup-"


class BackupSource(Protocol):
    """What is copied: a ``store.sqlite.Database``."""

    async def backup(self, path: Path) -> None:
        """Copy the store as it is between two transactions."""


class Backups:
    """Makes copies.

    Args:
        store: What is copied.
        directory: Where a copy is until it is read: the state directory.
        in_thread: Reads a copy.
    """

    def __init__(self, store: BackupSource, directory: Path, in_thread: InThread) -> None:
        self._store = store
        self._directory = directory
        self._in_thread = in_thread
        for left in directory.glob(f"{_PREFIX}*"):  # by a daemon that was killed
            left.unlink(missing_ok=True)

    async def make(self) -> tuple[BinaryIO, BackupContents]:
        """A copy, which goes when it is closed, and what is in it.

        Raises:
            StoreError: There can be none.
        """
        # Where the state directory is gone, the backup is all that can save what was in it.
        directory = self._directory if self._directory.is_dir() else Path(gettempdir())
        path = directory / f"{_PREFIX}{token_hex(8)}"
        try:
            await self._store.backup(path)
            return await self._in_thread(lambda: (path.open("rb"), examine(path, _contents)))
        except OSError as error:
            raise StoreError(f"no copy could be made: {error.strerror}") from error
        finally:
            path.unlink(missing_ok=True)


def _contents(cursor: SqlCursor) -> BackupContents:
    def only(query: str) -> Any:  # noqa: ANN401  a column
        (row,) = cursor.execute(query).fetchall()
        return row[0]

    found = only("PRAGMA quick_check(1)")
    if found != "ok":
        raise StoreError(f"the copy is damaged: {found}")
    return BackupContents(
        bytes=only("PRAGMA page_count") * only("PRAGMA page_size"),
        schema=only("PRAGMA user_version"),
        subscriptions=only("SELECT COUNT(*) FROM subscription"),
        signed=only("SELECT COUNT(secret_sealed) FROM subscription"),
        requests=only("SELECT COUNT(*) FROM verification"),
        blocks=only("SELECT COUNT(*) FROM block"),
        sessions_ended=only("SELECT COUNT(*) FROM mcp_ended"),
    )


def check_keys(cursor: SqlCursor, secrets: Secrets) -> None:
    """Make sure that the keys are those which have sealed what the store holds.

    With others every signed delivery would fail, and the third failure ends a subscription.

    Raises:
        OtherKeysError: They are not, and there are such secrets.
    """
    if not key_check.opens(cursor, secrets) and _holds_secrets(cursor):
        raise OtherKeysError(
            "secret.key (or the credential reviewsd.hub-secret-key) is not the key that has "
            "sealed the secrets in state.sqlite: put the one back that belongs to it. If it is "
            "lost, move state.sqlite away; subscribers have to subscribe again"
        )
    key_check.seal(cursor, secrets)


def _holds_secrets(cursor: SqlCursor) -> bool:
    cursor.execute(
        "SELECT 1 FROM subscription WHERE secret_sealed IS NOT NULL"
        " UNION ALL SELECT 1 FROM verification WHERE secret_sealed IS NOT NULL LIMIT 1"
    )
    return cursor.fetchone() is not None
