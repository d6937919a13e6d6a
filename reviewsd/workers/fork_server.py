"""The process that forks workers, as ``reviewsd.workers.supervisor`` has it, and when a dead one is replaced."""

import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from twisted.internet.defer import Deferred
from twisted.internet.error import ProcessExitedAlready
from twisted.internet.interfaces import IDelayedCall, IProcessTransport
from twisted.internet.posixbase import PosixReactorBase
from twisted.internet.protocol import ProcessProtocol
from twisted.logger import Logger
from twisted.python.failure import Failure

from reviewsd.workers.heartbeat import Heartbeat, Rhythm
from reviewsd.workers.ipc import MessageSocket, socketpair

COMMAND = (sys.executable, "-P", "-m", "reviewsd.app.worker")
"""``-P``: nothing is imported from the current folder, where a stranger's ``json.py`` may lie."""

STEADY_SECONDS = 2.0
"""A process that has lived so long did not die of its start."""

PAUSES = (0.0, 0.0, 0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds before a process is started again, after so many early deaths in a row."""

_OWN = ("NOTIFY_SOCKET", "WATCHDOG_", "LISTEN_")
"""The beginnings of variables that systemd means for the main process."""


class RestartBackoff:
    """When to try again: at once after a life, later and later after early deaths.

    Args:
        reactor: Keeps the time.
    """

    def __init__(self, reactor: PosixReactorBase) -> None:
        self._reactor = reactor
        self._in_a_row = 0
        self._began = 0.0
        self._call: IDelayedCall | None = None

    def begin(self) -> None:
        """Note that a worker has started."""
        self._began = self._reactor.seconds()

    def then(self, action: Callable[[], object]) -> None:
        """It has ended: do something when it is time."""
        lived = self._reactor.seconds() - self._began
        self._in_a_row = 0 if lived >= STEADY_SECONDS else self._in_a_row + 1
        pause = PAUSES[min(max(self._in_a_row - 1, 0), len(PAUSES) - 1)]
        self._call = self._reactor.callLater(pause, action)

    def forget(self) -> None:
        """Do nothing any more."""
        if self._call is not None and self._call.active():
            self._call.cancel()


class ForkServer(ProcessProtocol):
    """The process that forks workers.

    Args:
        on_end: Called when it has ended.
        rhythm: Of its signs of life.
    """

    transport: IProcessTransport
    _log = Logger()

    def __init__(self, on_end: Callable[[], None], rhythm: Rhythm) -> None:
        self._on_end = on_end
        self._heartbeat = Heartbeat(rhythm, lambda: self._link.send(b"ping"))
        self._ended: Deferred[None] = Deferred()

    def open(self, reactor: PosixReactorBase, command: Sequence[str]) -> None:
        """Start it.

        Args:
            reactor: Watches it.
            command: Of its program.

        Raises:
            OSError: There can be no other process.
        """
        mine, theirs = socketpair()
        descriptors: dict[int, str | int] = {0: theirs.fileno(), 1: 1, 2: 2}
        environ = {name: value for name, value in os.environ.items() if not name.startswith(_OWN)}
        self._link = MessageSocket(reactor, mine, self)
        try:
            reactor.spawnProcess(self, command[0], command, environ, childFDs=descriptors)
        except OSError:
            self._link.close()
            raise
        finally:
            theirs.close()

    def fork(self, end: socket.socket) -> None:
        """Fork a worker with its end of a link."""
        self._link.send(b"fork", end.detach())

    def look(self) -> None:
        """Look whether it lives; end one that does not answer."""
        if not self._heartbeat.look():
            self._log.warn(
                "the process that forks workers has not answered for {seconds} s: it is killed",
                seconds=self._heartbeat.silent,
            )
            self.kill()

    def kill(self) -> Deferred[None]:
        """End it; fires when it has ended."""
        with suppress(ProcessExitedAlready):
            self.transport.signalProcess("KILL")
        return self._ended

    def received(self, _message: bytes, _descriptor: int | None) -> None:
        """It gives a sign of life, the only thing that it says (``ipc.MessageReceiver``)."""
        self._heartbeat.answered()

    def lost(self) -> None:
        """It ends; ``processEnded`` comes when it has (``ipc.MessageReceiver``)."""

    def processEnded(self, _reason: Failure) -> None:
        """It has ended (``ProcessProtocol``)."""
        self._link.close()
        self._ended.callback(None)
        self._on_end()
