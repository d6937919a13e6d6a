"""Runs the publishing process (``publish.publication``): sends a Job, receives steps and an outcome."""

import contextlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import cast

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.error import ProcessDone, ProcessExitedAlready
from twisted.internet.interfaces import IProcessTransport, IReactorProcess, IReactorTime
from twisted.internet.protocol import ProcessProtocol
from twisted.python.failure import Failure

from reviewsd.api.jobs import Step
from reviewsd.publish.memory_limit import Memory
from reviewsd.publish.messages import Job, JobMessage, Outcome
from reviewsd.runtime.tasks import TaskSet

StepObserver = Callable[[Step], None]

COMMAND = (sys.executable, "-P", "-m", "reviewsd.publish.publication")
"""``-P`` keeps a foreign ``json.py`` in the current folder from being imported."""

_MAX_STDERR = 8_192  # bytes

LOOK_SECONDS = 30.0
"""Interval between two checks of the child's CPU time."""

IDLE_LOOKS = 10
"""Consecutive checks without CPU time after which the child hangs: it was stopped, or a file system does not
respond. There is no limit of time, because large data may take hours without a step."""


class ChildError(Exception):
    """The publishing process ended without an outcome; the message has its last line."""


async def run(
    reactor: IReactorProcess,
    job: Job,
    progress: StepObserver,
    command: Sequence[str] = COMMAND,
    memory: Memory | None = None,
    look_seconds: float = LOOK_SECONDS,
) -> Outcome:
    """Publish in a child process, and wait until it has ended; cancelling kills it.

    Args:
        reactor: Starts the process.
        job: The job; this function sets its memory limit.
        progress: Called with each step.
        command: The command line of the process.
        memory: Has the memory limit.
        look_seconds: Interval of the checks for a hanging process.

    Raises:
        ChildError: The process could not be started, died, hung, or could not write its files.
    """
    memory = memory or Memory()
    limit, killed = memory.limit(), memory.killed()
    child = _Child(msgspec.structs.replace(job, memory=limit), progress)
    tasks = TaskSet()
    try:
        reactor.spawnProcess(child, command[0], command, env=None)
    except OSError as error:
        raise ChildError(f"publishing failed: no process to do it: {error.strerror}") from error
    clock = cast("IReactorTime", reactor)
    tasks.every("watching the publishing process", clock, look_seconds, child.check_progress)
    try:
        return await child.outcome
    except ChildError as error:
        if limit is None or memory.killed() == killed:
            raise
        reason = f"the kernel killed the process for want of memory; it may take {limit.text}"
        raise ChildError(f"publishing failed: {reason}") from error
    finally:
        await tasks.stop()
        await child.ended


class _Child(ProcessProtocol):
    transport: IProcessTransport

    def __init__(self, job: Job, progress: StepObserver) -> None:
        self._job = job
        self._progress = progress
        self._line_begin = b""
        self._stderr = b""
        self._result: Outcome | None = None
        self._cpu_seconds = -1.0  # at the last check
        self._idle_checks = 0  # consecutive
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

    async def check_progress(self) -> None:
        """Kill the process if it hangs."""
        if self.transport.pid is None:  # it has ended
            return
        clock = (~self.transport.pid << 3) | 2  # clock_getcpuclockid(3)
        before, self._cpu_seconds = self._cpu_seconds, time.clock_gettime(clock)
        self._idle_checks = self._idle_checks + 1 if self._cpu_seconds == before else 0
        if self._idle_checks == IDLE_LOOKS:
            self.errReceived(b"\nthe process hung: it has done nothing for long")
            self._kill()

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
        self.outcome.errback(ChildError(f"publishing failed: {last_line}"))


_line: msgspec.json.Decoder[JobMessage] = msgspec.json.Decoder(JobMessage)
