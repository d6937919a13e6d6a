"""Boots a Debian with its own systemd, in a container of systemd-nspawn without network.

``tests/packaging/make-system`` makes the system once; a test boots a copy of it. Where a machine cannot do
that, the test is skipped with the reason.
"""

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

from tests.support import debian
from tests.support.daemon import until

_BOOT_SECONDS: Final = 120.0
_ENVIRON: Final = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LC_ALL": "C.UTF-8",
    "HOME": "/root",
    "SYSTEMD_COLORS": "0",
    "SYSTEMD_PAGER": "cat",
}


def unable() -> str:
    """Return why this machine cannot boot such a system, or an empty string."""
    if os.geteuid() != 0:
        return "only root can boot a container"
    for program, package in (
        ("systemd-nspawn", "systemd-container"),
        ("mmdebstrap", "mmdebstrap"),
        ("nsenter", "util-linux"),
    ):
        if shutil.which(program) is None:
            return f"needs {program}: apt-get install {package}"
    if not re.search(r"^ID=debian$", Path("/etc/os-release").read_text(), re.MULTILINE):
        return "only Debian builds a package for the Debian that is booted"
    return ""


class Machine:
    """A system that is running."""

    def __init__(self, root: Path, init: int) -> None:
        self.root = root
        namespaces = ("--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd")
        self._enter = ("nsenter", f"--target={init}", *namespaces, "--")

    def path(self, name: str) -> Path:
        """Return where a path of the system is on this machine."""
        return self.root / name.lstrip("/")

    def popen(self, *command: str) -> "subprocess.Popen[str]":
        """Start a command in it; its output is a pipe."""
        return subprocess.Popen(
            [*self._enter, *command],
            env=_ENVIRON,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def attempt(self, *command: str, seconds: float = 120) -> tuple[int, str]:
        """Run a command in it; returns its exit code and what it printed."""
        process = self.popen(*command)
        try:
            output, _ = process.communicate(timeout=seconds)
        finally:
            process.kill()
        return process.returncode, output

    def run(self, *command: str, code: int = 0, seconds: float = 120) -> str:
        """Run a command in it, which has to end with this code; returns what it printed."""
        ended, output = self.attempt(*command, seconds=seconds)
        assert code == ended, f"{' '.join(command)}: {ended}\n{output}\n{self.journal()}"
        return output

    def shell(self, script: str) -> str:
        """Run lines of a shell in it, in ``/root``."""
        return self.run("bash", "-euc", f"cd /root\n{script}")

    def shown(self, unit: str, name: str) -> str:
        """Return a property of a unit."""
        return self.run("systemctl", "show", "--value", f"--property={name}", unit).strip()

    def wait(self, unit: str, name: str, value: str) -> None:
        """Wait until a property of a unit has a value."""
        command = f"systemctl show --value --property={name} {unit}"
        self.run("bash", "-c", f'until [ "$({command})" = {value} ]; do sleep 0.2; done')

    def journal(self, *arguments: str) -> str:
        """Return the last lines of the journal."""
        return self.attempt("journalctl", "--no-pager", "-n", "60", *arguments)[1]


@contextmanager
def booted() -> Iterator[Machine]:
    """Boot a copy of the system for the block, and power it off."""
    if reason := unable():
        pytest.skip(reason)
    source = debian.kept()
    with _alone(), _folder_in_memory() as place:
        root = place / "root"
        subprocess.run(["cp", "-a", source, root], check=True)
        with _container(root) as init:
            machine = Machine(root, init)
            until(lambda: _is_up(machine), "systemd is up", _BOOT_SECONDS)
            yield machine


@contextmanager
def _alone() -> Iterator[None]:
    """Wait for other tests of this machine: containers that one session starts share a cgroup."""
    with (Path(tempfile.gettempdir()) / "reviewsd-boot.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def _folder_in_memory() -> Iterator[Path]:
    """Mount a folder for the block: dpkg and the removal take seconds there, on a busy disk a minute."""
    place = Path(tempfile.mkdtemp(prefix="reviewsd-boot-"))
    try:
        if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], check=False).returncode != 0:
            pytest.skip("this machine does not let us mount")
        try:
            yield place
        finally:
            subprocess.run(["umount", "--lazy", place], check=True)
    finally:
        place.rmdir()


def _is_up(machine: Machine) -> bool:
    return machine.attempt("systemctl", "is-system-running")[1].strip() in {"running", "degraded"}


@contextmanager
def _container(root: Path) -> Iterator[int]:
    """Run the system's init for the block; gives its process id."""
    log = root.with_name("console.log")
    command = [
        *("setpriv", "--pdeathsig=TERM"),  # it ends with the tests, also when they are killed
        *("systemd-nspawn", "--boot", f"--directory={root}", "--register=no", "--keep-unit"),
        *("--private-network", "--console=read-only", "--quiet"),
    ]
    with log.open("wb") as console:
        outer = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=console,
            start_new_session=True,
        )
    try:
        until(lambda: outer.poll() is not None or _init(outer.pid), "a container", 30)
        if outer.poll() is not None:
            pytest.skip(f"this machine boots no container: {log.read_text()[-300:]}")
        yield _init(outer.pid)
    finally:
        outer.terminate()  # it powers the system off
        try:
            outer.wait(30)
        except subprocess.TimeoutExpired:
            outer.kill()
            outer.wait()
        _remove_cgroups()


def _init(parent: int) -> int:
    """Return the child that is process 1 of a namespace, or 0 while there is none."""
    with suppress(FileNotFoundError):
        for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
            status = Path(f"/proc/{child}/status").read_text()
            if re.search(r"^NSpid:.*\t1$", status, re.MULTILINE):
                return int(child)
    return 0


def _remove_cgroups() -> None:
    """Remove the empty groups that nspawn leaves behind, bottom up."""
    own = {line.split(":", 2)[2] for line in Path("/proc/self/cgroup").read_text().splitlines()}
    for hierarchy in ("systemd", "unified", "."):
        for path in own:
            for part in ("payload", "supervisor"):
                top = Path("/sys/fs/cgroup") / hierarchy / path.lstrip("/") / part
                for folder, _, _ in os.walk(top, topdown=False):
                    with suppress(OSError):  # there is still a process in it
                        Path(folder).rmdir()
