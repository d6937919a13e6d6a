"""Measures inside the process how snapshots are opened, searched and swapped.

    python -m tests.benchmarks.inside DATA STATE > result.json

It runs the daemon's own objects under the real reactor, with the real publishing process, and says
what it found as JSON. ``sizes`` starts one for each size.
"""

import argparse
import contextlib
import gc
import os
import shutil
import sys
import time
from collections.abc import Generator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import cast

import msgspec
from twisted.internet import reactor as installed
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.posixbase import PosixReactorBase
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread

from reviewsd.domain.search_query import SearchQuery
from reviewsd.http1.responses import Responses
from reviewsd.publish import compile_process
from reviewsd.publish.messages import CompileSettings, PublicationOrder
from reviewsd.publish.publisher import Publisher
from reviewsd.publish.sources import fingerprint
from reviewsd.runtime.turns import CooperativeScheduler
from reviewsd.snapshot import layout
from reviewsd.snapshot.search import Hits
from reviewsd.snapshot.snapshots import Snapshot, Snapshots
from reviewsd.web.reads import Reads
from tests.benchmarks.classes import classes
from tests.support.budgets import budgets

SETTINGS = CompileSettings(
    base_url="https://reviews.example", authority="reviews.example", year=2025
)
MAX_BYTES = 1 << 31
_TICK = 0.001  # seconds between two ticks
_URGENT = -15  # nice value of what is measured, where we may: neighbors wait then
_USUAL = os.nice(0)
_DISPOSED = 0.3  # seconds after a reload, when the old snapshot is gone
_SPAWNED = 0.1  # seconds until the child runs, with our own nice value and 10 more
_LEAST, _MOST, _CLASS_SECONDS = 20, 400, 1.5  # samples of a class, and when it is enough


class Class(msgspec.Struct):
    """One class of queries; milliseconds."""

    name: str
    samples: int
    p50: float
    longest: float
    cpu: float
    """The p99 in CPU time: what other processes cannot disturb."""
    step: float
    """The longest time that the reactor had to wait, wall clock."""
    step_cpu: float
    worst: str


class Result(msgspec.Struct):
    """All of it; milliseconds."""

    first_touch: float
    """The longest step of the first scan of a snapshot that has not been read from."""
    classes: list[Class]
    swaps: list[float]
    """The longest gap between two ticks from a swap until the old snapshot is gone."""


def order(data: Path, state: Path) -> PublicationOrder:
    """Return the order to publish the data."""
    return PublicationOrder(
        data_dir=str(data),
        snapshots=str(state / "snapshots"),
        settings=SETTINGS,
        max_bytes=MAX_BYTES,
        insights="file",
    )


def change(data: Path, revision: int) -> None:
    """Replace ``reviews.json`` by one in which every byte has moved: the business is renamed."""
    source, aside = data / "reviews.json", data / ".reviews.json.part"
    with source.open("rb") as old, aside.open("wb") as new:
        head = old.read(1_000)
        start = head.index(b'"name":"') + 8
        stop = head.index(b'"', start)
        new.write(head[:start] + b"Acme, edition %d" % revision + head[stop:])
        shutil.copyfileobj(old, new, 1 << 20)
    aside.replace(source)


class Ticker:
    """Ticks each millisecond and keeps the moments."""

    def __init__(self, clock: PosixReactorBase) -> None:
        self._clock = clock
        self._times: list[float] = []
        self._next = clock.callLater(_TICK, self._tick)

    def _tick(self) -> None:
        self._times.append(time.perf_counter())
        self._next = self._clock.callLater(_TICK, self._tick)

    def longest(self, begin: float, end: float) -> float:
        """The longest gap of those that touch a time, ms."""
        times = self._times
        gaps = pairwise(times)
        return 1e3 * max((b - a for a, b in gaps if b >= begin and a <= end), default=0.0)

    def stop(self) -> None:
        self._next.cancel()


class TimedSnapshots(Snapshots):
    """Knows when it last looked."""

    began = 0.0

    def refresh(self) -> None:
        self.began = time.perf_counter()
        super().refresh()


class Timed:
    """Runs a search in steps and measures each of them."""

    def __init__(self, steps: Generator[None, None, Hits]) -> None:
        self._steps = steps
        self.longest = self.longest_cpu = 0.0

    def run(self) -> Generator[None, None, Hits]:
        while True:
            wall, cpu = time.perf_counter(), time.thread_time()
            try:
                next(self._steps)
            except StopIteration as end:
                self._note(wall, cpu)
                return cast("Hits", end.value)
            self._note(wall, cpu)
            yield

    def _note(self, wall: float, cpu: float) -> None:
        self.longest_cpu = max(self.longest_cpu, time.thread_time() - cpu)
        self.longest = max(self.longest, time.perf_counter() - wall)


_ABSENT = SearchQuery(query="zzzzqq")


def hurry(nice: int) -> None:
    """Set this thread's nice value; children made before keep theirs."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, nice)


async def measure(clock: PosixReactorBase, data: Path, state: Path, reloads: int) -> Result:
    """Everything, one after the other."""
    snapshots = TimedSnapshots(state / "snapshots", partial(clock.callInThread, list.clear))
    publisher = Publisher(
        order(data, state),
        "benchmark",
        snapshots,
        partial(deferToThread, fingerprint, data),
        partial(compile_process.run, clock),
        clock,
    )
    await publisher.reload()
    replies = Responses(SETTINGS.base_url, "public")
    Reads(snapshots, replies, budgets(clock))  # prepares what is published
    scheduler = CooperativeScheduler(clock)
    link = state / "snapshots" / layout.CURRENT
    gc.collect()
    gc.freeze()
    hurry(_URGENT)
    first = Timed(Snapshot(link.resolve()).search(_ABSENT))
    await _run(scheduler, first.run())
    measured_classes = [
        await _class(scheduler, snapshots.current, name, queries)
        for name, queries in classes(snapshots.current).items()
    ]
    hurry(_USUAL)
    return Result(
        first_touch=1e3 * first.longest,
        classes=measured_classes,
        swaps=[await _swap(clock, publisher, snapshots, data, at) for at in range(reloads)],
    )


async def _run(scheduler: CooperativeScheduler, steps: Generator[None, None, Hits]) -> None:
    await maybeDeferred(scheduler.run, steps, lambda: "")


async def _class(
    scheduler: CooperativeScheduler, snapshot: Snapshot, name: str, queries: list[SearchQuery]
) -> Class:
    cold: list[float] = []
    cpus: list[float] = []
    longest = longest_cpu = worst = 0.0
    slowest = ""
    end = time.perf_counter() + _CLASS_SECONDS
    while len(cold) < _MOST and (len(cold) < _LEAST or time.perf_counter() < end):
        query = queries[len(cold) % len(queries)]
        timed = Timed(snapshot.search(query))
        begin, cpu = time.perf_counter(), time.thread_time()
        await _run(scheduler, timed.run())
        cpus.append(1e3 * (time.thread_time() - cpu))
        cold.append(1e3 * (time.perf_counter() - begin))
        longest, longest_cpu = max(longest, timed.longest), max(longest_cpu, timed.longest_cpu)
        if cpus[-1] > worst:
            worst, slowest = cpus[-1], query.canonical()
    return Class(
        name=name,
        samples=len(cold),
        p50=percentile(cold, 50),
        longest=max(cold),
        cpu=percentile(cpus, 99),
        step=1e3 * longest,
        step_cpu=1e3 * longest_cpu,
        worst=slowest,
    )


async def _swap(
    clock: PosixReactorBase,
    publisher: Publisher,
    snapshots: TimedSnapshots,
    data: Path,
    number: int,
) -> float:
    await deferToThread(change, data, number)
    await _run(CooperativeScheduler(clock), snapshots.current.search(_ABSENT))
    ticker = Ticker(clock)
    await deferLater(clock, 0.01)
    reloading = publisher.reload()
    clock.callLater(_SPAWNED, hurry, _URGENT)
    assert (await reloading).outcome == "published"
    disposed_at = time.perf_counter() + _DISPOSED
    await deferLater(clock, _DISPOSED + 0.1)
    ticker.stop()
    hurry(_USUAL)
    return ticker.longest(snapshots.began, disposed_at)


def percentile(values: list[float], share: float) -> float:
    """The smallest value that so many per cent do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, -int(-len(ordered) * share // 100) - 1)]


def main() -> None:
    """Measure, and print the result as JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.inside")
    parser.add_argument("data", type=Path)
    parser.add_argument("state", type=Path)
    parser.add_argument("--reloads", type=int, default=3)
    arguments = parser.parse_args()
    clock = cast("PosixReactorBase", installed)

    def finish(result: object) -> None:
        if isinstance(result, Result):
            sys.stdout.buffer.write(msgspec.json.encode(result))
        else:
            sys.stderr.write(f"{result}\n")
        clock.stop()

    def begin() -> None:
        running = Deferred.fromCoroutine(
            measure(clock, arguments.data, arguments.state, arguments.reloads)
        )
        running.addBoth(finish)

    clock.callWhenRunning(begin)
    clock.run()


if __name__ == "__main__":
    main()
