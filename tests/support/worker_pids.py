"""Which worker of a daemon has which connection, seen from outside through ``/proc``."""

import http.client
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.daemon import Answer, Daemon, until

MOST = 400
"""Connections that are opened until each worker has enough."""


def children(pid: int) -> list[int]:
    with suppress(FileNotFoundError, ProcessLookupError):
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def runs(pid: int) -> bool:
    """Whether a process runs; one that is dead and not buried does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def main_process(daemon: Daemon) -> int:
    assert daemon.process is not None
    return daemon.process.pid


def fork_servers(daemon: Daemon) -> list[int]:
    return [
        pid
        for pid in children(main_process(daemon))
        if runs(pid) and b"reviewsd.app.worker" in name_of(pid)
    ]


def fork_server(daemon: Daemon) -> int:
    (found,) = fork_servers(daemon)
    return found


def name_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def workers(daemon: Daemon) -> list[int]:
    return [pid for pid in children(fork_server(daemon)) if runs(pid)]


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


class Line:
    """A connection of a client that stays."""

    def __init__(self, daemon: Daemon) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
        self._connection.connect()
        self.port: int = self._connection.sock.getsockname()[1]

    def request(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        self._connection.request(method, path, body or None, dict(headers or {}))
        response = self._connection.getresponse()
        return Answer(response.status, response.headers, response.read())

    def get(self, path: str) -> Answer:
        return self.request("GET", path)

    @property
    def stays(self) -> bool:
        """Whether it is still the same connection: ``http.client`` opens another in silence."""
        sock = self._connection.sock
        return sock is not None and self.port == sock.getsockname()[1]

    def close(self) -> None:
        self._connection.close()


def owner(daemon: Daemon, line: Line) -> int:
    """The process at the other end of a connection."""
    for row in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = row.split()
        here, there = (int(fields[at].rpartition(":")[2], 16) for at in (1, 2))
        if (here, there) == (daemon.port, line.port):
            name = f"socket:[{fields[9]}]"
            for pid in (main_process(daemon), *workers(daemon)):
                for each in Path(f"/proc/{pid}/fd").iterdir():
                    with suppress(FileNotFoundError):
                        if str(each.readlink()) == name:
                            return pid
    raise AssertionError(f"nobody has the connection from port {line.port}")


@contextmanager
def lines_to_all(daemon: Daemon, each: int = 1) -> Iterator[dict[int, list[Line]]]:
    """Connections to every worker, so many or more."""
    found: dict[int, list[Line]] = {pid: [] for pid in workers(daemon)}
    try:
        for _ in range(MOST):
            if all(len(lines) >= each for lines in found.values()):
                break
            line = Line(daemon)
            assert 200 == line.get("/healthz").status
            found[owner(daemon, line)].append(line)
        else:
            raise AssertionError({pid: len(lines) for pid, lines in found.items()})
        yield found
    finally:
        for lines in found.values():
            for line in lines:
                line.close()


def until_workers(daemon: Daemon, count: int, *, without: int = 0) -> float:
    """Wait until so many serve; returns the seconds."""
    return until(
        lambda: len(workers(daemon)) == count and without not in workers(daemon), "workers"
    )
