"""Fixtures of the tests of the hub's rows."""

from collections.abc import Iterator

import pytest

from tests.support.hub_rows import Rows


@pytest.fixture
def rows() -> Iterator[Rows]:
    rows = Rows()
    yield rows
    rows.connection.close()
