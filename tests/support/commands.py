"""The real reviewsctl, and what of reviewsd is no daemon, as processes.

They are forked from a server that has their imports (``fork_server``). Tests of signals while it starts start the
command.
"""

import functools
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.fork_server import (
    INTERPRETERS,
    REVIEWSD,
    ROOT,
    Forked,
    Server,
    Switch,
)
from tests.support.programs import run_program

CLI = ROOT / "cli"
REVIEWSCTL = "reviewsctl.main"  # to run with -m
# As the console script starts it, and with Ctrl-C on, which a background job would have off.
CONSOLE_SCRIPT = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from reviewsctl.main import main; main()"
)
_SECONDS = 240
_INTERPRETER = {"PYTHONWARNINGS": "error"}


def is_plain(environment: Mapping[str, str]) -> bool:
    """Return whether this environment has the interpreter's variables of the server.

    PYTHONPATH may have other folders, as long as they hide no module of ours.
    """
    names = {name for name in environment if name.startswith(INTERPRETERS)} - {"PYTHONPATH"}
    return {name: environment[name] for name in names} == _INTERPRETER


@functools.cache
def _server() -> Server:
    return Server({**_INTERPRETER, "PATH": os.defpath})


def reviewsctl(
    environment: Mapping[str, str],
    *arguments: str,
    before: tuple[str, ...] = (),
    folder: Path | None = None,
    fresh: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run it.

    Args:
        environment: All of it.
        arguments: Of its command line.
        before: A command that executes the one after it.
        folder: Where it runs.
        fresh: Whether it has to import its modules itself.
    """
    if before or fresh:
        command = [*before, sys.executable, "-m", REVIEWSCTL, *arguments]
        return run_program(command, env=environment, cwd=folder, timeout=_SECONDS)
    return _run(REVIEWSCTL, arguments, environment, folder)


@dataclass(frozen=True, slots=True)
class Ctl:
    """reviewsctl in an environment, which a test may change."""

    environment: dict[str, str]

    def __call__(
        self, *arguments: str, before: tuple[str, ...] = (), folder: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run it; the arguments are those of ``reviewsctl``."""
        return reviewsctl(self.environment, *arguments, before=before, folder=folder)


def started(
    environment: Mapping[str, str], *arguments: str, stdout: int = subprocess.PIPE
) -> subprocess.Popen[str]:
    """Start it as the console script does, for a test that sends a signal.

    A signal in the middle of an import leaves the interpreter's own file unclosed; users see
    nothing of it.
    """
    return subprocess.Popen(
        [sys.executable, "-c", CONSOLE_SCRIPT, *arguments],
        env={**environment, "PYTHONWARNINGS": "error,ignore::ResourceWarning"},
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    )


def ctl(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run reviewsctl with the environment of the tests."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(INTERPRETERS)}
    return reviewsctl({**ours, **_INTERPRETER, "PYTHONPATH": str(CLI)}, *arguments)


def reviewsd(
    environment: Mapping[str, str], *arguments: str, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run it with arguments that make no daemon of it."""
    return _run(REVIEWSD, arguments, environment, folder)


def _run(
    module: str, arguments: tuple[str, ...], environment: Mapping[str, str], folder: Path | None
) -> subprocess.CompletedProcess[str]:
    with (
        Path(os.devnull).open() as stdin,
        tempfile.TemporaryFile("w+", newline="") as stdout,  # line ends are as it writes them
        tempfile.TemporaryFile("w+") as stderr,
    ):
        streams = (stdin.fileno(), stdout.fileno(), stderr.fileno())
        code = _ended(_start(module, arguments, environment, streams, folder))
        for stream in (stdout, stderr):
            stream.seek(0)
        return subprocess.CompletedProcess(arguments, code, stdout.read(), stderr.read())


def _start(
    module: str,
    arguments: tuple[str, ...],
    environment: Mapping[str, str],
    streams: tuple[int, int, int],
    folder: Path | None = None,
) -> "Forked | subprocess.Popen[bytes]":
    """Start it with these standard streams."""
    stdin, stdout, stderr = streams
    if Switch.on and is_plain(environment):
        order = {
            "module": module,
            "arguments": arguments,
            "environ": dict(environment),
            "folder": str(folder or Path.cwd()),
        }
        return Forked(_server(), order, stdout, stderr, stdin)
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.Popen(
        command, env=environment, cwd=folder, stdin=stdin, stdout=stdout, stderr=stderr
    )


def _ended(process: "Forked | subprocess.Popen[bytes]") -> int:
    try:
        return process.wait(_SECONDS)
    finally:
        process.kill()


def on_a_terminal(environment: Mapping[str, str], *arguments: str) -> str:
    """Return what a terminal shows that gets no input."""
    code, screen = at_a_terminal(environment, None, *arguments)
    assert code == 0
    return screen


def at_a_terminal(
    environment: Mapping[str, str], typed: bytes | None, *arguments: str
) -> tuple[int, str]:
    """Return the exit code of reviewsctl, and what a terminal shows that gets this input."""
    master, slave = pty.openpty()
    terminal_environment = {"TERM": "xterm-256color", "COLUMNS": "80", **environment}
    with Path(os.devnull).open() as nothing:
        stdin = nothing.fileno() if typed is None else slave
        process = _start(REVIEWSCTL, arguments, terminal_environment, (stdin, slave, slave))
    os.close(slave)
    os.write(master, typed or b"")
    screen = bytearray()
    try:
        while chunk := os.read(master, 65536):
            screen += chunk
    except OSError:  # EIO: the last writer has closed the terminal
        pass
    finally:
        os.close(master)
    return _ended(process), screen.decode()
