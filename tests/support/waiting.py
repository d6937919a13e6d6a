"""Waiting on the reactor for what must come true."""

import time
from collections.abc import Callable
from typing import Final, cast

from twisted.internet import reactor
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

SECONDS: Final = 60.0
"""After which nothing comes any more: long, for machines with much else to do."""

_STEP = 0.005


async def until(true: Callable[[], object]) -> float:
    """Let the reactor work until something has come true; returns how many seconds that took."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() < began + SECONDS, "it did not come true"
        await deferLater(cast("IReactorTime", reactor), _STEP)
    return time.monotonic() - began
