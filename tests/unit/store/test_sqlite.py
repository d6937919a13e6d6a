"""Transactions in a thread of their own, and what becomes of a store that fails (D9, D10, D12)."""

import os
import sqlite3
import stat
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet.defer import CancelledError, Deferred, gatherResults
from twisted.logger import capturedLogs, formatEvent

from reviewsd.store.secrets import Secrets
from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import SqlCursor, StoreError
from tests.support.stores import blocking, names, opened, rows, threads

BLOCKS = "SELECT value FROM block ORDER BY value"


class OopsError(Exception):
    """A bug."""


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
    """Put something in the file's place that is none; returns what takes it away."""
    path.mkdir()
    return path.rmdir


def spoil(path: Path, content: bytes | None) -> bytes:
    """Damage the file: other content, or None for noise at its end, where the rows are."""
    content = content or path.read_bytes()[:-8192] + os.urandom(8192)
    path.write_bytes(content)
    return content


def read(path: Path) -> list[str]:
    """What a closed store, or a copy of one, holds; and that it is whole."""
    with closing(sqlite3.connect(path)) as connection:
        assert [("ok",)] == connection.execute("PRAGMA integrity_check").fetchall()
        return [value for (value,) in connection.execute(BLOCKS)]


# -- transactions


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_a_transaction_returns_comes_back_and_what_it_wrote_stays(path: Path) -> None:
    def work(cursor: SqlCursor) -> int:
        cursor.executemany(
            "INSERT INTO block (value, created_at) VALUES (?, ?)", [("a.com", 1), ("b.com", 2)]
        )
        return cursor.rowcount

    async with opened(path) as database:
        assert 2 == await database.run(work)
    async with opened(path) as database:
        assert [("a.com",), ("b.com",)] == await rows(database, BLOCKS)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_bug_takes_back_all_and_is_passed_on(path: Path) -> None:
    def work(cursor: SqlCursor) -> None:
        blocking("a.com")(cursor)
        raise OopsError

    async with opened(path) as database:
        with pytest.raises(OopsError):
            await database.run(work)
        assert [] == await rows(database, BLOCKS)
        assert database.healthy


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_wrong_sql_is_a_bug_and_no_failure_of_the_store(path: Path) -> None:
    async with opened(path) as database:
        for wrong in ("SELEC 1", "SELECT * FROM nothing"):
            with pytest.raises(sqlite3.OperationalError):
                await rows(database, wrong)
        with pytest.raises(sqlite3.ProgrammingError):
            await rows(database, "SELECT ?")
        await database.run(blocking("a.com"))
        with pytest.raises(sqlite3.IntegrityError):
            await database.run(blocking("a.com"))
        assert database.healthy
        assert [("a.com",)] == await rows(database, BLOCKS)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_transactions_run_one_by_one_in_one_thread_in_the_order_asked_for(path: Path) -> None:
    ran: list[tuple[int, int]] = []

    def work(number: int) -> Deferred[None]:
        return Deferred.fromCoroutine(
            database.run(lambda _: ran.append((number, threading.get_ident())))
        )

    async with opened(path) as database:
        await gatherResults([work(number) for number in range(50)])
    assert list(range(50)) == [number for number, _ in ran]
    (thread,) = {thread for _, thread in ran}
    assert threading.get_ident() != thread


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_cancelling_stops_the_waiting_only(path: Path) -> None:
    """A transaction is done or not done; nobody finds half of it."""
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
        for each in (running, waiting):
            each.cancel()
            with pytest.raises(CancelledError):
                await each
        go_on.set()
    assert ["a.com", "b.com", "c.com"] == read(path)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_closing_ends_what_was_asked_for(path: Path) -> None:
    database = Database(path, threads)
    await database.open()
    asked = [
        Deferred.fromCoroutine(database.run(blocking(f"{number}.com"))) for number in range(20)
    ]
    await database.close()
    await gatherResults(asked)
    assert 20 == len(read(path))
    assert [path.name] == names(path.parent)  # the log is gone, all is in the one file


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_nothing_works_before_opening_and_after_closing(path: Path) -> None:
    database = Database(path, threads)
    await database.close()
    with pytest.raises(StoreError, match="not open"):
        await rows(database, BLOCKS)
    await database.open()
    await database.close()
    with pytest.raises(StoreError, match="not open"):
        await rows(database, BLOCKS)
    with pytest.raises(StoreError, match="not open"):
        await database.backup(path.with_name("copy"))
    assert not database.healthy
    await database.close()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_closing_leaves_no_thread(path: Path) -> None:
    before = threading.active_count()
    for _ in range(5):
        async with opened(path):
            assert before + 1 == threading.active_count()
    assert before == threading.active_count()


# -- the file


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_the_file_and_its_log_are_private_whatever_they_were(path: Path) -> None:
    make_open_to_all(path)
    async with opened(path) as database:
        await database.run(blocking("a.com"))
        assert ["state.db", "state.db-wal"] == names(path.parent)
        assert [0o600, 0o600] == [mode(path.with_name(name)) for name in names(path.parent)]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_every_commit_is_synced_to_the_disk(path: Path) -> None:
    """F13; that it works is for ``tests/system/crash`` to show."""
    async with opened(path) as database:
        assert [(2,)] == await rows(database, "PRAGMA synchronous")
        assert [("wal",)] == await rows(database, "PRAGMA journal_mode")
        assert [(1,)] == await rows(database, "PRAGMA foreign_keys")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_no_other_connection_gets_in(path: Path) -> None:
    """With two of them SQLite's WAL-reset bug can corrupt the file (F14)."""
    async with opened(path):
        with (
            closing(sqlite3.connect(path, timeout=0)) as other,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            other.execute(BLOCKS)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_sealed_secret_is_nowhere_on_the_disk(path: Path) -> None:
    """H11: neither in the database, nor in its log, nor in a backup."""
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

    def holders(wanted: bytes) -> list[str]:
        return [name for name in names(path.parent) if wanted in path.with_name(name).read_bytes()]

    async with opened(path) as database:
        await database.run(work)
        await database.backup(path.with_name("copy.db"))
        assert ["copy.db", "state.db-wal"] == holders(sealed)
        assert [] == holders(secret)
    assert ["copy.db", "state.db"] == holders(sealed)
    assert [] == holders(secret)


# -- a store that fails


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_store_that_cannot_be_opened_works_as_soon_as_it_can(path: Path) -> None:
    """Nobody has to restart anything (D9)."""
    give_way = obstruct(path)
    database = Database(path, threads)
    try:
        with capturedLogs() as events:
            with pytest.raises(StoreError, match="unable to open database file"):
                await database.open()
            for _ in range(3):
                with pytest.raises(StoreError, match="unable to open database file"):
                    await rows(database, BLOCKS)
            assert not database.healthy
            give_way()
            assert [] == await rows(database, BLOCKS)
            assert database.healthy
        assert [
            f"the store {path} cannot be used: unable to open database file",
            f"the store {path} works again",
        ] == [formatEvent(event) for event in events]
    finally:
        await database.close()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_another_programs_lock_is_told_and_waited_out(path: Path) -> None:
    async with opened(path):
        pass
    database = Database(path, threads)
    try:
        with closing(sqlite3.connect(path)) as other:
            other.execute("BEGIN EXCLUSIVE")
            with pytest.raises(StoreError, match="database is locked"):
                await database.open()
        await database.run(blocking("a.com"))
        assert database.healthy
    finally:
        await database.close()


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"no database " * 1000, "file is not a database"), (None, "malformed|damaged")],
)
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_damaged_file_is_told_and_not_written_to(
    path: Path, content: bytes | None, said: str
) -> None:
    async with opened(path) as database:
        await database.run(blocking(*(f"{number:04}.com" for number in range(500))))
    content = spoil(path, content)
    database = Database(path, threads)
    try:
        with pytest.raises(StoreError, match=said):
            await database.open()
        with pytest.raises(StoreError, match=said):
            await database.run(blocking("a.com"))
        assert not database.healthy
    finally:
        await database.close()
    assert content == content_of(path)


# -- backup


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_backup_is_a_whole_private_store_of_one_moment(path: Path) -> None:
    """Taken under load: what was asked for before it is in it, the rest is not (D12)."""
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


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_backup_can_be_put_in_the_stores_place(path: Path) -> None:
    copy = path.with_name("copy.db")
    async with opened(path) as database:
        await database.run(blocking("a.com"))
        await database.backup(copy)
        await database.run(blocking("b.com"))
    copy.rename(path)
    async with opened(path) as database:
        assert [("a.com",)] == await rows(database, BLOCKS)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_backup_never_overwrites(path: Path) -> None:
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
