"""A state store to test with."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from twisted.internet import reactor
from twisted.internet.base import ReactorBase

from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import SqlCursor

threads = cast("ReactorBase", reactor)


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Database]:
    """A Database, closed at the end."""
    database = Database(path, threads)
    try:
        await database.open()
        yield database
    finally:
        await database.close()


async def rows(database: Database, sql: str) -> list[tuple[Any, ...]]:
    """What a query finds."""
    return await database.run(lambda cursor: cursor.execute(sql).fetchall())


def blocking(*values: str) -> Callable[[SqlCursor], None]:
    """A transaction that writes the simplest rows there are."""
    rows = [(value,) for value in values]

    def work(cursor: SqlCursor) -> None:
        cursor.executemany("INSERT INTO block (value, created_at) VALUES (?, 0)", rows)

    return work


def names(directory: Path) -> list[str]:
    """What is in a directory."""
    return sorted(each.name for each in directory.iterdir())
