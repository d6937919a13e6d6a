"""Long work in short steps, so that the reactor can do something else in between."""

import time
from collections.abc import Coroutine, Generator
from functools import partial
from types import coroutine
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

STEP_SECONDS = 0.002
"""A search works for so long before the reactor may do something else."""

T = TypeVar("T")


async def in_steps(steps: Generator[None, None, T], clock: IReactorTime) -> T:
    """Run a generator to its end without keeping the reactor from other work for long."""
    pause = time.perf_counter() + STEP_SECONDS
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        if time.perf_counter() > pause:
            await deferLater(clock, 0)
            pause = time.perf_counter() + STEP_SECONDS


def promptly(work: Coroutine[Deferred[Any], Any, T]) -> T | Deferred[T]:
    """The result of a coroutine; a Deferred only where it has to wait for something.

    Args:
        work: It is begun here, and what it raises before it waits is raised here.
    """
    try:
        awaited = work.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    return Deferred.fromCoroutine(_continued(work, awaited))


@coroutine
def _continued(
    work: Coroutine[Deferred[Any], Any, T], awaited: Deferred[Any]
) -> Generator[Deferred[Any], Any, T]:
    """The rest of a coroutine that waits: as ``yield from`` would be, had it been begun by it."""
    while True:
        try:
            given = yield awaited
        except Exception as error:  # noqa: BLE001 - it is the coroutine's
            step = partial(work.throw, error)
        else:
            step = partial(work.send, given)
        try:
            awaited = step()
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
