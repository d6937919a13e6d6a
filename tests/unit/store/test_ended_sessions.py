"""MCP sessions that were ended before their time (mcp.md 6, S18)."""

import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any, Self, TypeVar, cast

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.task import Clock

from reviewsd.store import ended_sessions
from reviewsd.store.ended_sessions import PRUNE_SECONDS, EndedSessions
from reviewsd.store.schema import MIGRATIONS
from reviewsd.store.sqlite import Database
from reviewsd.store.thread import Purpose
from reviewsd.store.transactions import SqlCursor, SqlValue, StoreError
from tests.support.stores import opened, rows

T = TypeVar("T")

NOW = 1_760_000_000
A, B = b"a" * 32, b"b" * 32


class Watch:
    """What time it is, seconds since 1970 UTC."""

    def __init__(self) -> None:
        self.seconds = NOW

    def __call__(self) -> int:
        return self.seconds * 1000


class Shaky:
    """A store that can be told to fail, and counts what is asked of it."""

    def __init__(self, store: Database) -> None:
        self._store = store
        self.fails = False
        self.asked = 0

    async def run(self, work: Callable[[SqlCursor], T], purpose: Purpose = Purpose.WORK) -> T:
        self.asked += 1
        if self.fails:
            raise StoreError("it is full")
        return await self._store.run(work, purpose)

    async def changed(self) -> bool:
        return await self._store.changed()


@pytest_twisted.async_yield_fixture()  # type: ignore[untyped-decorator] # has no stubs
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with opened(tmp_path / "state.sqlite") as database:
        yield database


@pytest.fixture
def now() -> Watch:
    return Watch()


def node(store: Database | Shaky, now: Watch, clock: Clock | None = None) -> EndedSessions:
    return EndedSessions(store, clock or Clock(), now)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_is_ended_is_ended_at_once_and_after_a_start(
    database: Database, now: Watch
) -> None:
    sessions = node(database, now)
    assert A not in sessions
    assert await sessions.end(A, NOW + 60)
    assert (True, False) == (A in sessions, B in sessions)

    after = node(database, now)
    assert A not in after
    await after.load()
    assert (True, False) == (A in after, B in after)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_observers_hear_of_each_end_before_it_is_answered(
    database: Database, now: Watch
) -> None:
    """Other processes must refuse the session from then on; also one that another node has ended."""
    first, second = node(database, now), node(database, now)
    told: list[tuple[str, dict[bytes, int]]] = []
    for name, sessions in (("first", first), ("second", second)):

        async def hear(new: Mapping[bytes, int], name: str = name) -> None:
            told.append((name, dict(new)))

        sessions.observe(hear)
    await first.end(A, NOW + 60)
    expires = (NOW + 60) * 1000
    assert [("first", {A: expires})] == told
    await first.end(A, NOW + 60)
    await first.load()
    assert 1 == len(told)
    await second.load()
    await second.load()
    assert ("second", {A: expires}) == told[-1]
    assert 2 == len(told)
    assert {A: expires} == second.known


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_ending_twice_is_ending_once(database: Database, now: Watch) -> None:
    """Two nodes may do so before they hear of each other."""
    first, second = node(database, now), node(database, now)
    assert await first.end(A, NOW + 60)
    assert await second.end(A, NOW + 60)
    assert [(A, (NOW + 60) * 1000)] == await rows(
        database, "SELECT id_hash, expires_at FROM mcp_ended"
    )


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_what_has_expired_is_forgotten(database: Database, now: Watch) -> None:
    """Its id is refused by its own date then."""
    sessions = node(database, now)
    await sessions.end(A, NOW + 1)
    await sessions.end(B, NOW + 2)
    now.seconds += 1
    await sessions.load()

    assert (False, True) == (A in sessions, B in sessions)
    assert [(B,)] == await rows(database, "SELECT id_hash FROM mcp_ended")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_when_too_many_are_ended_none_is_until_some_expire(
    database: Database, now: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ended id must never come back to life, so the oldest cannot make room."""
    monkeypatch.setattr(ended_sessions, "MAX_ENDED", 1)
    sessions = node(database, now)
    assert await sessions.end(A, NOW + 1)
    assert not await sessions.end(B, NOW + 60)
    assert (True, False) == (A in sessions, B in sessions)
    now.seconds += 1
    assert await sessions.end(B, NOW + 60)


def test_a_hundred_thousand_may_be_ended() -> None:
    assert ended_sessions.MAX_ENDED == 100_000


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_session_that_was_not_stored_is_not_ended(database: Database, now: Watch) -> None:
    store = Shaky(database)
    sessions = node(store, now)
    store.fails = True
    with pytest.raises(StoreError):
        await sessions.end(A, NOW + 60)
    assert A not in sessions


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_the_store_is_looked_at_through_its_failures(database: Database, now: Watch) -> None:
    """So what expires goes, and what was stored while it failed is known."""
    store, clock = Shaky(database), Clock()
    sessions = node(store, now, clock)
    store.fails = True
    sessions.start()
    assert 1 == store.asked
    store.fails = False
    await node(database, now).end(A, NOW + 60)
    clock.advance(PRUNE_SECONDS)
    await database.run(lambda _: None, Purpose.SESSIONS)  # those run one after the other
    assert (2, True) == (store.asked, A in sessions)

    await sessions.stop()
    assert [] == clock.getDelayedCalls()


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_ends_that_come_together_share_transactions(database: Database, now: Watch) -> None:
    """Each transaction waits for the disk, and requests to the hub behind it."""
    store = Shaky(database)
    sessions = node(store, now)
    digests = [bytes([number]) * 32 for number in range(200)]
    ends = [Deferred.fromCoroutine(sessions.end(each, NOW + 60)) for each in digests]
    twice = Deferred.fromCoroutine(sessions.end(digests[0], NOW + 60))

    assert [True] * 200 == await gatherResults(ends)
    assert await twice
    assert 2 == store.asked
    assert [(200,)] == await rows(database, "SELECT COUNT(*) FROM mcp_ended")


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_failed_transaction_is_told_to_all_who_share_it(
    database: Database, now: Watch
) -> None:
    store = Shaky(database)
    sessions = node(store, now)
    first = Deferred.fromCoroutine(sessions.end(A, NOW + 60))
    store.fails = True
    others = [Deferred.fromCoroutine(sessions.end(B, NOW + 60)) for _ in range(2)]
    assert await first
    for each in others:
        with pytest.raises(StoreError):
            await each
    store.fails = False
    assert await sessions.end(B, NOW + 60)


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_with_a_hundred_thousand_ended_no_statement_reads_them_all(
    database: Database, now: Watch
) -> None:
    """To count and prune them for each end took 15 to 31 ms of the store's thread."""

    def planned(cursor: SqlCursor) -> list[str]:
        watched = Watched(cursor)
        wanted = {A: (NOW + 60) * 1000}
        ended_sessions._write(watched, wanted=wanted, room=1, last=0, now=now())
        return watched.plans

    plans = await database.run(planned)
    assert len(plans) >= 3
    assert [] == [plan for plan in plans if plan.startswith("SCAN")]


class Watched:
    """A cursor that writes down how each statement is carried out."""

    def __init__(self, cursor: SqlCursor) -> None:
        self._cursor = cursor
        self.plans: list[str] = []

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount

    def execute(self, sql: str, parameters: Sequence[SqlValue] = (), /) -> Self:
        rows = self._cursor.execute(f"EXPLAIN QUERY PLAN {sql}", parameters).fetchall()
        self.plans += [row[-1] for row in rows]
        self._cursor.execute(sql, parameters)
        return self

    def executemany(self, sql: str, parameters: Sequence[Sequence[SqlValue]], /) -> Self:
        self._cursor.executemany(sql, parameters)
        return self

    def fetchone(self) -> tuple[Any, ...] | None:
        return self._cursor.fetchone()

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._cursor.fetchall()


class Memory:
    """A store that works at once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        for statement in chain.from_iterable(MIGRATIONS):
            connection.execute(statement)

    async def run(self, work: Callable[[SqlCursor], T], _purpose: Purpose = Purpose.WORK) -> T:
        return work(cast("SqlCursor", self._connection.cursor()))

    async def changed(self) -> bool:
        return False


def done(work: Coroutine[object, object, T]) -> T:
    """What work that waits for nothing returns."""
    try:
        work.send(None)
    except StopIteration as end:
        return cast("T", end.value)
    raise AssertionError


STEPS = st.tuples(st.sampled_from(["end", "load", "wait"]), st.integers(0, 1), st.integers(0, 5))


@given(st.lists(STEPS, max_size=25))
def test_nodes_agree_after_a_look(steps: list[tuple[str, int, int]]) -> None:
    """Whatever is ended where, and expires when."""
    now, truth = Watch(), dict[bytes, int]()
    with closing(sqlite3.connect(":memory:")) as connection:
        store = Memory(connection)
        nodes = [EndedSessions(store, Clock(), now) for _ in range(2)]
        for name, which, number in steps:
            digest = bytes([number]) * 32
            if name == "wait":
                now.seconds += 1
            elif name == "load":
                done(nodes[which].load())
                alive = {each for each, end in truth.items() if end > now.seconds}
                assert alive == {each for each in truth if each in nodes[which]}
            elif truth.get(digest, 0) <= now.seconds:
                truth[digest] = now.seconds + number + 1
                assert done(nodes[which].end(digest, truth[digest]))
