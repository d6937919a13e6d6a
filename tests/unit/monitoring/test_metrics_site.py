"""The site for ``/metrics`` alone (O9), through a real socket."""

import http.client
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterable
from itertools import repeat
from typing import Any, cast

import pytest
import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet import reactor
from twisted.internet.address import IPv4Address
from twisted.internet.defer import maybeDeferred
from twisted.internet.interfaces import IReactorTCP
from twisted.internet.threads import deferToThread
from twisted.logger import capturedLogs

from reviewsd.monitoring.metrics_site import metrics_site

Get = Callable[..., Any]


class Source:
    """Renders the metrics, or raises an exception."""

    async def text(self) -> bytes:
        if self.fault is not None:
            raise self.fault
        return b"a 1.0\n"

    def __init__(self) -> None:
        self.fault: Exception | None = None


@pytest.fixture
def source() -> Source:
    return Source()


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def get(source: Source) -> AsyncIterator[Get]:
    site = metrics_site(source.text)
    port = cast("IReactorTCP", reactor).listenTCP(0, site, interface="127.0.0.1")  # type: ignore[arg-type]  # declared before factories were generic

    address = cast("IPv4Address", port.getHost())

    def ask(method: str, path: str, body: Iterable[bytes] = ()) -> tuple[int, str, bytes]:
        connection = http.client.HTTPConnection(address.host, address.port, timeout=60)
        headers = {"Connection": "close", "Content-Type": "application/x-www-form-urlencoded"}
        try:
            connection.request(method, path, body, headers, encode_chunked=bool(body))
            answer = connection.getresponse()
            return answer.status, answer.headers["Content-Type"], answer.read()
        finally:
            connection.close()

    yield lambda *request: deferToThread(ask, *request)
    await maybeDeferred(port.stopListening)


async def test_body_of_a_request_is_dropped(get: Get) -> None:
    """Twisted would parse this form of 8 MB into a dictionary of lists."""
    part = b"a=b&" * 1_000
    tracemalloc.start()
    try:
        assert 405 == (await get("POST", "/metrics", repeat(part, 2_000)))[0]
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


async def test_exception_is_logged_and_not_sent(get: Get, source: Source) -> None:
    source.fault = ValueError("secret")
    with capturedLogs() as events:
        answer = await get("GET", "/metrics")
    assert (500, "text/plain", b"The log has the reason.\n") == answer
    (failure,) = [event for event in events if event.get("log_failure") is not None]
    assert failure["log_failure"].value is source.fault
