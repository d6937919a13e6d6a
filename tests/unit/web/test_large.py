"""Responses of 30 MB are complete, take little memory, and do not delay other clients (S5, O4, performance.md).

A slow reader here has a small receive buffer and pauses between reads. It ends within seconds, far more slowly
than the daemon could send.
"""

import hashlib
import json
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.support.daemon import Daemon
from tests.support.generate import write_data
from tests.support.raw import reset

pytestmark = pytest.mark.processes

REVIEWS = 5_000
MIN_SIZE = 30_000_000  # bytes, at least
SINCE_EVER = "/api/reviews/since/0001-01-01"
LARGE = ["/reviews.json", SINCE_EVER]

PIECE, PAUSE = 262_144, 0.008  # bytes and seconds: 30 MB/s at most
GROWTH = 10_000_000  # bytes of memory that slow readers may cost together


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon for all tests; its clients may cause no error in its log."""
    directory = tmp_path_factory.mktemp("daemon")
    write_large(directory / "data")
    with Daemon(directory, "data: {insights: file}\n") as running:
        yield running
        assert [] == [line for line in running.unusual if "notify" not in line]


def write_large(data: Path) -> None:
    """Write few reviews with a large unknown member each, which are published quickly."""
    write_data(data, reviews=REVIEWS, insights=False)
    path = data / "reviews.json"
    document = json.loads(path.read_bytes())
    for review in document["reviews"]:
        review["transcript"] = f"{review['id']} said: " * (MIN_SIZE // REVIEWS // 32)
    path.write_text(json.dumps(document))


class Reader:
    """A client that reads a response slowly.

    Args:
        daemon: The daemon.
        path: The path of the request.
    """

    def __init__(self, daemon: Daemon, path: str) -> None:
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        self.socket.settimeout(20)
        self.socket.connect(("127.0.0.1", daemon.port))
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._take(4_096)
        self.head, _, begin = data.partition(b"\r\n\r\n")
        (length,) = (
            line for line in self.head.split(b"\r\n") if line.startswith(b"Content-Length: ")
        )
        self.remaining = int(length.partition(b": ")[2]) - len(begin)
        self.digest = hashlib.sha256(begin)

    def _take(self, size: int) -> bytes:
        piece = self.socket.recv(size)
        assert piece, "the answer was cut"
        return piece

    def take(self, size: int = PIECE) -> None:
        """Read a number of bytes."""
        size = min(size, self.remaining)
        while size:
            piece = self._take(size)
            self.digest.update(piece)
            self.remaining -= len(piece)
            size -= len(piece)

    def take_all(self, pause: float = PAUSE) -> str:
        """Read slowly to the end, and return the digest of the body."""
        while self.remaining:
            self.take()
            time.sleep(pause)
        return self.digest.hexdigest()


@contextmanager
def reading(daemon: Daemon, *paths: str) -> Iterator[list[Reader]]:
    """Open a slow reader for each path."""
    with ExitStack() as stack:
        readers = []
        for path in paths:
            readers.append(Reader(daemon, path))
            stack.callback(readers[-1].socket.close)
        yield readers


def own_memory(daemon: Daemon) -> int:
    """Return the bytes of memory of the process without mapped files."""
    assert daemon.process is not None
    status = Path(f"/proc/{daemon.process.pid}/status").read_text()
    lines = dict(line.split(":", 1) for line in status.splitlines())
    return 1024 * (int(lines["VmRSS"].split()[0]) - int(lines["RssFile"].split()[0]))


def open_connections(daemon: Daemon, ports: set[int]) -> int:
    """Return the number of the daemon's connections from these ports, by the kernel's table."""
    count = 0
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        local, remote = (int(fields[n].rpartition(":")[2], 16) for n in (1, 2))
        inode = fields[9]
        count += local == daemon.port and remote in ports and inode != "0"
    return count


@pytest.mark.parametrize("path", LARGE)
def test_large_response_is_complete(daemon: Daemon, path: str) -> None:
    answer = daemon.get(path)

    assert len(answer.body) > MIN_SIZE
    assert str(len(answer.body)) == answer.headers["Content-Length"]
    assert "Transfer-Encoding" not in answer.headers
    assert REVIEWS == len(json.loads(answer.body)["reviews"])


def test_slow_readers_get_every_byte_and_take_little_memory(daemon: Daemon) -> None:
    expected = [hashlib.sha256(daemon.get(path).body).hexdigest() for path in LARGE]
    before = peak = own_memory(daemon)
    started = time.monotonic()
    with reading(daemon, *LARGE, *LARGE) as readers, ThreadPoolExecutor(len(readers)) as pool:
        digests = [pool.submit(reader.take_all) for reader in readers]
        while not all(digest.done() for digest in digests):
            peak = max(peak, own_memory(daemon))
            time.sleep(0.02)
        seconds = time.monotonic() - started

        assert 2 * expected == [digest.result() for digest in digests]
    assert seconds > MIN_SIZE / PIECE * PAUSE, "the readers were not slow"
    assert peak - before < GROWTH


@pytest.mark.parametrize("leave", [socket.socket.close, reset], ids=["closes", "resets"])
@pytest.mark.parametrize("path", LARGE)
def test_connection_of_a_client_that_leaves_early_is_closed(
    daemon: Daemon, path: str, leave: Callable[[socket.socket], None]
) -> None:
    """The fixture checks that the log has no error."""
    with reading(daemon, path, path, path) as readers:
        ports = {reader.socket.getsockname()[1] for reader in readers}
        for reader in readers:
            reader.take()
        assert 3 == open_connections(daemon, ports)
        for reader in readers:
            leave(reader.socket)

    deadline = time.monotonic() + 10
    while open_connections(daemon, ports):
        assert time.monotonic() < deadline, "a connection stayed open"
        assert 200 == daemon.get("/healthz").status


def test_response_under_way_is_finished_when_the_daemon_stops(daemon: Daemon) -> None:
    """O4; the kernel refuses new connections, so another instance can take them."""
    expected = hashlib.sha256(daemon.get(SINCE_EVER).body).hexdigest()
    process = daemon.process
    assert process is not None
    with (
        reading(daemon, SINCE_EVER) as (reader,),
        socket.create_connection(("127.0.0.1", daemon.port), timeout=60) as idle,
    ):
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert idle.recv(65_536).startswith(b"HTTP/1.1 200 OK\r\n")

        process.send_signal(signal.SIGTERM)

        assert b"" == idle.recv(65_536), "an idle connection is closed at once"
        with pytest.raises(ConnectionRefusedError):
            daemon.get("/healthz")
        assert reader.remaining > MIN_SIZE / 2
        assert process.poll() is None
        assert expected == reader.take_all(pause=0)
        assert b"" == reader.socket.recv(1), "the connection is closed after the response"
    assert 0 == process.wait(10)

    daemon.start()  # for the others
