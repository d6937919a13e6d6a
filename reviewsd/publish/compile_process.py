"""Runs the publishing process: a Job goes in, steps and an outcome come out (formats.publication)."""

import contextlib
import sys
from collections.abc import Callable, Sequence

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.error import ProcessDone, ProcessExitedAlready
from twisted.internet.interfaces import IProcessTransport, IReactorProcess
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure

from reviewsd.publish.publication import Job, Line, Outcome, Step

Progress = Callable[[Step], None]

COMMAND = (sys.executable, "-P", "-m", "reviewsd.publish.publication")
"""``-P``: nothing is imported from the current folder, where a stranger's ``json.py`` may lie."""

_MAX_STDERR = 8_192  # bytes kept of what a crashing child says


class ChildError(Exception):
    """The publishing process ended without an outcome; the message is the last that it said."""


async def run(
    reactor: IReactorProcess, job: Job, progress: Progress, command: Sequence[str] = COMMAND
) -> Outcome:
    """Publish in a child process; cancelling kills it. It has ended when this returns.

    Raises:
        ChildError: It could not be started, died, or could not write: the disk is full, for one.
    """
    child = _Child(job, progress)
    try:
        reactor.spawnProcess(child, command[0], command, env=None)
    except OSError as error:
        raise ChildError(f"publishing failed: no process to do it: {error.strerror}") from error
    try:
        return await child.outcome
    finally:
        await child.ended


class _Child(ProcessProtocol):
    transport: IProcessTransport

    def __init__(self, job: Job, progress: Progress) -> None:
        self._job = job
        self._progress = progress
        self._rest = b""
        self._said = b""
        self._result: Outcome | None = None
        self.outcome: Deferred[Outcome] = Deferred(lambda _: self._kill())
        self.ended: Deferred[None] = Deferred()

    def connectionMade(self) -> None:
        self.transport.writeToChild(0, msgspec.json.encode(self._job))
        self.transport.closeChildFD(0)

    def outReceived(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            try:
                told = _line.decode(line)
            except ValueError:  # a library that prints
                self.errReceived(line + b"\n")
                continue
            if isinstance(told, Step):
                self._progress(told)
            else:
                self._result = told

    def errReceived(self, data: bytes) -> None:
        self._said = (self._said + data)[-_MAX_STDERR:]

    def _kill(self) -> None:
        with contextlib.suppress(ProcessExitedAlready):
            self.transport.signalProcess("KILL")

    def processEnded(self, reason: Failure) -> None:
        self.ended.callback(None)
        if self.outcome.called:  # cancelled
            return
        if reason.check(ProcessDone) is not None and self._result is not None:
            self.outcome.callback(self._result)
            return
        said = self._said.decode(errors="replace").strip()
        last = said.rpartition("\n")[2] or reason.getErrorMessage()
        self.outcome.errback(ChildError(f"publishing failed: {last}"))


_line: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)
