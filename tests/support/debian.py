"""A Debian system in a folder: made by debootstrap, used by chroot."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.distribution import run

SUITE = "bookworm"
MIRROR = "http://deb.debian.org/debian"
PYTHON = "python3,python3-venv,ca-certificates"
BASE = "REVIEWSD_TEST_DEBIAN"
"""Names a folder with such a system, which is copied, to save the time of making one."""


def base(target: Path) -> Path:
    """A small system with Python; the test is skipped where none can be made.

    It trusts whom this machine trusts, so that an index of packages behind a proxy can be used.
    """
    made = _made(target)
    bundle = "etc/ssl/certs/ca-certificates.crt"
    shutil.copyfile(f"/{bundle}", made / bundle)
    (made / "etc/pip.conf").write_text(f"[global]\ncert = /{bundle}\n")
    (made / "etc/uv").mkdir(exist_ok=True)
    (made / "etc/uv/uv.toml").write_text("native-tls = true\n")
    return made


def _made(target: Path) -> Path:
    if os.geteuid() != 0:
        pytest.skip("a chroot needs root")
    if given := os.environ.get(BASE):
        run("cp", "-a", "--reflink=auto", given, target)
        return target
    if shutil.which("debootstrap") is None:
        pytest.skip("needs debootstrap: apt-get install debootstrap")
    command = [
        "debootstrap",
        "--variant=minbase",
        f"--include={PYTHON}",
        SUITE,
        str(target),
        MIRROR,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode != 0:
        pytest.skip(f"debootstrap has no system for us: {done.stdout[-300:]}")
    return target


class System:
    """A system that commands are run in; nothing in it starts services."""

    def __init__(self, root: Path) -> None:
        self.root = root
        policy = root / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
        for name in ("etc/resolv.conf", "etc/hosts"):
            shutil.copyfile(f"/{name}", root / name)

    def run(self, *command: str, code: int = 0) -> str:
        """What a command in it prints."""
        return run("chroot", self.root, *command, env=self.environ, code=code, seconds=900)

    @property
    def environ(self) -> dict[str, str]:
        proxies = {name: value for name, value in os.environ.items() if "proxy" in name.lower()}
        return {
            **proxies,
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "LC_ALL": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
        }

    def path(self, name: str) -> Path:
        """Where a path of the system is on this machine."""
        return self.root / name.lstrip("/")


@contextmanager
def system(root: Path) -> Iterator[System]:
    """The system with its ``/proc`` and ``/dev``, for the block."""
    mounts = (("-t", "proc", "proc", root / "proc"), ("--bind", "/dev", root / "dev"))
    mounted: list[Path] = []
    try:
        for *what, where in mounts:
            done = subprocess.run(["mount", *map(str, what), str(where)], check=False)
            if done.returncode != 0:
                pytest.skip("this machine does not let us mount")
            mounted.append(Path(where))
        yield System(root)
    finally:
        for each in reversed(mounted):
            subprocess.run(["umount", "-l", str(each)], check=True)
