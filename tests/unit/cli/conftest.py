"""Fixtures of all tests of commands."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewsctl.importing import bounds
from tests.support.admin_fake import AdminFake, admin_fake
from tests.support.commands import CLI, Ctl


@pytest.fixture(autouse=True)
def _memory_of_all_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the memory of a process that runs other tests too to these; commands of their own are bounded."""
    monkeypatch.setattr(bounds, "MEMORY", 1 << 50)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which reviewsd 0.1.0 is what is installed, whatever really is."""
    metadata = tmp_path / "site" / "reviewsd-0.1.0.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text("Metadata-Version: 2.4\nName: reviewsd\nVersion: 0.1.0\n")
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{metadata.parents[1]}:{CLI}",
        "PYTHONWARNINGS": "error",
        "REVIEWSD_ADMIN_SOCKET": str(tmp_path / "admin.sock"),
    }


@pytest.fixture
def ctl(environment: dict[str, str]) -> Ctl:
    """The command in this environment."""
    return Ctl(environment)


@pytest.fixture
def daemon(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AdminFake]:
    """A daemon that answers by the SCRIPT of the test's module."""
    with admin_fake(tmp_path / "admin.sock", request.module.SCRIPT) as fake:
        yield fake
