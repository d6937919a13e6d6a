"""A hub for tests of its requests and attempts."""

from collections.abc import Iterator

import pytest

from tests.support.hub import HubProcess, hub_process


@pytest.fixture
def process() -> Iterator[HubProcess]:
    """A hub with data, which is stopped at the end and leaves nothing behind."""
    with hub_process() as process:
        yield process
