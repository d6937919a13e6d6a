"""Attempts at callbacks, so many at a time, fairly over their hosts (H2, H8).

Verifications and deliveries have the same rhythm: look what is due, claim some of it, attempt, write
what came of it. ``Scheduler`` is that rhythm. It keeps no queue: what it has looked up is a hint, a claim
is what counts, and whoever wakes it does not say why. Results and claims share a transaction, since
each one is a sync of the disk; while it is written, the attempts go on, and as many again are claimed
ahead, so that none of them waits for the disk.

A host, and an address network, may have so many attempts under way and no more; what is due beyond
that is passed over, and where it fills the look-up, the next one leaves such hosts out. So one host
with a thousand hanging callbacks delays nobody else; nor do many hosts, since an attempt that is idle
leaves its place to another (``places``).

Nodes that share a store look at the same rows. Did all of them begin with those that wait longest, one
would get its claims and the others none; so each begins somewhere else (``from_anywhere``).
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from reviewsd.runtime.tasks import TaskSet
from reviewsd.store.intents import Due
from reviewsd.store.transactions import StoreError
from reviewsd.websub.places import Places
from reviewsd.websub.scheduled_work import Attempts, C, R

LOOK = 1_000
"""Rows that are looked up at once."""

STORE_PAUSE = 1.0
"""Seconds to the next try after the store has failed."""

MAX_PAUSE = 60.0
"""Seconds after which it looks again in any case: a wall clock may have jumped."""

SHARED_PAUSE = 10.0
"""The same where other nodes may have died with what they had claimed."""

MAX_WAITING = 25.0
"""Seconds that a claim may wait; with the longest attempt it stays within its 90 s (D5)."""

BATCH_WINDOW = 0.005
"""Seconds, so many times at most, between two turns while there is enough to do.

Results come together meanwhile; each turn is a transaction, which costs as much as several deliveries.
"""

BATCH_WINDOWS = 5

STARTS = 16
"""Attempts that begin in one turn of the reactor; to begin one takes 0.1 ms."""

RELEASE_SECONDS = 2.0
"""What the store may take, at the end, to let go of claims."""

_Keys = tuple[Collection[str], Collection[str]]
"""What an attempt counts for, and what until it is idle."""


Order = Callable[[Sequence[Due]], Sequence[Due]]
"""In which order what was looked up is claimed."""


def longest_first(due: Sequence[Due]) -> Sequence[Due]:
    """The order in which it is looked up."""
    return due


def from_anywhere(chance: Callable[[], float]) -> Order:
    """The same order, from anywhere on: so that nodes which look at the same rows claim others.

    Args:
        chance: A number from 0 to 1, another one each time.
    """

    def order(due: Sequence[Due]) -> Sequence[Due]:
        start = int(chance() * len(due))
        return [*due[start:], *due[:start]]

    return order


@dataclass(slots=True, eq=False)
class _Claim(Generic[C]):
    """A claim of this process."""

    claim: C
    keys: _Keys
    """Kept, since they may be others when it is let go of."""
    since: float


class Scheduler(Generic[C, R]):
    """Keeps attempts under way until it is stopped.

    Args:
        name: Of the attempts, for the log.
        clock: For its waits.
        attempts: What is attempted.
        concurrency: How many at the same time, beside those that are idle.
        max_pause: Seconds between two looks at most.
        order: In which what is due is claimed.
    """

    _log = Logger()

    def __init__(
        self,
        name: str,
        clock: IReactorTime,
        attempts: Attempts[C, R],
        concurrency: int,
        max_pause: float = MAX_PAUSE,
        order: Order = longest_first,
    ) -> None:
        self._name = name
        self._clock = clock
        self._attempts = attempts
        self._max_pause = max_pause
        self._order = order
        self._places: Places[_Claim[C]] = Places(
            clock, concurrency, self._is_busy, self._is_idle, self.freed
        )
        self._due: Sequence[Due] = ()
        self._results: list[R] = []
        self._waiting: deque[_Claim[C]] = deque()
        self._claimed: set[int] = set()
        self._under_way = Counter[str]()
        self._stale = True  # whether something may be due that the last look-up did not show
        self._left_out = False  # whether the last look-up left out hosts that had no room
        self._paused = False
        self._again = 0.0  # when to look in any case, on the clock
        self._turned = 0.0  # when the last turn was taken, on the clock
        self._signal: Deferred[None] | None = None
        self._idle: Deferred[None] | None = None
        self._writing = False
        self._loop = TaskSet()
        self._tasks = TaskSet()

    @property
    def underway(self) -> int:
        """How many attempts are being made."""
        return self._places.underway

    def start(self) -> None:
        """Begin, with what is due by now."""
        self._loop.start(self._name, self._run())

    def wake(self) -> None:
        """Something may have become due."""
        self._stale = True
        self._wake_up()

    def freed(self) -> None:
        """There is room again for what was passed over, in all or in an address network."""
        self._stale = self._stale or self._left_out
        self._wake_up()

    def pause(self) -> None:
        """Begin no more attempts; those under way end as ever."""
        self._paused = True
        while self._waiting:
            self._put_back(self._waiting.popleft())
        self._wake_up()

    def release(self) -> None:
        """Begin attempts again."""
        self._paused = False
        self.wake()

    async def stop(self, seconds: float) -> None:
        """Let what is under way end, but not longer than that; the rest is attempted again."""
        self.pause()
        await self._wait_until_idle(seconds)
        await self._tasks.stop()
        await self._wait_until_idle(
            RELEASE_SECONDS
        )  # a claim that is left means a death (``claims``)
        await self._loop.stop()
        self._places.stop()

    async def _wait_until_idle(self, seconds: float) -> None:
        """Wait until nothing is claimed and all results are written, but not longer than that."""
        if not (self._claimed or self._results or self._writing):
            return
        self._idle = Deferred()
        deadline = self._clock.callLater(seconds, self._end)
        self._wake_up()
        await self._idle
        self._idle = None
        if deadline.active():
            deadline.cancel()

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
        self._turned = self._clock.seconds()
        self._writing = True
        claims: Sequence[C] = ()
        try:
            claims = await self._attempts.turn(results, [each for each, _ in wanted])
        except StoreError:
            self._results[:0] = results
            raise
        finally:
            self._writing = False
            taken = {claim.id: claim for claim in claims}
            now = self._clock.seconds()
            for each, keys in wanted:
                if each.id in taken:
                    self._waiting.append(_Claim(taken[each.id], keys, now))
                else:
                    self._let_go(each.id, keys)
        if results:  # they are due again by now or later, or have made room
            self._stale = True
        if 2 * len(claims) < len(wanted):  # others have had them, and so the most of what follows
            self._due, self._stale = (), True
        if self._paused:  # meanwhile
            self.pause()
        return 0

    async def _begin(self) -> None:
        """Attempt what waits, as far as there is room."""
        began = 0
        while self._waiting and self._places.free:
            self._tasks.start(self._name, self._work())
            began += 1
            if began % STARTS == 0:
                await deferLater(self._clock, 0)
        for _ in range(BATCH_WINDOWS):
            if not self._has_more():
                break
            await deferLater(self._clock, BATCH_WINDOW)

    def _has_more(self) -> bool:
        """Whether results that come together soon are worth waiting for."""
        if len(self._waiting) > self._places.count // 2:
            return True
        recent = self._clock.seconds() < self._turned + BATCH_WINDOW
        return recent and bool(self._results and self._places.underway)

    def _must_look(self) -> bool:
        return self._free() and (self._stale or self._clock.seconds() >= self._again)

    def _free(self) -> bool:
        return not self._paused and self._ahead() > 0

    def _ahead(self) -> int:
        """How much more may be claimed: as much again as there are places may wait for one."""
        return 2 * self._places.count - (len(self._claimed) - self._places.idle)

    def _rest(self) -> float:
        """The seconds until it must look again; who makes it free wakes it."""
        return self._again - self._clock.seconds() if self._free() else self._max_pause

    async def _look(self) -> list[tuple[Due, _Keys]]:
        """Look, past all hosts that have no room, for something that has; and pick."""
        full: set[str] = set()
        while True:
            self._stale, self._left_out = False, bool(full)
            found, following = await self._attempts.look(LOOK, full)
            self._due = self._order(found)
            longest = self._max_pause
            pause = longest if following is None else min(following, longest)
            self._again = self._clock.seconds() + pause
            filled = len(found) == LOOK
            wanted = self._pick()
            if wanted and filled:
                self._stale = True
            if wanted or not (filled and self._free()):
                return wanted
            full.update(each.host for each in found)

    def _pick(self) -> list[tuple[Due, _Keys]]:
        """Take from what is due what there is room for; with all that it counts for."""
        wanted: list[tuple[Due, _Keys]] = []
        if self._paused:
            return wanted
        passed_over: list[Due] = []
        full: set[tuple[str, bool]] = set()
        room = self._ahead()
        for at, each in enumerate(self._due):
            if room <= len(wanted):
                passed_over.extend(self._due[at:])
                break
            if each.id in self._claimed:  # the clock jumped past its claim
                continue
            if full and (each.host, each.active) in full:
                passed_over.append(each)
                continue
            keys = self._attempts.keys(each), self._attempts.keys_while_busy(each)
            short = self._short_of(each, keys)
            if short is None:
                wanted.append((each, keys))
                self._claimed.add(each.id)
                self._under_way.update(chain(*keys))
                continue
            passed_over.append(each)
            if short == 0:  # the others at this host need not be asked for
                full.add((each.host, each.active))
        self._due = passed_over
        return wanted

    async def _work(self) -> None:
        """Make attempts, one after the other, for as long as claims are waiting."""
        while self._waiting and self._places.free:
            claimed = self._waiting.popleft()
            if self._clock.seconds() > claimed.since + MAX_WAITING:
                self._put_back(claimed)
                continue
            self._places.enter(claimed)
            try:
                result = await self._attempts.attempt(claimed.claim)
                self._results.append(result)  # not in one line: meanwhile it is another list
            except CancelledError:
                self._results.append(self._attempts.release(claimed.claim))
                raise
            finally:
                self._places.leave(claimed)
                self._let_go(claimed.claim.id, claimed.keys)
                self._wake_up()

    def _put_back(self, claimed: _Claim[C]) -> None:
        self._results.append(self._attempts.release(claimed.claim))
        self._let_go(claimed.claim.id, claimed.keys)

    def _is_busy(self, claimed: _Claim[C]) -> bool:
        return self._attempts.is_busy(claimed.claim)

    def _is_idle(self, claimed: _Claim[C]) -> None:
        keys, busy_keys = claimed.keys
        claimed.keys = keys, ()
        self._uncount(busy_keys)

    def _short_of(self, due: Due, keys: _Keys) -> int | None:
        """Which of the keys has no room left; None if each of them has."""
        for at, key in enumerate(chain(*keys)):
            if self._under_way[key] >= self._attempts.room(key, due):
                return at
        return None

    def _let_go(self, number: int, keys: _Keys) -> None:
        self._claimed.discard(number)
        self._uncount(chain(*keys))

    def _uncount(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._under_way[key] -= 1
            if not self._under_way[key]:
                del self._under_way[key]

    async def _sleep(self, seconds: float) -> None:
        self._signal = Deferred()
        timer = self._clock.callLater(seconds, self._wake_up)
        try:
            await self._signal
        finally:
            self._signal = None
            if timer.active():
                timer.cancel()

    def _wake_up(self) -> None:
        if self._signal is not None and not self._signal.called:
            self._signal.callback(None)
