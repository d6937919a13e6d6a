"""Measures one size of data: publications, starts and memory of a real daemon, searches, latency at a reload.

    python -m tests.benchmarks.outside DATA DIRECTORY > result.json

``sizes`` starts one for each size.
"""

import argparse
import http.client
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import cycle, islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import msgspec

from reviewsd.domain.search_query import SearchQuery
from reviewsd.publish.messages import Job, Outcome, PublicationOrder
from reviewsd.snapshot import layout
from reviewsd.snapshot.snapshots import Snapshot
from tests.benchmarks.accounts import memory
from tests.benchmarks.classes import classes, distinct
from tests.support import publishing
from tests.support.columns import SETTINGS
from tests.support.daemon import Daemon, until

_SEARCHES = 2_000
_RATE = 200  # requests a second
_PATIENCE = 900  # seconds
_SAMPLES = 100  # searches of a class


class Compiling(msgspec.Struct):
    """The cost of one publication."""

    seconds: float
    cpu_seconds: float
    peak_mb: float
    """Peak RSS, mapped files included."""


class Class(msgspec.Struct):
    """One class of queries; milliseconds of CPU, which other processes cannot disturb."""

    name: str
    p50: float
    p99: float
    step: float
    """The longest time that the reactor had to wait."""
    worst: str


class Result(msgspec.Struct):
    """All of it; memory in MB, times in seconds but for searches and health."""

    compiling: dict[str, list[Compiling]]
    """By what the insights are made of, and whether the data were published before."""
    first_step: float
    """The longest step of the first scan of a snapshot that has not been read from."""
    classes: list[Class]
    starts: list[float]
    """Until READY, with an unchanged snapshot."""
    private: float
    """RssAnon after the searches."""
    mapped: float
    """RssFile after them: shared, and given back under pressure."""
    health: list[list[float]]
    """Latencies of /healthz in ms, 200 requests a second, while changed data are published."""


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that so many per cent do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, -int(-len(ordered) * share // 100) - 1)]


class Patient(Daemon):
    """Waits for as long as a million reviews take."""

    def wait_ready(self) -> None:
        process = self.process
        until(lambda: "READY=1" in self.heard or process.poll() is not None, "READY=1", _PATIENCE)
        super().wait_ready()


@contextmanager
def served(data: Path | None = None, settings: str = "") -> Iterator[Patient]:
    """Run a daemon on core 0, and check at the end that it has logged no traceback."""
    with TemporaryDirectory(prefix="reviewsd-benchmark-") as name:
        if data is not None:
            Path(name, "data").symlink_to(data.absolute())
        daemon = Patient(Path(name), f"data: {{poll_interval: 3600}}\n{settings}")
        with closing(daemon):
            daemon.launch(before=("taskset", "-c", "0"))
            daemon.wait_ready()
            yield daemon
            assert "Traceback" not in daemon.log.read_text(), daemon.log.read_text()[-4_000:]


def publish(job: Job) -> Compiling:
    """Publish in a process as the daemon starts it."""
    begin = time.perf_counter()
    process = publishing.start()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(msgspec.json.encode(job))
    process.stdin.close()
    last = process.stdout.read().splitlines()[-1]
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    assert msgspec.json.decode(last, type=Outcome).result == "published"
    return Compiling(
        seconds=time.perf_counter() - begin,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        peak_mb=usage.ru_maxrss / 1024,
    )


def ready(running: Daemon) -> float:
    """Seconds from the command to READY=1."""
    begin = time.perf_counter()
    running.start()
    return time.perf_counter() - begin


def search(running: Daemon) -> None:
    """2,000 searches, none like another, over one connection."""
    snapshot = Snapshot((running.state / "snapshots" / layout.CURRENT).resolve())
    connection = http.client.HTTPConnection("127.0.0.1", running.port)
    for query in islice(distinct(snapshot), _SEARCHES):
        connection.request("GET", f"/api/reviews/search?{query.canonical()}")
        response = connection.getresponse()
        response.read()
        assert response.status == 200, query
    connection.close()


def ping(port: int, stop: threading.Event) -> list[float]:
    """/healthz at a steady rate; each is counted from the time at which it was due."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    times = []
    due = time.perf_counter()
    while not stop.is_set():
        if (wait := due - time.perf_counter()) > 0:
            time.sleep(wait)
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        times.append(1e3 * (time.perf_counter() - due))
        due += 1 / _RATE
    connection.close()
    return times


def health(running: Daemon, number: int) -> list[float]:
    """The latencies while a changed data set is published."""
    change(running.data, number)
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        pinging = pool.submit(ping, running.port, stop)
        try:
            # the watcher may have had it published already
            assert running.reload()["outcome"] in {"published", "unchanged"}
        finally:
            stop.set()
        return pinging.result()


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


def publications(
    source: Path, place: Path, insights: Literal["file", "auto"], times: int
) -> Iterator[tuple[str, Compiling]]:
    """Publish data from nothing, and again with another name of the business."""
    for number in range(times):
        data, state = place / "published", place / "publications"
        shutil.copytree(source, data)
        if insights == "auto":
            (data / "insights.json").unlink()
        order = PublicationOrder(
            data_dir=str(data),
            snapshots=str(state / "snapshots"),
            settings=SETTINGS,
            max_bytes=1 << 31,
            insights=insights,
        )
        job = Job(order=order, version="benchmark", now=time.time())
        yield insights, publish(job)
        change(data, number)
        yield f"{insights}, again", publish(job)
        shutil.rmtree(state)
        shutil.rmtree(data)


def timed(snapshot: Snapshot, query: SearchQuery) -> tuple[float, float]:
    """Search; return the milliseconds of CPU of all steps, and of the longest."""
    moments = [time.thread_time()]
    moments += (time.thread_time() for _ in snapshot.search(query))
    moments.append(time.thread_time())
    steps = [1e3 * (after - before) for before, after in pairwise(moments)]
    return sum(steps), max(steps)


def search_class(snapshot: Snapshot, name: str, queries: Sequence[SearchQuery]) -> Class:
    """Search for all queries of a class in turn."""
    searches = [(*timed(snapshot, query), query) for query in islice(cycle(queries), _SAMPLES)]
    times = [total for total, _, _ in searches]
    return Class(
        name=name,
        p50=percentile(times, 50),
        p99=percentile(times, 99),
        step=max(step for _, step, _ in searches),
        worst=searches[times.index(max(times))][2].canonical(),
    )


def measure(data: Path, directory: Path, times: int) -> Result:
    """Everything, one after the other."""
    directory.mkdir(parents=True)
    compiling: dict[str, list[Compiling]] = {}
    modes: tuple[Literal["file", "auto"], ...] = ("file", "auto")
    for insights in modes:
        for title, cost in publications(data, directory, insights, times):
            compiling.setdefault(title, []).append(cost)
    shutil.copytree(data, directory / "data")
    running = Patient(directory)
    ready(running)
    running.stop()
    starts = []
    for _ in range(3):
        starts.append(ready(running))
        running.stop()
    snapshot = Snapshot((running.state / "snapshots" / layout.CURRENT).resolve())
    _, first_step = timed(snapshot, SearchQuery(query="zzzzqq"))
    searches = [search_class(snapshot, *item) for item in classes(snapshot).items()]
    with running:
        pid = running.process.pid
        search(running)
        private, mapped = memory(pid), memory(pid, "RssFile")
        latencies = [health(running, number) for number in range(times)]
        running.stop()
    return Result(
        compiling=compiling,
        first_step=first_step,
        classes=searches,
        starts=starts,
        private=private,
        mapped=mapped,
        health=latencies,
    )


def main() -> None:
    """Measure, and print the result as JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.outside")
    parser.add_argument("data", type=Path)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--times", type=int, default=3)
    arguments = parser.parse_args()
    result = measure(arguments.data, arguments.directory, arguments.times)
    sys.stdout.buffer.write(msgspec.json.encode(result))


if __name__ == "__main__":
    main()
