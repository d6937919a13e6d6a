"""Measures what 1,000 streams of changes cost, and whether readers notice a publication that wakes them.

    python -m tests.benchmarks.streams [--streams 1000] [--seconds 10]

Latencies are those of ``idle``: of a client that asks for /healthz 100 times a second on a kept connection, and of one that opens a
connection for each. Daemon on core 0, clients on core 1.
"""

import argparse
import json
import os
import socket
import sys
import time
from collections.abc import Iterable
from functools import partial

from reviewsd.mcp.change_streams import LISTEN, MAX_PER_NETWORK
from tests.benchmarks.accounts import sizes
from tests.benchmarks.idle import asking, served
from tests.support.daemon import BASE_URL, Daemon
from tests.support.mcp import MODERN, modern

_URIS = [BASE_URL + path for path in ("/reviews.json", "/api/feed.json", "/feed.xml")]
_MESSAGE = json.dumps(modern(LISTEN, notifications={"resourceSubscriptions": _URIS})).encode()
_REQUEST = (
    f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    f"MCP-Protocol-Version: {MODERN}\r\nMcp-Method: {LISTEN}\r\nContent-Length: {len(_MESSAGE)}\r\n\r\n"
).encode() + _MESSAGE


def listening(port: int, count: int) -> list[socket.socket]:
    """Open streams, from as many addresses as their limit demands."""
    opened = []
    for number in range(count):
        address = (f"127.0.0.{2 + number // MAX_PER_NETWORK}", 0)
        connection = socket.create_connection(("127.0.0.1", port), 30, source_address=address)
        connection.sendall(_REQUEST)
        _read(connection, 1)
        opened.append(connection)
    return opened


def _read(connection: socket.socket, events: int) -> None:
    received = b""
    while received.count(b"data: ") < events or not received.endswith(b"\n\n"):
        piece = connection.recv(65_536)
        assert piece, received
        received += piece


def publish(daemon: Daemon, streams: Iterable[socket.socket], times: list[float]) -> None:
    """Write one review more, and read its events; ``times`` gets the seconds to the first and to the last."""
    file = daemon.data / "reviews.json"
    content = json.loads(file.read_text())
    content["reviews"].insert(0, content["reviews"][0] | {"id": "new" + str(time.time())})
    file.write_text(json.dumps(content))
    begin = time.perf_counter()
    assert daemon.reload()
    for stream in streams:
        _read(stream, len(_URIS))
        times.append(time.perf_counter() - begin)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.streams")
    parser.add_argument("--streams", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {1})
    with served(None) as daemon:
        assert daemon.process is not None
        pid = daemon.process.pid
        before = asking(daemon.port, partial(time.sleep, arguments.seconds))
        alone = asking(daemon.port, lambda: publish(daemon, (), []))
        small = sizes(pid).rss
        streams = listening(daemon.port, arguments.streams)
        grown = sizes(pid).rss - small
        during = asking(daemon.port, partial(time.sleep, arguments.seconds))
        times: list[float] = []
        woken = asking(daemon.port, lambda: publish(daemon, streams, times))
        for stream in streams:
            stream.close()
    sys.stdout.write(
        f"{arguments.streams:,} streams: {grown / arguments.streams:.1f} kB each; after the reload began the first event came in"
        f" {times[0]:.2f} s, the last {1e3 * (times[-1] - times[0]):.0f} ms later\n"
        f"/healthz, p99 / longest in ms: {before} before, {during} with them;"
        f" {alone} in a publication without them, {woken} in one with them\n"
    )


if __name__ == "__main__":
    main()
