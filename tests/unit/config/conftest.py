from pathlib import Path

import pytest

from tests.support.configuration import Write


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes the configuration file."""

    def write(text: str | bytes) -> Path:
        file = tmp_path / "reviewsd.yaml"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        file.chmod(0o644)
        return file

    return write
