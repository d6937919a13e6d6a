"""Attempts at callbacks, so many at a time, fairly over their hosts (H2, H8).

Verifications and deliveries have the same rhythm: look what is due, claim some of it, attempt, write
what came of it. ``Rounds`` is that rhythm. It keeps no queue: what it has looked up is a hint, a claim
is what counts, and whoever wakes it does not say why. Results and claims share a transaction, since
each one is a sync of the disk; while it is written, the attempts go on, and as many again are claimed
ahead, so that none of them waits for the disk.

A host, and an address network, may have so many attempts under way and no more; what is due beyond
that is passed over, and where it fills the look-up, the next one leaves such hosts out. So one host
with a thousand hanging callbacks delays nobody else.
"""

from collections import Counter, deque
from collections.abc import Collection, Sequence
from typing import Generic, Protocol, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from reviewsd.store.sqlite import StoreError
from reviewsd.store.intents import Due
from reviewsd.runtime.tasks import TaskSet

LOOK = 1_000
"""Rows that are looked up at once."""

STORE_PAUSE = 1.0
"""Seconds to the next try after the store has failed."""

MAX_PAUSE = 60.0
"""Seconds after which it looks again in any case: a wall clock may have jumped."""

SHARED_PAUSE = 1.0
"""The same where other nodes change what is due, and nobody tells."""

POSTPONED = 1_000
"""Milliseconds for which an attempt is put back that found its address network full (H8)."""

MAX_WAITING = 25.0
"""Seconds that a claim may wait; with the longest attempt it stays within its 90 s (D5)."""

LINGER = 0.005
"""Seconds between two turns while there is enough to do: results come together meanwhile."""

STARTS = 16
"""Attempts that begin in one turn of the reactor; to begin one takes 0.1 ms."""


class Claimed(Protocol):
    """What is claimed for an attempt."""

    @property
    def id(self) -> int:
        """The same as of what was due."""

    @property
    def host(self) -> str:
        """Of the callback."""


C = TypeVar("C", bound=Claimed)
R = TypeVar("R")


class Attempts(Protocol[C, R]):
    """What is attempted: where it comes from, what it is, and where its results go."""

    def keys(self, host: str) -> Collection[str]:
        """What an attempt at a callback host counts for: the host, its address network."""

    def room(self, key: str, due: Due) -> int:
        """How many attempts that count for this may be under way, so that this one may begin."""

    async def look(
        self, limit: int, without: Collection[str]
    ) -> tuple[Sequence[Due], float | None]:
        """What is due, and in how many seconds something else will be.

        Raises:
            StoreError: The store cannot say.
        """

    async def turn(self, results: Sequence[R], wanted: Sequence[Due]) -> Sequence[C]:
        """Write results, and claim what is wanted as far as it is still to be had.

        Raises:
            StoreError: Nothing was written.
        """

    async def attempt(self, claim: C) -> R:
        """Make one attempt."""

    def put_back(self, claim: C) -> R:
        """The result of a claim that was not attempted."""


class Rounds(Generic[C, R]):
    """Keeps attempts under way until it is stopped.

    Args:
        name: Of the attempts, for the log.
        clock: For its waits.
        attempts: What is attempted.
        concurrency: How many at the same time.
        max_pause: Seconds between two looks at most.
    """

    _log = Logger()

    def __init__(
        self,
        name: str,
        clock: IReactorTime,
        attempts: Attempts[C, R],
        concurrency: int,
        max_pause: float = MAX_PAUSE,
    ) -> None:
        self._name = name
        self._clock = clock
        self._attempts = attempts
        self._concurrency = concurrency
        self._max_pause = max_pause
        self._due: Sequence[Due] = ()
        self._results: list[R] = []
        self._waiting: deque[tuple[C, Collection[str], float]] = deque()
        self._claimed: set[int] = set()
        self._running = 0
        self._crowds = Counter[str]()
        self._stale = True  # whether something may be due that the last look-up did not show
        self._held = False
        self._again = 0.0  # when to look in any case, on the clock
        self._signal: Deferred[None] | None = None
        self._idle: Deferred[None] | None = None
        self._tasks = TaskSet()

    @property
    def underway(self) -> int:
        """How many attempts are being made."""
        return self._running

    def start(self) -> None:
        """Begin, with what is due by now."""
        self._tasks.start(self._name, self._run())

    def wake(self) -> None:
        """Something may have become due."""
        self._stale = True
        self._stir()

    def hold(self) -> None:
        """Begin no more attempts; those under way end as ever."""
        self._held = True
        while self._waiting:
            claim, place, _ = self._waiting.popleft()
            self._put_back(claim, place)
        self._stir()

    def release(self) -> None:
        """Begin attempts again."""
        self._held = False
        self.wake()

    async def stop(self, seconds: float) -> None:
        """Let what is under way end, but not longer than that; the rest is attempted again."""
        self.hold()
        if self._claimed or self._results:
            self._idle = Deferred()
            deadline = self._clock.callLater(seconds, self._end)
            self._stir()
            await self._idle
            self._idle = None
            if deadline.active():
                deadline.cancel()
        await self._tasks.stop()

    def _end(self) -> None:
        if self._idle is not None and not self._idle.called:
            self._idle.callback(None)

    async def _run(self) -> None:
        while True:
            try:
                pause = await self._round()
            except StoreError as error:
                self._log.warn("{name}: {error}", name=self._name, error=str(error))
                self._stale, pause = True, STORE_PAUSE
            if pause > 0:
                await self._sleep(pause)

    async def _round(self) -> float:
        """Look, if need be, and take one turn; returns the seconds to wait then."""
        await self._begin()
        wanted = self._pick()
        if not wanted and self._must_look():
            wanted = await self._look()
        if not (wanted or self._results):
            if self._idle is not None and not self._claimed:
                self._clock.callLater(0, self._end)  # who runs cannot be cancelled
            return 0 if self._must_look() else self._rest()
        results, self._results = self._results, []
        claims: Sequence[C] = ()
        try:
            claims = await self._attempts.turn(results, list(wanted))
        except StoreError:
            self._results[:0] = results
            raise
        finally:
            for each, place in wanted.items():
                self._leave(each.id, place)
        if results:  # they are due again by now or later, or have made room
            self._stale = True
        until = self._clock.seconds() + MAX_WAITING
        self._waiting.extend((claim, self._enter(claim.id, claim.host), until) for claim in claims)
        if self._held:  # meanwhile
            self.hold()
        return 0

    async def _begin(self) -> None:
        """Attempt what waits, as far as there is room."""
        began = 0
        while self._waiting and self._running < self._concurrency:
            self._running += 1
            self._tasks.start(self._name, self._work())
            began += 1
            if began % STARTS == 0:
                await deferLater(self._clock, 0)
        if len(self._waiting) > self._concurrency // 2:
            await deferLater(self._clock, LINGER)

    def _must_look(self) -> bool:
        return self._free() and (self._stale or self._clock.seconds() >= self._again)

    def _free(self) -> bool:
        return not self._held and len(self._claimed) < 2 * self._concurrency

    def _rest(self) -> float:
        """The seconds until it must look again; who makes it free wakes it."""
        return self._again - self._clock.seconds() if self._free() else self._max_pause

    async def _look(self) -> dict[Due, Collection[str]]:
        """Look, past all hosts that have no room, for something that has; and pick."""
        full: set[str] = set()
        while True:
            self._stale = False
            self._due, following = await self._attempts.look(LOOK, full)
            longest = self._max_pause
            pause = longest if following is None else min(following, longest)
            self._again = self._clock.seconds() + pause
            filled = len(self._due) == LOOK
            wanted = self._pick()
            if wanted and filled:
                self._stale = True
            if wanted or not (filled and self._free()):
                return wanted
            full.update(each.host for each in self._due)

    def _pick(self) -> dict[Due, Collection[str]]:
        """Take from what is due what there is room for; with the places that it takes."""
        wanted: dict[Due, Collection[str]] = {}
        if self._held:
            return wanted
        passed_over: list[Due] = []
        room = 2 * self._concurrency - len(self._claimed)
        for at, each in enumerate(self._due):
            if room == len(wanted):
                passed_over.extend(self._due[at:])
                break
            if each.id in self._claimed:  # the clock jumped past its claim
                continue
            if self._fits(each):
                wanted[each] = self._enter(each.id, each.host)
            else:
                passed_over.append(each)
        self._due = passed_over
        return wanted

    async def _work(self) -> None:
        """Make attempts, one after the other, for as long as claims are waiting."""
        try:
            while self._waiting:
                claim, place, until = self._waiting.popleft()
                if self._clock.seconds() > until:
                    self._put_back(claim, place)
                    continue
                try:
                    result = await self._attempts.attempt(claim)
                    self._results.append(result)  # not in one line: meanwhile it is another list
                finally:
                    self._leave(claim.id, place)
                    self._stir()
        finally:
            self._running -= 1

    def _put_back(self, claim: C, place: Collection[str]) -> None:
        self._results.append(self._attempts.put_back(claim))
        self._leave(claim.id, place)

    def _fits(self, due: Due) -> bool:
        attempts = self._attempts
        return all(self._crowds[key] < attempts.room(key, due) for key in attempts.keys(due.host))

    def _enter(self, number: int, host: str) -> Collection[str]:
        """Take a place; what it counts for is kept, since it may be another when it is left."""
        place = self._attempts.keys(host)
        self._claimed.add(number)
        self._crowds.update(place)
        return place

    def _leave(self, number: int, place: Collection[str]) -> None:
        self._claimed.discard(number)
        for key in place:
            self._crowds[key] -= 1
            if not self._crowds[key]:
                del self._crowds[key]

    async def _sleep(self, seconds: float) -> None:
        self._signal = Deferred()
        timer = self._clock.callLater(seconds, self._stir)
        try:
            await self._signal
        finally:
            self._signal = None
            if timer.active():
                timer.cancel()

    def _stir(self) -> None:
        if self._signal is not None and not self._signal.called:
            self._signal.callback(None)
