"""Shares the turns of the reactor among kinds of work, and computed responses among clients.

Reads must not wait for other work. A TLS handshake takes a third of a millisecond: when 64 connections are
ready at the same time, Twisted would serve all of them first, which would delay each GET by 25 ms. A client
that pipelines may have thousands of requests. A ``TurnQueue`` gives such work a few milliseconds of each turn.

A computed response (a search, an MCP message) is a generator of short steps, which the
``CooperativeScheduler`` runs. Short work runs at once while nothing waits and the turn has time left: it
needs no Deferred and no delayed call. Other work waits in the queue of its client, and groups of clients
take turns (deficit round robin, Shreedhar and Varghese 1995): each has a slice of time, and a step that
exceeds it shortens the next slice. So 128 connections of one client, or 128 clients of one /48, delay
another client as little as one connection does. Within a group clients take turns, and within a client
its jobs, because many people may share an address.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime

PORTION_SECONDS = 0.001  # time of a ``TurnQueue`` in a turn of the reactor
TURN_SECONDS = 0.004  # time for computed work in a turn of the reactor; the last step may exceed it
SLICE_SECONDS = 0.002  # time of one group of clients before the turn of the next

FEW = 8
"""A group with more jobs than this gets short slices. A client with one job at a time then waits less
than twice as long beside a client that floods."""

MAX_WAITING = 256  # jobs of one client; as many as it may have connections (S4)

_SHORT_SLICE_SECONDS = SLICE_SECONDS / 4

_UNCOUNTED = TURN_SECONDS / 4
"""Seconds of work in a turn that need not be counted, so that a short search needs no delayed call."""

T = TypeVar("T")
_Job = tuple[Generator[None, None, Any], Deferred[Any]]


class QueueFullError(Exception):
    """The client has the most jobs that may wait."""


class TurnQueue:
    """Calls functions in order, a portion in each turn of the reactor.

    Args:
        clock: Schedules the turns, and measures them.
        portion: Seconds of each turn; the last call may exceed them.
    """

    def __init__(self, clock: IReactorTime, portion: float = PORTION_SECONDS) -> None:
        self._clock = clock
        self._portion = portion
        self._queue: dict[Callable[[], None], None] = {}
        self._next_turn: IDelayedCall | None = None
        self._running = False

    @property
    def busy(self) -> bool:
        """Whether a function waits or runs."""
        return self._running or bool(self._queue)

    def add(self, function: Callable[[], None]) -> None:
        """Call a function in one of the next turns; one that waits already keeps its place."""
        self._queue[function] = None
        self._schedule()

    def remove(self, function: Callable[[], None]) -> None:
        """Remove a function, if it waits; an empty queue has no next turn."""
        self._queue.pop(function, None)
        if not self._queue and self._next_turn is not None:
            self._next_turn.cancel()
            self._next_turn = None

    def _schedule(self) -> None:
        if self._queue and self._next_turn is None and not self._running:
            self._next_turn = self._clock.callLater(0, self._run)

    def _run(self) -> None:
        self._next_turn, self._running = None, True
        end = self._clock.seconds() + self._portion
        try:
            while self._queue:
                function = next(iter(self._queue))
                del self._queue[function]
                function()
                if self._clock.seconds() >= end:
                    return
        finally:
            self._running = False
            self._schedule()


class _Group:
    """The jobs of clients that take turns together."""

    __slots__ = ("jobs", "name", "run_slice", "seconds_left", "waiting")

    def __init__(self, name: str, run_slice: "Callable[[_Group], None]") -> None:
        self.name = name
        self.run_slice = partial(run_slice, self)
        self.jobs: OrderedDict[str, deque[_Job]] = OrderedDict()  # by client
        self.waiting = 0  # jobs of all clients
        self.seconds_left = SLICE_SECONDS  # of the slice; negative after a step that exceeded it


class CooperativeScheduler:
    """Runs generators step by step.

    Args:
        clock: Schedules the turns, and measures the steps.
        group: Returns the group of a client; by default each client is its own.
    """

    def __init__(self, clock: IReactorTime, group: Callable[[str], str] = str) -> None:
        self._clock = clock
        self._group_of = group
        self._groups: dict[str, _Group] = {}
        self._turns = TurnQueue(clock, TURN_SECONDS)
        self._spent = 0.0  # seconds in this turn of the reactor
        self._turn_ends = False

    @property
    def waiting(self) -> int:
        """Jobs that have not ended."""
        return sum(group.waiting for group in self._groups.values())

    def run(self, steps: Generator[None, None, T], client: Callable[[], str]) -> "T | Deferred[T]":
        """Run a generator to its end.

        Args:
            steps: The generator; each step takes at most 1 to 2 ms.
            client: Returns the client; called only if the work must wait.

        Returns:
            The generator's result, or a Deferred of it. Cancelling it drops the work.

        Raises:
            QueueFullError: The client has too many jobs.
            Exception: The work failed before it had to wait.
        """
        if not self._turns.busy and self._spent < TURN_SECONDS:
            began = self._clock.seconds()
            end = began + TURN_SECONDS - self._spent
            try:
                while True:
                    next(steps)
                    if self._clock.seconds() >= end:
                        break
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            finally:
                self._spend(self._clock.seconds() - began)
        return self._enqueue(steps, client())

    def _spend(self, seconds: float) -> None:
        self._spent += seconds
        if self._spent > _UNCOUNTED and not self._turn_ends:
            self._turn_ends = True
            self._clock.callLater(0, self._begin_turn)

    def _begin_turn(self) -> None:
        self._spent, self._turn_ends = 0.0, False

    def _enqueue(self, steps: Generator[None, None, T], client: str) -> "Deferred[T]":
        name = self._group_of(client)
        group = self._groups.setdefault(name, _Group(name, self._run_slice))
        jobs = group.jobs.setdefault(client, deque())
        if len(jobs) >= MAX_WAITING:
            raise QueueFullError(client)

        def drop(_: object) -> None:
            self._remove(group, client, job)
            steps.close()

        done: Deferred[T] = Deferred(drop)
        job = (steps, done)
        jobs.append(job)
        group.waiting += 1
        self._turns.add(group.run_slice)
        return done

    def _remove(self, group: _Group, client: str, job: _Job) -> None:
        jobs = group.jobs[client]
        jobs.remove(job)
        if not jobs:
            del group.jobs[client]
        group.waiting -= 1
        if not group.waiting:
            del self._groups[group.name]
            self._turns.remove(group.run_slice)

    def _run_slice(self, group: _Group) -> None:
        """Run steps of a group for the rest of its slice, or of the turn."""
        self._turns.add(group.run_slice)
        while group.seconds_left > 0:
            self._step(group)
            if not group.waiting:
                return
            if self._spent >= TURN_SECONDS:
                break
        if group.seconds_left <= 0:  # the next slice begins with another client and job
            group.seconds_left += SLICE_SECONDS if group.waiting <= FEW else _SHORT_SLICE_SECONDS
            client, jobs = group.jobs.popitem(last=False)
            jobs.rotate(-1)
            group.jobs[client] = jobs

    def _step(self, group: _Group) -> None:
        """Run one step of the first job of a group."""
        client, jobs = next(iter(group.jobs.items()))
        steps, done = job = jobs[0]
        began = self._clock.seconds()
        try:
            next(steps)
        except StopIteration as end:
            self._remove(group, client, job)
            done.callback(end.value)
        except Exception:  # noqa: BLE001 - raised to the caller, which logs it
            self._remove(group, client, job)
            done.errback()
        seconds = self._clock.seconds() - began
        group.seconds_left -= seconds
        self._spend(seconds)
