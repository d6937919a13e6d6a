"""MCP sessions that were ended before their time (mcp.md 6, S18).

A session id says all there is to know of its session, but not that it was ended: that is kept until
the id expires, in the store for the next start and for other nodes, and in memory for every request.
Rows are added with rising numbers, and go when they expire; nothing else happens to them. So what is
new is what comes after the last number that is known, and neither an end nor a look at what other
nodes have ended reads the others, of which there may be a hundred thousand.

Ends that are asked for while others are being stored share the next transaction. However many clients
end sessions, one transaction of theirs waits for the disk at a time.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from typing import TypeVar

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.python.failure import Failure

from reviewsd.runtime.tasks import TaskSet, every
from reviewsd.store.interface import Store
from reviewsd.store.thread import Purpose
from reviewsd.store.transactions import SqlCursor, StoreError

MAX_ENDED = 100_000
"""Sessions; when there are as many, none can be ended until some expire."""

AT_ONCE = 500
"""Ends that share a transaction at most: 5 ms of the store's time."""

PRUNE_SECONDS = 60.0
"""Between two looks for what has expired."""

T = TypeVar("T")

EndedSessionsObserver = Callable[[Mapping[bytes, int]], Awaitable[object]]
"""Hears which sessions have ended, and when each would have ended by itself, ms since 1970."""


class Expiring:
    """Digests, each of which is forgotten at its time; nothing ever looks at all of them."""

    def __init__(self) -> None:
        self._known: dict[bytes, int] = {}
        self._order: list[tuple[int, bytes]] = []  # a heap

    def __contains__(self, digest: bytes) -> bool:
        return digest in self._known

    def __len__(self) -> int:
        return len(self._known)

    @property
    def known(self) -> Mapping[bytes, int]:
        """When each is forgotten, by digest."""
        return self._known

    def add(self, digests: Mapping[bytes, int]) -> None:
        """Remember digests until their times, ms since 1970."""
        for digest, expires in digests.items():
            if self._known.get(digest) != expires:
                self._known[digest] = expires
                heappush(self._order, (expires, digest))

    def forget(self, now: int) -> None:
        """Forget all whose time has come.

        Args:
            now: Milliseconds since 1970 UTC.
        """
        while self._order and self._order[0][0] <= now:
            expires, digest = heappop(self._order)
            if self._known.get(digest) == expires:
                del self._known[digest]


@dataclass(frozen=True, slots=True)
class _End:
    """A session that is to be ended."""

    digest: bytes
    expires_at: int
    """Milliseconds since 1970 UTC."""
    stored: Deferred[bool] = field(default_factory=Deferred)
    """Called with whether it is ended."""


class EndedSessions:
    """The digests of ended sessions.

    Args:
        store: Where they are kept.
        clock: For the time between two looks.
        now: The store's clock, milliseconds since 1970 UTC.
    """

    def __init__(self, store: Store, clock: IReactorTime, now: Callable[[], int]) -> None:
        self._store = store
        self._clock = clock
        self._now = now
        self._ended = Expiring()
        self._last = 0
        self._waiting: list[_End] = []
        self._storing = False
        self._observers: list[EndedSessionsObserver] = []
        self._tasks = TaskSet()

    def __contains__(self, digest: bytes) -> bool:
        """Whether a session was ended. A store that has not worked yet knows of none."""
        return digest in self._ended

    @property
    def known(self) -> Mapping[bytes, int]:
        """All that have ended, as observers hear of them."""
        return self._ended.known

    def observe(self, observer: EndedSessionsObserver) -> None:
        """Have what ends from now on told; ``end`` waits for the observer."""
        self._observers.append(observer)

    def start(self) -> None:
        """Begin to forget what expires."""
        self._tasks.start("forget ended sessions", every(self._clock, PRUNE_SECONDS, self._forget))

    async def stop(self) -> None:
        """Forget, and store, nothing any more."""
        await self._tasks.stop()

    async def load(self) -> None:
        """Learn what the store knows, and forget what has expired.

        Raises:
            StoreError: The store cannot be used now.
        """
        await self._transact(())

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
        end = _End(digest, expires * 1000)
        self._waiting.append(end)
        if not self._storing:
            self._storing = True
            self._tasks.start("store ended sessions", self._store_waiting())
        return await end.stored

    async def _store_waiting(self) -> None:
        """Store what waits, and what comes meanwhile."""
        try:
            while self._waiting:
                ends, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
                await self._settle(ends)
        finally:
            self._storing = False

    async def _settle(self, ends: Sequence[_End]) -> None:
        try:
            stored = await self._transact(ends)
        except CancelledError:
            raise
        except Exception:  # noqa: BLE001 - it belongs to those who wait for it
            failure = Failure()
            for end in ends:
                end.stored.errback(failure)
            return
        for end in ends:
            end.stored.callback(end.digest in stored)

    async def _transact(self, ends: Sequence[_End]) -> Collection[bytes]:
        """Store ends as far as there is room, and take over others'; those that are ended now."""
        now = self._now()
        self._ended.forget(now)
        wanted = {end.digest: end.expires_at for end in ends if end.digest not in self._ended}
        room = MAX_ENDED - len(self._ended)
        work = partial(_write, wanted=wanted, room=room, last=self._last, now=now)
        found, self._last = await self._store.run(work, Purpose.SESSIONS)
        new = {digest: end for digest, end in found.items() if digest not in self._ended}
        self._ended.add(new)
        if new:
            for observer in self._observers:
                await observer(new)
        return self._ended.known

    async def _forget(self) -> None:
        with suppress(StoreError):  # the store says so itself
            await self.load()


def _write(
    cursor: SqlCursor, wanted: Mapping[bytes, int], room: int, last: int, now: int
) -> tuple[Mapping[bytes, int], int]:
    """End sessions as far as there is room.

    Args:
        cursor: Of a transaction.
        wanted: What to end: digests, and when they expire.
        room: For how many more, as far as is known.
        last: The highest number that is known.
        now: Milliseconds since 1970 UTC.

    Returns:
        What has ended since, here and at other nodes, and the highest number.
    """
    cursor.execute("DELETE FROM mcp_ended WHERE expires_at <= ?", (now,))
    cursor.execute("SELECT id_hash, expires_at FROM mcp_ended WHERE number > ?", (last,))
    others = {bytes(digest): expires_at for digest, expires_at in cursor.fetchall()}
    new = [each for each in wanted.items() if each[0] not in others]
    accepted = dict(new[: max(room - len(others), 0)])
    if accepted:
        cursor.executemany(
            "INSERT INTO mcp_ended (id_hash, expires_at) VALUES (?, ?)", list(accepted.items())
        )
    cursor.execute("SELECT COALESCE(MAX(number), 0) FROM mcp_ended")
    ((highest,),) = cursor.fetchall()
    return others | accepted, max(highest, last)
