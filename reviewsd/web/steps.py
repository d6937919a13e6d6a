"""Long work in short steps, so that the reactor can do something else in between."""

import time
from collections.abc import Generator
from typing import TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

STEP_SECONDS = 0.002
"""A search works for so long before the reactor may do something else."""

T = TypeVar("T")


def in_steps(steps: Generator[None, None, T], clock: IReactorTime) -> T | Deferred[T]:
    """Run a generator to its end without keeping the reactor from other work for long.

    Returns:
        Its result; a Deferred only where others had their turn meanwhile.
    """
    pause = time.perf_counter() + STEP_SECONDS
    try:
        while True:
            next(steps)
            if time.perf_counter() > pause:
                return Deferred.fromCoroutine(_rest(steps, clock))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


async def _rest(steps: Generator[None, None, T], clock: IReactorTime) -> T:
    """What is left of a generator whose time was up."""
    while True:
        await deferLater(clock, 0)
        pause = time.perf_counter() + STEP_SECONDS
        while time.perf_counter() < pause:
            try:
                next(steps)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
