"""Fixtures of the tests of the stores and of the hub's rows."""

from collections.abc import Iterator

import pytest

from tests.support.hub_rows import Rows
from tests.support.postgres import Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def rows() -> Iterator[Rows]:
    rows = Rows()
    yield rows
    rows.connection.close()
