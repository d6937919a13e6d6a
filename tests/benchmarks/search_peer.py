"""CPU per request beside a peer in the same run: the same reads in Starlette (``peer``).

    python -m tests.benchmarks.search_peer [--sizes 1000,100000] [--data DIR] [--venv /tmp/w/peer]

Rounds in turn, on one kept connection each; CPU is what the kernel accounts to the process. All
answers to a search are compared by their ``matched`` and ``returned``.
"""

import argparse
import datetime
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from statistics import median

import msgspec
from pyroaring import BitMap

from reviewsd.snapshot import layout
from reviewsd.snapshot.position_sets import SERVICE, TECHNICIAN
from reviewsd.snapshot.snapshots import Snapshot
from tests.benchmarks.classes import distinct
from tests.benchmarks.outside import Patient
from tests.benchmarks.sizes import data_set

_ROUNDS = 5
_REQUESTS = {1_000: 1_000, 100_000: 150}
"""Searches in a round, by size: the peer takes a while for them."""
_CHEAP = 2_000  # requests in a round of the others

"""Settings: connections are kept, as the peer keeps them."""

Work = list[bytes]


class Counts(msgspec.Struct):
    """The counts of a search answer on which both servers must agree."""

    matched: int
    returned: int


class Connection:
    """One kept connection to a server, and the CPU time of its process."""

    def __init__(self, port: int, pid: int) -> None:
        self._port = port
        self._connect()
        self._tasks = Path(f"/proc/{pid}/task")

    def _connect(self) -> None:
        self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request: bytes) -> tuple[bytes, bytes]:
        """Head and body of the answer."""
        self.send(request)
        return self.receive()

    def send(self, request: bytes) -> None:
        """Ask, and do not wait for the answer."""
        self._socket.sendall(request)

    def receive(self) -> tuple[bytes, bytes]:
        """Head and body of an answer."""
        received = bytearray()
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += self._more()
        head = bytes(received[:end])
        size = 0
        if not head.startswith(b"HTTP/1.1 304"):
            lowered = head.lower()
            at = lowered.index(b"\r\ncontent-length:") + 17
            size = int(lowered[at:].split(b"\r\n", 1)[0])
        while len(received) < end + 4 + size:
            received += self._more()
        if b"\r\nconnection: close" in head.lower():  # reviewsd closes after 1,000 requests
            self._socket.close()
            self._connect()
        return head, bytes(received[end + 4 :])

    def fileno(self) -> int:
        """The socket's descriptor, to wait for answers."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close it."""
        self._socket.close()

    def _more(self) -> bytes:
        data = self._socket.recv(1 << 20)
        assert data, "the server has closed the connection"
        return data

    def cpu(self, work: Work) -> float:
        """Microseconds of CPU for each request of a round."""
        before = self.used()
        for request in work:
            self.ask(request)
        return (self.used() - before) / len(work) / 1e3

    def used(self) -> int:
        """Nanoseconds of CPU that the process has used, user and system, in all its threads."""
        return sum(
            int((task / "schedstat").read_text().split()[0]) for task in self._tasks.iterdir()
        )


def get(path: str, *headers: str) -> bytes:
    """A request as a browser's fetch would have it, but for the coding."""
    lines = (f"GET {path} HTTP/1.1", "Host: localhost", "Accept: */*", *headers, "", "")
    return "\r\n".join(lines).encode()


@contextmanager
def peer(venv: Path, place: Path) -> Iterator[tuple[int, int]]:
    """The peer's port and process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        str(venv / "bin" / "uvicorn"),
        *("--app-dir", str(Path(__file__).parent), "peer:app", "--port", str(port)),
        *("--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "error"),
    ]
    process = subprocess.Popen(command, env={**os.environ, "PEER_DATA": str(place)})
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except ConnectionRefusedError:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.1)
        yield port, process.pid
    finally:
        process.kill()
        process.wait()


def prepare(snapshot: Snapshot, source: Path, place: Path) -> None:
    """Write the peer's data: our documents, and the reviews of each mentioned name."""
    place.mkdir()
    for name in ("reviews.json", "feed.json"):
        shutil.copyfile(source / name, place / name)
    mentions: dict[str, dict[str, list[int]]] = {TECHNICIAN: {}, SERVICE: {}}
    columns = snapshot.columns
    for key in snapshot.sets.names:
        field, _, name = key.partition("\0")
        if field in mentions and isinstance(numbers := snapshot.sets.get(field, name), BitMap):
            mentions[field][name] = [*map(columns.numbering.position, numbers)]
    (place / "mentions.json").write_bytes(msgspec.json.encode(mentions))


def compare(
    ours: Connection, theirs: Connection, work: Work, their_work: Work | None = None
) -> str:
    """A row's figures: both, and how many times less we need."""
    return _row([(ours.cpu(work), theirs.cpu(their_work or work)) for _ in range(_ROUNDS)])


def _row(pairs: list[tuple[float, float]]) -> str:
    a, b = (median(pair[side] for pair in pairs) for side in (0, 1))
    ratios = [theirs_us / ours_us for ours_us, theirs_us in pairs]
    return f"{a:,.0f} | {b:,.0f} | {median(ratios):.2f} ({min(ratios):.2f}..{max(ratios):.2f})"


def searches(ours: Connection, theirs: Connection, snapshot: Snapshot, count: int) -> str:
    """The row of the searches; each round has new ones, and both must find the same."""
    queries = distinct(snapshot)

    def some(number: int) -> Work:
        return [
            get(f"/api/reviews/search?{query.canonical()}") for query in islice(queries, number)
        ]

    for request in some(count):
        answers = [
            msgspec.json.decode(connection.ask(request)[1], type=Counts)
            for connection in (ours, theirs)
        ]
        assert answers[0] == answers[1], (request, answers)
    pairs = []
    for _ in range(_ROUNDS):
        work = some(count)
        pairs.append((ours.cpu(work), theirs.cpu(work)))
    return _row(pairs)


def measure(data: Path, venv: Path, size: int) -> list[str]:
    """The rows of one size."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="reviewsd-peer-") as name:
        directory = Path(name)
        (directory / "d").mkdir()
        shutil.copytree(data, directory / "d" / "data")
        with Patient(directory / "d") as running:
            assert running.process is not None
            current = (running.state / "snapshots" / layout.CURRENT).resolve()
            snapshot = Snapshot(current)
            prepare(snapshot, current, directory / "peer")
            with peer(venv, directory / "peer") as (port, pid):
                ours = Connection(running.port, running.process.pid)
                theirs = Connection(port, pid)
                row = searches(ours, theirs, snapshot, _REQUESTS.get(size, 100))
                rows.append(f"| search, every URL different | {size:,} | {row} |")
                newest = datetime.date.fromordinal(-snapshot.columns.days[0])
                days = [newest - datetime.timedelta(days=back) for back in range(20)]
                work = [get(f"/api/reviews/since/{day}") for day in days] * 20
                row = compare(ours, theirs, work)
                rows.append(f"| since/{{date}}, the last 20 days | {size:,} | {row} |")
                etag = f'"{snapshot.manifest.documents[0].tag}"'
                our_requests = [get("/reviews.json", f"If-None-Match: {etag}")] * _CHEAP
                their_requests = [get("/reviews.json", 'If-None-Match: "peer"')] * _CHEAP
                assert ours.ask(our_requests[0])[0].startswith(b"HTTP/1.1 304")
                assert theirs.ask(their_requests[0])[0].startswith(b"HTTP/1.1 304")
                row = compare(ours, theirs, our_requests, their_requests)
                rows.append(f"| reviews.json, 304 | {size:,} | {row} |")
                row = compare(ours, theirs, [get("/api/feed.json")] * _CHEAP)
                rows.append(f"| feed.json | {size:,} | {row} |")
            running.stop()
    return rows


def main() -> None:
    """Measure all sizes and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.search_peer")
    parser.add_argument("--sizes", default="1000,100000")
    parser.add_argument("--data", type=Path, default=Path("/tmp/w/data"))
    parser.add_argument("--venv", type=Path, default=Path("/tmp/w/peer"))
    arguments = parser.parse_args()
    lines = [
        "| | reviews | reviewsd, us | Starlette, us | times less CPU |",
        "| --- | --- | --- | --- | --- |",
    ]
    for size in map(int, arguments.sizes.split(",")):
        lines += measure(data_set(arguments.data, size), arguments.venv, size)
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
