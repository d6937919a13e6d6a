"""The distributions, built as a release builds them, and programs of them that run alone."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.daemon import until
from tests.support.programs import run_program

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSION: str = PROJECT["version"]
LOOPBACK = '["tcp:0:interface=127.0.0.1"]'
ADDRESS = re.compile(r"Open in a browser:\s+(http://\S+)/")
LISTENING = re.compile(r"listening on tcp:(\S+)")


def build(kind: str, target: Path, root: Path = ROOT, *, umask: int = 0o022) -> Path:
    """Build a ``wheel`` or an ``sdist`` of a checkout; returns the file."""
    pytest.importorskip("hatchling", reason="needs hatchling, which the extra [test] has")
    target.mkdir(parents=True, exist_ok=True)
    environ = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target)],
        cwd=root,
        env=environ,
        umask=umask,
        stdout=subprocess.DEVNULL,
        timeout=120,
        check=True,
    )
    (built,) = target.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built


def tracked() -> list[str]:
    """The files of the repository; the test is skipped where this is no checkout of git."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("no checkout of git")
    done = run_program(
        [git, "-c", "safe.directory=*", "ls-files", "-coz", "--exclude-standard"],
        cwd=ROOT,
        check=True,
    )
    return [name for name in done.stdout.split("\0") if name and (ROOT / name).exists()]


def program(name: str, package: str = "") -> str:
    """A program of this machine, or beside this Python; the test is skipped without."""
    beside = Path(sys.executable).with_name(name)
    path = str(beside) if beside.exists() else shutil.which(name)
    if path is None:
        pytest.skip(f"needs {name}: {package or name} is not installed")
    return path


def run(
    *command: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    code: int = 0,
    seconds: float = 300,
) -> str:
    """Run a command that must end with this code; return its output and errors."""
    done = subprocess.run(
        [str(argument) for argument in command],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert code == done.returncode, f"{command}:\n{done.stdout}"
    return done.stdout


def bare(home: Path) -> dict[str, str]:
    """An environment with nothing of ours; what installs may know of this machine's package index."""
    home.mkdir(exist_ok=True)
    names = ("PIP_", "UV_", "SSL_", "HTTP", "http", "no_proxy", "NO_PROXY")
    inherited = {name: value for name, value in os.environ.items() if name.startswith(names)}
    return {**inherited, "PATH": "/usr/bin:/bin", "HOME": str(home), "LC_ALL": "C.UTF-8"}


@contextmanager
def demo(
    command: Sequence[str | Path], cwd: Path, env: Mapping[str, str]
) -> Iterator[tuple[str, Path]]:
    """A demo that runs for the block; its address, and where it has its files.

    It ends by SIGTERM, and leaves nothing.
    """
    temporary = Path(tempfile.mkdtemp(prefix="d", dir="/tmp"))  # short: a socket's path is in it
    try:
        with _running(command, cwd, {**env, "TMPDIR": str(temporary)}, ADDRESS) as address:
            yield address, temporary
        assert [] == list(temporary.iterdir())
    finally:
        shutil.rmtree(temporary)


@contextmanager
def served(command: Sequence[str | Path], cwd: Path, env: Mapping[str, str]) -> Iterator[str]:
    """A daemon in the foreground of a folder, for the block; its address."""
    with _running(command, cwd, env, LISTENING) as address:
        yield f"http://{address}"


@contextmanager
def _running(
    command: Sequence[str | Path], cwd: Path, env: Mapping[str, str], printed: re.Pattern[str]
) -> Iterator[str]:
    """Run a program until the end of the block, when SIGTERM ends it; yields what it prints at its start."""
    log = cwd / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(argument) for argument in command],
            cwd=cwd,
            env={**env, "REVIEWSD_LISTEN": LOOPBACK},
            stdout=out,
            stderr=out,
        )
    try:
        until(lambda: printed.search(log.read_text()) or process.poll() is not None, "it", 120)
        match = printed.search(log.read_text())
        assert match, log.read_text()
        yield match[1]
        process.terminate()
        assert 0 == process.wait(45), log.read_text()
    finally:
        process.kill()
        process.wait()


def fetch(url: str) -> bytes:
    """Return the body of a URL."""
    with urllib.request.urlopen(url, timeout=30) as answer:
        body: bytes = answer.read()
    return body


def block(page: str, begins: str, heading: str = "") -> str:
    """Return a block of a page of ``docs/how-to``, or of a section of it, by how it begins."""
    text = (ROOT / "docs" / "how-to" / page).read_text()
    if heading:
        text = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    (one,) = [code for code in blocks if code.startswith(begins)]
    return str(one)


def takeout(target: Path, sample: str = "takeout") -> Path:
    """An export as Google sends it, with seven reviews; the sample "two" has two shops."""
    samples = ROOT / "tests/unit/cli/importing/samples" / sample
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w") as archive:
        for file in sorted(samples.rglob("*.json")):
            archive.write(file, file.relative_to(samples))
    return target
