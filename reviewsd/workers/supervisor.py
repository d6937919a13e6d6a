"""The processes that answer beside the main one, when ``workers`` is 2 or more (performance.md 2.9).

    main process -- spawns --> nursery -- forks --> readers
         |                                             |
         +------------------- links -------------------+

The main process does all that there must be one of: it publishes, it is the hub, it stores what has
ended, it hears the operator and systemd. It listens, so that an address that cannot be had is known
before READY=1, but takes no connection: the readers do, on the same sockets. What they must not answer
they give back, connection and all (``web.handover``). Everybody maps the same snapshot, which readers
find by its link: an order to look is only a signal.

The nursery has everything imported and does nothing but fork. So readers share the memory of the
program, and a dead one is replaced in hundredths of a second, also on a machine that is busy. It is a
process of its own because only one without threads may fork.

A link ends with either of its processes. So the main process needs no other sign of a reader's death,
and no process outlives the main one, whatever ends it.
"""

import os
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import assert_never

from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.posixbase import PosixReactorBase
from twisted.logger import Logger

from reviewsd.workers.supervisor.ipc import Link, pair
from reviewsd.workers.messages import (
    Begin,
    Count,
    Counted,
    Done,
    Drain,
    Ended,
    Listen,
    Look,
    Order,
    Ready,
    encode,
    read_told,
)
from reviewsd.workers.supervisor.fork_server import COMMAND, Deaths, Nursery
from reviewsd.runtime.state_dir import StartError
from reviewsd.runtime.counters import Counts, Ledger
from reviewsd.workers.supervisor.handoff import Handed

ANSWER_SECONDS = 1.0
"""That are waited for readers to answer; one that is so busy is passed over."""


@dataclass(frozen=True, slots=True)
class Life:
    """A process as the operator sees it."""

    pid: int
    started_at: float
    """POSIX seconds."""
    restarts: int
    """How many others it has replaced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """What the workers need from the rest of the main process."""

    listeners: Sequence[tuple[str, int]]
    """The endpoints, and the descriptors of the sockets, that readers take connections from."""
    begin: Callable[[], Begin]
    """The first order for a new reader."""
    take: Callable[[Handed, int | None], None]
    """Goes on with a connection that a reader gives."""
    now: Callable[[], float]
    """POSIX seconds."""
    patience: float
    """Seconds that readers may take to finish what is under way."""


class Workers:
    """The readers, always as many as wanted.

    Args:
        reactor: What everything runs on.
        wanted: How many; none at all where one process does everything.
        command: Starts the nursery.
    """

    _log = Logger()

    def __init__(
        self,
        reactor: PosixReactorBase,
        wanted: int,
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._reactor = reactor
        self._command = command
        self._wanted = wanted
        self._workers: list[_Worker] = []
        self._nursery: Nursery | None = None
        self._nursery_deaths = Deaths(reactor)
        self._numbers = count(1)
        self._patience = 0.0
        self._started: Deferred[None] = Deferred()
        self._stopped: Deferred[None] = Deferred()
        self.stopping = False
        self.ledger = Ledger()

    @property
    def lives(self) -> list[Life]:
        """The readers that serve now."""
        return [worker.life for worker in self._workers if worker.ready]

    def prepare(self) -> None:
        """Begin to import what readers need, which takes a while.

        Raises:
            StartError: There can be no other process.
        """
        if self._wanted:
            self._open_nursery()

    async def start(self, ways: Ways) -> None:
        """Start all; returns when they take connections.

        Args:
            ways: To the rest of the main process.

        Raises:
            StartError: One of them could not start.
        """
        if not self._wanted:
            return
        self._workers = [_Worker(self, self._reactor, ways) for _ in range(self._wanted)]
        self._patience = ways.patience
        for worker in self._workers:
            worker.grow()
        await self._started

    async def stop(self) -> None:
        """Let all finish what is under way, and end; returns when none is left."""
        self.stopping = True
        self._nursery_deaths.forget()
        for worker in self._workers:
            worker.drain()
        if self._nursery is not None:
            await self._nursery.kill()
        deadline = self._reactor.callLater(self._patience, self._kill)
        self.changed()
        await self._stopped
        if deadline.active():
            deadline.cancel()

    def look(self) -> None:
        """Have all look for a new snapshot."""
        for worker in self._workers:
            worker.order(Look())

    async def end(self, sessions: Mapping[bytes, int]) -> None:
        """Have all know that MCP sessions have ended.

        This returns when they do, or after a second in which one of them has not found the time.

        Args:
            sessions: Their digests, and when they would have ended by themselves, ms since 1970.
        """
        await self._ask(lambda number: Ended(number, dict(sessions)))

    async def counts(self) -> Counts:
        """The sums of what all readers have counted, those that have ended too."""
        await self._ask(Count)
        return self.ledger.counts()

    async def _ask(self, order: Callable[[int], Ended | Count]) -> None:
        """Have an order answered by all who are not too busy to do so in time."""
        number = next(self._numbers)
        await gatherResults([worker.ask(order(number)) for worker in self._workers])

    # what workers and the nursery tell

    def changed(self) -> None:
        """A reader is ready, or gone."""
        if self.stopping:
            if all(worker.gone for worker in self._workers) and not self._stopped.called:
                self._stopped.callback(None)
        elif all(worker.ready for worker in self._workers) and not self._started.called:
            self._started.callback(None)

    def failed(self, pid: int) -> bool:
        """A reader is gone before it was asked to; returns whether it is to be replaced."""
        if not self._started.called:
            text = "a worker could not start; what it has said stands before this"
            self._started.errback(StartError(text, 1))
            return False
        self._log.warn("worker {pid} has ended unasked; it is replaced", pid=pid)
        return True

    def fork(self, end: socket.socket) -> None:
        """Have a reader forked, with its end of its link; if that fails, the link ends."""
        if self._nursery is not None:
            self._nursery.fork(end.dup())

    def _open_nursery(self) -> None:
        self._nursery_deaths.begin()
        nursery = Nursery(self._nursery_ended)
        try:
            nursery.open(self._reactor, self._command)
        except OSError as error:
            if not self._started.called:
                raise StartError(f"no process for the workers: {error.strerror}", 1) from error
            self._log.error("no process for the workers: {error}", error=error.strerror)
            self._nursery_deaths.then(self._open_nursery)
        else:
            self._nursery = nursery

    def _nursery_ended(self) -> None:
        if not self.stopping:
            self._nursery = None
            self._nursery_deaths.then(self._open_nursery)

    def _kill(self) -> None:
        for worker in self._workers:
            worker.kill()


class _Worker:
    """The place of one reader, and whoever has it now."""

    def __init__(self, workers: Workers, reactor: PosixReactorBase, ways: Ways) -> None:
        self._workers = workers
        self._reactor = reactor
        self._ways = ways
        self._link: Link | None = None
        self._deaths = Deaths(reactor)
        self._asked: dict[int, Deferred[None]] = {}
        self._pid = 0
        self._restarts = -1
        self._started_at = 0.0
        self.ready = False

    @property
    def gone(self) -> bool:
        """Whether there is no process."""
        return self._link is None

    @property
    def life(self) -> Life:
        """Who has the place."""
        return Life(self._pid, self._started_at, self._restarts)

    def grow(self) -> None:
        """Have a reader born for this place."""
        self._restarts += 1
        self._started_at = self._ways.now()
        self._deaths.begin()
        self._pid = 0
        try:
            mine, theirs = pair()
        except OSError:  # too many open files
            self.lost()
            return
        with theirs:
            self._link = link = Link(self._reactor, mine, self)
            try:
                for endpoint, descriptor in self._ways.listeners:
                    link.send(encode(Listen(endpoint)), os.dup(descriptor))
            except OSError:
                link.close()
                return
            self.order(self._ways.begin())
            self._workers.fork(theirs)

    def order(self, order: Order) -> None:
        """Tell the reader something, if there is one."""
        if self._link is not None:
            self._link.send(encode(order))

    def ask(self, order: Ended | Count) -> Deferred[None]:
        """Tell it something that it answers; fires when it has, is gone, or takes too long."""
        answer: Deferred[None] = Deferred()
        if self._link is None:
            answer.callback(None)
            return answer
        self._asked[order.number] = answer
        answer.addTimeout(ANSWER_SECONDS, self._reactor, lambda *_: self._answer(order.number))
        self.order(order)
        return answer

    def _answer(self, number: int) -> None:
        answer = self._asked.pop(number, None)
        if answer is not None:
            answer.callback(None)

    def drain(self) -> None:
        """Have it end in order, and nobody come after it."""
        self._deaths.forget()
        self.order(Drain())

    def kill(self) -> None:
        """End it, whatever it does."""
        if self._link is None:
            return
        if self._pid:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
        self._link.close()  # which ends one that has not begun yet

    def received(self, message: bytes, descriptor: int | None) -> None:
        """The reader tells something (``link.Ends``)."""
        told = read_told(message)
        match told:
            case Handed():
                self._ways.take(told, descriptor)
            case Ready():
                self._pid, self.ready = told.pid, True
                self._workers.changed()
            case Done():
                self._answer(told.number)
            case Counted():
                self._workers.ledger.note(self._pid, told.counts)
                self._answer(told.number)
            case _:
                assert_never(told)

    def lost(self) -> None:
        """The reader is gone (``link.Ends``)."""
        self._link = None
        self.ready = False
        self._workers.ledger.end(self._pid)
        for number in tuple(self._asked):
            self._answer(number)
        if self._workers.stopping:
            self._workers.changed()
        elif self._workers.failed(self._pid):
            self._deaths.then(self.grow)
