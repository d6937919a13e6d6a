"""Runs the publishing process (``publish.publication``): sends a Job, receives steps and an outcome."""

import contextlib
import signal
import sys
from collections.abc import Callable, Sequence

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.error import ProcessDone, ProcessExitedAlready
from twisted.internet.interfaces import IProcessTransport, IReactorProcess
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure

from reviewsd.api.jobs import Step
from reviewsd.publish import memory_limit
from reviewsd.publish.messages import Job, JobMessage, Outcome

StepObserver = Callable[[Step], None]

COMMAND = (sys.executable, "-P", "-m", "reviewsd.publish.publication")
"""``-P`` keeps a foreign ``json.py`` in the current folder from being imported."""

_MAX_STDERR = 8_192  # bytes


class ChildError(Exception):
    """The publishing process ended without an outcome; the message has its last line."""


async def run(
    reactor: IReactorProcess,
    job: Job,
    progress: StepObserver,
    command: Sequence[str] = COMMAND,
) -> Outcome:
    """Publish in a child process, and wait until it has ended; cancelling kills it.

    Args:
        reactor: Starts the process.
        job: The job; this function sets its memory limit.
        progress: Called with each step.
        command: The command line of the process.

    Raises:
        ChildError: The process could not be started, died, or could not write its files.
    """
    child = _Child(msgspec.structs.replace(job, memory=memory_limit.limit()), progress)
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

    def __init__(self, job: Job, progress: StepObserver) -> None:
        self._job = job
        self._progress = progress
        self._line_begin = b""
        self._stderr = b""
        self._result: Outcome | None = None
        self.outcome: Deferred[Outcome] = Deferred(lambda _: self._kill())
        self.ended: Deferred[None] = Deferred()

    def connectionMade(self) -> None:
        self.transport.writeToChild(0, msgspec.json.encode(self._job))
        self.transport.closeChildFD(0)

    def outReceived(self, data: bytes) -> None:
        *lines, self._line_begin = (self._line_begin + data).split(b"\n")
        for line in lines:
            try:
                message = _line.decode(line)
            except ValueError:  # output of a library
                self.errReceived(line + b"\n")
                continue
            if isinstance(message, Step):
                self._progress(message)
            else:
                self._result = message

    def errReceived(self, data: bytes) -> None:
        self._stderr = (self._stderr + data)[-_MAX_STDERR:]

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
        stderr = self._stderr.decode(errors="replace").strip()
        last_line = stderr.rpartition("\n")[2] or reason.getErrorMessage()
        if getattr(reason.value, "signal", None) == signal.SIGKILL:
            memory = "" if self._job.memory is None else f"; it may take {self._job.memory.text}"
            last_line = f"the process was killed, probably for want of memory{memory}"
        self.outcome.errback(ChildError(f"publishing failed: {last_line}"))


_line: msgspec.json.Decoder[JobMessage] = msgspec.json.Decoder(JobMessage)
