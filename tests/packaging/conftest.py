"""Fixtures of the slow tests of packages; ``just test-packaging`` runs them."""

from pathlib import Path

import pytest

from tests.support.distribution import bare, build, program, run


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` of an environment that has the wheel and what it depends on, and nothing else."""
    place = tmp_path_factory.mktemp("installed")
    environ = bare(place / "home")
    run(program("python3"), "-m", "venv", place / "venv", env=environ)
    run(place / "venv/bin/pip", "install", "-q", wheel, env=environ, cwd=place)
    return place / "venv/bin"
