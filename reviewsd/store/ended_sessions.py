"""MCP sessions that clients have ended before they expired (mcp.md 6, S18).

A session id proves everything about its session except that it was ended. An end is therefore recorded
until the id expires: in the store for the next start and for other nodes, in memory for each request.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from twisted.internet.interfaces import IReactorTime

from reviewsd.runtime.counters import Counters
from reviewsd.runtime.tasks import TaskSet
from reviewsd.store.transactions import Purpose, SqlCursor, Store, StoreError

MAX_ENDED = 100_000
"""Ended sessions in the store; at this number none can be ended until some expire."""

PRUNE_SECONDS = 60.0
"""Interval at which expired sessions are removed."""


class EndedSessions:
    """The digests of ended sessions; ``now`` is the store's clock, in milliseconds since 1970 UTC."""

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
        self._expiries: dict[bytes, int] = {}  # by digest
        self._tasks = TaskSet()

    def __contains__(self, digest: bytes) -> bool:
        """Return whether a session was ended; False for all until the store has been read."""
        return digest in self._expiries

    def start(self) -> None:
        """Start to remove expired sessions."""
        self._tasks.every("pruning ended sessions", self._clock, PRUNE_SECONDS, self._prune)

    async def stop(self) -> None:
        """Stop removing sessions."""
        await self._tasks.stop()

    async def load(self) -> None:
        """Remove what has expired in the store, and read the others.

        Raises:
            StoreError: The store cannot be used now.
        """
        work = partial(_load, now=self._now())
        self._expiries = await self._store.run(work, Purpose.SESSION_END)

    async def end(self, digest: bytes, expires: int) -> bool:
        """End a session durably, for all nodes; return False if the store holds too many.

        Args:
            digest: The digest of its id.
            expires: When its id expires, POSIX seconds.

        Raises:
            StoreError: The store cannot be used now.
        """
        is_new = digest not in self._expiries
        if is_new and len(self._expiries) >= MAX_ENDED:
            return False
        expires_at = expires * 1000
        work = partial(_end, digest=digest, expires_at=expires_at)
        await self._store.run(work, Purpose.SESSION_END)
        self._expiries[digest] = expires_at
        if is_new:
            self._counters.count("mcp_sessions_ended_total")
        return True

    async def _prune(self) -> None:
        with suppress(StoreError):  # the store logs its failures
            await self.load()


def _load(cursor: SqlCursor, now: int) -> dict[bytes, int]:
    """Delete the sessions that have expired; return the expiry of each other by its digest."""
    cursor.execute("DELETE FROM mcp_ended WHERE expires_at <= ?", (now,))
    cursor.execute("SELECT id_hash, expires_at FROM mcp_ended")
    return {bytes(digest): expires_at for digest, expires_at in cursor.fetchall()}


def _end(cursor: SqlCursor, digest: bytes, expires_at: int) -> None:
    """Store the end of a session, which another node may have stored already."""
    cursor.execute(
        "INSERT INTO mcp_ended (id_hash, expires_at) VALUES (?, ?)"
        " ON CONFLICT (id_hash) DO UPDATE SET expires_at = excluded.expires_at",
        (digest, expires_at),
    )
