"""A state store to test with."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from twisted.internet import reactor
from twisted.internet.base import ReactorBase

from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import SqlCursor, Store

threads = cast("ReactorBase", reactor)


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Database]:
    """Open a Database, and close it at the end."""
    database = Database(path, threads)
    try:
        await database.open()
        yield database
    finally:
        await database.close()


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
