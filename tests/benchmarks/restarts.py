"""``systemctl restart`` under load: the listening socket stays open, the daemon is restarted.

    python -m tests.benchmarks.restarts [--restarts 10] [--clients 12]

This program holds the listening socket and hands it over as systemd does (``LISTEN_FDS``); each restart
is SIGTERM, the end, a new process, READY=1. Meanwhile clients send requests, half of them on kept
connections, half on a new one each: every request must be answered (O4, F16), but a connection that is
closed before a request is no failure (RFC 9112 9.5). Daemon on core 0, clients on core 1.
"""

import argparse
import itertools
import os
import select
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from tests.support.daemon import Daemon
from tests.support.load import Load

_BACKLOG = 4096  # as systemd's
_BETWEEN = 1.0  # seconds between two restarts
_PATH = "/api/feed.json"


class Client(threading.local):
    """The connection of each thread."""

    _numbers = itertools.count()

    def __init__(self, port: int, body: bytes) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=30)
        self._headers = {"Connection": "close"} if next(self._numbers) % 2 else {}
        self._body = body

    def request(self) -> int:
        """Make one request and return its status."""
        kept = self._connection.sock
        if kept is not None and select.select([kept], [], [], 0)[0]:
            self._connection.close()
        try:
            self._connection.request("GET", _PATH, headers=self._headers)
            answer = self._connection.getresponse()
            body = answer.read()
        except (HTTPException, OSError) as error:
            self._connection.close()
            raise OSError(repr(error)) from None
        if answer.status == 200 and body != self._body:
            raise OSError("another body")
        return answer.status

    @contextmanager
    def network(self) -> Iterator[None]:
        """Close the connection of the thread afterwards."""
        with closing(self._connection):
            yield


def main() -> None:
    """Restart, and print what happened; the exit code is 0 if no request failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.restarts")
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--clients", type=int, default=12)
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {1})
    settings = 'listen: ["systemd:name=http"]\ndata: {poll_interval: 3600}\n'
    with (
        tempfile.TemporaryDirectory(prefix="reviewsd-restarts-") as name,
        socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG) as listening,
        closing(Daemon(Path(name), settings)) as daemon,
    ):
        daemon.handed_over["http"] = listening

        def start() -> None:
            daemon.launch(["taskset", "-c", "0"])
            daemon.wait_ready()

        start()
        client = Client(daemon.port, daemon.get(_PATH).body)
        with Load(client.request, client.network, arguments.clients) as load:
            for _ in range(arguments.restarts):
                time.sleep(_BETWEEN)
                assert daemon.stop() == 0
                start()
        daemon.stop()
        assert "Traceback" not in daemon.log.read_text(), daemon.log
    sys.stdout.write(f"{arguments.restarts} restarts: {load}\n")
    sys.stdout.writelines(f"- {failure}\n" for failure in load.failed)
    sys.exit(bool(load.failed))


if __name__ == "__main__":
    main()
