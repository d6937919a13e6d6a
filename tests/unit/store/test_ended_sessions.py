"""MCP sessions that were ended before their time (mcp.md 6, S18)."""

import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TypeVar, cast

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.task import Clock

from reviewsd.stores import ended
from reviewsd.store.sqlite import Cursor, Database, StoreError
from reviewsd.stores.ended import FOLLOW_SECONDS, PRUNE_SECONDS, EndedSessions
from reviewsd.store.schema import MIGRATIONS
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

    async def run(self, work: Callable[[Cursor], T]) -> T:
        self.asked += 1
        if self.fails:
            raise StoreError("it is full")
        return await self._store.run(work)


@pytest_twisted.async_yield_fixture()  # type: ignore[untyped-decorator] # has no stubs
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with opened(tmp_path / "state.sqlite") as database:
        yield database


@pytest.fixture
def now() -> Watch:
    return Watch()


def node(store: Database | Shaky, now: Watch, clock: Clock | None = None) -> EndedSessions:
    return EndedSessions(store, clock or Clock(), now, shared=True)


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
    assert [(A, (NOW + 60) * 1000)] == await rows(database, "SELECT * FROM mcp_ended")


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
    monkeypatch.setattr(ended, "MAX_ENDED", 1)
    sessions = node(database, now)
    assert await sessions.end(A, NOW + 1)
    assert not await sessions.end(B, NOW + 60)
    assert (True, False) == (A in sessions, B in sessions)
    assert 1 == sessions.refused  # mcp.md 6: a metric counts
    now.seconds += 1
    assert await sessions.end(B, NOW + 60)


def test_a_hundred_thousand_may_be_ended() -> None:
    assert ended.MAX_ENDED == 100_000


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_a_session_that_was_not_stored_is_not_ended(database: Database, now: Watch) -> None:
    store = Shaky(database)
    sessions = node(store, now)
    store.fails = True
    with pytest.raises(StoreError):
        await sessions.end(A, NOW + 60)
    assert A not in sessions


@pytest.mark.parametrize(("shared", "seconds"), [(True, FOLLOW_SECONDS), (False, PRUNE_SECONDS)])
@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_the_store_is_followed_through_its_failures(
    database: Database,
    now: Watch,
    shared: bool,  # noqa: FBT001
    seconds: float,
) -> None:
    """Other nodes are heard within 2 s, by a store that has failed too."""
    store, clock = Shaky(database), Clock()
    sessions = EndedSessions(store, clock, now, shared=shared)
    store.fails = True
    sessions.start()
    assert 1 == store.asked
    store.fails = False
    await node(database, now).end(A, NOW + 60)
    clock.advance(seconds)
    await database.run(lambda _: None)  # transactions run one after the other
    assert (2, True) == (store.asked, A in sessions)

    await sessions.stop()
    assert [] == clock.getDelayedCalls()
    assert FOLLOW_SECONDS < 2


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_rows_are_read_only_where_there_are_others(database: Database, now: Watch) -> None:
    """A count costs little, a hundred thousand rows each second do not."""
    sessions = node(database, now)
    await sessions.end(A, NOW + 60)

    def look(cursor: Cursor) -> dict[bytes, int] | None:
        return ended._changed(cursor, 1, now())

    assert await database.run(look) is None
    await node(database, now).end(B, NOW + 60)
    assert {A, B} == (await database.run(look) or {}).keys()
    await sessions.load()
    assert B in sessions


class Memory:
    """A store that works at once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        for statement in chain.from_iterable(MIGRATIONS):
            connection.execute(statement)

    async def run(self, work: Callable[[Cursor], T]) -> T:
        return work(cast("Cursor", self._connection.cursor()))


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
        nodes = [EndedSessions(store, Clock(), now, shared=True) for _ in range(2)]
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
