"""Shares the reactor's time for computed responses among clients.

A computed response (a search, an MCP message) is a generator of short steps. All generators together get a
few milliseconds in each turn of the reactor (``runtime.turn_queue``), so that documents and health checks are
answered in between.

Short work runs at once while nothing waits and the turn has time left: it needs no Deferred and no delayed
call. Other work waits in the queue of its client, and groups of clients take turns (deficit round robin,
Shreedhar and Varghese 1995): each has a slice of time, and a step that exceeds it shortens the next slice.
So 128 connections of one client delay another client as little as one connection does. The same holds for
128 clients of one group, because one /48 has 65,536 client networks. Within a group clients take turns, and
within a client its jobs, because many people may share an address.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime

from reviewsd.runtime.turn_queue import TurnQueue

TURN_SECONDS = 0.004
"""Time for computed work in a turn of the reactor; the last step may exceed it."""

SLICE_SECONDS = 0.002
"""Time of one group of clients before the turn of the next."""

FEW = 8
"""A group with more jobs than this gets short slices. A client with one job at a time then waits less
than twice as long beside a client that floods."""

SHORT_SLICE_SECONDS = SLICE_SECONDS / 4

MAX_WAITING = 256
"""Jobs of one client; as many as it may have connections (S4)."""

RETRY_SOON = (b"Retry-After", b"5")
"""The header field of a refusal that depends only on the load of the moment."""

_UNCOUNTED = TURN_SECONDS / 4
"""Seconds of work in a turn that need not be counted, so that a short search needs no delayed call."""

Steps = Generator[None, None, Any]
T = TypeVar("T")


class QueueFullError(Exception):
    """The client has the most jobs that may wait."""


class _Job:
    """A generator, and the Deferred of its result."""

    __slots__ = ("done", "steps")

    def __init__(self, steps: Steps, done: "Deferred[Any]") -> None:
        self.steps = steps
        self.done = done


class _Group:
    """The queues of clients that take turns together.

    Args:
        name: The name of the group.
        run_slice: Runs steps of a group for the time of its slice.
    """

    __slots__ = ("clients", "name", "run_slice", "seconds_left", "waiting")

    def __init__(self, name: str, run_slice: Callable[["_Group"], None]) -> None:
        self.name = name
        self.run_slice = partial(run_slice, self)
        self.clients: OrderedDict[str, deque[_Job]] = OrderedDict()
        self.waiting = 0  # jobs of all clients
        self.seconds_left = SLICE_SECONDS  # of the slice; negative after a step that exceeded it

    def add(self, client: str, job: _Job) -> None:
        """Queue a job behind those of its client.

        Raises:
            QueueFullError: The client has too many jobs.
        """
        jobs = self.clients.setdefault(client, deque())
        if len(jobs) >= MAX_WAITING:
            raise QueueFullError(client)
        jobs.append(job)
        self.waiting += 1

    def remove(self, client: str, job: _Job) -> None:
        """Remove a job that is finished or cancelled."""
        jobs = self.clients[client]
        jobs.remove(job)
        self.waiting -= 1
        if not jobs:
            del self.clients[client]

    def renew(self) -> None:
        """Start the next slice, with another client and another of its jobs."""
        self.seconds_left += SLICE_SECONDS if self.waiting <= FEW else SHORT_SLICE_SECONDS
        name, jobs = next(iter(self.clients.items()))
        jobs.rotate(-1)
        self.clients.move_to_end(name)


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

    def _enqueue(self, steps: Steps, client: str) -> "Deferred[Any]":
        name = self._group_of(client)
        group = self._groups.setdefault(name, _Group(name, self._run_slice))

        def drop(_: object) -> None:
            self._remove(group, client, job)
            steps.close()

        job = _Job(steps, Deferred(drop))
        group.add(client, job)
        self._turns.add(group.run_slice)
        return job.done

    def _remove(self, group: _Group, client: str, job: _Job) -> None:
        group.remove(client, job)
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
        if group.seconds_left <= 0:
            group.renew()

    def _step(self, group: _Group) -> None:
        """Run one step of the first job of a group."""
        client, jobs = next(iter(group.clients.items()))
        job = jobs[0]
        began = self._clock.seconds()
        try:
            next(job.steps)
        except StopIteration as end:
            self._remove(group, client, job)
            job.done.callback(end.value)
        except Exception:  # noqa: BLE001 - raised to the caller, which logs it
            self._remove(group, client, job)
            job.done.errback()
        seconds = self._clock.seconds() - began
        group.seconds_left -= seconds
        self._spend(seconds)
