"""A state store to test with."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, TypeVar, cast

from twisted.internet import reactor
from twisted.internet.base import ReactorBase

from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import SqlCursor, Store

threads = cast("ReactorBase", reactor)

BLOCKS = "SELECT value FROM block ORDER BY value"

S = TypeVar("S", bound=Store)


@asynccontextmanager
async def closed_at_end(store: S) -> AsyncIterator[S]:
    """Close a store at the end, whether or not it could be opened."""
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def opening(store: S) -> AsyncIterator[S]:
    """Open a store, and close it at the end."""
    async with closed_at_end(store):
        await store.open()
        yield store


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Database]:
    """Open a Database, and close it at the end."""
    async with opening(Database(path, threads)) as database:
        yield database


def read(path: Path) -> list[str]:
    """Check a closed Database or a copy of one, and return its blocks."""
    with closing(sqlite3.connect(path)) as connection:
        assert [("ok",)] == connection.execute("PRAGMA integrity_check").fetchall()
        return [value for (value,) in connection.execute(BLOCKS)]


async def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    return await store.run(lambda cursor: cursor.execute(sql).fetchall())


def blocking(*values: str) -> Callable[[SqlCursor], None]:
    """Return a transaction that inserts blocks."""

    def work(cursor: SqlCursor) -> None:
        for value in values:
            cursor.execute("INSERT INTO block (value, created_at) VALUES (?, 0)", (value,))

    return work


def names(directory: Path) -> list[str]:
    """Return the names of the entries of a directory."""
    return sorted(path.name for path in directory.iterdir())
