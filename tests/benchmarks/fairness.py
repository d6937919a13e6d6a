"""One client that keeps 128 slow searches under way, and what the others notice.

    python -m tests.benchmarks.fairness [--sizes 100000,1000000] [--connections 128] [--seconds 5]
        [--rounds 3] [--data DIR]

The first client (a process of its own) asks on each of its connections again as soon as it is answered;
no two searches are alike, and all are among the slowest that the data has. The others are ``/healthz`` and
``/api/feed.json`` 10 times a second each, and a second client that makes one such search after the other.
Clients are distinguished by X-Forwarded-For, as behind a proxy. Each round measures the others alone, then
beside the first. Daemon on core 0, clients on core 1, the first with the lowest priority.
"""

import argparse
import itertools
import os
import random
import selectors
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import msgspec
from msgspec.structs import replace

from reviewsd.snapshot import layout
from reviewsd.snapshot.snapshots import Snapshot
from tests.benchmarks.accounts import memory
from tests.benchmarks.classes import classes, day_at
from tests.benchmarks.inside import percentile
from tests.benchmarks.outside import Patient, served
from tests.benchmarks.search_peer import Connection, get
from tests.benchmarks.sizes import data_set
from tests.benchmarks.tables import table

FIRST, SECOND, THIRD = "192.0.2.1", "198.51.100.2", "203.0.113.3"
_ASKING = 1  # the core of the clients
_RATE = 10  # questions a second to each document
_PROBED = ("/healthz", "/api/feed.json")
_SEARCHED = "search of another client"
_BEGUN = 1.0  # seconds after which all of the first client's searches are under way


class Crowd(msgspec.Struct):
    """The answers that the first client received."""

    seconds: float
    statuses: dict[int, int]


@dataclass(slots=True)
class Noticed:
    """Milliseconds of each kind of question, and of the first client its answers a second."""

    times: dict[str, list[float]] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)
    crowd_seconds: float = 0


def slow_searches(state: Path) -> list[str]:
    """Paths of searches, none like another, that have to look at most texts."""
    snapshot = Snapshot((state / "snapshots" / layout.CURRENT).resolve())
    queries = classes(snapshot)
    worst = [*queries["text: worst words"], *queries["text: worst pieces"]]
    oldest = day_at(snapshot, snapshot.columns.count - 1)
    days = (day_at(snapshot, 0) - oldest).days // 5
    since = [oldest.fromordinal(oldest.toordinal() + day) for day in range(days)]
    searches = [replace(query, since=day) for query in worst for day in since]
    random.Random(1).shuffle(searches)
    return [f"/api/reviews/search?{query.canonical()}" for query in searches]


def request(path: str, client: str) -> bytes:
    """A request of a client behind the proxy."""
    return get(path, f"X-Forwarded-For: {client}")


# The first client, a process ----------------------------------------------------------------------


def crowd(port: int, connections: int, searches: Path) -> Crowd:
    """Ask on all connections at once until stdin ends."""
    paths = itertools.cycle(searches.read_text().splitlines())
    statuses: Counter[int] = Counter()
    with selectors.DefaultSelector() as selector:
        selector.register(sys.stdin, selectors.EVENT_READ)
        for _ in range(connections):
            connection = Connection(port, os.getpid())
            connection.send(request(next(paths), FIRST))
            selector.register(connection, selectors.EVENT_READ)
        began = time.perf_counter()
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        while True:
            for key, _ in selector.select():
                ready = key.fileobj
                if not isinstance(ready, Connection):
                    return Crowd(time.perf_counter() - began, dict(statuses))
                selector.unregister(ready)  # it may open another socket
                head, _ = ready.receive()
                selector.register(ready, selectors.EVENT_READ)
                statuses[int(head.split(b" ", 2)[1])] += 1
                ready.send(request(next(paths), FIRST))


@contextmanager
def beside(port: int, connections: int, searches: Path, noticed: Noticed) -> Iterator[None]:
    """The first client, for as long as the block runs."""
    command = [sys.executable, "-m", "tests.benchmarks.fairness", "--crowd", str(port)]
    command += ["--connections", str(connections), "--searches", str(searches)]
    process = subprocess.Popen(
        ["nice", "-n", "19", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(_BEGUN)
        yield
        answers = msgspec.json.decode(process.communicate()[0], type=Crowd)
    finally:
        process.kill()
        process.wait()
    noticed.crowd_seconds += answers.seconds
    noticed.statuses.update(answers.statuses)


# The others ---------------------------------------------------------------------------------------


def probe(port: int, pid: int, seconds: float, into: Noticed) -> None:
    """Ask for documents at a steady rate; each is counted from when it was due."""
    connections = {path: Connection(port, pid) for path in _PROBED}
    due = time.perf_counter()
    end = due + seconds
    while time.perf_counter() < end:
        for path, connection in connections.items():
            if (wait := due - time.perf_counter()) > 0:
                time.sleep(wait)
            head, _ = connection.ask(request(path, THIRD))
            assert head.startswith(b"HTTP/1.1 200"), head
            into.times.setdefault(path, []).append(1e3 * (time.perf_counter() - due))
            due += 1 / (_RATE * len(_PROBED))
    for connection in connections.values():
        connection.close()


def search(port: int, pid: int, seconds: float, paths: Iterator[str], into: Noticed) -> None:
    """One search after the other."""
    connection = Connection(port, pid)
    end = time.perf_counter() + seconds
    while (began := time.perf_counter()) < end:
        head, _ = connection.ask(request(next(paths), SECOND))
        assert head.startswith(b"HTTP/1.1 200"), head
        into.times.setdefault(_SEARCHED, []).append(1e3 * (time.perf_counter() - began))
    connection.close()


def measure(daemon: Patient, options: argparse.Namespace) -> tuple[Noticed, Noticed]:
    """All rounds: alone, and beside the first client."""
    pid, port = daemon.process.pid, daemon.port
    searches = slow_searches(daemon.state)
    paths = itertools.cycle(searches[::2])
    searches_file = daemon.directory / "searches"
    searches_file.write_text("\n".join(searches[1::2]))
    alone, crowded = Noticed(), Noticed()

    def both(into: Noticed) -> None:
        probe(port, pid, options.seconds, into)
        search(port, pid, options.seconds, paths, into)

    search(port, pid, 2, paths, Noticed())
    for _ in range(options.rounds):
        both(alone)
        with beside(port, options.connections, searches_file, crowded):
            both(crowded)
    return alone, crowded


def report(size: int, alone: Noticed, crowded: Noticed, resident: float) -> list[list[str]]:
    """The rows of one size."""
    rows = []
    for kind, times in alone.times.items():
        crowded_times = crowded.times[kind]
        percentiles = [
            f"{percentile(times, share):.1f} / {percentile(crowded_times, share):.1f}"
            for share in (50, 90, 99)
        ]
        ratio = median(crowded_times) / median(times)
        rows.append([f"{size:,}", kind, *percentiles, f"{ratio:.2f}", f"{max(crowded_times):.1f}"])
    rate = crowded.statuses[200] / crowded.crowd_seconds
    errors = {status: count for status, count in crowded.statuses.items() if status != 200}
    summary = (
        f"{rate:.0f} answers/s; others: {errors or 'none'}; daemon {resident:.0f} MB anonymous"
    )
    rows.append([f"{size:,}", "the first client", summary, "", "", "", ""])
    return rows


def main() -> None:
    """Measure all sizes and print the table, or be the first client."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fairness")
    parser.add_argument("--sizes", default="100000,1000000")
    parser.add_argument("--connections", type=int, default=128)
    parser.add_argument("--seconds", type=float, default=5, help="of each measurement in a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=Path("/tmp/w/data"))
    parser.add_argument("--crowd", type=int, metavar="PORT", help=argparse.SUPPRESS)
    parser.add_argument("--searches", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.crowd is not None:
        answers = crowd(options.crowd, options.connections, options.searches)
        sys.stdout.buffer.write(msgspec.json.encode(answers))
        return
    os.sched_setaffinity(0, {_ASKING})
    rows: list[list[str]] = []
    for size in map(int, options.sizes.split(",")):
        data = data_set(options.data, size)
        with served(data) as daemon:
            alone, crowded = measure(daemon, options)
            rows += report(size, alone, crowded, memory(daemon.process.pid))
    head = ["reviews", "asked", "p50 ms, alone / beside", "p90", "p99", "p50 ratio", "longest"]
    sys.stdout.write(table(head, rows) + "\n")


if __name__ == "__main__":
    main()
