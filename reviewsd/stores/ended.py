"""MCP sessions that were ended before their time (mcp.md 6, S18).

A session id says all there is to know of its session, but not that it was ended: that is kept until
the id expires, in the store for the next start and for other nodes, and in memory for every request.
Rows are added, and go when they expire; nothing else happens to them. So two sets that were pruned at
the same time are the same if they are of the same size, and following other nodes costs one count.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Protocol, TypeVar

from twisted.internet.interfaces import IReactorTime

from reviewsd.store.sqlite import Cursor, StoreError
from reviewsd.runtime.tasks import TaskSet, every

MAX_ENDED = 100_000
"""Sessions; when there are as many, none can be ended until some expire."""

FOLLOW_SECONDS = 1.0
"""Between two looks for what other nodes have ended, who must be heard within 2 s (mcp.md 6)."""

PRUNE_SECONDS = 60.0
"""The same where nobody else uses the store."""

T = TypeVar("T")

Observer = Callable[[Mapping[bytes, int]], Awaitable[object]]
"""Hears which sessions have ended, and when each would have ended by itself, ms since 1970."""


class Store(Protocol):
    """Where transactions run: a ``stores.database.Database``."""

    async def run(self, work: Callable[[Cursor], T]) -> T:
        """Run a transaction."""


class EndedSessions:
    """The digests of ended sessions.

    Args:
        store: Where they are kept.
        clock: For the time between two looks.
        now: The store's clock, milliseconds since 1970 UTC.
        shared: Whether other nodes use the store too.
    """

    def __init__(
        self, store: Store, clock: IReactorTime, now: Callable[[], int], *, shared: bool
    ) -> None:
        self._store = store
        self._clock = clock
        self._now = now
        self._pause = FOLLOW_SECONDS if shared else PRUNE_SECONDS
        self._known: dict[bytes, int] = {}
        self.refused = 0
        """How often a session could not be ended, because too many are."""
        self._observers: list[Observer] = []
        self._tasks = TaskSet()

    def __contains__(self, digest: bytes) -> bool:
        """Whether a session was ended. A store that has not worked yet knows of none."""
        return digest in self._known

    @property
    def known(self) -> Mapping[bytes, int]:
        """All that have ended, as observers hear of them."""
        return self._known

    def observe(self, observer: Observer) -> None:
        """Have what ends from now on told; ``end`` waits for the observer."""
        self._observers.append(observer)

    def start(self) -> None:
        """Begin to follow the store."""
        self._tasks.start("follow ended sessions", every(self._clock, self._pause, self._follow))

    async def stop(self) -> None:
        """Follow no more."""
        await self._tasks.stop()

    async def load(self) -> None:
        """Learn what the store knows.

        Raises:
            StoreError: The store cannot be used now.
        """
        now = self._now()
        self._known = {digest: end for digest, end in self._known.items() if end > now}
        found = await self._store.run(partial(_changed, known=len(self._known), now=now))
        if found is not None:
            # an end of our own may have been stored while that was looked up
            await self._add(found)

    async def end(self, digest: bytes, expires: int) -> bool:
        """End a session, for good and for all processes once this returns.

        Args:
            digest: Of its id.
            expires: When it would end by itself, POSIX seconds.

        Returns:
            Whether it is ended; not when too many are.

        Raises:
            StoreError: The store cannot be used now.
        """
        expires_at = expires * 1000
        stored = await self._store.run(
            partial(_add, digest=digest, expires_at=expires_at, now=self._now())
        )
        if stored:
            await self._add({digest: expires_at})
        else:
            self.refused += 1
        return stored

    async def _add(self, ended: Mapping[bytes, int]) -> None:
        new = {digest: end for digest, end in ended.items() if digest not in self._known}
        self._known |= new
        if new:
            for observer in self._observers:
                await observer(new)

    async def _follow(self) -> None:
        with suppress(StoreError):  # the store says so itself
            await self.load()


def _add(cursor: Cursor, digest: bytes, expires_at: int, now: int) -> bool:
    if _count(cursor, now) >= MAX_ENDED:
        return False
    cursor.execute(
        "INSERT INTO mcp_ended (id_hash, expires_at) VALUES (?, ?) ON CONFLICT (id_hash) DO NOTHING",
        (digest, expires_at),
    )
    return True


def _changed(cursor: Cursor, known: int, now: int) -> dict[bytes, int] | None:
    """All that are ended; None where it is as many as are known."""
    if _count(cursor, now) == known:
        return None
    cursor.execute("SELECT id_hash, expires_at FROM mcp_ended")
    return {bytes(digest): expires_at for digest, expires_at in cursor.fetchall()}


def _count(cursor: Cursor, now: int) -> int:
    """How many there are when the expired are gone."""
    cursor.execute("DELETE FROM mcp_ended WHERE expires_at <= ?", (now,))
    cursor.execute("SELECT COUNT(*) FROM mcp_ended")
    row = cursor.fetchone()
    return 0 if row is None else int(row[0])
