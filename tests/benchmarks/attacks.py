"""What clients that mean harm cost the others: the rows of "Under attack" in performance.md.

    python -m tests.benchmarks.attacks [--cases searches,callbacks] [--data /tmp/w/data]
        [--size 100000] [--seconds 5] [--rounds 3]

- *searches*: one client keeps 128 of the slowest searches under way, none like another, and asks again as soon
  as it is answered. ``/healthz``, ``/api/feed.json`` and the searches of a second client are measured alone,
  then beside it. Clients are distinguished by X-Forwarded-For, as behind a proxy.
- *callbacks*: 500 callbacks, in a network each, read a delivery and do not answer; five healthy
  ones, subscribed last, are measured from the first delivery of a fan-out until the last of them has it: in
  the first fan-out, in which those that hang are unknown, and in the next one.

Daemon on core 0, clients on core 1, and the client with the slow searches has the lowest priority.
"""

import argparse
import itertools
import multiprocessing
import os
import random
import selectors
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median

from msgspec.structs import replace

from reviewsd.snapshot import layout
from reviewsd.snapshot.snapshots import Snapshot
from tests.benchmarks.accounts import memory
from tests.benchmarks.classes import classes, day_at
from tests.benchmarks.outside import percentile, served
from tests.benchmarks.search_peer import Connection, get
from tests.benchmarks.sizes import data_set
from tests.benchmarks.tables import table
from tests.support import subscriber as hubs
from tests.support.daemon import Daemon, until

Rows = list[list[str]]

# Slow searches ------------------------------------------------------------------------------------

FIRST, SECOND, THIRD = "192.0.2.1", "198.51.100.2", "203.0.113.3"
_SEARCHES = 128  # under way
_RATE = 10  # requests a second for each document
_PROBED = ("/healthz", "/api/feed.json")
_spawning = multiprocessing.get_context("spawn")


def request(path: str, client: str) -> bytes:
    """A request of a client behind the proxy."""
    return get(path, f"X-Forwarded-For: {client}")


def slow_searches(state: Path) -> list[str]:
    """Paths of searches, none like another, that have to look at most texts."""
    snapshot = Snapshot((state / "snapshots" / layout.CURRENT).resolve())
    queries = classes(snapshot)["text: worst"]
    oldest = day_at(snapshot, snapshot.columns.count - 1)
    days = (day_at(snapshot, 0) - oldest).days // 5
    since = [oldest.fromordinal(oldest.toordinal() + day) for day in range(days)]
    searches = [replace(query, since=day) for query in queries for day in since]
    random.Random(1).shuffle(searches)
    return [f"/api/reviews/search?{query.canonical()}" for query in searches]


def crowd(port: int, searches: list[str], begun: Event) -> None:
    """Keep slow searches under way until the process is terminated."""
    os.nice(19)
    paths = itertools.cycle(searches)
    with selectors.DefaultSelector() as selector:
        for _ in range(_SEARCHES):
            connection = Connection(port, os.getpid())
            connection.send(request(next(paths), FIRST))
            selector.register(connection, selectors.EVENT_READ)
        begun.set()
        while True:
            for key, _ in selector.select():
                ready = key.fileobj
                assert isinstance(ready, Connection)
                selector.unregister(ready)  # it may open another socket
                ready.receive()
                selector.register(ready, selectors.EVENT_READ)
                ready.send(request(next(paths), FIRST))


@contextmanager
def beside(port: int, searches: list[str]) -> Iterator[None]:
    """Run the first client."""
    begun = _spawning.Event()
    process = _spawning.Process(target=crowd, args=(port, searches, begun))
    process.start()
    try:
        begun.wait()
        time.sleep(1)
        yield
        assert process.is_alive()
    finally:
        process.terminate()
        process.join()


def noticed(port: int, seconds: float, paths: Iterator[str], into: dict[str, list[float]]) -> None:
    """Measure the documents at a steady rate, from when each was due, then searches; milliseconds."""
    connections = {client: Connection(port, os.getpid()) for client in (SECOND, THIRD)}

    def ask(kind: str, path: str, client: str, due: float) -> None:
        head, _ = connections[client].ask(request(path, client))
        assert head.startswith(b"HTTP/1.1 200"), head
        into.setdefault(kind, []).append(1e3 * (time.perf_counter() - due))

    due = time.perf_counter()
    for path in itertools.islice(itertools.cycle(_PROBED), int(seconds * _RATE * len(_PROBED))):
        time.sleep(max(0, due - time.perf_counter()))
        ask(path, path, THIRD, due)
        due += 1 / (_RATE * len(_PROBED))
    end = time.perf_counter() + seconds
    while (began := time.perf_counter()) < end:
        ask("search of another client", next(paths), SECOND, began)
    for connection in connections.values():
        connection.close()


def searching(options: argparse.Namespace) -> str:
    """Measure slow searches."""
    alone: dict[str, list[float]] = {}
    crowded: dict[str, list[float]] = {}
    with served(data_set(options.data, options.size)) as daemon:
        searches = slow_searches(daemon.state)
        paths = itertools.cycle(searches[::2])
        noticed(daemon.port, 1, paths, {})
        for _ in range(options.rounds):
            noticed(daemon.port, options.seconds, paths, alone)
            with beside(daemon.port, searches[1::2]):
                noticed(daemon.port, options.seconds, paths, crowded)
    rows = []
    for kind, times in alone.items():
        percentiles = [
            f"{percentile(times, share):.1f} / {percentile(crowded[kind], share):.1f}"
            for share in (50, 90, 99)
        ]
        rows.append([kind, *percentiles, f"{median(crowded[kind]) / median(times):.2f}"])
    return table(["asked", "p50 ms, alone / beside", "p90", "p99", "p50 ratio"], rows)


# Callbacks that hang ------------------------------------------------------------------------------

_HEALTHY = 5
HEALTHY = [f"127.200.{number}.1" for number in range(_HEALTHY)]
HANGING = [f"127.{1 + number // 250}.{number % 250}.1" for number in range(500)]
"""Addresses of callbacks, each in a network of its own."""


def silent_hangs(request: hubs.LoggedRequest) -> hubs.Reply | None:
    """Confirm each callback of ``/hang``, and then send nothing."""
    hangs = request.method == "POST" and request.path.startswith("/hang")
    return None if hangs else hubs.good(request)


def latency(daemon: Daemon, subscriber: hubs.Subscriber, number: int) -> float:
    """Change the data; return the seconds from the first delivery to the last healthy subscriber's."""
    before = len(subscriber.log)
    daemon.edit(name=f"Changed {number}")

    def deliveries() -> list[float]:
        return [request.at for request in subscriber.log[before:] if request.method == "POST"]

    def healthy() -> list[float]:
        several = [subscriber.deliveries(f"/healthy{n}")[number - 1 :] for n in range(_HEALTHY)]
        return [requests[0].at for requests in several if requests]

    until(lambda: len(healthy()) == _HEALTHY, "the healthy ones", 120)
    return max(healthy()) - min(deliveries())


def hanging(answer: Callable[[hubs.LoggedRequest], hubs.Reply | None]) -> list[str]:
    """A row of the table."""
    with tempfile.TemporaryDirectory(prefix="hanging-") as name:
        directory = Path(name)
        names = [*HANGING, *HEALTHY]
        with hubs.Subscriber(directory, "0.0.0.0", answer, names=names) as subscriber:
            limits = {"requests_per_minute": 1_000_000}
            delivery = {"retry_delays": [60, 1800]}
            settings = hubs.settings(subscriber.ca_file, limits=limits, delivery=delivery)
            with Daemon(directory, settings) as daemon:
                hubs.until_open(daemon)
                urls = [subscriber.url("/hang", host) for host in HANGING]
                urls += [subscriber.url(f"/healthy{n}", h) for n, h in enumerate(HEALTHY)]
                for url in urls:
                    until(lambda: hubs.hub(daemon)["pending"] < 200, "room for another request")
                    assert hubs.ask(daemon, url).status == 202
                until(lambda: hubs.hub(daemon)["active"] == len(urls), "the subscriptions", 300)
                pid = daemon.process.pid
                before = memory(pid, "VmRSS")
                first = latency(daemon, subscriber, 1)
                grown = memory(pid, "VmRSS") - before
                time.sleep(31)  # the time of a delivery
                second = latency(daemon, subscriber, 2)
    title = "hang" if answer is silent_hangs else "answer"
    return [title, f"{first:.1f}", f"{second:.1f}", f"{grown:.0f}"]


def calling(_: argparse.Namespace) -> str:
    """Measure callbacks that hang."""
    head = ["500 callbacks that", "last healthy one, s", "in the next fan-out", "MB"]
    return table(head, [hanging(silent_hangs), hanging(hubs.good)])


ATTACKS = {"searches": searching, "callbacks": calling}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table for each attack."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.attacks")
    parser.add_argument("--cases", default=",".join(ATTACKS))
    parser.add_argument("--data", type=Path, default=Path("/tmp/w/data"))
    parser.add_argument("--size", type=int, default=100_000, help="reviews that are searched")
    parser.add_argument("--seconds", type=float, default=5, help="of each measurement in a round")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    os.sched_setaffinity(0, {1})
    for name in options.cases.split(","):
        sys.stdout.write(f"### {name}\n\n{ATTACKS[name](options)}\n\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
