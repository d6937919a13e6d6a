"""The sample business of ``reviewsd --demo``, in a temporary directory."""

import os
import secrets
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.resources import as_file, files
from pathlib import Path
from types import FrameType

from reviewsd.http1 import urls

DEFAULT_PORT = 8080
_PORTS_TRIED = 100
_LAST_PORT = 65_535
_CONFIG = """\
base_url: http://127.0.0.1:{port}
data_dir: data
state_dir: state
listen: ["tcp:{port}:interface=127.0.0.1"]
admin_socket: admin.sock
"""
_FILES = ("reviews.json", "insights.json", "insights.yaml", "logo.svg", "logo.png")
_QUERY = "?query=boiler&min_rating=4"  # of the search in the guide
_DATE = "2026-01-01"


@contextmanager
def temporary(environ: Mapping[str, str], port: int | None) -> Iterator[Path]:
    """Yield the configuration file of the demo, whose directory is removed afterwards.

    SIGTERM removes it as well, before the reactor runs and as a second signal. Only SIGKILL leaves it behind.

    Args:
        environ: ``REVIEWSD_LISTEN`` also sets the port of base_url, if it is one of this machine.
        port: The port to listen on; None for 8080, or the next one that is free.

    Raises:
        OSError: The files cannot be written.
    """
    directory: Path | None = None

    def end(number: int, _: FrameType | None) -> None:
        if directory is not None:
            _remove(directory)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        # Named before it is made, because a signal may arrive between the two
        directory = Path(tempfile.gettempdir(), f"reviewsd-demo-{secrets.token_hex(8)}")
        directory.mkdir(0o700)
        (directory / "data").mkdir()
        for file in _FILES:
            with as_file(files(__package__) / file) as source:
                shutil.copyfile(source, directory / "data" / file)
        config = directory / "reviewsd.yaml"
        config.write_text(_CONFIG.format(port=port or _default_port(environ)))
        yield config
    finally:
        if directory is not None:
            _remove(directory)
        signal.signal(signal.SIGTERM, before)


def print_guide(folder: Path, environ: Mapping[str, str], listen: Sequence[str]) -> None:
    """Print commands to try, with the address of the demo.

    Args:
        folder: The directory of the demo.
        environ: ``REVIEWSD_BASE_URL`` replaces the address.
        listen: The addresses that the daemon listens on.
    """
    base = environ.get("REVIEWSD_BASE_URL") or f"http://{listen[0].removeprefix('tcp:')}"
    reads = "\n".join(
        f"    {base}{path.format(date=_DATE)}{_QUERY if path == urls.SEARCH else ''}"
        for path in urls.MAIN
        if path != urls.MCP
    )
    guide = (files(__package__) / "guide.txt").read_text("utf-8")
    text = guide.format(base=base, reads=reads, mcp=urls.MCP, folder=folder)
    print(text, flush=True)  # noqa: T201  the guide of a command


def _default_port(environ: Mapping[str, str]) -> int:
    """Return the port of the first endpoint of ``REVIEWSD_LISTEN``, else the first free one from 8080 on."""
    listen = environ.get("REVIEWSD_LISTEN", "")
    if not listen:
        return first_free_port(DEFAULT_PORT)
    begin, _, rest = listen.partition(":")  # e.g. ["tcp:8081:interface=127.0.0.1"]
    port = rest.partition(":")[0].rstrip('"]')
    if begin.endswith("tcp") and port.isascii() and port.isdigit():
        return int(port) or DEFAULT_PORT
    return DEFAULT_PORT


def first_free_port(first: int) -> int:
    """Return the first port of this machine that is free, or ``first`` if a hundred are taken."""
    for port in range(first, min(first + _PORTS_TRIED, _LAST_PORT + 1)):
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            probe.listen()
            return port
    return first


def _remove(directory: Path) -> None:
    for _ in range(5):  # a publication may still be writing
        shutil.rmtree(directory, ignore_errors=True)
        if not directory.exists():
            return
