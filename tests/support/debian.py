"""A Debian system in a folder: made by mmdebstrap, used by chroot."""

import fcntl
import hashlib
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


def base(target: Path) -> Path:
    """Make a small system with Python in a folder; the test is skipped where none can be made.

    It trusts what this machine trusts, so that an index of packages behind a proxy can be used.
    """
    run("cp", "-a", "--reflink=auto", kept(SUITE, PYTHON), target)
    bundle = "etc/ssl/certs/ca-certificates.crt"
    shutil.copyfile(f"/{bundle}", target / bundle)
    (target / "etc/pip.conf").write_text(f"[global]\ncert = /{bundle}\n")
    (target / "etc/uv").mkdir(exist_ok=True)
    (target / "etc/uv/uv.toml").write_text("native-tls = true\n")
    return target


def kept(suite: str, packages: str) -> Path:
    """Return a small system in the user's cache, which is not to be changed.

    It is made where there is none yet; the test is skipped where none can be made.

    Args:
        suite: The release of Debian.
        packages: The packages beyond the least, with commas.
    """
    if os.geteuid() != 0:
        pytest.skip("a chroot needs root")
    if shutil.which("mmdebstrap") is None:
        pytest.skip("needs mmdebstrap: apt-get install mmdebstrap")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "reviewsd-tests"
    cache.mkdir(parents=True, exist_ok=True)
    system = cache / f"{suite}-{hashlib.sha256(packages.encode()).hexdigest()[:12]}"
    with (cache / f"{system.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not system.exists():
            _make(system, suite, packages)
    return system


def _make(system: Path, suite: str, packages: str) -> None:
    part = system.with_name(f"{system.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    command = [
        *("mmdebstrap", "--quiet", "--mode=root", "--variant=minbase"),
        *("--dpkgopt=force-unsafe-io", f"--include={packages}", suite, str(part), MIRROR),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode != 0:
        pytest.skip(f"mmdebstrap has no system for us: {done.stderr[-300:]}")
    part.rename(system)


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
        """Run a command inside, and return its output."""
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
        """Return the path on this machine of a path inside."""
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
        for directory in reversed(mounted):
            subprocess.run(["umount", "-l", str(directory)], check=True)
