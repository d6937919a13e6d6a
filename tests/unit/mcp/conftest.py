"""A server over three reviews."""

import pytest

from reviewsd.snapshot.snapshots import Snapshot
from tests.support.mcp import Bench, publish
from tests.support.publishing import Directories


@pytest.fixture(scope="session")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return publish(Directories(tmp_path_factory.mktemp("house")))


@pytest.fixture
def bench(snapshot: Snapshot) -> Bench:
    return Bench(snapshot)
