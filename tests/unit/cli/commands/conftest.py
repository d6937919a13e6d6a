"""A folder of a business, for commands that find it by its configuration."""

import shutil
from pathlib import Path

import pytest

from tests.support import commands
from tests.support.commands import Ctl


@pytest.fixture(scope="session")
def initial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder as ``reviewsctl init`` makes it."""
    folder = tmp_path_factory.mktemp("initial") / "shop"
    made = commands.ctl("init", str(folder), "--base-url", "https://r.example.com")
    assert 0 == made.returncode, made.stderr
    return folder


@pytest.fixture
def shop(ctl: Ctl, tmp_path: Path, initial: Path) -> Path:
    folder = shutil.copytree(initial, tmp_path / "shop")
    ctl.environment["REVIEWSD_CONFIG"] = str(folder / "reviewsd.yaml")
    del ctl.environment["REVIEWSD_ADMIN_SOCKET"]
    return folder
