"""Fixtures of tests at a real daemon."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.subscriber import Subscriber


@pytest.fixture
def subscriber(tmp_path: Path) -> Iterator[Subscriber]:
    with Subscriber(tmp_path) as subscriber:
        yield subscriber
