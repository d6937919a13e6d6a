"""The sample business of ``reviewsd --demo``, in a directory that goes with the daemon."""

import os
import secrets
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from types import FrameType

_PORT = 8080
_CONFIG = """\
base_url: http://127.0.0.1:{port}
data_dir: data
state_dir: state
listen: ["tcp:{port}:interface=127.0.0.1"]
admin_socket: admin.sock
"""
_TRIES = 5  # to remove what a publication under way goes on writing

End = Callable[[int, FrameType | None], None]
"""A handler of signals."""


@contextmanager
def temporary(environ: Mapping[str, str]) -> Iterator[tuple[Path, End]]:
    """The configuration file of a daemon that serves a copy of the sample business.

    With it comes what a second signal is to do, and any before the reactor runs: nothing is left
    of the directory, however the daemon ends but by SIGKILL.

    Args:
        environ: ``REVIEWSD_LISTEN`` moves the base_url too, if it is a port of this machine.

    Raises:
        OSError: There is no room for the files.
    """
    directory: Path | None = None

    def end(number: int, _: FrameType | None) -> None:
        if directory is not None:
            _remove(directory)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        # Named before it is made: a signal may come between the two
        directory = Path(tempfile.gettempdir(), f"reviewsd-demo-{secrets.token_hex(8)}")
        directory.mkdir(0o700)
        (directory / "data").mkdir()
        for file in ("reviews.json", "insights.json", "insights.yaml"):
            with as_file(files(__package__) / file) as source:
                shutil.copyfile(source, directory / "data" / file)
        config = directory / "reviewsd.yaml"
        config.write_text(_CONFIG.format(port=_port(environ.get("REVIEWSD_LISTEN", ""))))
        yield config, end
    finally:
        if directory is not None:
            _remove(directory)
        signal.signal(signal.SIGTERM, before)


def _port(listen: str) -> int:
    """The port of the first endpoint, as ``["tcp:8081:interface=127.0.0.1"]`` has it."""
    begin, _, rest = listen.partition(":")
    port = rest.partition(":")[0].rstrip('"]')
    if begin.endswith("tcp") and port.isascii() and port.isdigit():
        return int(port) or _PORT
    return _PORT


def _remove(directory: Path) -> None:
    for _ in range(_TRIES):
        shutil.rmtree(directory, ignore_errors=True)
        if not directory.exists():
            return
