"""The businesses whose pages are tested."""

from pathlib import Path

import pytest

from tests.support.pages import Place, demo


@pytest.fixture(scope="session")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The sample business, which no test changes."""
    return demo(tmp_path_factory.mktemp("demo"))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A business of the test's own, not published yet."""
    return Place(tmp_path)
