"""A shop with reviews."""

from pathlib import Path

import pytest

from tests.support.shop import Shop


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """An empty data directory."""
    folder = tmp_path / "data"
    folder.mkdir()
    return Shop(folder)
