"""The processes that answer beside the main one, when ``workers`` is 2 or more (performance.md 2.9).

    main process -- spawns --> fork server -- forks --> workers
         |                                                 |
         +--------------------- links ---------------------+

The main process does all that there must be one of: it publishes, it is the hub, it stores what has
ended, it hears the operator and systemd. It listens, so that an address that cannot be had is known
before READY=1, but takes no connection: the workers do, on the same sockets. What they must not answer
they give back, connection and all (``workers.handoff``). Everybody maps the same snapshot, which workers
find by its link: a command to look is only a signal.

The fork server has everything imported and does nothing but fork. So workers share the memory of the
program, and a dead one is replaced in hundredths of a second, also on a machine that is busy. It is a
process of its own because only one without threads may fork.

A link ends with either of its processes. So the main process needs no other sign of a worker's death,
and no process outlives the main one, whatever ends it. One that lives and does not answer, stopped or
stuck in something, is killed (``heartbeat``), and replaced like a dead one.
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

from reviewsd.api.status import WorkerStatus
from reviewsd.api.times import instant
from reviewsd.runtime.counters import Counts, WorkerTotals
from reviewsd.runtime.state_dir import StartError
from reviewsd.runtime.tasks import TaskSet, every
from reviewsd.workers.fork_server import COMMAND, ForkServer, RestartBackoff
from reviewsd.workers.handoff import HandedConnection
from reviewsd.workers.heartbeat import Heartbeat, Rhythm
from reviewsd.workers.ipc import MessageSocket, socketpair
from reviewsd.workers.messages import (
    Ack,
    Alive,
    Begin,
    Command,
    CountRequest,
    CountsReport,
    Drain,
    Listen,
    Ping,
    Ready,
    SessionsEnded,
    SnapshotChanged,
    encode,
    read_message,
)

ANSWER_SECONDS = 1.0
"""That are waited for workers to answer; one that is so busy is passed over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerContext:
    """What the workers need from the rest of the main process."""

    listeners: Sequence[tuple[str, int]]
    """The endpoints, and the descriptors of the sockets, that workers take connections from."""
    begin: Callable[[], Begin]
    """The first command for a new worker."""
    adopt: Callable[[HandedConnection, int | None], None]
    """Goes on with a connection that a worker gives."""
    now: Callable[[], float]
    """POSIX seconds."""
    drain_timeout: float
    """Seconds that workers may take to finish what is under way."""


class Workers:
    """The workers, always as many as wanted.

    Args:
        reactor: What everything runs on.
        wanted: How many; none at all where one process does everything.
        command: Starts the fork server.
        rhythm: Of the signs of life that all processes give.
    """

    _log = Logger()

    def __init__(
        self,
        reactor: PosixReactorBase,
        wanted: int,
        command: Sequence[str] = COMMAND,
        rhythm: Rhythm = Rhythm(),  # noqa: B008  it is frozen
    ) -> None:
        self._reactor = reactor
        self._command = command
        self._rhythm = rhythm
        self._tasks = TaskSet()
        self._wanted = wanted
        self._workers: list[_Worker] = []
        self._fork_server: ForkServer | None = None
        self._restarts = RestartBackoff(reactor)
        self._numbers = count(1)
        self._drain_timeout = 0.0
        self._started: Deferred[None] = Deferred()
        self._stopped: Deferred[None] = Deferred()
        self.stopping = False
        self.totals = WorkerTotals()

    @property
    def statuses(self) -> list[WorkerStatus]:
        """The workers that serve now."""
        return [worker.status for worker in self._workers if worker.ready]

    def prepare(self) -> None:
        """Begin to import what workers need, which takes a while.

        Raises:
            StartError: There can be no other process.
        """
        if self._wanted:
            self._start_fork_server()
            looking = every(self._reactor, self._rhythm.beat, self._look)
            self._tasks.start("look whether workers live", looking)

    async def start(self, context: WorkerContext) -> None:
        """Start all; returns when they take connections.

        Args:
            context: To the rest of the main process.

        Raises:
            StartError: One of them could not start.
        """
        if not self._wanted:
            return
        self._workers = [
            _Worker(self, self._reactor, context, self._rhythm) for _ in range(self._wanted)
        ]
        self._drain_timeout = context.drain_timeout
        for worker in self._workers:
            worker.grow()
        await self._started

    async def stop(self) -> None:
        """Let all finish what is under way, and end; returns when none is left."""
        self.stopping = True
        await self._tasks.stop()
        self._restarts.forget()
        for worker in self._workers:
            worker.drain()
        if self._fork_server is not None:
            await self._fork_server.kill()
        deadline = self._reactor.callLater(self._drain_timeout, self._kill)
        self.changed()
        await self._stopped
        if deadline.active():
            deadline.cancel()

    def look(self) -> None:
        """Have all look for a new snapshot."""
        for worker in self._workers:
            worker.send(SnapshotChanged())

    async def end(self, sessions: Mapping[bytes, int]) -> None:
        """Have all know that MCP sessions have ended.

        This returns when they do, or after a second in which one of them has not found the time.

        Args:
            sessions: Their digests, and when they would have ended by themselves, ms since 1970.
        """
        await self._ask(lambda number: SessionsEnded(number, dict(sessions)))

    async def counts(self) -> Counts:
        """The sums of what all workers have counted, those that have ended too."""
        await self._ask(CountRequest)
        return self.totals.counts()

    async def _look(self) -> None:
        """End those that do not answer any more; others come for them."""
        if self._fork_server is not None:
            self._fork_server.look()
        for worker in self._workers:
            worker.look()

    async def _ask(self, command: Callable[[int], SessionsEnded | CountRequest]) -> None:
        """Have a command answered by all who are not too busy to do so in time."""
        number = next(self._numbers)
        await gatherResults([worker.ask(command(number)) for worker in self._workers])

    # what workers and the fork server tell

    def changed(self) -> None:
        """A worker is ready, or gone."""
        if self.stopping:
            if all(worker.gone for worker in self._workers) and not self._stopped.called:
                self._stopped.callback(None)
        elif all(worker.ready for worker in self._workers) and not self._started.called:
            self._started.callback(None)

    def failed(self, pid: int) -> bool:
        """A worker is gone before it was asked to; returns whether it is to be replaced."""
        if not self._started.called:
            text = "a worker could not start; what it has said stands before this"
            self._started.errback(StartError(text, 1))
            return False
        self._log.warn("worker {pid} has ended unasked; it is replaced", pid=pid)
        return True

    def fork(self, end: socket.socket) -> None:
        """Have a worker forked, with its end of its link; if that fails, the link ends."""
        if self._fork_server is not None:
            self._fork_server.fork(end.dup())

    def _start_fork_server(self) -> None:
        self._restarts.begin()
        fork_server = ForkServer(self._fork_server_ended, self._rhythm)
        try:
            fork_server.open(self._reactor, self._command)
        except OSError as error:
            if not self._started.called:
                raise StartError(f"no process for the workers: {error.strerror}", 1) from error
            self._log.error("no process for the workers: {error}", error=error.strerror)
            self._restarts.then(self._start_fork_server)
        else:
            self._fork_server = fork_server

    def _fork_server_ended(self) -> None:
        if not self.stopping:
            self._fork_server = None
            self._restarts.then(self._start_fork_server)

    def _kill(self) -> None:
        for worker in self._workers:
            worker.kill()


class _Worker:
    """The place of one worker, and whoever has it now."""

    _log = Logger()

    def __init__(
        self, workers: Workers, reactor: PosixReactorBase, context: WorkerContext, rhythm: Rhythm
    ) -> None:
        self._workers = workers
        self._reactor = reactor
        self._context = context
        self._rhythm = rhythm
        self._link: MessageSocket | None = None
        self._deaths = RestartBackoff(reactor)
        self._unanswered: dict[int, Deferred[None]] = {}
        self._pid = 0
        self._restarts = -1
        self._started_at = 0.0
        self.ready = False

    @property
    def gone(self) -> bool:
        """Whether there is no process."""
        return self._link is None

    @property
    def status(self) -> WorkerStatus:
        """Who has the place."""
        return WorkerStatus(
            pid=self._pid, started_at=instant(self._started_at), restarts=self._restarts
        )

    def grow(self) -> None:
        """Have a worker forked for this place."""
        self._restarts += 1
        self._started_at = self._context.now()
        self._deaths.begin()
        self._pid = 0
        self._heartbeat = Heartbeat(self._rhythm, lambda: self.send(Ping()))
        try:
            mine, theirs = socketpair()
        except OSError:  # too many open files
            self.lost()
            return
        with theirs:
            self._link = link = MessageSocket(self._reactor, mine, self)
            self.look()
            try:
                for endpoint, descriptor in self._context.listeners:
                    link.send(encode(Listen(endpoint)), os.dup(descriptor))
            except OSError:
                link.close()
                return
            self.send(self._context.begin())
            self._workers.fork(theirs)

    def send(self, command: Command) -> None:
        """Tell the worker something, if there is one."""
        if self._link is not None:
            self._link.send(encode(command))

    def ask(self, command: SessionsEnded | CountRequest) -> Deferred[None]:
        """Tell it something that it answers; fires when it has, is gone, or takes too long."""
        answer: Deferred[None] = Deferred()
        if self._link is None:
            answer.callback(None)
            return answer
        self._unanswered[command.number] = answer
        answer.addTimeout(ANSWER_SECONDS, self._reactor, lambda *_: self._answer(command.number))
        self.send(command)
        return answer

    def _answer(self, number: int) -> None:
        answer = self._unanswered.pop(number, None)
        if answer is not None:
            answer.callback(None)

    def drain(self) -> None:
        """Have it drain and end, and not replaced."""
        self._deaths.forget()
        self.send(Drain())

    def look(self) -> None:
        """Look whether it lives; end one that does not answer."""
        if self._link is not None and not self._heartbeat.look():
            self._log.warn(
                "worker {pid} has not answered for {seconds} s: it is killed",
                pid=self._pid,
                seconds=self._heartbeat.silent,
            )
            self.kill()

    def kill(self) -> None:
        """End it, whatever it does."""
        if self._link is None:
            return
        if self._pid:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
        self._link.close()  # which ends one that has not begun yet

    def received(self, message: bytes, descriptor: int | None) -> None:
        """The worker tells something (``ipc.MessageReceiver``)."""
        worker_message = read_message(message)
        match worker_message:
            case HandedConnection():
                self._context.adopt(worker_message, descriptor)
            case Alive():
                self._pid = worker_message.pid
                self._heartbeat.answered()
            case Ready():
                self.ready = True
                self._workers.changed()
            case Ack():
                self._answer(worker_message.number)
            case CountsReport():
                self._workers.totals.note(self._pid, worker_message.counts)
                self._answer(worker_message.number)
            case _:
                assert_never(worker_message)

    def lost(self) -> None:
        """The worker is gone (``ipc.MessageReceiver``)."""
        self._link = None
        self.ready = False
        self._workers.totals.end(self._pid)
        for number in tuple(self._unanswered):
            self._answer(number)
        if self._workers.stopping:
            self._workers.changed()
        elif self._workers.failed(self._pid):
            self._deaths.then(self.grow)
