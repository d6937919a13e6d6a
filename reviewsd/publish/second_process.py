"""Computes some results in a forked process, while this process computes the others.

The fork shares the memory of this process, which must have no threads yet. Results arrive through a
pipe in their order. If the process dies early, the caller computes the missing results, so that a bug
is reported by this process.

While there are two processes, each may use half of the memory limit (``memory_limit``).
"""

import contextlib
import fcntl
import os
import resource
import signal
from collections.abc import Iterable
from typing import BinaryIO, Self

from reviewsd.publish.memory_limit import private_memory

_PIPE_SIZE = 1 << 20  # bytes; the default limit for unprivileged processes
_SIZE = 8  # bytes of the length before each result


class SecondProcess:
    """A context with a forked process that computes results.

    Args:
        results: Computes the results; iterated only in the second process.
    """

    def __init__(self, results: Iterable[bytes]) -> None:
        self._results = results
        self._process = 0
        self._pipe: BinaryIO | None = None
        self._memory = resource.getrlimit(resource.RLIMIT_DATA)

    def __enter__(self) -> Self:
        size, hard_limit = self._memory
        if size != resource.RLIM_INFINITY:
            resource.setrlimit(resource.RLIMIT_DATA, (size // 2, hard_limit))
        reading, writing = os.pipe()
        self._pipe = os.fdopen(reading, "rb")
        with contextlib.suppress(OSError):  # without a fork, the caller computes all results
            self._process = os.fork()
            if not self._process:
                os.close(reading)
                self._make(writing)
        os.close(writing)
        return self

    def __exit__(self, *_: object) -> None:
        if self._pipe is not None:
            self._pipe.close()
        if self._process:
            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)
        resource.setrlimit(resource.RLIMIT_DATA, self._memory)

    def next(self) -> bytes | None:
        """Return the next result; None once the process has died, and from then on."""
        if self._pipe is None:
            return None
        size = int.from_bytes(self._pipe.read(_SIZE), "little")
        result = self._pipe.read(size)
        if size and len(result) == size:
            return result
        self._pipe.close()
        self._pipe = None
        return None

    def _make(self, writing: int) -> None:
        """Write all results, and exit."""
        try:
            with contextlib.suppress(OSError):  # the size is only an optimization
                fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
            with os.fdopen(writing, "wb") as pipe:
                for result in self._results:
                    pipe.write(len(result).to_bytes(_SIZE, "little"))
                    pipe.write(result)
        finally:
            os._exit(0)  # skips the cleanup, which belongs to the other process


def worthwhile() -> bool:
    """Return whether there is a second core, and four times the memory in use."""
    memory, _ = resource.getrlimit(resource.RLIMIT_DATA)
    has_memory = memory == resource.RLIM_INFINITY or memory >= 4 * private_memory()
    return has_memory and len(os.sched_getaffinity(0)) > 1
