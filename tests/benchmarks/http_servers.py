"""Starts our server and the peers side by side on core 0; clients belong on core 1."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from pyroaring import BitMap

from reviewsd.http1 import urls
from reviewsd.snapshot import layout
from reviewsd.snapshot.position_sets import SERVICE, TECHNICIAN
from reviewsd.snapshot.snapshots import Snapshot
from tests.benchmarks import http_nginx
from tests.benchmarks.accounts import cpu, family
from tests.benchmarks.outside import Patient
from tests.benchmarks.search_peer import Connection
from tests.support.daemon import free_port

SERVED, ASKING = "0", "1"  # cores

OURS = "reviewsd"
NGINX = "nginx"
STARLETTE, AIOHTTP = "Starlette", "aiohttp"

_SETTINGS = "data: {poll_interval: 3600}\n"
_HERE = Path(__file__).parent
_TUNED = ("--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "error")
_KEPT = ("--timeout-keep-alive", "600")  # a server may wait long until it is measured
_START_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    name: str
    port: int
    pid: int

    def url(self, path: str) -> str:
        """Return the URL of a path."""
        return f"http://127.0.0.1:{self.port}{path}"

    def connect(self) -> Connection:
        """A kept connection."""
        return Connection(self.port, self.pid)

    def used(self) -> float:
        """Seconds of CPU so far, in all its processes."""
        return sum(map(cpu, family(self.pid)))


@contextmanager
def ours(place: Path, data: Path) -> Iterator[tuple[Server, Path]]:
    """Our daemon in a new directory, and the snapshot that it serves."""
    place.mkdir()
    shutil.copytree(data, place / "data")
    running = Patient(place, _SETTINGS)
    with closing(running):
        running.launch(before=("taskset", "-c", SERVED))
        running.wait_ready()
        snapshot = (place / "state" / "snapshots" / layout.CURRENT).resolve()
        yield Server(OURS, running.port, running.process.pid), snapshot


def prepare(snapshot: Path, root: Path) -> None:
    """Lay the documents of a snapshot out as files by their paths, with the places of each mentioned name."""
    current = Snapshot(snapshot)
    for document in current.manifest.documents:
        if document.path in {urls.REVIEWS, urls.JSON_FEED}:
            target = root / document.path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(snapshot / document.file, target)
            if document.compressed:
                packed = f"{document.file}{layout.GZIP}"
                shutil.copyfile(snapshot / packed, f"{target}{layout.GZIP}")
    mentions: dict[str, dict[str, list[int]]] = {TECHNICIAN: {}, SERVICE: {}}
    columns = current.columns
    for key in current.sets.names:
        field, _, name = key.partition("\0")
        if field in mentions and isinstance(numbers := current.sets.get(field, name), BitMap):
            mentions[field][name] = [*map(columns.numbering.position, numbers)]
    (root / "mentions.json").write_bytes(msgspec.json.encode(mentions))


@contextmanager
def peers(place: Path, root: Path, venv: Path, names: Sequence[str]) -> Iterator[list[Server]]:
    """The peers, by their names.

    Args:
        place: A new directory.
        root: What ``prepare`` has written.
        venv: Has the frameworks.
        names: Which.
    """
    place.mkdir()
    environ = {"PEER_DATA": str(root)}
    commands: Mapping[str, Callable[[int], list[str]]] = {
        NGINX: lambda port: http_nginx.command(place / "nginx", root, port),
        STARLETTE: lambda port: _uvicorn(venv, "peer:app", port),
        AIOHTTP: lambda port: [
            *(str(venv / "bin" / "python"), str(_HERE / "http_aiohttp.py"), str(port))
        ],
    }
    with ExitStack() as stack:
        yield [stack.enter_context(started(name, commands[name], environ)) for name in names]


@contextmanager
def fronted(place: Path, servers: Sequence[Server]) -> Iterator[list[Server]]:
    """The servers behind an nginx on the other core, which keeps its connections to them.

    They are asked at its ports, and it is their own CPU that is counted.
    """
    place.mkdir()
    ports = {server.name: free_port() for server in servers}
    upstreams = [(server.port, ports[server.name]) for server in servers]
    front = http_nginx.front(place / "nginx", upstreams)
    with listening("nginx in front", ["taskset", "-c", ASKING, *front], {}, upstreams[0][1]):
        yield [replace(server, port=ports[server.name]) for server in servers]


def _uvicorn(venv: Path, app: str, port: int) -> list[str]:
    program = [str(venv / "bin" / "uvicorn"), "--app-dir", str(_HERE), app, "--port", str(port)]
    return [*program, *_TUNED, *_KEPT]


@contextmanager
def started(
    name: str, command: Callable[[int], list[str]], environ: Mapping[str, str]
) -> Iterator[Server]:
    """A server on core 0, until it is not needed any more."""
    port = free_port()
    program = ["taskset", "-c", SERVED, *command(port)]
    with listening(name, program, environ, port) as process:
        yield Server(name, port, process.pid)


@contextmanager
def listening(
    name: str, program: Sequence[str], environ: Mapping[str, str], port: int
) -> Iterator[subprocess.Popen[bytes]]:
    """A process from when it listens until it is not needed any more."""
    process = subprocess.Popen(program, env={**os.environ, **environ}, stdout=sys.stderr)
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
        yield process
    finally:
        process.terminate()
        process.wait(10)
