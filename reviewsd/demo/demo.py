"""The sample business of ``reviewsd --demo``, in a temporary directory."""

import errno
import os
import shlex
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from types import FrameType

from reviewsd.http1 import urls
from reviewsd.runtime.sockets import port_holder
from reviewsd.runtime.state_dir import StartError

DEFAULT_PORT = 8080
_PORTS_TRIED = 100
_CONFIG = """\
base_url: http://127.0.0.1:{port}
data_dir: data
state_dir: state
listen: ["tcp:{port}:interface=127.0.0.1"]
admin_socket: admin.sock
"""
_FILES = ("reviews.json", "insights.yaml", "logo.svg", "logo.png")
_QUERY = "?query=boiler&min_rating=4"  # of the search in the guide
_DATE = "2026-01-01"


@contextmanager
def temporary(environ: Mapping[str, str], port: int | None) -> Iterator[Path]:
    """Yield the configuration file of the demo; its directory is removed afterwards.

    SIGTERM removes it as well, before the reactor runs and as a second signal.

    Args:
        environ: As for ``choose_port``, like ``port``.
        port: The port to listen on.

    Raises:
        OSError: The files cannot be written.
        StartError: The port is in use.
    """
    chosen_port = choose_port(environ, port)
    directory = Path(tempfile.mkdtemp(prefix="reviewsd-demo-"))

    def end(number: int, _: FrameType | None) -> None:
        _remove(directory)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        (directory / "data").mkdir()
        for file in _FILES:
            with as_file(files(__package__) / file) as source:
                shutil.copyfile(source, directory / "data" / file)
        config = directory / "reviewsd.yaml"
        config.write_text(_CONFIG.format(port=chosen_port))
        yield config
    finally:
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
    addresses = (
        f"{base}{path.format(date=_DATE)}{_QUERY if path == urls.SEARCH else ''}"
        for path in urls.MAIN
        if path != urls.MCP
    )
    reads = "\n".join(f"    {shlex.quote(address)}" for address in addresses)
    guide = (files(__package__) / "guide.txt").read_text("utf-8")
    socket = shlex.quote(str(folder / "admin.sock"))
    agent = shlex.quote(f"{base}{urls.MCP}")
    text = guide.format(base=base, reads=reads, agent=agent, folder=folder, socket=socket)
    print(text, flush=True)  # noqa: T201  the guide of a command


def choose_port(
    environ: Mapping[str, str], requested: int | None, default: int = DEFAULT_PORT
) -> int:
    """Return the port to listen on, and print why it is not the default.

    Args:
        environ: Where it has ``REVIEWSD_LISTEN``, as in a container, no port is looked for.
        requested: The argument of ``--port``: 0 for any free port; None for the default, or the next free port.
        default: The default.

    Raises:
        StartError: The requested port is in use.
    """
    if requested is None and environ.get("REVIEWSD_LISTEN"):
        return default
    first = default if requested is None else requested
    if (port := _free_port(first)) is not None:
        return port
    reason = f"port {first} is in use by {port_holder(first) or 'another program'}"
    if requested is not None:
        remedy = "choose another with --port N, or a free one with --port 0"
        raise StartError(f"{reason}; {remedy}", 1)
    port = next(filter(None, map(_free_port, range(first + 1, first + _PORTS_TRIED))), first)
    notice = f"reviewsd: {reason}, so the demo uses port {port}; --port N chooses another"
    print(notice, file=sys.stderr)  # noqa: T201  of a command
    return port


def _free_port(port: int) -> int | None:
    """Return a port unless it is in use; for 0 a free one. The start reports other faults."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen()
        except OSError as error:
            return None if error.errno == errno.EADDRINUSE else port
        return int(probe.getsockname()[1])


def _remove(directory: Path) -> None:
    for _ in range(5):  # a publication may still be writing
        shutil.rmtree(directory, ignore_errors=True)
        if not directory.exists():
            return
