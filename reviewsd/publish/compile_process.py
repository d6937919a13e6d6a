"""Runs the publishing process: a Job goes in, steps and an outcome come out (``publish.publication``)."""

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
from reviewsd.runtime.tasks import TaskSet, every

StepObserver = Callable[[Step], None]

COMMAND = (sys.executable, "-P", "-m", "reviewsd.publish.publication")
"""``-P``: nothing is imported from the current folder, where a stranger's ``json.py`` may lie."""

_MAX_STDERR = 8_192  # bytes kept of what a crashing child says

LOOK_SECONDS = 30.0
"""Between two looks at what the child does."""

IDLE_LOOKS = 10
"""A child that has used no CPU between so many looks in a row hangs: it was stopped, or a file system does not
answer. It may work for hours on data of many gigabytes without a step to tell."""


class ChildError(Exception):
    """The publishing process ended without an outcome; the message is the last that it said."""


async def run(
    reactor: IReactorProcess,
    job: Job,
    progress: StepObserver,
    command: Sequence[str] = COMMAND,
    memory: Memory | None = None,
    look_seconds: float = LOOK_SECONDS,
) -> Outcome:
    """Publish in a child process; cancelling kills it. It has ended when this returns.

    Args:
        reactor: Starts the process.
        job: What it does; its memory is limited here.
        progress: Told its steps.
        command: Of the process.
        memory: Says what it may take.
        look_seconds: Between two looks at whether it hangs.

    Raises:
        ChildError: It could not be started, died, hung, or could not write: the disk is full, for one.
    """
    memory = memory or Memory()
    limit, killed = memory.limit(), memory.killed()
    child = _Child(msgspec.structs.replace(job, memory=limit), progress)
    watching = TaskSet()
    try:
        reactor.spawnProcess(child, command[0], command, env=None)
    except OSError as error:
        raise ChildError(f"publishing failed: no process to do it: {error.strerror}") from error
    looking = every(cast("IReactorTime", reactor), look_seconds, child.look)
    watching.start("watch the publishing process", looking)
    try:
        return await child.outcome
    except ChildError as error:
        if limit is None or memory.killed() == killed:
            raise
        reason = f"the kernel killed the process for want of memory; it may take {limit.text}"
        raise ChildError(f"publishing failed: {reason}") from error
    finally:
        await watching.stop()
        await child.ended


class _Child(ProcessProtocol):
    transport: IProcessTransport

    def __init__(self, job: Job, progress: StepObserver) -> None:
        self._job = job
        self._progress = progress
        self._rest = b""
        self._said = b""
        self._result: Outcome | None = None
        self._cpu = -1.0  # seconds that it had used at the last look
        self._idle = 0  # looks in a row since it used any
        self.outcome: Deferred[Outcome] = Deferred(lambda _: self._kill())
        self.ended: Deferred[None] = Deferred()

    def connectionMade(self) -> None:
        self.transport.writeToChild(0, msgspec.json.encode(self._job))
        self.transport.closeChildFD(0)

    def outReceived(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            try:
                message = _line.decode(line)
            except ValueError:  # a library that prints
                self.errReceived(line + b"\n")
                continue
            if isinstance(message, Step):
                self._progress(message)
            else:
                self._result = message

    def errReceived(self, data: bytes) -> None:
        self._said = (self._said + data)[-_MAX_STDERR:]

    async def look(self) -> None:
        """End it if it hangs."""
        if self.transport.pid is None:  # it has ended
            return
        before = self._cpu
        self._cpu = time.clock_gettime((~self.transport.pid << 3) | 2)  # clock_getcpuclockid(3)
        self._idle = self._idle + 1 if self._cpu == before else 0
        if self._idle == IDLE_LOOKS:
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
        said = self._said.decode(errors="replace").strip()
        last = said.rpartition("\n")[2] or reason.getErrorMessage()
        self.outcome.errback(ChildError(f"publishing failed: {last}"))


_line: msgspec.json.Decoder[JobMessage] = msgspec.json.Decoder(JobMessage)
