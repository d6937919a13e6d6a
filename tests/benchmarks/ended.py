"""Ending MCP sessions when 99,000 have ended, and what the hub's clients notice of it.

    python -m tests.benchmarks.ended [--ended 99000] [--deleting 32] [--seconds 10]

Clients with kept connections end one session after the other, each as another client of a proxy
(``X-Forwarded-For``), so that no limit of a client is what is measured. Meanwhile one subscriber asks
the hub again and again. With ``--one-client`` all of them are one client.
"""

import argparse
import http.client
import os
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path

from reviewsd.app.store import DATABASE
from reviewsd.http1 import urls
from reviewsd.mcp.revisions import HANDSHAKE
from reviewsd.mcp.sessions import RANDOM_BYTES, Sessions
from reviewsd.store.keys import SESSION_KEYS
from tests.benchmarks.inside import percentile
from tests.support.daemon import Daemon
from tests.support.subscriber import FORM, until_open

LIFETIME = 2_592_000
_SETTINGS = "hub: {limits: {requests_per_minute: 1000000}}\n"
_FORM = (
    "hub.mode=unsubscribe&hub.topic=https%3A%2F%2Freviews.example.com%2Ffeed.xml"
    "&hub.callback=https%3A%2F%2Fsubscriber.example.com%2Fcallback"
)
"""An end of what does not exist is stored like everything, and calls nobody."""


def addresses() -> Iterator[str]:
    """Clients of different networks."""
    for number in count():
        yield f"198.{18 + number // 65_536}.{number // 256 % 256}.{number % 256}"


class Asking:
    """Clients that ask until they are told to stop; each answer's status and milliseconds."""

    def __init__(self) -> None:
        self.statuses = Counter[int]()
        self.times: list[float] = []
        self.over = threading.Event()

    def repeat(self, port: int, ask: Callable[[http.client.HTTPConnection], None]) -> None:
        """Ask one thing after the other on one connection."""
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=120)) as connection:
            while not self.over.is_set():
                began = time.perf_counter()
                ask(connection)
                response = connection.getresponse()
                response.read()
                self.statuses[response.status] += 1
                self.times.append(1e3 * (time.perf_counter() - began))

    def __str__(self) -> str:
        found = ", ".join(f"{number} x {status}" for status, number in self.statuses.items())
        p50, p99 = (percentile(self.times, part) for part in (50, 99))
        return f"{found}; ms p50 {p50:.1f}, p99 {p99:.1f}, most {max(self.times):.1f}"


def fill(state: Path, number: int) -> None:
    """Have so many sessions ended, in the store of a daemon that does not run."""
    until = (int(time.time()) + LIFETIME) * 1000
    rows = ((os.urandom(32), until + each) for each in range(number))
    with closing(sqlite3.connect(state / DATABASE)) as connection, connection:
        connection.executemany("INSERT INTO mcp_ended (id_hash, expires_at) VALUES (?, ?)", rows)


def measure(daemon: Daemon, deleting: int, seconds: float, *, one_client: bool) -> None:
    """Print what both kinds of clients see."""
    sessions = Sessions(SESSION_KEYS.load(daemon.state, {}), lambda _: False)
    clients = addresses()
    one = next(clients)

    def end(connection: http.client.HTTPConnection) -> None:
        token = sessions.mint(HANDSHAKE[0], time.time(), os.urandom(RANDOM_BYTES))
        client = one if one_client else next(clients)
        fields = {"Mcp-Session-Id": token.decode(), "X-Forwarded-For": client}
        connection.request("DELETE", urls.MCP, headers=fields)

    def subscribe(connection: http.client.HTTPConnection) -> None:
        connection.request("POST", urls.HUB, _FORM, FORM)

    ending, asking = Asking(), Asking()
    with ThreadPoolExecutor(deleting + 1) as pool:
        asked = pool.submit(asking.repeat, daemon.port, subscribe)
        time.sleep(seconds / 5)
        asking.over.set()
        asked.result()
        sys.stdout.write(f"hub POST alone: {asking}\n")
        asking = Asking()
        running = [pool.submit(ending.repeat, daemon.port, end) for _ in range(deleting)]
        running.append(pool.submit(asking.repeat, daemon.port, subscribe))
        time.sleep(seconds)
        ending.over.set()
        asking.over.set()
        for each in running:
            each.result()
    sys.stdout.write(f"hub POST beside: {asking}\nDELETE: {ending}\n")


def main() -> None:
    """Measure once."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.ended")
    parser.add_argument("--ended", type=int, default=99_000)
    parser.add_argument("--deleting", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--one-client", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="reviewsd-ended-") as name:
        settings = _SETTINGS
        with Daemon(Path(name), settings) as daemon:
            until_open(daemon)
            daemon.stop()
            fill(daemon.state, arguments.ended)
            daemon.start()
            measure(daemon, arguments.deleting, arguments.seconds, one_client=arguments.one_client)


if __name__ == "__main__":
    main()
