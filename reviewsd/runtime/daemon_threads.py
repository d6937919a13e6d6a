"""Threads for calls that may hang, such as a look-up in DNS or a read from a network file system.

The reactor's own threads are joined when the process ends, so one that hangs would delay it.
"""

from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import ParamSpec, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorFromThreads
from twisted.internet.threads import deferToThreadPool
from twisted.python.threadpool import ThreadPool

P = ParamSpec("P")
R = TypeVar("R")


class DaemonThreads:
    """Threads that do not delay the end of the process.

    Args:
        reactor: Receives the results.
        name: The name of the threads.
        max_calls: Calls that run at the same time; others wait.
    """

    def __init__(self, reactor: IReactorFromThreads, name: str, max_calls: int) -> None:
        self._reactor = reactor
        self._pool = ThreadPool(minthreads=0, maxthreads=max_calls, name=name)
        # Twisted only calls the "class"
        self._pool.threadFactory = partial(Thread, daemon=True)  # type: ignore[assignment]
        self._pool.start()

    def call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Deferred[R]:
        """Call a function in a thread; cancelling the Deferred drops the result."""
        return deferToThreadPool(self._reactor, self._pool, function, *args, **kwargs)

    def stop(self) -> None:
        """End the threads; one that is busy ends after its call, or with the process."""
        self._pool.adjustPoolsize(maxthreads=0)  # ThreadPool.stop would wait for them
