"""MCP sessions that clients ended before they expired (mcp.md 6, S18)."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TypeVar, cast

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet.task import Clock

from reviewsd.store import ended_sessions
from reviewsd.store.ended_sessions import PRUNE_SECONDS, EndedSessions
from reviewsd.store.sqlite import Database
from reviewsd.store.transactions import Purpose, SqlCursor, Store, StoreError
from tests.support.stores import opened, rows

T = TypeVar("T")

NOW = 1_760_000_000
A, B = b"a" * 32, b"b" * 32


class Watch:
    """A wall clock that the test sets, seconds since 1970 UTC."""

    def __init__(self) -> None:
        self.seconds = NOW

    def __call__(self) -> int:
        return self.seconds * 1000


class FailingStore:
    """A store that fails if the test says so, and counts transactions."""

    def __init__(self, store: Database) -> None:
        self._store = store
        self.fails = False
        self.transactions = 0

    async def run(self, work: Callable[[SqlCursor], T], purpose: Purpose = Purpose.WORK) -> T:
        self.transactions += 1
        if self.fails:
            raise StoreError("it is full")
        return await self._store.run(work, purpose)


@pytest_twisted.async_yield_fixture()  # type: ignore[untyped-decorator] # has no stubs
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    async with opened(tmp_path / "state.sqlite") as database:
        yield database


@pytest.fixture
def now() -> Watch:
    return Watch()


def node(store: Database | FailingStore, now: Watch, clock: Clock | None = None) -> EndedSessions:
    return EndedSessions(cast("Store", store), clock or Clock(), now)


async def test_session_ended_at_two_nodes_is_stored_once(database: Database, now: Watch) -> None:
    """Neither node knows of the other's end yet."""
    first, second = node(database, now), node(database, now)
    assert await first.end(A, NOW + 60)
    assert await second.end(A, NOW + 60)
    assert [(A, (NOW + 60) * 1000)] == await rows(
        database, "SELECT id_hash, expires_at FROM mcp_ended"
    )


async def test_expired_session_is_deleted(database: Database, now: Watch) -> None:
    """Its id is refused by its own date from then on."""
    sessions = node(database, now)
    await sessions.end(A, NOW + 1)
    await sessions.end(B, NOW + 2)
    now.seconds += 1
    await sessions.load()
    assert (False, True) == (A in sessions, B in sessions)
    assert [(B,)] == await rows(database, "SELECT id_hash FROM mcp_ended")


async def test_no_session_is_ended_while_the_store_has_too_many(
    database: Database, now: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ended id must never be valid again, so the oldest are not deleted."""
    monkeypatch.setattr(ended_sessions, "MAX_ENDED", 1)
    sessions = node(database, now)
    assert await sessions.end(A, NOW + 1)
    assert not await sessions.end(B, NOW + 60)
    assert (True, False) == (A in sessions, B in sessions)
    now.seconds += 1
    await sessions.load()
    assert await sessions.end(B, NOW + 60)


async def test_session_is_not_ended_if_the_store_fails(database: Database, now: Watch) -> None:
    store = FailingStore(database)
    sessions = node(store, now)
    store.fails = True
    with pytest.raises(StoreError):
        await sessions.end(A, NOW + 60)
    assert A not in sessions


async def test_load_is_repeated_after_failure_of_store(database: Database, now: Watch) -> None:
    """Ends of other nodes are found by the next load."""
    store, clock = FailingStore(database), Clock()
    sessions = node(store, now, clock)
    store.fails = True
    sessions.start()
    assert 1 == store.transactions
    store.fails = False
    await node(database, now).end(A, NOW + 60)
    clock.advance(PRUNE_SECONDS)
    await database.run(lambda _: None, Purpose.SESSION_END)  # it runs after the load
    assert (2, True) == (store.transactions, A in sessions)

    await sessions.stop()
    assert [] == clock.getDelayedCalls()
