"""Measures what 5,000 idle connections cost.

    python -m tests.benchmarks.idle [--connections 5000]

Two daemons in turn, one that takes them all (``max_connections: 6000``) and one with the default of 4,096,
which has to close some; a row for each kind of idleness. Daemon on core 0, clients on core 1.
"""

import argparse
import os
import resource
import select
import socket
import sys
import time
from contextlib import suppress
from http.client import BadStatusLine, HTTPResponse

from tests.benchmarks.accounts import descriptors, memory
from tests.benchmarks.outside import served
from tests.benchmarks.search_peer import get
from tests.benchmarks.tables import table

_ASKING = 1  # the core of the clients
_SETTLED = 1.0  # seconds until what is kept for the next sweep is gone
_AT_ONCE = 100  # connections, then a breath, as the accept queue has an end
_REQUEST = get("/healthz")
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


def measure(limit: int | None, kind: str, number: int) -> list[str]:
    """Return one row of the table."""
    settings = "" if limit is None else f"server: {{max_connections: {limit}}}\n"
    with served(settings=settings) as daemon:
        pid, port = daemon.process.pid, daemon.port
        small, few = memory(pid, "VmRSS"), descriptors(pid)
        opened = crowd(port, number, KINDS[kind])
        time.sleep(_SETTLED)
        large = memory(pid, "VmRSS")
        connection_count = descriptors(pid) - few
        open_count = remaining(opened)
        for connection in opened:
            connection.close()
        time.sleep(1)
        after = memory(pid, "VmRSS")
        assert daemon.stop() == 0
    grown = large - small
    return [
        str(limit or "4096"),
        kind,
        f"{number:,}",
        f"{open_count:,}",
        f"{connection_count:,}",
        f"{grown:.1f}",
        f"{1024 * grown / max(1, connection_count):.1f}",
        f"{after - small:.1f}",
    ]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.idle")
    parser.add_argument("--connections", type=int, default=5_000)
    arguments = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard >= _DESCRIPTORS, f"ulimit -Hn is {hard}, {_DESCRIPTORS} are needed"
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    os.sched_setaffinity(0, {_ASKING})
    head = ["max_connections", "idle ones", "opened", "left", "of the daemon", "RSS +MB"]
    head += ["kB each", "MB left behind"]
    rows = []
    for limit in (6_000, None):
        for kind in KINDS:
            rows.append(measure(limit, kind, arguments.connections))
            sys.stderr.write(f"{limit or 4096}, {kind} done\n")
    sys.stdout.write(table(head, rows) + "\n")


if __name__ == "__main__":
    main()
