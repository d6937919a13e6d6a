"""A daemon behind a proxy that sends PROXY headers (``listen: haproxy:...``; S6)."""

from collections.abc import Iterator

import pytest

from reviewsd.http1 import urls
from tests.support.daemon import BASE_URL, Daemon
from tests.support.raw import exchange, responses

NAME = BASE_URL.partition("//")[2]
SETTINGS = """
listen: ["haproxy:tcp:0:interface=127.0.0.1"]
hub: {limits: {requests_per_minute: 2}}
"""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("daemon"), SETTINGS) as running:
        yield running
        assert [] == [line for line in running.unusual if "notify" not in line]


def header(host: str) -> bytes:
    """Return the PROXY header of a client."""
    return f"PROXY TCP4 {host} 198.51.100.1 50000 443\r\n".encode()


def request(method: str = "GET", path: str = urls.HEALTH, host: str = NAME) -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()


def statuses(daemon: Daemon, data: bytes) -> list[int]:
    return [answer.status for answer in responses(exchange(daemon.port, data))]


def test_requests_to_the_hub_are_limited_by_client(daemon: Daemon) -> None:
    form = request("POST", urls.HUB)
    for host in ("192.0.2.1", "192.0.2.2"):
        received = [statuses(daemon, header(host) + form) for _ in range(3)]
        assert [[415], [415], [429]] == received, host
