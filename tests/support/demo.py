"""``reviewsd --demo`` as a process of its own."""

import os
import re
import shlex
import subprocess
from pathlib import Path

from tests.support import fork_server
from tests.support.commands import ctl
from tests.support.daemon import until


class Demo:
    """A demo with its own place for temporary files, and what it has printed."""

    def __init__(self, place: Path) -> None:
        self.temporary = place / "tmp"
        self.temporary.mkdir()
        self._printed = place / "printed"
        with self._printed.open("wb") as printed:
            environ = {**os.environ, "TMPDIR": str(self.temporary)}
            self.process = fork_server.daemon(("--demo", "--port", "0"), environ, printed)
        until(lambda: "Ctrl-C" in self.printed or self.process.poll() is not None, "the guide")
        address = re.search(r"http://127\.0\.0\.1:[0-9]+", self.printed)
        assert address is not None, self.printed
        self.base_url = address[0]

    @property
    def printed(self) -> str:
        return self._printed.read_text()

    def ctl(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """The reviewsctl command that it prints, with other words at its end."""
        match = re.search(r"reviewsctl status (--socket .*)\n", self.printed)
        assert match is not None
        return ctl(*shlex.split(match[1]), *arguments)
