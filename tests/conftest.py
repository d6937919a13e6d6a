"""Settings and hooks of all tests."""

import gc
import inspect
import os
import shutil
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from hypothesis import settings

# Else each worker, and each process that a test starts, compiles all that it imports
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

from tests.support.examples import USUAL, number  # noqa: E402  after the environment
from tests.support.fork_server import Switch  # noqa: E402  it keeps the environment as it is now

Switch.on = True

# A busy machine makes any example slow; what is linear is held by tests.support.growth
settings.register_profile("suite", max_examples=number(USUAL), deadline=None)
settings.load_profile("suite")

# Behind nohup and & these are ignored, here and in every process that a test starts
for signal_, handler in (
    (signal.SIGHUP, signal.SIG_DFL),
    (signal.SIGINT, signal.default_int_handler),
):
    if signal.getsignal(signal_) is signal.SIG_IGN:
        signal.signal(signal_, handler)


MEMORY, NEEDED = Path("/dev/shm"), 4 << 30  # bytes


def pytest_configure(config: pytest.Config) -> None:
    """Keep the folders of tests in memory.

    On a disk the syncs of stores and snapshots take a tenth of the CPU, and longer than that. Packages
    need a disk, and a container may have 64 MB of memory, in which no program can be started.
    """
    if (
        config.option.markexpr != "packaging"
        and MEMORY.is_dir()
        and shutil.disk_usage(MEMORY).free > NEEDED
        and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC
    ):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the collector off what is collected: half a million objects that stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Run each test that is a coroutine in the reactor; none needs a decorator."""
    if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.function):
        pytest_twisted.ensureDeferred(item.function)


@pytest.fixture(scope="module", autouse=True)
def _frozen_heap() -> None:
    """Keep the collector off what earlier modules left alive; what they left in cycles ends here."""
    gc.collect()
    gc.freeze()
