"""Background work that has an owner.

The object that starts work owns it: failures are logged, and ``stop`` returns when all work has ended.
After synapse's ``run_as_background_process``.
"""

from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from twisted.internet.defer import CancelledError, Deferred, TimeoutError  # noqa: A004  Twisted's
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

_log = Logger()

T = TypeVar("T")
R = TypeVar("R")


async def wait_at_most(clock: IReactorTime, seconds: float, done: Deferred[T]) -> None:
    """Wait for a Deferred for a limited time, without cancelling it afterwards.

    Its result and its failure pass on to its next callback. A DeferredList would treat the cancellation
    of the caller as a result, and the caller would go on.
    """
    waiting: Deferred[None] = Deferred()

    def finish(outcome: R) -> R:
        waiting.callback(None)  # without effect after the time or a cancellation
        return outcome

    done.addBoth(finish)
    with suppress(TimeoutError):
        await waiting.addTimeout(seconds, clock)


class TaskSet:
    """The background work of one owner."""

    def __init__(self) -> None:
        self._running: set[Deferred[None]] = set()
        self._stopped = False

    def start(self, name: str, coroutine: Coroutine[Deferred[Any], Any, object]) -> None:
        """Run a coroutine until it ends or ``stop`` is called; a failure is logged.

        After ``stop`` the coroutine is closed and does not run. Nothing is lost, because the next start
        finds all due work in the store (ARCHITECTURE.md).

        Args:
            name: The name of the work in the log, e.g. "verify intent".
            coroutine: The work; its result is dropped.
        """
        if self._stopped:
            coroutine.close()
            return
        running = Deferred.fromCoroutine(coroutine)
        ended = running.addCallbacks(lambda _: None, self._failed, errbackKeywords={"name": name})
        self._running.add(ended)
        ended.addCallback(lambda _: self._running.discard(ended))

    def outcome(self, name: str, coroutine: Coroutine[Deferred[Any], Any, T]) -> Deferred[T]:
        """Return the result of work that goes on if the returned Deferred is cancelled.

        Klein cancels a route when its client leaves; the work that the client requested still ends. A
        failure is raised to the caller, or logged with the name if the caller was cancelled.
        """
        waiting: Deferred[T] = Deferred()

        async def work() -> None:
            try:
                result = await coroutine
            except CancelledError:  # by ``stop``
                raise
            except Exception:
                if waiting.called:
                    raise
                waiting.errback()
            else:
                waiting.callback(result)  # without effect after a cancellation

        if self._stopped:
            coroutine.close()
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


async def every(
    clock: IReactorTime, seconds: float, action: Callable[[], Awaitable[object]]
) -> None:
    """Call an action at once, and again ``seconds`` after it has ended; for a TaskSet.

    An exception is logged and the calls go on; a LoopingCall would stop for good.
    """
    while True:
        try:
            await action()
        except CancelledError:  # an Exception as well; the TaskSet stops this loop
            raise
        except Exception:  # noqa: BLE001 - logged with its traceback; the next call may succeed
            _log.failure("periodic work failed, next try in {seconds} s", seconds=seconds)
        await deferLater(clock, seconds)
