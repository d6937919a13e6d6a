"""The tables, and how they come about (D11)."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from reviewsd.http1.urls import TOPICS
from reviewsd.store.schema import MIGRATIONS
from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import NewerSchemaError
from tests.support.stores import blocking, closed_at_end, opened, rows, threads

TABLES = [
    *("block", "ended", "mcp_ended", "meta", "notice", "notice_known"),
    *("subscription", "topic", "verification"),
]

_FIRST = """
    INSERT INTO block (value, note, created_at) VALUES ('evil.com', 'spam', 1700000000000);
    INSERT INTO mcp_ended (id_hash, expires_at) VALUES (x'e1', 1700000000001)
"""
RELEASED = {
    **dict.fromkeys((1, 2, 3, 4), _FIRST),
    5: f"{_FIRST}; INSERT INTO notice (target, state) VALUES ('owner', '{{}}')",
}
"""By version of the schema: what a store of that release may hold; add to it, never change it."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


def of_version(path: Path, version: int) -> None:
    """Make a file as a release with that schema left it."""
    with closing(sqlite3.connect(path)) as connection:
        for statements in MIGRATIONS[:version]:
            for statement in statements:
                connection.execute(statement)
        connection.executescript(RELEASED[version])
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()


async def test_new_store_has_all_tables_and_the_newest_version(path: Path) -> None:
    async with opened(path) as database:
        tables = await rows(
            database,
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            " ORDER BY name",
        )
        assert TABLES == [name for (name,) in tables]
        assert [(len(MIGRATIONS),)] == await rows(database, "PRAGMA user_version")


def test_every_released_version_has_its_fixture() -> None:
    assert set(RELEASED) == set(range(1, len(MIGRATIONS) + 1))


@pytest.mark.parametrize("version", RELEASED)
async def test_store_of_any_release_is_migrated_with_its_rows(path: Path, version: int) -> None:
    of_version(path, version)
    async with opened(path) as database:
        assert [(len(MIGRATIONS),)] == await rows(database, "PRAGMA user_version")
        assert [("evil.com", "spam")] == await rows(database, "SELECT value, note FROM block")
        ended = await rows(database, "SELECT number, id_hash, expires_at FROM mcp_ended")
        assert [(1, b"\xe1", 1_700_000_000_001)] == ended


async def test_newer_schema_is_refused_and_not_changed(path: Path) -> None:
    """An older program would misread it silently (D11)."""
    of_version(path, 1)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    async with closed_at_end(Database(path, threads)) as database:
        with pytest.raises(
            NewerSchemaError, match=rf"version {len(MIGRATIONS) + 1}.*up to {len(MIGRATIONS)}"
        ):
            await database.open()
        with pytest.raises(NewerSchemaError):
            await database.run(blocking("a.com"))
        assert not database.healthy
    with closing(sqlite3.connect(path)) as connection:
        assert [("evil.com",)] == connection.execute("SELECT value FROM block").fetchall()


async def test_topic_of_another_path_is_refused(path: Path) -> None:
    insert = "INSERT INTO topic (path, sha256, data_revision, changed_at) VALUES ('{}', '', 0, 0)"
    async with opened(path) as database:
        for topic in TOPICS:
            await rows(database, insert.format(topic))
        with pytest.raises(sqlite3.IntegrityError):
            await rows(database, insert.format("/insights.json"))


async def test_due_deliveries_are_found_by_an_index(path: Path) -> None:
    """The query runs every second, and must not read every subscription."""
    async with opened(path) as database:
        for column, index in (
            ("next_attempt_at", "subscription_due"),
            ("lease_expires_at", "subscription_lease"),
        ):
            (plan,) = await rows(
                database, f"EXPLAIN QUERY PLAN SELECT id FROM subscription WHERE {column} <= 5"
            )
            assert re.search(rf"SEARCH subscription USING .*INDEX {index}", plan[-1])
