"""MCP sessions that clients have ended before they expired (mcp.md 6, S18).

A session id proves everything about its session except that it was ended. An end is therefore recorded
until the id expires: in the store for the next start and for other nodes, in memory for each request.

Rows have rising numbers and are deleted when they expire. The rows after the last known number are the new
ones, so no statement reads all of them, of which there may be a hundred thousand.
"""

from collections.abc import Callable, Sequence
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
        self._last_number = 0
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
        """Read what the store has gained, and remove what has expired.

        Raises:
            StoreError: The store cannot be used now.
        """
        now = self._now()
        self._expiries = {
            digest: expires_at for digest, expires_at in self._expiries.items() if expires_at > now
        }
        await self._transact(now)

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
        await self._transact(self._now(), (digest, expires * 1000))
        if is_new:
            self._counters.count("mcp_sessions_ended_total")
        return True

    async def _transact(self, now: int, *ends: tuple[bytes, int]) -> None:
        """Store ends, and read those of other nodes."""
        work = partial(_write, ends=ends, last=self._last_number, now=now)
        for number, digest, expires_at in await self._store.run(work, Purpose.SESSION_END):
            self._last_number = max(self._last_number, number)
            self._expiries[digest] = expires_at

    async def _prune(self) -> None:
        with suppress(StoreError):  # the store logs its failures
            await self.load()


def _write(
    cursor: SqlCursor, ends: Sequence[tuple[bytes, int]], last: int, now: int
) -> list[tuple[int, bytes, int]]:
    """End sessions, given as digest and expiry, and delete those that have expired.

    Returns:
        Number, digest and expiry of the sessions with a number above ``last``, ended here or at other nodes.
    """
    cursor.execute("DELETE FROM mcp_ended WHERE expires_at <= ?", (now,))
    for end in ends:
        cursor.execute(
            "INSERT INTO mcp_ended (id_hash, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING", end
        )
    cursor.execute("SELECT number, id_hash, expires_at FROM mcp_ended WHERE number > ?", (last,))
    return cursor.fetchall()
