"""Background work that has an owner.

The object that starts work owns it: failures are logged, and ``stop`` returns when all work has ended.
The model is synapse's ``run_as_background_process``.
"""

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from twisted.internet import defer
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

_log = Logger()

T = TypeVar("T")
R = TypeVar("R")


async def wait_at_most(clock: IReactorTime, seconds: float, done: Deferred[T]) -> None:
    """Wait for a Deferred for a limited time, without cancelling it afterwards.

    The Deferred keeps its result or failure for later callbacks. A DeferredList is not used, because it
    would treat the cancellation of the caller as a result, and the caller would continue.
    """
    waiting: Deferred[None] = Deferred()

    def finish(outcome: R) -> R:
        waiting.callback(None)  # Twisted ignores it after the time or a cancellation
        return outcome

    done.addBoth(finish)
    with suppress(defer.TimeoutError):
        await waiting.addTimeout(seconds, clock)


class TaskSet:
    """The background work of one owner."""

    def __init__(self) -> None:
        self._running: set[Deferred[None]] = set()
        self._stopped = False

    def start(self, name: str, coroutine: Coroutine[Deferred[Any], Any, object]) -> None:
        """Run a coroutine until it ends or ``stop`` is called; a failure is logged.

        If ``stop`` was called before, the coroutine is closed without being run. The daemon loses nothing
        by that, because after a restart it finds all due work in the store (ARCHITECTURE.md).

        Args:
            name: The name of the work in the log, e.g. "verify intent".
            coroutine: The work; its result is discarded.
        """
        if self._stopped:
            coroutine.close()
            return
        running = Deferred.fromCoroutine(coroutine)
        ended = running.addCallbacks(lambda _: None, self._failed, errbackKeywords={"name": name})
        self._running.add(ended)
        ended.addCallback(lambda _: self._running.discard(ended))

    def every(
        self,
        name: str,
        clock: IReactorTime,
        seconds: float,
        action: Callable[[], Awaitable[object]],
    ) -> None:
        """Call an action at once, and again ``seconds`` after it has ended, until ``stop`` is called.

        An exception is logged and the calls continue; a LoopingCall would stop for good.
        """

        async def repeat() -> None:
            while True:
                try:
                    await action()
                except Exception:  # logged with its traceback; the next call may succeed
                    if self._stopped:
                        raise
                    _log.failure(
                        "{name} failed, next try in {seconds} s", name=name, seconds=seconds
                    )
                await deferLater(clock, seconds)

        self.start(name, repeat())

    def run_detached(self, name: str, coroutine: Coroutine[Deferred[Any], Any, T]) -> Deferred[T]:
        """Start work, and return its result; cancelling the returned Deferred does not stop the work.

        Klein cancels a route when its client leaves, and what the client requested must be finished. A
        failure is raised to the caller, or logged with the name if the caller was cancelled.
        """
        waiting: Deferred[T] = Deferred()

        async def work() -> None:
            try:
                result = await coroutine
            except Exception:
                if waiting.called:
                    raise
                waiting.errback()
            else:
                waiting.callback(result)  # Twisted ignores it after a cancellation

        if self._stopped:
            coroutine.close()  # ``start`` would close ``work``, which has not begun to await it
            waiting.cancel()
        else:
            self.start(name, work())
        return waiting

    async def stop(self) -> None:
        """Cancel all work and wait until it has ended, with its clean-up."""
        self._stopped = True
        running = tuple(self._running)
        for task in running:
            task.cancel()
        for task in running:
            await task

    def _failed(self, failure: Failure, name: str) -> None:
        # Only ``stop`` may cancel work: any other cancellation is a bug
        if not (self._stopped and failure.check(CancelledError)):
            _log.failure("{name} failed", failure, name=name)
