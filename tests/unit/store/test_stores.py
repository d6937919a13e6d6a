"""Transactions of both stores: SQLite and PostgreSQL behave the same (D9)."""

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from reviewsd.store.keys import Secrets
from reviewsd.store.postgres import Postgres
from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import SqlCursor, StoreError
from tests.support.postgres import needed
from tests.support.stores import BLOCKS, blocking, opening, rows, threads

Open = Callable[[], Database | Postgres]


class OopsError(Exception):
    """A bug."""


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=[needed, pytest.mark.processes])])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Return a function that returns a store of the same data each time."""
    if request.param == "sqlite":
        return lambda: Database(tmp_path / "state.db", threads)
    url = request.getfixturevalue("server").database()
    return lambda: Postgres(url, threads, Secrets([bytes(32)]))


async def test_committed_rows_are_there_after_reopening(make: Open) -> None:
    def work(cursor: SqlCursor) -> int:
        cursor.execute("INSERT INTO block (value, created_at) VALUES ('a.com', 1), ('b.com', 2)")
        return cursor.rowcount

    async with opening(make()) as store:
        assert 2 == await store.run(work)
    async with opening(make()) as store:
        assert [("a.com",), ("b.com",)] == await rows(store, BLOCKS)
        assert ("a.com",) == await store.run(lambda cursor: cursor.execute(BLOCKS).fetchone())


async def test_exception_of_a_transaction_rolls_it_back_and_is_raised(make: Open) -> None:
    def work(cursor: SqlCursor) -> None:
        blocking("a.com")(cursor)
        raise OopsError

    async with opening(make()) as store:
        with pytest.raises(OopsError):
            await store.run(work)
        assert [] == await rows(store, BLOCKS)
        assert store.healthy


async def test_sql_error_is_raised_and_leaves_the_store_healthy(make: Open) -> None:
    """It is a bug of ours, not a failure of the store."""
    async with opening(make()) as store:
        driver = psycopg if isinstance(store, Postgres) else sqlite3
        for sql in ("SELEC 1", "SELECT * FROM nothing", "SELECT ?"):
            with pytest.raises((driver.ProgrammingError, sqlite3.OperationalError)):
                await rows(store, sql)
        await store.run(blocking("a.com"))
        with pytest.raises(driver.IntegrityError):
            await store.run(blocking("a.com"))
        assert store.healthy
        assert [("a.com",)] == await rows(store, BLOCKS)


async def test_closed_store_raises_store_error(make: Open) -> None:
    store = make()
    await store.close()
    with pytest.raises(StoreError, match="not open"):
        await rows(store, BLOCKS)
    before = threading.active_count()
    await store.open()
    assert before + 1 == threading.active_count()
    await store.close()
    assert before == threading.active_count()
    with pytest.raises(StoreError, match="not open"):
        await rows(store, BLOCKS)
    assert not store.healthy
    await store.close()
