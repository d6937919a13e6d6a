"""A second process that makes some of the results while this one makes the others.

It is forked, so it has whatever this process has read; memory is copied where one of them writes. There must be no threads
yet. Results come through a pipe in their order. Where the process ends before it has made all of them, for want of
memory or by a bug, those that are missing are made here: then a bug is one of this process.

Both together take no more memory than this process may (``memory_limit``): each half of it while there are two.
"""

import contextlib
import fcntl
import os
import resource
import signal
from collections.abc import Iterable
from typing import BinaryIO, Self

from reviewsd.publish.memory_limit import private_memory

_AHEAD = 1 << 20  # bytes of results that wait to be read; what the kernel lets anybody have
_SIZE = 8  # bytes of the number that says how long a result is


class SecondProcess:
    """Makes results. A context.

    Args:
        results: What is made, one after the other; looked at in the second process alone.
    """

    def __init__(self, results: Iterable[bytes]) -> None:
        self._results = results
        self._process = 0
        self._pipe: BinaryIO | None = None
        self._memory = resource.getrlimit(resource.RLIMIT_DATA)

    def __enter__(self) -> Self:
        size, most = self._memory
        if size != resource.RLIM_INFINITY:
            resource.setrlimit(resource.RLIMIT_DATA, (size // 2, most))
        reading, writing = os.pipe()
        self._pipe = os.fdopen(reading, "rb")
        with contextlib.suppress(OSError):  # there may be too many processes: then all is made here
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
        """The next result; None where it will not come, and so are all after it."""
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
        """Make all of them, and end the process."""
        try:
            with contextlib.suppress(OSError):  # where there are no such pipes
                fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _AHEAD)
            with os.fdopen(writing, "wb") as pipe:
                for result in self._results:
                    pipe.write(len(result).to_bytes(_SIZE, "little"))
                    pipe.write(result)
        finally:
            os._exit(0)  # nothing of the other process's is to be ended here


def worthwhile() -> bool:
    """Whether there is a second core, and memory enough that half of it is plenty."""
    memory, _ = resource.getrlimit(resource.RLIMIT_DATA)
    enough = memory == resource.RLIM_INFINITY or memory >= 4 * private_memory()
    return enough and len(os.sched_getaffinity(0)) > 1
