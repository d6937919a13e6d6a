"""Measures the memory used by clients that request much and read nothing.

    python -m tests.benchmarks.held [--connections 80,500] [--reviews 1000] [--data DIR]

Each connection asks once and reads nothing: a batch of 50 ``resources/read``, a batch of 50
``search_reviews`` of 100 reviews each, a search of 100 reviews, a document. A hundred of them at a time
are one client (X-Forwarded-For). The daemon's memory is looked at until those are cut off that take
nothing, the kernel's for sockets too, since systemd counts both. Meanwhile
another client asks for ``/healthz`` and makes a search, ten times a second.
"""

import argparse
import http.client
import json
import socket
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from tests.benchmarks.accounts import memory
from tests.benchmarks.fairness import request
from tests.benchmarks.outside import served
from tests.benchmarks.sizes import data_set
from tests.benchmarks.tables import table
from tests.support.daemon import BASE_URL

_SECONDS = 8  # below the 10 s after which the first are cut off
_PAGE_KB = 4
_OF_ONE_CLIENT = 100  # connections


def message(method: str, **params: object) -> dict[str, object]:
    """A request of JSON-RPC."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def session(port: int) -> str:
    """Open a session of the revision that has batches."""
    body = json.dumps(message("initialize", protocolVersion="2025-03-26")).encode()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("POST", "/mcp", body, {"Content-Type": "application/json"})
    session_id = connection.getresponse().headers["Mcp-Session-Id"]
    connection.close()
    return str(session_id)


def posted(batch: list[dict[str, object]], session_id: str, client: str) -> bytes:
    """A batch of a client."""
    body = json.dumps(batch, separators=(",", ":"))
    fields = (
        "POST /mcp HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Mcp-Session-Id: {session_id}",
        f"X-Forwarded-For: {client}",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join((*fields, "", body)).encode()


def asked(kind: str, session_id: str, client: str) -> bytes:
    """Return the request that each connection sends."""
    read = message("resources/read", uri=f"{BASE_URL}/reviews.json")
    search = message("tools/call", name="search_reviews", arguments={"limit": 100, "min_rating": 2})
    match kind:
        case "50 resources/read":
            return posted(50 * [read], session_id, client)
        case "50 search_reviews":
            return posted(50 * [search], session_id, client)
        case "search of 100":
            return request("/api/reviews/search?limit=100&min_rating=2", client)
    return request("/insights.json", client)


HEAD = (
    *("asked", "connections", "anonymous MB before", "at most", "kernel +MB"),
    "statuses",
)
KINDS = ("50 resources/read", "50 search_reviews", "search of 100", "a document")


def kernel_mb() -> float:
    """Memory of all TCP sockets of this machine."""
    lines = Path("/proc/net/sockstat").read_text().splitlines()
    words = next(line.split() for line in lines if line.startswith("TCP:"))
    return int(words[words.index("mem") + 1]) * _PAGE_KB / 1024


def reader(port: int, data: bytes) -> socket.socket:
    """A client that asks, and takes nothing."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.connect(("127.0.0.1", port))
    connection.sendall(data)
    return connection


def measure(data: Path, kind: str, number: int) -> list[str]:
    """Return one row of the table."""
    with served(data) as daemon, ExitStack() as stack:
        pid, port = daemon.process.pid, daemon.port
        session_id = session(port)
        before, kernel_before = memory(pid), kernel_mb()
        peak = before
        kernel = kernel_before
        opened = [
            stack.enter_context(
                reader(port, asked(kind, session_id, f"192.0.2.{index // _OF_ONE_CLIENT}"))
            )
            for index in range(number)
        ]
        end = time.perf_counter() + _SECONDS
        while time.perf_counter() < end:
            peak = max(peak, memory(pid))
            kernel = max(kernel, kernel_mb())
            time.sleep(0.1)
        heads = Counter(_status(connection) for connection in opened)
    return [
        kind,
        str(number),
        f"{before:.0f}",
        f"{peak:.0f}",
        f"{kernel - kernel_before:.0f}",
        _counts(heads),
    ]


def _status(connection: socket.socket) -> str:
    connection.settimeout(1)
    try:
        return connection.recv(12)[9:].decode() or "closed"
    except OSError:
        return "none"


def _counts(counted: Counter[str]) -> str:
    return ", ".join(f"{what}: {count}" for what, count in sorted(counted.items()))


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.held")
    parser.add_argument("--connections", default="80,500")
    parser.add_argument("--reviews", type=int, default=1_000)
    parser.add_argument("--data", type=Path, default=Path("/tmp/w/data"))
    options = parser.parse_args()
    numbers = [int(number) for number in options.connections.split(",")]
    data = data_set(options.data, options.reviews)
    rows = []
    for kind in KINDS:
        for number in numbers:
            rows.append(measure(data, kind, number))
            sys.stderr.write(f"{kind}, {number}: done\n")
    sys.stdout.write(table(HEAD, rows) + "\n")


if __name__ == "__main__":
    main()
