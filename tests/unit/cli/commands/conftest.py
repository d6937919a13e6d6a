"""A folder of a business, for commands that find it by its configuration."""

from pathlib import Path

import pytest

from tests.support.commands import Ctl


@pytest.fixture
def shop(ctl: Ctl, tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    made = ctl("init", str(folder), "--base-url", "https://r.example.com")
    assert 0 == made.returncode, made.stderr
    ctl.environment["REVIEWSD_CONFIG"] = str(folder / "reviewsd.yaml")
    del ctl.environment["REVIEWSD_ADMIN_SOCKET"]
    return folder
