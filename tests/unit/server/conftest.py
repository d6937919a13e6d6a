"""A server with connections in memory."""

from collections.abc import Iterator

import pytest

from tests.support.connections import MemoryListener


@pytest.fixture
def listener() -> Iterator[MemoryListener]:
    listener = MemoryListener()
    yield listener
    listener.close()
