"""The worker processes: ``python -P -m reviewsd.app.worker``, started by ``reviewsd.workers.supervisor``.

What is started is the fork server. It imports all that workers need, then waits at its end of a link,
descriptor 0, for commands to fork: each is a packet with the descriptor of a link's end for the new
worker, which gets all else over that link. A packet without one is sent back.

A worker is the public site over the same snapshot, without what there is one of: no hub, no store,
no publisher. It is told what to serve, and what it must not answer it gives away (``workers.handoff``).
"""

import gc
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import assert_never

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.endpoints import AdoptedStreamServerEndpoint
from twisted.internet.epollreactor import EPollReactor
from twisted.internet.error import ReactorNotRunning
from twisted.internet.interfaces import IStreamServerEndpoint
from twisted.internet.main import installReactor
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

from reviewsd.app.mcp import build_mcp
from reviewsd.app.public import (
    build_public,
    build_reads,
    build_replies,
    build_workload,
    factory_for,
)
from reviewsd.runtime import logs
from reviewsd.runtime.counters import Counters
from reviewsd.runtime.sockets import stop_listening
from reviewsd.runtime.tasks import TaskSet, every
from reviewsd.runtime.timers import steady
from reviewsd.server.acceptor import batch_accept
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.store.ended_sessions import Expiring
from reviewsd.workers.handoff import ConnectionSender
from reviewsd.workers.ipc import MessageSocket
from reviewsd.workers.messages import (
    Ack,
    Alive,
    Begin,
    CountRequest,
    CountsReport,
    Drain,
    Listen,
    Ping,
    Ready,
    SessionsEnded,
    SnapshotChanged,
    WorkerMessage,
    encode,
    read_command,
)

LOOK_SECONDS = 1.0
"""Between two looks at the snapshots' link: a command to look might be lost."""

_FIRST_LOOK_SECONDS = 0.05


def main() -> None:
    """Entry point of the process: the fork server, and in forked processes the worker."""
    for each in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)  # these are for the main process, which ends this one
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that the kernel reaps what has ended
    gc.collect()
    gc.freeze()  # a collection would write to memory that is shared
    descriptor = _fork_server()
    if descriptor is not None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        sys.exit(_work(descriptor))


def _fork_server() -> int | None:
    """Fork as often as asked, and give signs of life.

    Returns:
        None at the end, and in each fork the end of its link.
    """
    with socket.socket(fileno=0) as control:
        control.setblocking(True)  # noqa: FBT003
        while True:
            packet, descriptors, _, _ = socket.recv_fds(control, 16, 1)
            if not packet:
                return None
            if not descriptors:
                control.send(packet)  # a sign of life was asked for
            for descriptor in descriptors:
                if os.fork() == 0:
                    return descriptor
                os.close(descriptor)


def _work(descriptor: int) -> int:
    """Be a worker until told to end; returns the exit code."""
    os.open(os.devnull, os.O_RDONLY)  # takes the place of descriptor 0
    reactor = _reactor()
    worker = WorkerProcess(reactor, socket.socket(fileno=descriptor))
    reactor.addSystemEventTrigger("before", "shutdown", worker.drained)
    signal.signal(signal.SIGTERM, lambda *_: reactor.callFromThread(worker.stop))
    reactor.run(installSignalHandlers=False)
    return worker.code


def _reactor() -> EPollReactor:
    """A reactor of this process's own: Klein has imported one, which belongs to the fork server."""
    sys.modules.pop("twisted.internet.reactor", None)
    reactor = steady(EPollReactor())
    installReactor(reactor)
    return reactor


class WorkerProcess:
    """One worker.

    Args:
        reactor: What it runs on.
        end: Its end of its link.
    """

    _log = Logger()

    def __init__(self, reactor: EPollReactor, end: socket.socket) -> None:
        self._reactor = reactor
        self._link = MessageSocket(reactor, end, self)
        self._sender = ConnectionSender(self._tell)
        self._listeners: list[tuple[str, int]] = []
        self._ended = Expiring()
        self._snapshots: Snapshots | None = None
        self._counters = Counters()
        self._stack = AsyncExitStack()
        self.code = 0

    def received(self, message: bytes, descriptor: int | None) -> None:
        """The main process sends a command (``ipc.MessageReceiver``)."""
        command = read_command(message)
        match command:
            case Listen():
                assert descriptor is not None  # noqa: S101  a new process has room for it
                self._listeners.append((command.endpoint, descriptor))
            case Begin():
                Deferred.fromCoroutine(self._begin(command)).addErrback(self._failed)
            case SessionsEnded():
                self._end(command.sessions)
                self._tell(Ack(command.number))
            case SnapshotChanged():
                if self._snapshots is not None:
                    self._snapshots.refresh()
            case CountRequest():
                self._tell(CountsReport(command.number, self._counters.counts()))
            case Ping():
                self._tell(Alive(os.getpid()))
            case Drain():
                self.stop()
            case _:
                assert_never(command)

    def lost(self) -> None:
        """The main process is gone, and nothing may outlive it (``ipc.MessageReceiver``)."""
        os._exit(1)

    def stop(self) -> None:
        """Finish what is under way, and end; systemd and the main process may both say so."""
        with suppress(ReactorNotRunning):
            self._reactor.stop()

    def drained(self) -> Deferred[None]:
        """Take no more connections; fires when all that is under way has ended."""
        return Deferred.fromCoroutine(self._stack.aclose())

    async def _begin(self, begin: Begin) -> None:
        """Build everything and serve."""
        config, reactor = begin.config, self._reactor
        logs.start(
            begin.log_format, journal=logs.is_journal(os.environ, sys.stdout), stream=sys.stdout
        )
        self._end(begin.ended)
        root = config.state_dir / "snapshots"
        snapshots = Snapshots(root, partial(reactor.callInThread, list.clear))
        snapshots.refresh()
        while snapshots.empty:  # it has just been replaced
            await deferLater(reactor, _FIRST_LOOK_SECONDS)
            snapshots.refresh()
        self._snapshots = snapshots
        tasks, requests, counters = TaskSet(), TaskSet(), self._counters
        replies = build_replies(config)
        workload = build_workload(reactor, config, counters)
        mcp = build_mcp(config, os.environ, snapshots, self, replies, workload, requests, counters)
        reads = build_reads(snapshots, replies, workload, counters)
        server = build_public(reactor, config, snapshots, reads, None, mcp, self._sender)
        counters.include(server.counts)
        self._stack.push_async_callback(tasks.stop)
        self._stack.push_async_callback(requests.stop)
        self._stack.push_async_callback(server.drain)
        for endpoint, descriptor in self._listeners:
            factory = factory_for(endpoint, server)
            port = await _inherited(reactor, descriptor).listen(factory)
            self._stack.push_async_callback(stop_listening, port, handed_over=True)
            batch_accept(port, at_once=1)
        tasks.start("look for a new snapshot", every(reactor, LOOK_SECONDS, self._look))
        gc.collect()
        gc.freeze()  # what the start has made stays
        self._tell(Ready())

    async def _look(self) -> None:
        """Look at the link, in case that the command to do so was lost."""
        assert self._snapshots is not None  # noqa: S101  there is one when this is first called
        if self._snapshots.stale:
            self._snapshots.refresh()

    def __contains__(self, digest: bytes) -> bool:
        """Whether an MCP session has ended."""
        return digest in self._ended

    async def end(self, digest: bytes, expires: int) -> bool:
        """Only the main process ends sessions: requests to do so are given to it."""
        raise NotImplementedError

    def _end(self, sessions: Mapping[bytes, int]) -> None:
        """Remember MCP sessions as ended for as long as they could be used."""
        self._ended.add(sessions)
        self._ended.forget(int(time.time() * 1000))

    def _tell(self, message: WorkerMessage, descriptor: int | None = None) -> None:
        self._link.send(encode(message), descriptor)

    def _failed(self, failure: Failure) -> None:
        """The start has failed: the main process learns it from the end of the link."""
        if failure.check(CancelledError) is None:
            self._log.failure("a worker could not start", failure)
        self.code = 1
        self.stop()


def _inherited(reactor: EPollReactor, descriptor: int) -> IStreamServerEndpoint:
    """The endpoint of a listening socket that the main process has opened."""
    with socket.socket(fileno=os.dup(descriptor)) as copy:
        family = copy.family
    return AdoptedStreamServerEndpoint(reactor, descriptor, family)


if __name__ == "__main__":
    main()
