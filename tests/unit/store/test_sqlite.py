"""The store on SQLite: its file, failures and backups (D9, D10, D12)."""

import os
import sqlite3
import stat
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from twisted.internet.defer import CancelledError, Deferred, gatherResults
from twisted.logger import capturedLogs, formatEvent

from reviewsd.store.keys import Secrets
from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import SqlCursor, StoreError
from tests.support.stores import BLOCKS, blocking, closed_at_end, names, opened, read, rows, threads


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def make_open_to_all(path: Path) -> None:
    path.touch()
    path.chmod(0o666)


def content_of(path: Path) -> bytes:
    return path.read_bytes()


def obstruct(path: Path) -> Callable[[], None]:
    """Put a directory in the file's place; return a function that removes it."""
    path.mkdir()
    return path.rmdir


def spoil(path: Path, content: bytes | None) -> bytes:
    """Damage the file: other content, or None for noise at its end, where the rows are."""
    content = content or path.read_bytes()[:-8192] + os.urandom(8192)
    path.write_bytes(content)
    return content


# -- transactions


async def test_cancelled_transaction_is_still_carried_out(path: Path) -> None:
    """A transaction is carried out as a whole or not at all."""
    started, go_on = threading.Event(), threading.Event()

    def work(cursor: SqlCursor) -> None:
        blocking("a.com")(cursor)
        started.set()
        assert go_on.wait(10)
        blocking("b.com")(cursor)

    async with opened(path) as database:
        running = Deferred.fromCoroutine(database.run(work))
        waiting = Deferred.fromCoroutine(database.run(blocking("c.com")))
        assert started.wait(10)
        for transaction in (running, waiting):
            transaction.cancel()
            with pytest.raises(CancelledError):
                await transaction
        go_on.set()
    assert ["a.com", "b.com", "c.com"] == read(path)


async def test_closing_finishes_queued_transactions(path: Path) -> None:
    database = Database(path, threads)
    await database.open()
    transactions = [
        Deferred.fromCoroutine(database.run(blocking(f"{number}.com"))) for number in range(20)
    ]
    await database.close()
    await gatherResults(transactions)
    assert 20 == len(read(path))
    assert [path.name] == names(path.parent)  # the log was merged into the file


# -- the file


async def test_file_and_log_become_private(path: Path) -> None:
    make_open_to_all(path)
    async with opened(path) as database:
        await database.run(blocking("a.com"))
        assert ["state.db", "state.db-wal"] == names(path.parent)
        assert [0o600, 0o600] == [mode(path.with_name(name)) for name in names(path.parent)]


async def test_commits_are_synced_to_the_disk(path: Path) -> None:
    """``tests/system/crash`` tests the effect (F13)."""
    async with opened(path) as database:
        assert [(2,)] == await rows(database, "PRAGMA synchronous")
        assert [("wal",)] == await rows(database, "PRAGMA journal_mode")
        assert [(1,)] == await rows(database, "PRAGMA foreign_keys")


async def test_second_connection_is_locked_out(path: Path) -> None:
    """With two connections SQLite's WAL-reset bug can corrupt the file (F14)."""
    async with opened(path):
        with (
            closing(sqlite3.connect(path, timeout=0)) as connection,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            connection.execute(BLOCKS)


async def test_secret_is_on_the_disk_only_sealed(path: Path) -> None:
    """The database, its log and backups may be read by others (H11)."""
    secret, callback = b"canary-8d0f1c", "https://subscriber.com/hook"
    sealed = Secrets([bytes(32)]).seal(secret, callback, "/feed.xml")
    insert = (
        "INSERT INTO subscription (topic_id, callback, callback_host, secret_sealed, lease_seconds,"
        " lease_expires_at, delivered_version, created_at, verified_at)"
        " VALUES (1, ?, 'subscriber.com', ?, 300, 0, 0, 0, 0)"
    )

    def work(cursor: SqlCursor) -> None:
        cursor.execute(
            "INSERT INTO topic (path, sha256, data_revision, changed_at)"
            " VALUES ('/feed.xml', '', 0, 0)"
        )
        cursor.execute(insert, (callback, sealed))

    def holders(text: bytes) -> list[str]:
        return [name for name in names(path.parent) if text in path.with_name(name).read_bytes()]

    async with opened(path) as database:
        await database.run(work)
        await database.backup(path.with_name("copy.db"))
        assert ["copy.db", "state.db-wal"] == holders(sealed)
        assert [] == holders(secret)
    assert ["copy.db", "state.db"] == holders(sealed)
    assert [] == holders(secret)


# -- a store that fails


async def test_store_that_cannot_be_opened_works_after_the_repair(path: Path) -> None:
    """No restart is needed, and each change is logged once (D9)."""
    remove_obstacle = obstruct(path)
    async with closed_at_end(Database(path, threads)) as database:
        with capturedLogs() as events:
            with pytest.raises(StoreError, match="unable to open database file"):
                await database.open()
            for _ in range(3):
                with pytest.raises(StoreError, match="unable to open database file"):
                    await rows(database, BLOCKS)
            assert not database.healthy
            remove_obstacle()
            assert [] == await rows(database, BLOCKS)
            assert database.healthy
        assert [
            f"the store {path} cannot be used: unable to open database file",
            f"the store {path} works again",
        ] == [formatEvent(event) for event in events]


async def test_lock_of_another_program_is_a_failure_that_passes(path: Path) -> None:
    async with opened(path):
        pass
    async with closed_at_end(Database(path, threads)) as database:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            with pytest.raises(StoreError, match="database is locked"):
                await database.open()
        await database.run(blocking("a.com"))
        assert database.healthy


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"no database " * 1000, "file is not a database"), (None, "malformed|damaged")],
)
async def test_damaged_file_is_a_failure_and_not_written_to(
    path: Path, content: bytes | None, message: str
) -> None:
    async with opened(path) as database:
        await database.run(blocking(*(f"{number:04}.com" for number in range(500))))
    content = spoil(path, content)
    async with closed_at_end(Database(path, threads)) as database:
        with pytest.raises(StoreError, match=message):
            await database.open()
        with pytest.raises(StoreError, match=message):
            await database.run(blocking("a.com"))
        assert not database.healthy
    assert content == content_of(path)


# -- backup


async def test_backup_is_a_private_copy_of_one_moment(path: Path) -> None:
    """It contains the transactions that were queued before it, and no later ones (D12)."""
    copy = path.with_name("copy.db")

    def write(first: int) -> list[Deferred[None]]:
        return [
            Deferred.fromCoroutine(database.run(blocking(f"{number:03}.com")))
            for number in range(first, first + 100)
        ]

    async with opened(path) as database:
        before = write(0)
        copying = Deferred.fromCoroutine(database.backup(copy))
        after = write(100)
        await gatherResults([*before, copying, *after])
    assert [f"{number:03}.com" for number in range(100)] == read(copy)
    assert 0o600 == mode(copy)
    assert 200 == len(read(path))
    assert ["copy.db", "state.db"] == names(path.parent)


async def test_backup_never_overwrites_a_file(path: Path) -> None:
    copy = path.with_name("copy.db")
    copy.write_text("precious")
    async with opened(path) as database:
        with pytest.raises(FileExistsError):
            await database.backup(copy)
        with pytest.raises(FileExistsError):
            await database.backup(path)
        with pytest.raises(FileNotFoundError):
            await database.backup(path.parent / "absent" / "copy.db")
        assert database.healthy
    assert "precious" == copy.read_text()
