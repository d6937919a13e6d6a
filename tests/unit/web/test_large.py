"""Answers of 30 MB: whole, in little memory, without keeping others waiting (S5, O4, performance.md).

A slow reader here is one whose kernel buffers little and who pauses between reads; it still ends
within seconds, but far behind what the daemon could send.
"""

import hashlib
import json
import signal
import socket
import struct
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.support.daemon import Daemon
from tests.support.generate import write_data

pytestmark = pytest.mark.processes

REVIEWS = 5_000
WHOLE = 30_000_000  # bytes, at least
SINCE_EVER = "/api/reviews/since/0001-01-01"
LARGE = ["/reviews.json", SINCE_EVER]

PIECE, PAUSE = 262_144, 0.008  # bytes and seconds: 30 MB/s at most
GROWTH = 10_000_000  # bytes of memory that slow readers may cost together


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One for all; nothing that clients do here may be an error in its log."""
    directory = tmp_path_factory.mktemp("daemon")
    write_large(directory / "data")
    with Daemon(directory, "data: {insights: file}\n") as running:
        yield running
        assert [] == [line for line in running.unusual if "notify" not in line]


def write_large(data: Path) -> None:
    """Few reviews, each with a large member of the operator's own, so that publishing is quick."""
    write_data(data, reviews=REVIEWS, insights=False)
    path = data / "reviews.json"
    document = json.loads(path.read_bytes())
    for review in document["reviews"]:
        review["transcript"] = f"{review['id']} said: " * (WHOLE // REVIEWS // 32)
    path.write_text(json.dumps(document))


class Reader:
    """A client that takes an answer as slowly as it likes.

    Args:
        daemon: Whom to ask.
        path: What for.
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
        self.left = int(length.partition(b": ")[2]) - len(begin)
        self.digest = hashlib.sha256(begin)

    def _take(self, size: int) -> bytes:
        piece = self.socket.recv(size)
        assert piece, "the answer was cut"
        return piece

    def take(self, size: int = PIECE) -> None:
        """Read some more."""
        wanted = min(size, self.left)
        while wanted:
            piece = self._take(wanted)
            self.digest.update(piece)
            self.left -= len(piece)
            wanted -= len(piece)

    def take_all(self, pause: float = PAUSE) -> str:
        """Read to the end, slowly; the digest of all."""
        while self.left:
            self.take()
            time.sleep(pause)
        return self.digest.hexdigest()

    def leave(self, *, rudely: bool = False) -> None:
        """Close; rudely is with a reset."""
        if rudely:
            linger = struct.pack("ii", 1, 0)
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.socket.close()


@contextmanager
def reading(daemon: Daemon, *paths: str) -> Iterator[list[Reader]]:
    """Slow readers, each of one answer."""
    with ExitStack() as stack:
        readers = []
        for path in paths:
            readers.append(Reader(daemon, path))
            stack.callback(readers[-1].leave)
        yield readers


def own_memory(daemon: Daemon) -> int:
    """Bytes that the process holds beside the files it maps."""
    assert daemon.process is not None
    status = Path(f"/proc/{daemon.process.pid}/status").read_text()
    lines = dict(line.split(":", 1) for line in status.splitlines())
    return 1024 * (int(lines["VmRSS"].split()[0]) - int(lines["RssFile"].split()[0]))


def held(daemon: Daemon, ports: set[int]) -> int:
    """How many connections from these ports the daemon has open: the kernel's table tells."""
    count = 0
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        local, remote = (int(fields[n].rpartition(":")[2], 16) for n in (1, 2))
        inode = fields[9]
        count += local == daemon.port and remote in ports and inode != "0"
    return count


@pytest.mark.parametrize("path", LARGE)
def test_a_large_answer_is_whole(daemon: Daemon, path: str) -> None:
    answer = daemon.get(path)

    assert len(answer.body) > WHOLE
    assert str(len(answer.body)) == answer.headers["Content-Length"]
    assert "Transfer-Encoding" not in answer.headers
    assert REVIEWS == len(json.loads(answer.body)["reviews"])


def test_slow_readers_get_every_byte_and_cost_little_memory(daemon: Daemon) -> None:
    wanted = [hashlib.sha256(daemon.get(path).body).hexdigest() for path in LARGE]
    before = most = own_memory(daemon)
    started = time.monotonic()
    with reading(daemon, *LARGE, *LARGE) as readers, ThreadPoolExecutor(len(readers)) as pool:
        digests = [pool.submit(reader.take_all) for reader in readers]
        while not all(each.done() for each in digests):
            most = max(most, own_memory(daemon))
            time.sleep(0.02)
        seconds = time.monotonic() - started

        assert 2 * wanted == [each.result() for each in digests]
    assert seconds > WHOLE / PIECE * PAUSE, "the readers were not slow"
    assert most - before < GROWTH


def test_others_are_answered_at_once_meanwhile(daemon: Daemon) -> None:
    answered = 0
    with reading(daemon, *LARGE, *LARGE) as readers, ThreadPoolExecutor(len(readers)) as pool:
        digests = [pool.submit(reader.take_all) for reader in readers]
        while not all(each.done() for each in digests):
            assert 200 == daemon.get("/healthz").status
            answered += 1

    assert answered > 20  # while the readers take a second and more


@pytest.mark.parametrize("rudely", [False, True], ids=["closes", "resets"])
@pytest.mark.parametrize("path", LARGE)
def test_a_client_that_leaves_early_costs_nothing(
    daemon: Daemon, path: str, *, rudely: bool
) -> None:
    """The fixture sees to it that the log has no error."""
    with reading(daemon, path, path, path) as readers:
        ports = {reader.socket.getsockname()[1] for reader in readers}
        for reader in readers:
            reader.take()
        assert 3 == held(daemon, ports)
        for reader in readers:
            reader.leave(rudely=rudely)

    deadline = time.monotonic() + 10
    while held(daemon, ports):
        assert time.monotonic() < deadline, "a connection stayed open"
        assert 200 == daemon.get("/healthz").status


def test_an_answer_under_way_is_ended_when_the_daemon_stops(daemon: Daemon) -> None:
    """O4; what comes meanwhile is refused by the kernel, for another instance to take."""
    wanted = hashlib.sha256(daemon.get(SINCE_EVER).body).hexdigest()
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
        assert reader.left > WHOLE / 2
        assert process.poll() is None
        assert wanted == reader.take_all(pause=0)
        assert b"" == reader.socket.recv(1), "and then this one"
    assert 0 == process.wait(10)

    daemon.start()  # for the others
