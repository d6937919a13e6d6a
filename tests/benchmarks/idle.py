"""Measures what 5,000 idle connections cost, and whether other clients notice them.

    python -m tests.benchmarks.idle [--connections 5000] [--seconds 10]

Two daemons in turn, one that takes them all (``max_connections: 6000``) and one with the default of 4,096,
which has to close some; three kinds of idleness. Latencies are those of a client that asks for
/healthz 100 times a second on a kept connection, and of one that opens a connection for each; from before
the others come, while they come, and while they are there. Daemon on core 0, clients on core 1.
"""

import argparse
import os
import resource
import select
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial, reduce
from http.client import BadStatusLine, HTTPResponse
from operator import add
from pathlib import Path

from tests.benchmarks.accounts import Sizes, family, sizes
from tests.benchmarks.inside import percentile
from tests.benchmarks.search_peer import get
from tests.support.daemon import Daemon

_SERVED, _ASKING = "0", 1  # cores
_RATE = 100  # questions a second, each way
_AT_ONCE = 100  # connections, then a breath, as the accept queue has an end
_REQUEST = get("/healthz")
_CLOSING = get("/healthz", "Connection: close")
_DESCRIPTORS = 16_000

_BODY = b'{"jsonrpc":"2.0","id":1,"method":"ping"' + 65_000 * b" " + b"}"
_JSON = ("Content-Type: application/json", f"Content-Length: {len(_BODY)}")

KINDS = {
    "silent": b"",
    "has asked": _REQUEST,
    "half a header": _REQUEST[:20],
    "16 kB in one field": get("/healthz", "A: " + 16_000 * "b"),
    "450 fields": get("/healthz", *(f"X-{number}: {20 * 'a'}" for number in range(450))),
    "a body of 64 kB": get("/mcp", *_JSON).replace(b"GET", b"POST") + _BODY,
    "an answer of 100 reviews": get("/api/reviews/search?limit=100"),
}
"""The bytes that each connection sends before it is idle."""


@dataclass(slots=True)
class Noticed:
    """Latencies and failures of a client that is not one of the idle ones."""

    times: list[float] = field(default_factory=list)
    """Milliseconds; of questions on a kept connection and on new ones by turns."""
    failures: int = 0
    """Questions without an answer."""

    def __str__(self) -> str:
        latencies = f"{percentile(self.times, 99):.1f} / {max(self.times):.1f}"
        return f"{latencies}, **{self.failures} lost**" if self.failures else latencies


def asking(port: int, meanwhile: Callable[[], None]) -> Noticed:
    """Ask for as long as something takes.

    Args:
        port: Of the daemon.
        meanwhile: What goes on.
    """
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        answers = pool.submit(_ask, port, stop)
        try:
            meanwhile()
        finally:
            stop.set()
        return answers.result()


def _ask(port: int, stop: threading.Event) -> Noticed:
    noticed = Noticed()
    open_connection: socket.socket | None = None
    due = time.perf_counter()
    while not stop.is_set():
        for request in (_REQUEST, _CLOSING):
            connection = open_connection if request is _REQUEST else None
            begin = time.perf_counter()
            try:
                if connection is None:
                    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
                connection.sendall(request)
                response = connection.recv(65_536)
            except OSError:
                response = b""
            noticed.times.append(1e3 * (time.perf_counter() - begin))
            noticed.failures += not response.startswith(b"HTTP/1.1 200")
            if request is _REQUEST:
                open_connection = (
                    connection if response and b"\r\nConnection: close" not in response else None
                )
            if connection is not None and connection is not open_connection:
                connection.close()
        due += 1 / _RATE
        if (wait := due - time.perf_counter()) > 0:
            time.sleep(wait)
    if open_connection is not None:
        open_connection.close()
    return noticed


def crowd(port: int, number: int, first: bytes) -> list[socket.socket]:
    """Open connections that send ``first`` and are silent afterwards."""
    opened = []
    for place in range(number):
        connection = socket.create_connection(("127.0.0.1", port), timeout=30)
        opened.append(connection)
        if first:
            connection.sendall(first)
        if place % _AT_ONCE == 0:
            time.sleep(0.02)
        if len(first) > len(KINDS["half a header"]):
            with suppress(
                ConnectionResetError, BadStatusLine
            ):  # closed to make room, or as it comes
                answer = HTTPResponse(connection)
                answer.begin()
                answer.read()
    return opened


def remaining(connections: list[socket.socket]) -> int:
    """Return how many connections the daemon has not closed."""
    poller = select.poll()
    for connection in connections:
        poller.register(connection, select.POLLIN)
    return len(connections) - len(poller.poll(0))  # the others have an end to read, or a 408


@contextmanager
def served(limit: int | None) -> Iterator[Daemon]:
    """A daemon of the demo's data."""
    settings = "data: {poll_interval: 3600}\n"
    if limit is not None:
        settings += f"server: {{max_connections: {limit}}}\n"
    with tempfile.TemporaryDirectory(prefix="reviewsd-idle-") as name:
        daemon = Daemon(Path(name), settings)
        try:
            daemon.launch(before=("taskset", "-c", _SERVED))
            daemon.wait_ready()
            yield daemon
            assert "Traceback" not in daemon.log.read_text(), daemon.log.read_text()[-4_000:]
        finally:
            daemon.close()


def measure(limit: int | None, kind: str, number: int, seconds: float) -> list[str]:
    """Return one row of the table."""
    with served(limit) as daemon:
        assert daemon.process is not None
        pid, port = daemon.process.pid, daemon.port
        before = asking(port, partial(time.sleep, seconds))
        small = _sizes(pid)
        opened: list[socket.socket] = []
        coming = asking(port, lambda: opened.extend(crowd(port, number, KINDS[kind])))
        during = asking(port, partial(time.sleep, seconds))
        large = _sizes(pid)
        open_count = remaining(opened)
        for connection in opened:
            connection.close()
        time.sleep(1)
        after = _sizes(pid)
        assert daemon.stop() == 0
    grown = (large.rss - small.rss) / 1024
    return [
        str(limit or "4096"),
        kind,
        f"{number:,}",
        f"{open_count:,}",
        f"{large.descriptors - small.descriptors:,}",
        f"{grown:.1f}",
        f"{1024 * grown / max(1, large.descriptors - small.descriptors):.1f}",
        f"{(after.rss - small.rss) / 1024:.1f}",
        *map(str, (before, coming, during)),
    ]


def _sizes(pid: int) -> Sizes:
    return reduce(add, map(sizes, family(pid)))


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.idle")
    parser.add_argument("--connections", type=int, default=5_000)
    parser.add_argument("--seconds", type=float, default=10, help="of questions, twice a row")
    arguments = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard >= _DESCRIPTORS, f"ulimit -Hn is {hard}, {_DESCRIPTORS} are needed"
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    os.sched_setaffinity(0, {_ASKING})
    head = ["max_connections", "idle ones", "opened", "left", "of the daemon", "RSS +MB"]
    head += ["kB each", "MB left behind"]
    head += [f"p99 / longest {when}, ms" for when in ("before", "as they come", "with them")]
    rows = [head, ["---"] * len(head)]
    for limit in (6_000, None):
        for kind in KINDS:
            rows.append(measure(limit, kind, arguments.connections, arguments.seconds))
            sys.stderr.write(f"{limit or 4096}, {kind} done\n")
    sys.stdout.write("\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n")


if __name__ == "__main__":
    main()
