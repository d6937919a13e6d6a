"""The real reviewsctl, as a process."""

import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

CLI = Path(__file__).parents[2] / "cli"
# As the console script starts it, and with Ctrl-C on, which a background job would have off.
CONSOLE_SCRIPT = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from reviewsctl.main import main; main()"
)


def reviewsctl(
    environment: Mapping[str, str],
    *arguments: str,
    before: tuple[str, ...] = (),
    folder: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, sys.executable, "-m", "reviewsctl.main", *arguments],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def on_a_terminal(environment: Mapping[str, str], *arguments: str) -> str:
    """What a terminal gets to see."""
    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", CONSOLE_SCRIPT, *arguments],
        env={"TERM": "xterm-256color", "COLUMNS": "80", **environment},
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=slave,
    ) as run:
        os.close(slave)
        seen = bytearray()
        try:
            while chunk := os.read(master, 65536):
                seen += chunk
        except OSError:  # EIO: the last writer has closed the terminal
            pass
        finally:
            os.close(master)
    assert run.returncode == 0
    return seen.decode()
