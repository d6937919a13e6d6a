"""A stub of a platform."""

from collections.abc import Iterator

import pytest

from tests.support.source_stub import Stub


@pytest.fixture
def stub() -> Iterator[Stub]:
    with Stub() as stub:
        yield stub
