"""Runs attempts at callbacks: finds what is due, claims it, runs it, and stores the results.

Verifications and deliveries share this loop. There is no queue: rows that are due are only a hint, and only
a claim in the store counts, so waking the scheduler for nothing does no harm. Results and claims share a
transaction, because each transaction syncs the disk. Attempts continue while it is written, and as many
again are claimed ahead, so that none of them waits for the disk.

The slots decide what may run (``slots``). Rows without a slot are skipped; if a query returns no others,
the next one excludes their hosts. So a host with a thousand hanging callbacks delays no other host.

A retry is a time in the store: the scheduler waits for the next one with a Deferred.

Nodes that share a store find the same rows. Each node starts at a random row, because only the first node
to claim a row gets it.
"""

from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Generic, Protocol, TypeVar

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from reviewsd.runtime.tasks import TaskSet, wait_at_most
from reviewsd.store.rows import Claim, Due
from reviewsd.store.transactions import StoreError
from reviewsd.websub.slots import Slot, Slots

MAX_ROWS = 1_000
"""Rows that one query returns at most."""

STORE_RETRY_SECONDS = 1.0
"""Pause after a failure of the store."""

MAX_PAUSE, SHARED_MAX_PAUSE = 60.0, 10.0
"""Longest time between two queries, since a wall clock may jump and a node that shares the store may die."""

MAX_WAIT = 25.0
"""Seconds that a claim may wait for a place; with the longest attempt it ends within its 90 s (D5)."""

BATCH_SECONDS, MAX_BATCHES = 0.005, 5
"""Pause before a transaction, which costs as much as several deliveries, and its repetitions at most."""

STARTS_PER_TURN = 16
"""Attempts that begin in one turn of the reactor; each takes 0.1 ms."""

RELEASE_SECONDS = 2.0
"""Time for the store to release claims when the scheduler stops."""


C = TypeVar("C", bound=Claim)
R = TypeVar("R")


class Work(Protocol[C, R]):
    """One kind of attempt: ``Verifier`` or ``Deliverer``."""

    async def find_due(
        self, limit: int, excluded_hosts: Collection[str]
    ) -> tuple[Sequence[Due], float | None]:
        """Return rows that are due, and the seconds until the next one is."""

    async def settle_and_claim(self, results: Sequence[R], due: Sequence[Due]) -> Sequence[C]:
        """Store results, and claim those rows that are still due; after a StoreError nothing is written."""

    async def run(self, claim: C, slot: Slot) -> R:
        """Make one attempt."""

    def release(self, claim: C) -> R:
        """Return the result of a claim that was not attempted: it stays due."""


class Scheduler(Generic[C, R]):
    """Keeps attempts of one kind running until it is stopped.

    Args:
        name: What it runs, for the log.
        clock: For its pauses.
        work: What is attempted.
        slots: Limit what runs at the same time.
        max_pause: Seconds between two queries at most.
        offset: Returns where to start among the rows, from 0 to 1.
    """

    _log = Logger()

    def __init__(
        self,
        name: str,
        clock: IReactorTime,
        work: Work[C, R],
        slots: Slots,
        max_pause: float = MAX_PAUSE,
        offset: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._name = name
        self._clock = clock
        self._work = work
        self._slots = slots
        self._max_pause = max_pause
        self._offset = offset
        self._due: Sequence[Due] = ()
        self._claims: deque[tuple[C, Slot]] = deque()
        self._results: list[R] = []
        self._stale = True  # rows may be due that the last query did not return
        self._hosts_excluded = False  # from the last query
        self._paused = False
        self._next_query_at = 0.0
        self._last_write_at = 0.0
        self._writing = False
        self._wake_signal: Deferred[None] | None = None
        self._drained: Deferred[None] | None = None
        self._loop = TaskSet()
        self._attempts = TaskSet()
        slots.freed = self._slots_freed

    @property
    def running(self) -> int:
        """The number of attempts under way."""
        return self._slots.running

    def start(self) -> None:
        """Start the loop."""
        self._loop.start(self._name, self._run())

    def wake(self) -> None:
        """Query the store for rows that have become due."""
        self._stale = True
        self._end_pause()

    def pause(self) -> None:
        """Begin no more attempts; those under way finish."""
        self._paused = True
        while self._claims:
            self._release(*self._claims.popleft())
        self._end_pause()

    def resume(self) -> None:
        """Begin attempts again."""
        self._paused = False
        self.wake()

    async def stop(self, seconds: float) -> None:
        """Wait for the attempts under way, up to a time, and cancel the others; they stay due."""
        self.pause()
        await self._drain(seconds)
        await self._attempts.stop()
        await self._drain(RELEASE_SECONDS)  # a claim that is not released counts as a death (D7)
        await self._loop.stop()
        self._slots.stop()

    def _slots_freed(self) -> None:
        self._stale = self._stale or self._hosts_excluded
        self._end_pause()

    async def _drain(self, seconds: float) -> None:
        """Wait until no slot is taken and all results are stored, up to a time."""
        if not (self._slots.occupied or self._results or self._writing):
            return
        self._drained = Deferred()
        self._end_pause()
        await wait_at_most(self._clock, seconds, self._drained)
        self._drained = None

    def _end_drain(self) -> None:
        if self._drained is not None and not self._drained.called:
            self._drained.callback(None)

    async def _run(self) -> None:
        while True:
            try:
                pause = await self._run_once()
            except StoreError as error:
                self._log.warn("{name}: {error}", name=self._name, error=str(error))
                self._stale, pause = True, STORE_RETRY_SECONDS
            if pause > 0:
                await self._pause_for(pause)

    async def _pause_for(self, seconds: float) -> None:
        self._wake_signal = Deferred()
        try:
            await wait_at_most(self._clock, seconds, self._wake_signal)
        finally:
            self._wake_signal = None

    async def _run_once(self) -> float:
        """Begin attempts, store results and claim more; return the seconds to pause."""
        await self._begin()
        entries = self._enter()
        if not entries and self._needs_query():
            entries = await self._query()
        if entries or self._results:
            await self._settle_and_claim(entries)
            return 0
        if self._drained is not None and not self._slots.occupied:
            self._clock.callLater(0, self._end_drain)  # later, because it cancels this loop
            return self._max_pause
        if self._needs_query() or self._can_begin():  # either may be new since _begin
            return 0
        return self._next_query_at - self._clock.seconds() if self._may_claim() else self._max_pause

    async def _begin(self) -> None:
        """Begin claimed attempts while there are places, and wait for results to share a transaction."""
        begun = 0
        while self._can_begin():
            self._attempts.start(self._name, self._run_claims())
            begun += 1
            if begun % STARTS_PER_TURN == 0:
                await deferLater(self._clock, 0)
        for _ in range(MAX_BATCHES):
            if not self._expects_results():
                break
            await deferLater(self._clock, BATCH_SECONDS)

    def _can_begin(self) -> bool:
        return bool(self._claims) and self._slots.has_place

    def _expects_results(self) -> bool:
        if len(self._claims) > self._slots.places // 2:
            return True
        recent = self._clock.seconds() < self._last_write_at + BATCH_SECONDS
        return recent and bool(self._results and self._slots.running)

    def _may_claim(self) -> bool:
        return not self._paused and self._slots.has_room

    def _needs_query(self) -> bool:
        return self._may_claim() and (self._stale or self._clock.seconds() >= self._next_query_at)

    async def _query(self) -> list[Slot]:
        """Enter slots for rows that are due; exclude hosts without a free slot until there are some."""
        full: set[str] = set()
        while True:
            self._stale, self._hosts_excluded = False, bool(full)
            due, next_due = await self._work.find_due(MAX_ROWS, full)
            first = int(self._offset() * len(due))
            self._due = [*due[first:], *due[:first]]
            pause = self._max_pause if next_due is None else min(next_due, self._max_pause)
            self._next_query_at = self._clock.seconds() + pause
            entries = self._enter()
            if len(due) < MAX_ROWS:
                return entries
            if entries or not self._may_claim():
                self._stale = True
                return entries
            full.update(row.host for row in due)

    def _enter(self) -> list[Slot]:
        """Enter slots for the rows of the last query."""
        if not self._may_claim():
            return []
        entries: list[Slot] = []
        skipped: list[Due] = []
        full_hosts: set[str] = set()
        rows = iter(self._due)
        for row in rows:
            slot = None if row.host in full_hosts else self._slots.try_enter(row)
            if slot is not None:
                entries.append(slot)
                if not self._may_claim():
                    break
            else:
                skipped.append(row)
                if self._slots.is_full(row.host):
                    full_hosts.add(row.host)
        self._due = [*skipped, *rows]
        return entries

    async def _settle_and_claim(self, entries: Sequence[Slot]) -> None:
        results, self._results = self._results, []
        self._last_write_at = self._clock.seconds()
        self._writing = True
        claims: Sequence[C] = ()
        try:
            claims = await self._work.settle_and_claim(results, [slot.due for slot in entries])
        except StoreError:
            self._results[:0] = results
            raise
        finally:
            self._writing = False
            slots = {slot.due.id: slot for slot in entries}
            self._claims.extend((claim, slots.pop(claim.id)) for claim in claims)
            for slot in slots.values():
                self._slots.leave(slot)
        if results:  # those rows may be due again
            self._stale = True
        if 2 * len(claims) < len(entries):  # another node has most of these rows
            self._due, self._stale = (), True
        if self._paused:
            self.pause()

    async def _run_claims(self) -> None:
        """Run claimed attempts, one after the other, while there is a place."""
        while self._can_begin():
            claim, slot = self._claims.popleft()
            if self._clock.seconds() > slot.entered_at + MAX_WAIT:
                self._release(claim, slot)
                continue
            self._slots.begin(slot)
            try:
                result = await self._work.run(claim, slot)
                self._results.append(result)  # a line of its own: run() may outlive the list
            except CancelledError:
                self._results.append(self._work.release(claim))
                raise
            finally:
                self._slots.leave(slot)
                self._end_pause()

    def _release(self, claim: C, slot: Slot) -> None:
        self._results.append(self._work.release(claim))
        self._slots.leave(slot)

    def _end_pause(self) -> None:
        if self._wake_signal is not None and not self._wake_signal.called:
            self._wake_signal.callback(None)
