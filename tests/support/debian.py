"""Debian systems in folders, made by mmdebstrap."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.distribution import ROOT, run
from tests.support.programs import run_program

SUITE = "bookworm"


def copy(target: Path, packages: str) -> Path:
    """Make a small system with packages in a folder; the test is skipped where none can be made.

    It trusts what this machine trusts, so that an index of packages behind a proxy can be used.
    """
    run("cp", "-a", "--reflink=auto", kept(SUITE, packages), target)
    bundle = "etc/ssl/certs/ca-certificates.crt"
    shutil.copyfile(f"/{bundle}", target / bundle)
    (target / "etc/pip.conf").write_text(f"[global]\ncert = /{bundle}\n")
    (target / "etc/uv").mkdir(exist_ok=True)
    (target / "etc/uv/uv.toml").write_text("native-tls = true\n")
    return target


def kept(*arguments: str) -> Path:
    """Return a small system in the user's cache, which is not to be changed.

    The test is skipped where none can be made.

    Args:
        arguments: The release of Debian and the packages, with commas; by default a system that boots.
    """
    if os.geteuid() != 0:
        pytest.skip("a system of Debian needs root")
    if shutil.which("mmdebstrap") is None:
        pytest.skip("needs mmdebstrap: apt-get install mmdebstrap")
    command: list[str | Path] = [ROOT / "tests/packaging/make-system", *arguments]
    done = run_program(command, stdin=subprocess.DEVNULL, timeout=900)
    if done.returncode != 0:
        pytest.skip(f"mmdebstrap has no system for us: {done.stderr[-300:]}")
    return Path(done.stdout.strip())
