"""README and docs as programs: their blocks of code, and a terminal in which they are run.

A block's language says what is done with it. ``console`` is run: lines that begin with ``$`` are
typed, what follows is the output. In an output ``...`` stands for any characters of its line, and a
line of ``...`` for any lines. ``sh`` needs root, systemd or the internet and is only read.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.support.daemon import Manager, until
from tests.support.distribution import takeout

ROOT = Path(__file__).parents[2]
CHECKOUT = ("cli", "config", "docs", "reviewsd")
"""The parts of the checkout that are in the folder where a reader types the commands."""

INTERNAL = frozenset({"decisions", "spec"})
"""Folders of documents that describe no command as it is now."""

DEFAULT_PORTS = ("8080", "9443")
"""The ports that the documents name; each terminal replaces them by its own."""

DEMO = "reviewsd --demo"

SECONDS = 60
"""Seconds for a command to end, and for its output to become the documented one."""
PAUSE = 0.25  # seconds between two tries of a command: each of them imports its modules

_FENCE = re.compile(r"^( *)```([a-z]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_ENDS = re.compile(r" --(check|version|help)\b|&$")
_READS = re.compile(
    r"cat |tail |curl (?!.* (?:-d|--data|-X))|reviewsctl (?:ping|status|subs list)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block of code."""

    document: str
    """Its path in the checkout."""
    line: int
    """The line number of its first line of code."""
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.document}:{self.line}"


@dataclass(frozen=True, slots=True)
class Step:
    """A command, and the output that the document shows; empty where it shows none."""

    command: str
    output: str


def documents() -> list[Path]:
    """README and docs, without requirements and decisions."""
    pages = (ROOT / "docs").rglob("*.md")
    return [ROOT / "README.md", *sorted(page for page in pages if page.parent.name not in INTERNAL)]


def blocks(file: Path) -> Iterator[Block]:
    """The blocks of a document, in their order."""
    text = file.read_text()
    for match in _FENCE.finditer(text):
        indent, language, code = match.groups()
        yield Block(
            document=str(file.relative_to(ROOT)),
            line=text.count("\n", 0, match.start()) + 2,
            language=language,
            text=re.sub(f"^{indent}", "", code, flags=re.MULTILINE),
        )


def steps(block: Block) -> Iterator[Step]:
    """Yield the commands of a ``console`` block, each with its output."""
    command, output = "", ""
    for line in block.text.splitlines():
        if command.endswith("\\"):
            command += f"\n{line}"
        elif line.startswith("$ "):
            if command:
                yield Step(command, output)
            command, output = line[2:], ""
        else:
            assert command, f"{block.place}: begins with an output"
            output += f"{line}\n"
    yield Step(command, output)


def matches(documented: str, output: str) -> bool:
    """Whether an output is what a document shows; blanks in a row count as one."""
    documented, output = (re.sub(" +", " ", text) for text in (documented, output))
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + r"\n"
        for line in documented.splitlines()
    )
    # a body that curl prints ends without a newline
    return re.fullmatch(pattern, output if output.endswith("\n") else f"{output}\n") is not None


def is_start(command: str) -> bool:
    """Whether a command starts ``reviewsd`` in the foreground."""
    return bool(re.match(r"(?:\S*/)?reviewsd\b", command)) and not _ENDS.search(command)


class Terminal:
    """A shell in a checkout, with a home of its own and nothing of ours on its PATH.

    Args:
        place: An empty folder; becomes the checkout, ``.venv`` included. Its path is short, since that
            of a UNIX socket has 107 bytes at most.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._home = place / "home"
        self._temporary = place / "t"
        self._ports = dict(zip(DEFAULT_PORTS, _free_ports(len(DEFAULT_PORTS)), strict=True))
        self._step = place / ".step"
        self._foreground: str | None = None  # its process id
        self._started = ""  # its command
        self._furnish()
        self._manager = Manager(place / "notify.sock")
        self._shell = subprocess.Popen(
            ["bash", "--norc"],
            cwd=place,
            env=self._environ(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def _environ(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if "REVIEWSD" not in name}
        path = [directory for directory in inherited["PATH"].split(":") if ".venv" not in directory]
        return {
            **inherited,
            "PATH": ":".join(path),
            "HOME": str(self._home),
            "TMPDIR": str(self._temporary),
            "NO_COLOR": "1",
            "COLUMNS": "80",
            "no_proxy": "*",
        }

    def _furnish(self) -> None:
        for name in CHECKOUT:
            (self._place / name).symlink_to(ROOT / name)
        commands = self._place / ".venv" / "bin"
        commands.mkdir(parents=True)
        address = f"127.0.0.1:{self._ports['8080']}"
        listen = f'["tcp:{self._ports["8080"]}:interface=127.0.0.1"]'
        elsewhere = f"dict(REVIEWSD_BASE_URL='http://{address}', REVIEWSD_LISTEN='{listen}')"
        for name, module in (("reviewsd", "reviewsd.__main__"), ("reviewsctl", "reviewsctl.main")):
            file = commands / name
            file.write_text(
                f"#!{sys.executable}\nimport os, sys\n"
                f"if '--demo' in sys.argv: os.environ.update({elsewhere})\n"
                f"from {module} import main\nmain()\n"
            )
            file.chmod(0o755)
        self._temporary.mkdir()
        takeout(self._home / "Downloads" / "takeout.zip")
        takeout(self._home / "Downloads" / "takeout-shops.zip", "two")
        # on a terminal it shows no progress either
        (self._home / ".curlrc").write_text("silent\nshow-error\n")

    def _here(self, text: str) -> str:
        """The text of a document with our ports."""
        for documented_port, ours in self._ports.items():
            text = re.sub(rf"\b{documented_port}\b", ours, text)
        return text

    def _shown(self, text: str) -> str:
        """Our output with the ports of the documents."""
        for documented_port, ours in self._ports.items():
            text = re.sub(rf"\b{ours}\b", documented_port, text)
        return text

    def play(self, block: Block) -> None:
        """Run a ``console`` block and compare.

        Commands that only read are repeated until they show what the document does: a reader
        needs a moment too. One that shows nothing has to succeed.
        """
        for step in steps(block):
            began = time.monotonic()
            while True:
                code, output = self.run(step.command)
                good = matches(step.output, output) if step.output else code == 0
                late = time.monotonic() - began > SECONDS
                if good or late or not _READS.match(step.command):
                    break
                time.sleep(PAUSE)
            assert good, (
                f"{block.place}: $ {step.command}\nshows:\n{step.output}\n"
                f"and printed ({code}):\n{output}\nin the foreground:\n{self._log()}"
            )

    def _log(self) -> str:
        log = self._place / "foreground.log"
        return log.read_text() if log.exists() else "nothing"

    def run(self, command: str) -> tuple[int, str]:
        """Type a command; returns its exit code and what it printed.

        ``reviewsd`` stays in the foreground: what was there is ended by Ctrl-C before, and the
        next command is typed in another terminal with the same folder and PATH. A demo that is there
        stays, since another one would be the same.
        """
        if command == self._started == DEMO:
            return 0, ""
        if is_start(command):
            self._interrupt()
            self._started = command
            log, address = f"{self._place}/foreground.log", self._manager.address
            code, output = self._type(f"NOTIFY_SOCKET={address} {command} > {log} 2>&1 & echo $!")
            self._foreground = output.strip()
            process = Path("/proc", self._foreground)
            until(lambda: "READY=1" in self._manager.heard or not process.exists(), command)
            self._manager.heard.clear()
            return code, ""
        code, output = self._type(command)
        for config in self._place.glob("*/reviewsd.yaml"):
            documented = config.read_text()
            # once: what was started in the foreground may be reading it
            ours = self._here(documented)
            if not re.search("(?m)^listen:", ours):
                ours += self._here('listen: ["tcp:8080:interface=127.0.0.1"]\n')
            if not config.parent.is_symlink() and ours != documented:
                config.write_text(ours)
        return code, output

    def _interrupt(self) -> None:
        if self._foreground is not None:
            # not INT: a shell without a terminal has its background processes ignore that
            self._type(f"kill -TERM {self._foreground}; wait {self._foreground}")
            self._foreground, self._started = None, ""

    def _type(self, command: str) -> tuple[int, str]:
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        end = f"-- end of {self._step.name} --"
        self._step.write_text(f"{self._here(command)}\n")
        self._shell.stdin.write(f". {self._step} < /dev/null; echo; echo '{end}' $?\n")
        self._shell.stdin.flush()
        printed = ""
        for line in self._shell.stdout:
            if line.startswith(end):
                return int(line.removeprefix(end)), self._shown(printed.removesuffix("\n"))
            printed += line
        raise AssertionError(f"the shell ended: {printed}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End all that was started in it."""
        self._interrupt()
        os.killpg(self._shell.pid, signal.SIGKILL)
        self._shell.communicate()
        self._manager.close()


def _free_ports(count: int) -> list[str]:
    """Return free ports, which no other program can take until these programs do."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [str(server.getsockname()[1]) for server in held]
    finally:
        for server in held:
            server.close()
