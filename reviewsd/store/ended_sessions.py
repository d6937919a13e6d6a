"""MCP sessions that clients have ended before they expired (mcp.md 6, S18).

A session id proves everything about its session except that it was ended. An end is therefore recorded
until the id expires: in the store for the next start and for other nodes, in memory for each request.

Rows have rising numbers and are deleted when they expire. The rows after the last known number are the new
ones, so no statement reads all of them, of which there may be a hundred thousand.

Ends that arrive while a transaction is being stored share the next one. However many clients end sessions,
one transaction of theirs waits for the disk at a time.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.python.failure import Failure

from reviewsd.runtime.counters import Counters
from reviewsd.runtime.tasks import TaskSet, every
from reviewsd.store.interface import Store
from reviewsd.store.thread import Purpose
from reviewsd.store.transactions import SqlCursor, StoreError

MAX_ENDED = 100_000
"""Ended sessions in the store; at this number none can be ended until some expire."""

MAX_BATCH = 500
"""Ends in one transaction, which take 5 ms of the store's time."""

PRUNE_SECONDS = 60.0
"""Interval at which expired sessions are removed."""


@dataclass(frozen=True, slots=True)
class _End:
    """A request to end a session."""

    digest: bytes
    expires_at: int
    """Milliseconds since 1970 UTC."""
    stored: Deferred[bool] = field(default_factory=Deferred)
    """Called with whether the session is ended."""


class EndedSessions:
    """The digests of ended sessions.

    Args:
        store: Holds them.
        clock: Times the removal of expired sessions.
        now: The store's clock, milliseconds since 1970 UTC.
        counters: Count the sessions that clients end.
    """

    def __init__(
        self,
        store: Store,
        clock: IReactorTime,
        now: Callable[[], int],
        counters: Counters | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._now = now
        self._counters = counters or Counters()
        self._digests: set[bytes] = set()
        self._expiries: list[tuple[int, bytes]] = []  # a heap
        self._last_number = 0
        self._queue: list[_End] = []
        self._storing = False
        self._tasks = TaskSet()

    def __contains__(self, digest: bytes) -> bool:
        """Return whether a session was ended; False for all until the store has been read."""
        return digest in self._digests

    def start(self) -> None:
        """Start to remove expired sessions."""
        self._tasks.start("prune ended sessions", every(self._clock, PRUNE_SECONDS, self._prune))

    async def stop(self) -> None:
        """Stop removing and storing sessions."""
        await self._tasks.stop()

    async def load(self) -> None:
        """Read what the store has gained, and remove what has expired.

        Raises:
            StoreError: The store cannot be used now.
        """
        await self._transact(())

    async def end(self, digest: bytes, expires: int) -> bool:
        """End a session durably, for all nodes.

        Args:
            digest: The digest of its id.
            expires: When its id expires, POSIX seconds.

        Returns:
            Whether it is ended; False if the store holds too many.

        Raises:
            StoreError: The store cannot be used now.
        """
        end = _End(digest, expires * 1000)
        self._queue.append(end)
        if not self._storing:
            self._storing = True
            self._tasks.start("store ended sessions", self._store_queue())
        return await end.stored

    async def _store_queue(self) -> None:
        try:
            while self._queue:
                ends, self._queue = self._queue[:MAX_BATCH], self._queue[MAX_BATCH:]
                await self._settle(ends)
        finally:
            self._storing = False

    async def _settle(self, ends: Sequence[_End]) -> None:
        try:
            await self._transact(ends)
        except CancelledError:
            raise
        except Exception:  # noqa: BLE001 - it is raised where the result is awaited
            failure = Failure()
            for end in ends:
                end.stored.errback(failure)
            return
        for end in ends:
            end.stored.callback(end.digest in self._digests)

    async def _transact(self, ends: Sequence[_End]) -> None:
        """Store ends as far as there is room, and read those of other nodes."""
        now = self._now()
        while self._expiries and self._expiries[0][0] <= now:
            self._digests.discard(heappop(self._expiries)[1])
        requested = {end.digest: end.expires_at for end in ends if end.digest not in self._digests}
        room = MAX_ENDED - len(self._digests)
        work = partial(_write, requested=requested, room=room, last=self._last_number, now=now)
        rows, self._last_number = await self._store.run(work, Purpose.SESSIONS)
        for digest, expires_at in rows.items():
            if digest not in self._digests:
                self._digests.add(digest)
                heappush(self._expiries, (expires_at, digest))
                if digest in requested:
                    self._counters.count("mcp_sessions_ended_total")

    async def _prune(self) -> None:
        with suppress(StoreError):  # the store logs its failures
            await self.load()


def _write(
    cursor: SqlCursor, requested: Mapping[bytes, int], room: int, last: int, now: int
) -> tuple[Mapping[bytes, int], int]:
    """End sessions as far as there is room.

    Args:
        cursor: The cursor of a transaction.
        requested: The sessions to end: digests, and when they expire.
        room: How many more may be ended, as far as this node knows.
        last: The highest known number.
        now: Milliseconds since 1970 UTC.

    Returns:
        The sessions ended since ``last``, here and at other nodes, and the highest number.
    """
    cursor.execute("DELETE FROM mcp_ended WHERE expires_at <= ?", (now,))
    cursor.execute("SELECT id_hash, expires_at FROM mcp_ended WHERE number > ?", (last,))
    stored = {bytes(digest): expires_at for digest, expires_at in cursor.fetchall()}
    new = [(digest, end) for digest, end in requested.items() if digest not in stored]
    accepted = dict(new[: max(room - len(stored), 0)])
    if accepted:
        cursor.executemany(
            "INSERT INTO mcp_ended (id_hash, expires_at) VALUES (?, ?)", list(accepted.items())
        )
    cursor.execute("SELECT COALESCE(MAX(number), 0) FROM mcp_ended")
    ((highest,),) = cursor.fetchall()
    return stored | accepted, max(highest, last)
