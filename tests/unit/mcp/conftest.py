"""A server over three reviews, and the tools over the sample business."""

import pytest

from reviewsd.snapshot.snapshots import Snapshot
from tests.support.mcp import Bench, publish
from tests.support.publishing import Directories
from tests.support.tools import Tools, demo_snapshot


@pytest.fixture(scope="session")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return publish(Directories(tmp_path_factory.mktemp("house")))


@pytest.fixture
def bench(snapshot: Snapshot) -> Bench:
    return Bench(snapshot)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    return Tools(demo_snapshot(Directories(tmp_path_factory.mktemp("demo"))))
