"""The store of several nodes on PostgreSQL (D8, D9)."""

import sqlite3
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, closing, suppress
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import Deferred, gatherResults
from twisted.logger import LogEvent, capturedLogs, formatEvent

from reviewsd.__main__ import run as command
from reviewsd.http1.urls import TOPICS
from reviewsd.store import deliveries, postgres
from reviewsd.store.keys import Secrets
from reviewsd.store.postgres import Postgres
from reviewsd.store.schema import MIGRATIONS
from reviewsd.store.transactions import NewerSchemaError, SqlCursor, StoreError, WrongKeysError
from tests.support.postgres import Server, needed
from tests.support.relay import Relay
from tests.support.stores import BLOCKS, blocking, closed_at_end, opening, rows, threads

pytestmark = [needed, pytest.mark.processes]

KEY, OTHER_KEY = bytes(32), bytes([1]) * 32
TYPES = {"INTEGER": "integer", "BIGINT": "bigint", "TEXT": "text", "BLOB": "bytea"}


@pytest.fixture
def url(server: Server) -> str:
    return server.database()


def postgres_of(url: str, *keys: bytes) -> Postgres:
    return Postgres(url, threads, Secrets(keys or (KEY,)))


def node(url: str, *keys: bytes) -> AbstractAsyncContextManager[Postgres]:
    """A node's store, open."""
    return opening(postgres_of(url, *keys))


def terminate(server: Server) -> None:
    """End every connection but the one that asks for it."""
    server.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reviewsd'"
    )


def messages(events: Sequence[LogEvent]) -> list[str | None]:
    return [formatEvent(event) for event in events]


async def blocks_after_failure(store: Postgres) -> list[tuple[Any, ...]]:
    """Return the blocks as soon as the store works; it refuses transactions after a failure."""
    while True:
        with suppress(StoreError):
            return await rows(store, BLOCKS)


# -- transactions


async def test_transactions_of_nodes_do_not_overlap(url: str) -> None:
    """A row that was read is unchanged when it is written, without locks on rows."""
    read, other_has_written = threading.Event(), threading.Event()

    def add(cursor: SqlCursor) -> None:
        row = cursor.execute("SELECT created_at FROM block").fetchone()
        assert row is not None
        if not read.is_set():
            read.set()
            assert not other_has_written.wait(0.3)
        cursor.execute("UPDATE block SET created_at = ?", (row[0] + 1,))

    async with node(url) as one, node(url) as two:
        await one.run(blocking("a.com"))
        first = Deferred.fromCoroutine(one.run(add))
        assert read.wait(20)
        await two.run(add)
        other_has_written.set()
        await first
        assert [(2,)] == await rows(one, "SELECT created_at FROM block")


async def test_commit_is_synchronous_whatever_the_database_defaults_to(server: Server) -> None:
    """An acknowledged commit must be on the disk (D1)."""
    url = server.database()
    server.execute(
        "ALTER DATABASE " + url.partition("@/")[2].partition("?")[0] + " SET synchronous_commit=off"
    )
    async with node(url) as store:
        assert [("on",)] == await rows(store, "SHOW synchronous_commit")


async def test_time_is_that_of_the_server(server: Server, url: str) -> None:
    """A node with a wrong clock must neither take over a claim nor end a lease (4.3)."""
    server.execute("CREATE SCHEMA later", url)
    server.execute(
        "CREATE FUNCTION later.clock_timestamp() RETURNS timestamptz LANGUAGE sql"
        " AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$",
        url,
    )
    ahead = f"{url}&options=-csearch_path%3Dpublic,later,pg_catalog"
    async with node(url) as here, node(ahead) as there:
        assert 3_599_000 < there.now() - here.now() < 3_601_000
        (wall,) = server.execute("SELECT EXTRACT(EPOCH FROM clock_timestamp()) * 1000")
        assert abs(here.now() - int(wall[0])) < 500


async def test_only_newer_data_raises_the_version_of_a_topic(url: str) -> None:
    """D8: nodes with different data would otherwise replace each other's versions for ever."""

    def announced(content: str, data_revision: int) -> Callable[[SqlCursor], set[int]]:
        def work(cursor: SqlCursor) -> set[int]:
            digests = dict.fromkeys(TOPICS, content)
            after = deliveries.bump(cursor, digests, data_revision, 1, newer_only=True)
            return {topic.version for topic in after.values()}

        return work

    async with node(url) as one, node(url) as two:
        assert {1} == await one.run(announced("old", 100))
        assert {2} == await two.run(announced("new", 200))
        assert {2} == await one.run(announced("old", 100))
        assert {2} == await one.run(announced("other", 200))
        assert {2} == await one.run(announced("new", 150))
        assert {3} == await one.run(announced("newest", 201))


async def test_commit_of_any_node_is_noticed_without_the_lock(server: Server, url: str) -> None:
    """An idle node needs one cheap query a second to follow the others."""
    has_written, go_on = threading.Event(), threading.Event()

    def freeze(cursor: SqlCursor) -> None:
        blocking("b.com")(cursor)
        has_written.set()
        assert go_on.wait(20)

    async with node(url) as one, node(url) as two:
        await one.changed()
        assert not await one.changed()
        assert [] == await rows(two, BLOCKS)
        assert not await one.changed()
        await two.run(blocking("a.com"))
        assert await one.changed()
        assert not await one.changed()

        freezing = Deferred.fromCoroutine(two.run(freeze))
        assert has_written.wait(20)
        await one.changed()
        go_on.set()
        await freezing
        assert await one.changed()

        terminate(server)
        await one.changed()  # over a new connection


# -- the tables


async def test_tables_are_the_same_as_in_sqlite(server: Server, url: str) -> None:
    async with node(url):
        pass
    columns = server.execute(
        "SELECT table_name, column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = 'public' ORDER BY table_name, ordinal_position",
        url,
    )
    expected = []
    with closing(sqlite3.connect(":memory:")) as connection:
        for statements in MIGRATIONS:
            for statement in statements:
                connection.execute(statement)
        tables = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            " ORDER BY name"
        )
        for (table,) in tables.fetchall():
            for _, name, kind, *_, key in connection.execute(f"PRAGMA table_info({table})"):
                identity = key and kind == "INTEGER"
                expected.append((table, name, "bigint" if identity else TYPES[kind]))
        indexes = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name"
        ).fetchall()
    assert expected == columns
    postgres_indexes = (
        "SELECT indexname FROM pg_indexes WHERE schemaname = 'public'"
        " AND indexdef LIKE 'CREATE INDEX%' ORDER BY indexname"
    )
    assert indexes == server.execute(postgres_indexes, url)


async def test_nodes_that_start_together_migrate_once(url: str) -> None:
    stores = [postgres_of(url) for _ in range(4)]
    try:
        await gatherResults([Deferred.fromCoroutine(store.open()) for store in stores])
        for store in stores:
            await rows(store, BLOCKS)
    finally:
        for store in stores:
            await store.close()


async def test_newer_schema_is_refused_at_the_start_and_later(server: Server, url: str) -> None:
    """A rolling upgrade: the older nodes stop, instead of misreading the newer one's rows (D11)."""
    newer = f"UPDATE meta SET value = '{len(MIGRATIONS) + 1}' WHERE key = 'schema_version'"
    async with node(url) as running:
        await running.run(blocking("a.com"))
        server.execute(newer, url)
        with pytest.raises(NewerSchemaError, match=rf"version {len(MIGRATIONS) + 1}.*up to"):
            await running.run(blocking("b.com"))
    async with closed_at_end(postgres_of(url)) as starting:
        with pytest.raises(NewerSchemaError):
            await starting.open()
        with pytest.raises(NewerSchemaError):
            await rows(starting, BLOCKS)
        assert not starting.healthy
    assert [("a.com",)] == server.execute(BLOCKS, url)


# -- the keys


async def test_node_with_another_key_is_refused(url: str) -> None:
    """Its signed deliveries would all fail, and the third failure removes a subscription."""
    async with node(url, KEY):
        pass
    with pytest.raises(WrongKeysError, match=r"give all nodes the same secret\.key"):
        async with node(url, OTHER_KEY):
            pass


async def test_key_can_be_replaced_step_by_step(url: str) -> None:
    for keys in ((KEY,), (KEY, OTHER_KEY), (OTHER_KEY, KEY), (KEY, OTHER_KEY), (OTHER_KEY, KEY)):
        async with node(url, *keys):
            pass
    async with node(url, OTHER_KEY):
        pass
    with pytest.raises(WrongKeysError):
        async with node(url, KEY):
            pass


# -- a store that fails


async def test_store_works_again_after_a_restart_of_the_server(url: str) -> None:
    """The failure is logged once (D9)."""
    with Server() as server:
        url = server.database()
        async with node(url) as store:
            await store.run(blocking("a.com"))
            server.stop()
            with capturedLogs() as events:
                for _ in range(3):
                    with pytest.raises(StoreError, match="connect"):
                        await rows(store, BLOCKS)
                assert not store.healthy
                server.start()
                assert [("a.com",)] == await blocks_after_failure(store)
                assert store.healthy
            first, *_, last = messages(events)
            assert len(set(messages(events))) == len(events)
            assert (first or "").startswith("the store test1 at /tmp/pg")
            assert (last or "").endswith(" works again")


async def test_server_that_is_down_at_the_start_is_connected_later(url: str) -> None:
    with Server() as server:
        url = server.database()
        server.stop("fast")
        async with closed_at_end(postgres_of(url)) as store:
            with pytest.raises(StoreError):
                await store.open()
            server.start()
            assert [] == await blocks_after_failure(store)


async def test_connection_lost_between_transactions_is_replaced_without_a_log_line(
    server: Server, url: str
) -> None:
    async with node(url) as store:
        with capturedLogs() as events:
            terminate(server)
            await store.run(blocking("a.com"))
            terminate(server)
            assert [("a.com",)] == await rows(store, BLOCKS)
        assert [] == messages(events)


async def test_connection_lost_within_a_transaction_rolls_it_back(server: Server, url: str) -> None:
    """No traceback of a failed rollback is logged."""

    def work(cursor: SqlCursor) -> None:
        blocking("a.com")(cursor)
        terminate(server)
        blocking("b.com")(cursor)

    async with node(url) as store:
        with capturedLogs() as events:
            with pytest.raises(StoreError, match="connection"):
                await store.run(work)
            assert [] == await blocks_after_failure(store)
        assert [None, None] == [event.get("log_failure") for event in events]


async def test_hanging_node_loses_the_lock(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(postgres._SESSION, "lock_timeout", "50ms")
    monkeypatch.setitem(postgres._SESSION, "idle_in_transaction_session_timeout", "200ms")
    frozen, go_on = threading.Event(), threading.Event()

    def freeze(_: SqlCursor) -> None:
        frozen.set()
        assert go_on.wait(20)

    async with node(url) as one, node(url) as two:
        freezing = Deferred.fromCoroutine(one.run(freeze))
        assert frozen.wait(20)
        with pytest.raises(StoreError, match="lock timeout"):
            await two.run(blocking("a.com"))
        assert [] == await blocks_after_failure(two)
        await two.run(blocking("a.com"))
        go_on.set()
        with pytest.raises(StoreError):
            await freezing


async def test_transactions_behind_a_failure_fail_at_once(server: Server, url: str) -> None:
    """A connection attempt takes seconds to fail, so a queue of them would take minutes."""
    async with node(url) as store:
        newer = "UPDATE meta SET value = '99' WHERE key = 'schema_version'"
        server.execute(newer, url)
        with pytest.raises(NewerSchemaError):
            await rows(store, BLOCKS)
        server.execute(newer.replace("99", str(len(MIGRATIONS))), url)
        for _ in range(20):
            with pytest.raises(NewerSchemaError):
                await rows(store, BLOCKS)
        assert [] == await blocks_after_failure(store)


async def test_silent_server_is_a_failure_followed_by_a_new_connection(
    server: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its TCP stack acknowledges everything, so no lower layer reports an error."""
    monkeypatch.setattr(postgres, "MAX_SILENCE", 0.3)
    monkeypatch.setitem(postgres._SESSION, "idle_in_transaction_session_timeout", "200ms")
    with Relay(server.connect) as relay:
        over = url.partition("?")[0].replace("@/", f"@127.0.0.1:{relay.port}/")
        async with node(over) as store:
            await store.run(blocking("a.com"))
            for work in (lambda _: relay.silence(), blocking("b.com")):
                with pytest.raises(StoreError, match=r"has not answered for 0\.3 s"):
                    await store.run(work)
                assert not store.healthy
            relay.speak()
            assert [("a.com",)] == await blocks_after_failure(store)


# -- the URL


async def test_password_of_the_url_is_never_logged_or_raised() -> None:
    with capturedLogs() as events:
        with pytest.raises(ValueError, match="expected a PostgreSQL URL") as refusal:
            Postgres("postgresql://me:s3cret@h/x?nonsense=s3cret", threads, Secrets([KEY]))
        assert "s3cret" not in str(refusal.value)
        assert refusal.value.__suppress_context__
        async with closed_at_end(postgres_of("postgresql://me:s3cret@127.0.0.1:1/x")) as store:
            with pytest.raises(StoreError) as failure:
                await store.open()
    assert "s3cret" not in f"{failure.value} {messages(events)} {failure.value.__cause__}"


def test_missing_psycopg_is_reported_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """psycopg is an extra, because a single node does not need it."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "reviewsd.store.postgres")
    config = tmp_path / "reviewsd.yaml"
    config.write_text(
        "base_url: https://a.example\ndata_dir: .\nhub: {store: 'postgresql://me:s3cret@h/x'}\n"
    )
    assert 78 == command(["--check", "--config", str(config)], {})
    error = capsys.readouterr().err
    assert error.startswith(f"reviewsd: {config}:3:14: hub.store: PostgreSQL needs psycopg")
    assert f"{sys.prefix}/bin/pip install 'psycopg[binary]'\n" in error
    assert "s3cret" not in error
