"""``reviewsd --demo`` as a process of its own."""

import os
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

from tests.support.commands import ctl
from tests.support.daemon import until


class Demo:
    """A demo with its own place for temporary files, and what it has printed."""

    def __init__(self, place: Path) -> None:
        self.temporary = place / "tmp"
        self.temporary.mkdir()
        self._printed = place / "printed"
        for _ in range(3):  # others may take the port between its choice and its use
            self._start(place)
            if self.process.poll() is None:
                break

    def _start(self, place: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.base_url = f"http://127.0.0.1:{port}"
        with self._printed.open("wb") as printed:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "reviewsd", "--demo"],
                stdout=printed,
                stderr=printed,
                cwd=place,
                env={
                    **os.environ,
                    "TMPDIR": str(self.temporary),
                    "REVIEWSD_LISTEN": f'["tcp:{port}:interface=127.0.0.1"]',
                },
            )
        until(lambda: "Ctrl-C" in self.printed or self.process.poll() is not None, "the guide")

    @property
    def printed(self) -> str:
        return self._printed.read_text()

    def ctl(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """The reviewsctl command that it prints, with other words at its end."""
        match = re.search(r"reviewsctl status (--socket .*)\n", self.printed)
        assert match is not None
        return ctl(*shlex.split(match[1]), *arguments)
