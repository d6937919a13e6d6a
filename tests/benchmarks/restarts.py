"""``systemctl restart`` under load: the listening socket stays open, the daemon is restarted.

    python -m tests.benchmarks.restarts [--restarts 10] [--clients 4]

This program holds the listening socket and hands it over as systemd does (``LISTEN_FDS``); each restart
is SIGTERM, the end, a new process, READY=1. Meanwhile ``strict_clients`` ask, on kept connections and on
new ones: nothing that was asked may stay without its answer (O4, F16). Daemon on core 0, clients on core 1.
"""

import argparse
import os
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.strict_clients import Clients, Kind, Tally
from tests.benchmarks.tables import table
from tests.support.daemon import Daemon

_SERVED, _ASKING = "0", 1  # cores
_BACKLOG = 4096  # as systemd's
_BETWEEN = 1.0  # seconds before and after a restart
_PATH = "/api/feed.json"


class Restarting(Daemon):
    """Serves a listening socket that outlives it."""

    def __init__(self, directory: Path, listening: socket.socket, settings: str) -> None:
        super().__init__(directory, f'listen: ["systemd:name=http"]\n{settings}')
        self.handed_over["http"] = listening

    def launch(self, before: Sequence[str] = ()) -> None:
        """Start on processors of its own."""
        super().launch([*before, "taskset", "-c", _SERVED])


def restart(number: int, daemon: Daemon, clients: Clients) -> tuple[list[str], dict[Kind, Tally]]:
    """One restart: its row, and what has come of all requests from a second before to one after."""
    time.sleep(_BETWEEN)
    began = time.monotonic()
    code = daemon.stop()
    ended = time.monotonic()
    daemon.start()
    ready = time.monotonic()
    time.sleep(_BETWEEN)
    tallies = clients.take()
    total = Tally()
    for tally in tallies.values():
        total.add(tally)
    row = [
        str(number),
        f"{total.answered:,}",
        *(str(tallies[kind].failures.total()) for kind in Kind),
        str(total.announced),
        str(total.closed),
        f"{ended - began:.2f}" + ("" if code == 0 else f", exit {code}"),
        f"{ready - ended:.2f}",
        f"{total.longest:.2f}",
    ]
    return row, tallies


def run(daemon: Daemon, restarts: int, kinds: Sequence[Kind]) -> tuple[list[str], int]:
    """Return the lines of the report, and the number of failures."""
    daemon.start()
    body = daemon.get(_PATH).body
    head = ["restart", "answers", *(f"failures, {kind.value}" for kind in Kind)]
    head += ["closed with an answer", "closed idle", "end, s", "start, s", "longest wait, s"]
    rows = []
    failures: Counter[str] = Counter()
    with Clients(daemon.port, _PATH, body, kinds) as clients:
        for number in range(1, restarts + 1):
            row, tallies = restart(number, daemon, clients)
            rows.append(row)
            for kind, tally in tallies.items():
                failures.update({f"{kind.value}: {why}": n for why, n in tally.failures.items()})
    daemon.stop()
    assert "Traceback" not in daemon.log.read_text(), daemon.log
    lines = [f"- {count} x {why}" for why, count in failures.most_common()]
    return [table(head, rows), "", *lines], failures.total()


def main() -> None:
    """Restart, and print the table; the exit code says whether nothing was lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.restarts")
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--clients", type=int, default=4, help="of each kind")
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {_ASKING})
    with (
        tempfile.TemporaryDirectory(prefix="reviewsd-restarts-") as name,
        socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG) as listening,
    ):
        daemon = Restarting(Path(name), listening, "data: {poll_interval: 3600}\n")
        try:
            lines, failures = run(daemon, arguments.restarts, list(Kind) * arguments.clients)
        finally:
            daemon.close()
    sys.stdout.write("\n".join(lines) + f"\n{failures} failures\n")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
