"""The hub's fan-out from several nodes with one PostgreSQL, beside one node with SQLite.

    python -m tests.benchmarks.fanout_nodes [--rounds 3] [--nodes 1,4] [--subscribers 1000]

As in ``fanout``: a change of ``/feed.xml`` (50 kB) goes to verified subscribers who answer at once, or
after 50 ms, over TLS. All nodes have the same data and learn of the change at once. What counts is the CPU
time of all nodes for a delivery, and that every subscriber was sent the change exactly once. Nodes have
core 0, the subscribers and the server core 1. Runs of each kind take turns.
"""

import argparse
import mmap
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psycopg

from reviewsd.domain.subscription import Active
from reviewsd.http1 import urls
from reviewsd.store.keys import HUB_KEYS
from tests.benchmarks.fanout_runs import (
    DAY,
    OURS,
    STORED,
    Bench,
    Case,
    change,
    cpu,
)
from tests.benchmarks.fanout_sink import Counts
from tests.support.daemon import Daemon
from tests.support.postgres import Server
from tests.support.subscriber import until_open

LIMIT = 300.0
"""Seconds of one fan-out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """A fan-out of several nodes."""

    cpu: float
    """Milliseconds of all nodes together for each delivery."""
    shares: tuple[float, ...]
    """Of the deliveries' CPU time, by node."""
    seconds: float
    """From the first delivery to the last."""
    handshakes: int

    def __str__(self) -> str:
        shares = " ".join(f"{share:.0%}" for share in self.shares)
        return f"{self.cpu:.3f} ms ({shares}), {self.seconds:.2f} s, {self.handshakes} handshakes"


class NodesBench(Bench):
    """Makes runs with several nodes."""

    def shared(self, case: Case, count: int, profile: Path | None = None) -> Shared:
        """A fan-out from so many nodes."""
        with Server() as server, self._sink(case) as (port, counts, _):
            url = server.database()
            place = self._directory / "shared"
            shutil.copytree(self._template / "data", place / "data")
            nodes = [self._node(place, number, url, profile) for number in range(count)]
            try:
                nodes[0].start()
                until_open(nodes[0])
                nodes[0].stop()
                _seed(url, case, port)
                for node in nodes:
                    node.launch(before=("taskset", "-c", OURS))
                for node in nodes:
                    node.wait_ready()
                return self._change(case, nodes, place / "data", counts)
            finally:
                for node in nodes:
                    node.close()
                shutil.rmtree(place)

    def _node(self, place: Path, number: int, url: str, profile: Path | None) -> Daemon:
        directory = place / f"node{number}"
        (directory / "state").mkdir(parents=True, mode=0o700)
        (directory / "state" / HUB_KEYS.name).write_text("00" * 32 + "\n")
        (directory / "state" / HUB_KEYS.name).chmod(0o600)
        (directory / "data").symlink_to(place / "data")
        environ = {"REVIEWSD_HUB__STORE": url}
        if profile is None:
            return Daemon(directory, self._settings(), environ=environ)
        profile.mkdir(parents=True, exist_ok=True)
        return Profiled(directory, self._settings(), environ, profile / f"node{number}")

    def _change(self, case: Case, nodes: Sequence[Daemon], data: Path, counts: mmap.mmap) -> Shared:
        pids = [node.process.pid for node in nodes if node.process is not None]
        time.sleep(1)
        change(data)
        before = [cpu(pid) for pid in pids]
        with ThreadPoolExecutor(len(nodes)) as reloading:
            reloads = [reloading.submit(node.reload) for node in nodes]
            deadline = time.monotonic() + LIMIT
            while (seen := Counts.read(counts)).deliveries < case.subscribers:
                if not seen.deliveries:
                    before = [cpu(pid) for pid in pids]
                time.sleep(0.002)
                assert time.monotonic() < deadline, seen
            outcomes = {each.result()["outcome"] for each in reloads}
            assert outcomes <= {"published", "unchanged"}, outcomes  # a watcher may be quicker
        time.sleep(STORED)
        used = [cpu(pid) - began for pid, began in zip(pids, before, strict=True)]
        seen = Counts.read(counts)
        assert seen.deliveries == seen.distinct == case.subscribers, seen
        for node in nodes:
            assert node.stop() == 0
        return Shared(
            cpu=1e3 * sum(used) / case.subscribers,
            shares=tuple(each / sum(used) for each in used),
            seconds=seen.last - seen.first,
            handshakes=seen.handshakes,
        )


class Profiled(Daemon):
    """A node with a profile."""

    def __init__(self, directory: Path, settings: str, environ: dict[str, str], to: Path) -> None:
        super().__init__(directory, settings, environ=environ)
        self._to = to

    @property
    def command(self) -> list[str]:
        program = [sys.executable, "-m", "tests.benchmarks.fanout_daemon"]
        options = [str(self.directory / "gaps"), "--profile", str(self._to), "--"]
        return [*program, *options, "--config", str(self.config)]


def _seed(url: str, case: Case, port: int) -> None:
    """Subscriptions that have everything."""
    now = time.time_ns() // 1_000_000
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT id, version FROM topic WHERE path = %s", (urls.ATOM_FEED,))
        ((topic, version),) = cursor.fetchall()
        active = Active(
            secret=None,
            lease_seconds=DAY // 1000,
            lease_expires_at=now + DAY,
            delivered_version=version,
            created_at=now,
            verified_at=now,
        )
        with cursor.copy(
            "COPY subscription (topic_id, callback, callback_host, lease_seconds,"
            " lease_expires_at, delivered_version, created_at, verified_at) FROM STDIN"
        ) as copy:
            for number in range(case.subscribers):
                callback, host = case.callback(number, port)
                row = (active.lease_seconds, active.lease_expires_at, version, now, now)
                copy.write_row((topic, callback, host, *row))
        connection.commit()
        connection.autocommit = True
        cursor.execute("VACUUM ANALYZE")


def main() -> None:
    """Measure and print a line for each kind of run."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fanout_nodes")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", default="1,4")
    parser.add_argument("--subscribers", type=int, default=1_000)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--close", action="store_true")
    parser.add_argument("--profile", type=Path)
    arguments = parser.parse_args()
    case = Case(subscribers=arguments.subscribers, delay=arguments.delay, close=arguments.close)
    counts = [int(each) for each in arguments.nodes.split(",")]
    os.sched_setaffinity(0, {1})
    with tempfile.TemporaryDirectory(prefix="reviewsd-nodes-") as name:
        bench = NodesBench(Path(name), Path("/nowhere"))
        alone, shared = [], {count: list[Shared]() for count in counts}
        for _ in range(arguments.rounds):
            alone.append(bench.ours(case))
            sys.stderr.write(
                f"SQLite: {alone[-1].cpu:.3f} ms, {alone[-1].seconds:.2f} s, "
                f"{alone[-1].handshakes} handshakes\n"
            )
            for count in counts:
                shared[count].append(bench.shared(case, count, arguments.profile))
                sys.stderr.write(f"{count} nodes: {shared[count][-1]}\n")
        one = median(run.cpu for run in alone)
        sys.stdout.write(f"SQLite: {one:.3f} ms\n")
        for count, runs in shared.items():
            found = median(run.cpu for run in runs)
            sys.stdout.write(f"{count} nodes: {found:.3f} ms, {found / one:.2f} times\n")


if __name__ == "__main__":
    main()
