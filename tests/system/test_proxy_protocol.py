"""A daemon behind a proxy that says first whose connection it is (``listen: haproxy:...``; S6)."""

import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from reviewsd.http1 import urls
from tests.support.daemon import BASE_URL, Daemon
from tests.support.raw import Wire, exchange, responses

PER_CLIENT, HEADER = 2, 0.5
NAME = BASE_URL.partition("//")[2]
SETTINGS = f"""
listen: ["haproxy:tcp:0:interface=127.0.0.1"]
server: {{per_client: {PER_CLIENT}, header_deadline: {HEADER}}}
hub: {{limits: {{requests_per_minute: 2}}}}
"""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("daemon"), SETTINGS) as running:
        yield running
        assert [] == [line for line in running.unusual if "notify" not in line]


def of(host: str) -> bytes:
    """What the proxy says of a client."""
    return f"PROXY TCP4 {host} 198.51.100.1 50000 443\r\n".encode()


def asked(method: str = "GET", path: str = urls.HEALTH, host: str = NAME) -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()


def statuses(daemon: Daemon, data: bytes) -> list[int]:
    return [answer.status for answer in responses(exchange(daemon.port, data))]


def test_each_client_has_its_own_limit_of_the_hub(daemon: Daemon) -> None:
    form = asked("POST", urls.HUB)
    for host in ("192.0.2.1", "192.0.2.2"):
        found = [statuses(daemon, of(host) + form) for _ in range(3)]
        assert [[415], [415], [429]] == found, host


def test_only_a_client_on_this_machine_may_use_its_names(daemon: Daemon) -> None:
    read = asked(path=urls.OPENAPI, host="localhost")
    assert [421] == statuses(daemon, of("192.0.2.3") + read)
    assert [200] == statuses(daemon, of("127.0.0.1") + read)


def test_each_client_has_its_own_limit_of_connections(daemon: Daemon) -> None:
    host, health = of("192.0.2.4"), b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with ExitStack() as stack:
        found = []
        for _ in range(PER_CLIENT + 1):
            wire = stack.enter_context(Wire(daemon.port))
            found.append(wire.ask(host + health)[9:12])
        assert [*PER_CLIENT * [b"200"], b"429"] == found
        assert [200] == statuses(daemon, of("192.0.2.5") + asked())


@pytest.mark.parametrize("said", [b"PROXY", of("192.0.2.6")[:-2]])
def test_a_header_that_does_not_come_ends_the_connection(daemon: Daemon, said: bytes) -> None:
    began = time.monotonic()
    assert b"" == exchange(daemon.port, said)
    assert time.monotonic() - began >= HEADER
