"""A stub of a platform, and the reactor that talks to it."""

from collections.abc import AsyncIterator

import pytest_twisted  # type: ignore[import-untyped] # has no stubs

from tests.support.source_stub import Stub


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def stub() -> AsyncIterator[Stub]:
    stub = Stub()
    await stub.start()
    yield stub
    await stub.stop()
