"""We and the peers, started side by side on core 0; who asks belongs on core 1."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from reviewsd.http1 import urls
from reviewsd.snapshot import layout
from reviewsd.snapshot.snapshots import Snapshot
from tests.benchmarks import http_nginx
from tests.benchmarks.accounts import cpu, family
from tests.benchmarks.outside import Patient
from tests.benchmarks.search_peer import Connection, prepare

SERVED, ASKING = "0", "1"  # cores

OURS, KLEIN = "reviewsd", "Klein alone"
NGINX, READING = "nginx", "nginx, no sendfile"
STARLETTE, AIOHTTP = "Starlette", "aiohttp"
FASTAPI, ENCODING = "FastAPI, prepared", "FastAPI"

_SETTINGS = "data: {poll_interval: 3600}\n"
_HERE = Path(__file__).parent
_TUNED = ("--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "error")
_START_SECONDS = 120


class Renewed(Connection):
    """Opens another connection after an answer that ends it, as ours do after 1,000 requests."""

    def __init__(self, port: int, pid: int) -> None:
        super().__init__(port, pid)
        self._port, self._pid = port, pid

    def receive(self) -> tuple[bytes, bytes]:
        """Head and body of an answer."""
        head, body = super().receive()
        if b"\r\nConnection: close" in head:
            self._socket.close()
            super().__init__(self._port, self._pid)
        return head, body


@dataclass(frozen=True, slots=True)
class Server:
    """One that is running."""

    name: str
    port: int
    pid: int

    def url(self, path: str) -> str:
        """Of a path."""
        return f"http://127.0.0.1:{self.port}{path}"

    def connect(self) -> Renewed:
        """A kept connection."""
        return Renewed(self.port, self.pid)

    def used(self) -> float:
        """Seconds of CPU so far, in all its processes."""
        return sum(map(cpu, family(self.pid)))


@contextmanager
def ours(place: Path, data: Path) -> Iterator[tuple[list[Server], Path]]:
    """The daemon as it is, and with Klein alone; and the snapshot that both serve.

    Args:
        place: A new directory.
        data: Files to publish.
    """
    place.mkdir()
    first, second = place / "fast", place / "klein"
    first.mkdir()
    shutil.copytree(data, first / "data")
    with ExitStack() as stack:
        servers = []
        for name, directory, lane in ((OURS, first, "true"), (KLEIN, second, "false")):
            if directory is second:
                ignored = shutil.ignore_patterns("*.sock", "log", "lock")
                shutil.copytree(first, second, symlinks=True, ignore=ignored)
            running = Patient(directory, f"{_SETTINGS}server: {{fast_lane: {lane}}}\n")
            stack.callback(running.close)
            running.launch(before=("taskset", "-c", SERVED))
            running.wait_ready()
            assert running.process is not None
            servers.append(Server(name, running.port, running.process.pid))
        yield servers, (first / "state" / "snapshots" / layout.CURRENT).resolve()


def publish(snapshot: Path, root: Path) -> None:
    """Lay the documents of a snapshot out as files by their paths."""
    for document in Snapshot(snapshot).manifest.documents:
        if document.path in {urls.REVIEWS, urls.JSON_FEED}:
            target = root / document.path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(snapshot / document.file, target)
            if document.compressed:
                packed = f"{document.file}{layout.GZIP}"
                shutil.copyfile(snapshot / packed, f"{target}{layout.GZIP}")


@contextmanager
def peers(place: Path, root: Path, venv: Path, names: Sequence[str]) -> Iterator[list[Server]]:
    """The servers of documents, by their names.

    Args:
        place: A new directory.
        root: What ``publish`` has written.
        venv: Has the frameworks.
        names: Which.
    """
    place.mkdir()
    environ = {"PEER_DATA": str(root)}
    commands: Mapping[str, Callable[[int], list[str]]] = {
        NGINX: lambda port: http_nginx.command(place / "nginx", root, port, sendfile=True),
        READING: lambda port: http_nginx.command(place / "reading", root, port, sendfile=False),
        STARLETTE: lambda port: _uvicorn(venv, "http_starlette:app", port),
        FASTAPI: lambda port: _uvicorn(venv, "http_fastapi:app", port),
        ENCODING: lambda port: _uvicorn(venv, "http_fastapi:encoding", port),
        AIOHTTP: lambda port: [
            *(str(venv / "bin" / "python"), str(_HERE / "http_aiohttp.py"), str(port))
        ],
    }
    with ExitStack() as stack:
        yield [stack.enter_context(_started(name, commands[name], environ)) for name in names]


@contextmanager
def searching(place: Path, snapshot: Path, venv: Path) -> Iterator[Server]:
    """The same searches in Starlette (``peer``).

    Args:
        place: A new directory.
        snapshot: What it prepares itself from.
        venv: Has Starlette.
    """
    prepare(Snapshot(snapshot), snapshot, place)
    environ = {"PEER_DATA": str(place)}
    with _started(STARLETTE, lambda port: _uvicorn(venv, "peer:app", port), environ) as server:
        yield server


def _uvicorn(venv: Path, app: str, port: int) -> list[str]:
    program = [str(venv / "bin" / "uvicorn"), "--app-dir", str(_HERE), app, "--port", str(port)]
    return [*program, *_TUNED]


@contextmanager
def _started(
    name: str, command: Callable[[int], list[str]], environ: Mapping[str, str]
) -> Iterator[Server]:
    """A server, until it is not needed any more."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        ["taskset", "-c", SERVED, *command(port)],
        env={**os.environ, **environ},
        stdout=sys.stderr,
    )
    try:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except ConnectionRefusedError:
                assert process.poll() is None, name
                assert time.monotonic() < deadline, name
                time.sleep(0.1)
        yield Server(name, port, process.pid)
    finally:
        process.terminate()
        process.wait(10)
