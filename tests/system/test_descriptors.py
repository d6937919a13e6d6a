"""A daemon with few open files: it takes as many as it may, and says where that is too few (S4)."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from reviewsd.app.context import OTHER_FILES
from tests.support.daemon import Daemon
from tests.support.raw import Wire, responses

SOFT, HARD = 256, 640
ROOM = HARD - OTHER_FILES - 128  # for connections, beside 64 deliveries
LIMITED = ("sh", "-c", f'ulimit -Sn {SOFT}; ulimit -Hn {HARD}; exec "$@"', "sh")


def limits(pid: int) -> list[str]:
    """Return the soft and the hard limit of open files."""
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    (values,) = (line.split()[3:5] for line in lines if line.startswith("Max open files"))
    return values


@contextmanager
def limited(directory: Path) -> Iterator[Daemon]:
    daemon = Daemon(directory)
    daemon.launch(before=LIMITED)
    try:
        daemon.wait_ready()
        yield daemon
    finally:
        daemon.close()


def test_the_limit_is_raised_and_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    with limited(tmp_path) as daemon, ExitStack() as stack:
        assert [str(HARD), str(HARD)] == limits(daemon.status()["pid"])
        wires = [stack.enter_context(Wire(daemon.port)) for _ in range(ROOM + 1)]
        for wire in wires:
            wire.send(b"GET /healthz HTTP/1.1\r\n")
        *wires, last = wires
        assert [503] == [answer.status for answer in responses(last.read_all())]
        for wire in wires:
            assert wire.ask(b"Host: localhost\r\n\r\n").endswith(b'{"status":"ok"}')
        (line,) = (line for line in daemon.unusual if "max_connections" in line)
        assert f"server.max_connections is {ROOM} instead of 4096" in line
