"""Nothing is taken from the folder in which a program is started: a stranger may have written it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, until
from tests.support.programs import run_program

BIN = Path(sys.executable).parent
NAMES = ("encodings", "json", "msgspec", "re", "reviewsctl", "reviewsd", "typing", "yaml")


class Installed(Daemon):
    """Started by its console script, as units and people do."""

    @property
    def command(self) -> list[str]:
        return [str(BIN / "reviewsd"), "--config", str(self.config)]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with modules that say so if they are imported."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in NAMES:
        code = f"open({str(folder / 'imported')!r}, 'a').write(__name__ + '\\n')\n"
        (folder / f"{name}.py").write_text(code)
    return folder


def imported(folder: Path) -> list[str]:
    file = folder / "imported"
    return file.read_text().splitlines() if file.exists() else []


def test_the_modules_would_be_imported(hostile: Path) -> None:
    """Otherwise the tests below could not fail."""
    program = [sys.executable, "-m", "reviewsd", "--version"]
    subprocess.run(program, cwd=hostile, capture_output=True, timeout=60, check=False)
    assert [] != imported(hostile)


def test_no_process_of_the_daemon_imports_from_its_folder(tmp_path: Path, hostile: Path) -> None:
    """Neither the main process nor the publishing process."""
    daemon = Installed(tmp_path)
    daemon.launch(before=("env", "-C", str(hostile)))
    try:
        daemon.wait_ready()
        before = daemon.get("/reviews.json").headers["ETag"]
        daemon.edit(name="Edited")
        until(lambda: daemon.get("/reviews.json").headers["ETag"] != before, "a publication")
        assert [] == imported(hostile)
        assert 0 == daemon.stop()
    finally:
        daemon.close()


@pytest.mark.parametrize("arguments", [("check",), ("service", "install", "--dry-run")])
def test_no_command_imports_from_its_folder(
    tmp_path: Path, hostile: Path, arguments: tuple[str, ...]
) -> None:
    daemon = Daemon(tmp_path)
    environ = {**os.environ, "REVIEWSD_CONFIG": str(daemon.config)}
    done = run_program([str(BIN / "reviewsctl"), *arguments], cwd=hostile, env=environ)
    assert "Traceback" not in done.stderr
    assert [] == imported(hostile)
