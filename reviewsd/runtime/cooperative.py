"""Shares the reactor's time for computed answers among the clients that ask for them.

An answer that has to be computed (a search, an MCP message) is a generator of short steps. All of them
together get a few milliseconds in each turn of the reactor, so that connections are read, and documents
and health checks answered, however much is asked for.

What is short is computed at once, as long as nothing waits and the turn has time left: no Deferred, no
delayed call. All else waits in the queue of its client, and groups of clients take turns (deficit round
robin, Shreedhar and Varghese 1995): each has a slice of time, and what its last step took beyond that is
taken off its next slice. So 128 connections of one client delay another client as little as one does; nor
do 128 clients, where they are one group: somebody with a /48 has 65,536 of them. Within a group clients
take turns, and within a client its pieces of work: an address may be that of many people.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Generator
from time import perf_counter
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime

TURN_SECONDS = 0.004
"""Of computed work in a turn of the reactor; the last step may take it beyond that."""

SLICE_SECONDS = 0.002
"""Of one group of clients, before the next has its turn."""

FEW = 8
"""A group with more pieces of work than this gets short slices: who asks for one thing at a time
and waits for it is then delayed less than twofold by one that floods."""

SHORT_SLICE_SECONDS = SLICE_SECONDS / 4

MAX_WAITING = 256
"""Pieces of work of one client; as many as it may have connections (S4)."""

RETRY_SOON = (b"Retry-After", b"5")
"""The header field for whom is refused because of what others do, or the client itself does, now."""

_UNCOUNTED = TURN_SECONDS / 4
"""Seconds of work done at once that may be forgotten, so that a short search needs no delayed call."""

Steps = Generator[None, None, Any]
T = TypeVar("T")


class QueueFullError(Exception):
    """The client has as much work waiting as it may have."""


class _Job:
    """One piece of work, and who waits for it."""

    __slots__ = ("done", "steps")

    def __init__(self, steps: Steps, done: "Deferred[Any]") -> None:
        self.steps = steps
        self.done = done


class _Group:
    """The queues of clients that take turns together."""

    __slots__ = ("clients", "left", "waiting")

    def __init__(self) -> None:
        self.clients: OrderedDict[str, deque[_Job]] = OrderedDict()
        self.waiting = 0  # pieces of work of all of them
        self.left = SLICE_SECONDS  # of its slice; below 0: what it has had too much

    def add(self, client: str, job: _Job) -> None:
        """Wait behind what the client has waiting.

        Raises:
            QueueFullError: That is as much as it may have.
        """
        jobs = self.clients.setdefault(client, deque())
        if len(jobs) >= MAX_WAITING:
            raise QueueFullError(client)
        jobs.append(job)
        self.waiting += 1

    def remove(self, client: str, job: _Job) -> None:
        """Forget a job that is done or cancelled."""
        jobs = self.clients[client]
        jobs.remove(job)
        self.waiting -= 1
        if not jobs:
            del self.clients[client]

    def renew(self) -> None:
        """Begin the next slice, with the next client and another piece of its work."""
        self.left += SLICE_SECONDS if self.waiting <= FEW else SHORT_SLICE_SECONDS
        name, jobs = next(iter(self.clients.items()))
        jobs.rotate(-1)
        self.clients.move_to_end(name)


class CooperativeScheduler:
    """Runs computed work in steps.

    Args:
        clock: Its ``callLater(0)`` is the next turn of the reactor.
        timer: Seconds, to measure steps by.
        group: The group of a client; each is one of its own where nothing else is said.
    """

    def __init__(
        self,
        clock: IReactorTime,
        timer: Callable[[], float] = perf_counter,
        group: Callable[[str], str] = str,
    ) -> None:
        self._clock = clock
        self._timer = timer
        self._group_of = group
        self._groups: OrderedDict[str, _Group] = OrderedDict()
        self._spent = 0.0  # seconds in this turn
        self._running = False
        self._next_turn: IDelayedCall | None = None

    @property
    def waiting(self) -> int:
        """Pieces of work that are begun or waiting."""
        return sum(group.waiting for group in self._groups.values())

    def run(self, steps: Generator[None, None, T], client: Callable[[], str]) -> "T | Deferred[T]":
        """Run a generator to its end.

        Args:
            steps: The work; each step takes 1 to 2 ms at most.
            client: Tells for whom; called only where the work has to wait.

        Returns:
            The generator's result, or a Deferred of it. Cancelling that drops the work.

        Raises:
            QueueFullError: The client has too much waiting already.
            Exception: What the work raised before it had to wait.
        """
        if not self._groups and not self._running and self._spent < TURN_SECONDS:
            began = self._timer()
            end = began + TURN_SECONDS - self._spent
            try:
                while True:
                    next(steps)
                    if self._timer() >= end:
                        break
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            finally:
                self._spent += self._timer() - began
                if self._spent > _UNCOUNTED:
                    self._wake()
        return self._put_in_line(steps, client())

    def _put_in_line(self, steps: Steps, client: str) -> "Deferred[Any]":
        name = self._group_of(client)
        group = self._groups.setdefault(name, _Group())

        def drop(_: object) -> None:
            self._remove(name, group, client, job)
            steps.close()

        job = _Job(steps, Deferred(drop))
        group.add(client, job)
        self._wake()
        return job.done

    def _remove(self, name: str, group: _Group, client: str, job: _Job) -> None:
        group.remove(client, job)
        if not group.waiting:
            del self._groups[name]

    def _wake(self) -> None:
        if self._next_turn is None and not self._running:
            self._next_turn = self._clock.callLater(0, self._turn)

    def _turn(self) -> None:
        """One turn of the reactor."""
        self._next_turn = None
        began = before = self._timer()
        self._running = True
        try:
            while self._groups and before - began < TURN_SECONDS:
                name, group = next(iter(self._groups.items()))
                if group.left > 0:
                    self._step(name, group)
                    now = self._timer()
                    group.left -= now - before
                    before = now
                else:
                    group.renew()
                    self._groups.move_to_end(name)
        finally:
            self._running = False
            self._spent = before - began
            if self._groups or self._spent > _UNCOUNTED:
                self._wake()

    def _step(self, name: str, group: _Group) -> None:
        """One step of the work that is first in a group."""
        client, jobs = next(iter(group.clients.items()))
        job = jobs[0]
        try:
            next(job.steps)
        except StopIteration as end:
            self._remove(name, group, client, job)
            job.done.callback(end.value)
        except Exception:  # noqa: BLE001 - whoever waits is told, and logs it where it is a bug
            self._remove(name, group, client, job)
            job.done.errback()
