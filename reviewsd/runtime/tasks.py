"""Background work that has an owner.

Who starts work owns it: nothing runs on unnoticed, no failure is lost, and stopping means that
everything has ended, not that it was asked to. After synapse's ``run_as_background_process``.
"""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger
from twisted.python.failure import Failure

_log = Logger()

T = TypeVar("T")
R = TypeVar("R")


async def wait_at_most(clock: IReactorTime, seconds: float, done: Deferred[T]) -> None:
    """Wait for something to happen, but not for ever; it goes on, whatever becomes of the waiting.

    A DeferredList would take a cancellation for an outcome: who is told to stop would go on.

    Args:
        clock: Tells the time.
        seconds: The most that is waited.
        done: What is waited for; who made it looks at how it ended.
    """
    waiting: Deferred[None] = Deferred()

    def tell(outcome: R) -> R:
        if not waiting.called:
            waiting.callback(None)
        return outcome

    done.addBoth(tell)
    timer = clock.callLater(seconds, tell, None)
    try:
        await waiting
    finally:
        if timer.active():
            timer.cancel()


class TaskSet:
    """The background work of one owner."""

    _log = Logger()

    def __init__(self) -> None:
        self._running: set[Deferred[None]] = set()
        self._stopped = False

    def start(self, name: str, coroutine: Coroutine[Deferred[Any], Any, object]) -> None:
        """Run a coroutine until it ends or ``stop`` is called; a failure is logged.

        After ``stop`` nothing starts any more: the coroutine is closed unrun. That loses nothing,
        because what is due is found again at the next start (ARCHITECTURE.md).

        Args:
            name: What it does, for the log: "verify intent".
            coroutine: The work. Its result is dropped.
        """
        if self._stopped:
            coroutine.close()
            return
        running = Deferred.fromCoroutine(coroutine)
        ended = running.addCallbacks(lambda _: None, self._failed, errbackKeywords={"name": name})
        self._running.add(ended)
        ended.addCallback(lambda _: self._running.discard(ended))

    def outcome(self, name: str, coroutine: Coroutine[Deferred[Any], Any, T]) -> Deferred[T]:
        """What comes of work that goes on when whoever waits for it is cancelled.

        So a client that leaves, whose route Klein then cancels, stops nothing it has asked for. A
        failure belongs to who waits; where nobody does any more, it is logged.

        Args:
            name: As for ``start``.
            coroutine: The work.
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
                waiting.callback(result)  # of no effect where it was cancelled

        if self._stopped:
            coroutine.close()
        else:
            self.start(name, work())
        return waiting

    async def stop(self) -> None:
        """Cancel everything and wait until it has ended; its clean-up may take its time."""
        self._stopped = True
        running = tuple(self._running)
        for task in running:
            task.cancel()
        for task in running:
            await task

    def _failed(self, failure: Failure, name: str) -> None:
        # Cancelled by somebody else than ``stop``, it ended although it should not have.
        if not (self._stopped and failure.check(CancelledError)):
            self._log.failure("{name} failed", failure, name=name)


async def every(
    clock: IReactorTime, seconds: float, action: Callable[[], Awaitable[object]]
) -> None:
    """Periodic work for a TaskSet: acts at once, then always ``seconds`` after the last end.

    An exception is logged and the work goes on; a LoopingCall would stop for good.
    """
    while True:
        try:
            await action()
        except CancelledError:  # is an Exception; it is how a TaskSet stops this loop
            raise
        except Exception:  # noqa: BLE001 - logged with its traceback; the next turn may succeed
            _log.failure("periodic work failed, next try in {seconds} s", seconds=seconds)
        await deferLater(clock, seconds)
