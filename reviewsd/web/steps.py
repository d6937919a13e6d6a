"""Long work in short steps, so that the reactor can do something else in between."""

import time
from collections.abc import Generator
from typing import TypeVar

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
