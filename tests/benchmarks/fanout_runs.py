"""One fan-out at a time, measured from outside: the daemon's and the peer's (see ``fanout``)."""

import contextlib
import json
import mmap
import shutil
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from reviewsd.app.store import DATABASE
from reviewsd.domain.subscription import Active, Subscription
from reviewsd.http1 import urls
from reviewsd.store.deliveries import topics
from reviewsd.store.rows import Pair, save
from reviewsd.websub.slots import DELIVERIES
from tests.benchmarks import fanout_sink
from tests.benchmarks.accounts import cpu
from tests.benchmarks.fanout_sink import SEEDED, Counts, share
from tests.support.authority import authority
from tests.support.daemon import Daemon, until

HOSTS = [f"127.0.{number}.1" for number in range(1, 9)]
"""Addresses of the subscribers."""
FEED_BYTES = 50_000
OURS, SINKS = "0", "1"  # cores

_SETTINGS = """\
data:
  poll_interval: 3600
hub:
  min_interval: 0
  callbacks:
    allow_networks: ["127.0.0.0/8"]
    ca_file: {ca}
"""
_FILLING = "They came on time, explained what they were doing, and left the place clean. "
DAY = 86_400_000  # milliseconds
_EACH = 0.02  # seconds between two questions to /healthz
_BEFORE = 0.01  # seconds before the first delivery came in, when the hub had begun with it
STORED = 0.3  # seconds after the last delivery, when its result is in the store
_LIMIT = 180.0  # seconds of one fan-out
_HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The conditions of a run."""

    subscribers: int
    close: bool
    """Whether each delivery needs a new connection."""

    def callback(self, number: int, port: int) -> tuple[str, str]:
        """A subscriber's URL and its host."""
        host = HOSTS[number % len(HOSTS)]
        return f"https://{host}:{port}{SEEDED}{number}", host


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One fan-out; milliseconds unless the name says otherwise."""

    began: float
    """The time of the change on the monotonic clock, seconds."""
    seconds: float
    """Seconds from the change until the last delivery had come in."""
    cpu: float
    """CPU seconds of the process for each delivery."""
    handshakes: int
    health: tuple[float, ...] = ()


class Bench:
    """Makes runs, each with processes of its own."""

    def __init__(self, directory: Path, venv: Path) -> None:
        self._directory = directory
        self._python = venv / "bin" / "python"
        self._runs = 0
        self._ca = authority().identity.write(directory / "ca.pem")
        self._certificate = authority().issue(*HOSTS).write_with_key(directory / "sink.pem")
        self._template = directory / "template"
        self._publish()

    def ours(self, case: Case) -> Run:
        """The daemon's fan-out."""
        with self._sink(case) as (port, counts):
            directory = self._seeded(case, port)
            daemon = Daemon(directory, _SETTINGS.format(ca=self._ca))
            with contextlib.closing(daemon):
                daemon.launch(before=("taskset", "-c", OURS))
                daemon.wait_ready()
                daemon.edit(name="Changed")
                with (
                    ThreadPoolExecutor(1) as reloading,
                    contextlib.closing(_Health(daemon.port)) as health,
                ):
                    reload = reloading.submit(daemon.reload)
                    run = _watch(case, daemon.process.pid, counts, health)
                    # the watcher may have been quicker
                    assert reload.result()["outcome"] in {"published", "unchanged"}
                assert daemon.stop() == 0
            _check(directory, case)
            shutil.rmtree(directory)
            return replace(run, health=health.between(run.began, run.began + run.seconds))

    def theirs(self, case: Case) -> Run:
        """The peer's fan-out, which stores nothing."""
        with self._sink(case) as (port, counts):
            callbacks, body = self._directory / "callbacks", self._directory / "body"
            urls = (case.callback(number, port)[0] for number in range(case.subscribers))
            callbacks.write_text("\n".join(urls))
            body.write_bytes(b"x" * FEED_BYTES)
            program = Path(__file__).with_name("fanout_peer.py")
            command = ["taskset", "-c", OURS, str(self._python), str(program)]
            command += [str(callbacks), str(body), str(self._ca), str(DELIVERIES.total)]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            try:
                assert process.stdin is not None
                assert process.stdout is not None
                assert process.stdout.readline() == b"ready\n"
                process.stdin.write(b"\n")
                process.stdin.flush()
                return _watch(case, process.pid, counts, None)
            finally:
                process.kill()
                process.communicate()

    def _publish(self) -> None:
        """Make data with an Atom feed of this size, and store the first version of each topic."""
        self._template.mkdir()
        with Daemon(self._template) as daemon:
            size = len(daemon.get(urls.ATOM_FEED).body)
            dataset = json.loads((daemon.data / "reviews.json").read_bytes())
            newest = max(dataset["reviews"], key=lambda review: review["date"] or "")
            newest["text"] = f"{newest['text']} " + _FILLING * (
                (FEED_BYTES - size) // len(_FILLING)
            )
            (daemon.data / "reviews.json").write_text(json.dumps(dataset))
            daemon.reload()
            size = len(daemon.get(urls.ATOM_FEED).body)
            assert abs(size - FEED_BYTES) < 1_000, size
            until(lambda: "/feed.xml version 2" in daemon.log.read_text(), "version 2")
            daemon.stop()

    def _seeded(self, case: Case, port: int) -> Path:
        """A copy of the daemon's directory with verified subscriptions that have everything."""
        self._runs += 1
        directory = self._directory / f"run-{self._runs}"
        shutil.copytree(self._template, directory, ignore=shutil.ignore_patterns("*.sock"))
        now = time.time_ns() // 1_000_000
        with closing(sqlite3.connect(directory / "state" / DATABASE)) as connection, connection:
            cursor = connection.cursor()
            topic = topics(cursor)[urls.ATOM_FEED]
            active = Active(
                secret=None,
                lease_seconds=DAY // 1000,
                lease_expires_at=now + DAY,
                delivered_version=topic.version,
                created_at=now,
                verified_at=now,
            )
            for number in range(case.subscribers):
                pair = Pair(topic.id, *case.callback(number, port))
                save(cursor, pair, None, Subscription(active, None))
        return directory

    @contextmanager
    def _sink(self, case: Case) -> Iterator[tuple[int, mmap.mmap]]:
        """Its port, and what it counts."""
        path = self._directory / "counts"
        path.unlink(missing_ok=True)
        with share(path) as shared:
            command = ["taskset", "-c", SINKS, str(self._python), "-m", fanout_sink.__name__]
            command += [str(self._certificate), str(path), *["--close"] * case.close]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
                try:
                    assert process.stdout is not None
                    yield int(process.stdout.readline()), shared
                finally:
                    process.kill()


class _Health:
    """Asks /healthz, so many milliseconds after the last answer."""

    def __init__(self, port: int) -> None:
        self._address = ("127.0.0.1", port)
        self._connection = socket.create_connection(self._address)
        self._due = 0.0
        self._answers: list[tuple[float, float]] = []

    def ask(self) -> None:
        """Ask if it is time to, and wait for the answer."""
        asked_at = time.monotonic()
        if asked_at < self._due:
            return
        self._connection.sendall(_HEALTH)
        answer = self._connection.recv(4096)
        answered = time.monotonic()
        assert answer.startswith(b"HTTP/1.1 200"), answer
        self._answers.append((asked_at, 1e3 * (answered - asked_at)))
        self._due = answered + _EACH
        if b"Connection: close" in answer:  # after a thousand requests
            self.close()
            self._connection = socket.create_connection(self._address)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def between(self, began: float, ended: float) -> tuple[float, ...]:
        """The latencies of the questions of that time."""
        return tuple(ms for asked_at, ms in self._answers if began <= asked_at <= ended)


def _watch(case: Case, pid: int, counts: mmap.mmap, health: _Health | None) -> Run:
    """Watch a fan-out from before it begins until everything is in the store."""
    samples = [(time.monotonic(), cpu(pid))]
    deadline = samples[0][0] + _LIMIT
    while (progress := Counts.read(counts)).deliveries < case.subscribers:
        if not progress.deliveries:
            samples.append((time.monotonic(), cpu(pid)))
        if health is not None:
            health.ask()
        time.sleep(0.001 if not progress.deliveries else 0.005)
        assert time.monotonic() < deadline, progress
    time.sleep(STORED)
    progress = Counts.read(counts)
    assert progress.deliveries == progress.distinct == case.subscribers, progress
    before = [sample for sample in samples if sample[0] < progress.first - _BEFORE]
    began, used = (before or samples[:1])[-1]
    seconds = progress.last - began
    return Run(
        began=began,
        seconds=seconds,
        cpu=1e3 * (cpu(pid) - used) / case.subscribers,
        handshakes=progress.handshakes,
    )


def _check(directory: Path, case: Case) -> None:
    """Check that every delivery is in the store."""
    with closing(sqlite3.connect(directory / "state" / DATABASE)) as connection:
        (served,) = connection.execute(
            "SELECT COUNT(*) FROM subscription WHERE last_status = 200 AND claim_token IS NULL"
            " AND delivered_version = (SELECT version FROM topic WHERE id = topic_id)"
        ).fetchone()
    assert served == case.subscribers, served
