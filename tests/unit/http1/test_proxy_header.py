"""The header of the PROXY protocol, and connections that begin with it (S6; haproxy.org, proxy-protocol.txt)."""

import socket
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.http1 import problems
from reviewsd.http1.head import RefusedError
from reviewsd.http1.hosts import Hosts
from reviewsd.http1.proxy_header import MAX_HEADER, ProxyHeader, read_header
from reviewsd.server.connections import ConnectionLimits
from tests.support.connections import BASE_URL, PROXY, Client, MemoryListener, ask

SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"


def line(host: str = "192.0.2.1") -> bytes:
    """Return a header of version 1."""
    family, target = ("TCP6", "::1") if ":" in host else ("TCP4", "198.51.100.1")
    return f"PROXY {family} {host} {target} 50000 443\r\n".encode()


def binary(
    host: str = "192.0.2.1", command: int = 0x21, family: int | None = None, more: bytes = b""
) -> bytes:
    """Return a header of version 2."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    address = socket.inet_pton(kind, host)
    rest = 2 * address + struct.pack("!HH", 50000, 443) + more
    if family is None:
        family = 0x21 if ":" in host else 0x11
    return SIGNATURE + struct.pack("!BBH", command, family, len(rest)) + rest


NAMED = [
    (line(), "192.0.2.1"),
    (line("2001:db8::7"), "2001:db8::7"),
    (line("2001:DB8:0::7"), "2001:db8::7"),
    (binary(), "192.0.2.1"),
    (binary("2001:db8::7"), "2001:db8::7"),
    (binary(more=b"\x03\x00\x04\x01\x02\x03\x04"), "192.0.2.1"),
    (binary(more=bytes(MAX_HEADER - 28)), "192.0.2.1"),
]
UNNAMED = [
    b"PROXY UNKNOWN\r\n",
    b"PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n",
    b"PROXY UNKNOWN " + 91 * b"x" + b"\r\n",
    SIGNATURE + b"\x20\x00\x00\x00",
    binary(command=0x20),
    SIGNATURE + b"\x21\x00\x00\x00",
    SIGNATURE + b"\x21\x00\x00\x03abc",
    SIGNATURE + b"\x21\x31\x00\xd8" + 216 * b"\0",
]
REFUSED = [
    b"GET / HTTP/1.1\r\n",
    b"G",
    b"\r\nGET",
    b"proxy TCP4",
    b"PROXYTCP4",
    b"PROXY \r\n",
    b"PROXY TCP4\r\n",
    b"PROXY TCP4 192.0.2.1 198.51.100.1 50000\r\n",
    b"PROXY TCP4 192.0.2.1 198.51.100.1 50000 443 1\r\n",
    b"PROXY TCP4  192.0.2.1 198.51.100.1 50000 443\r\n",
    b"PROXY TCP4 192.0.2.1 198.51.100.1 50000 65536\r\n",
    b"PROXY TCP4 192.0.2.1 198.51.100.1 50000 x\r\n",
    b"PROXY TCP4 192.0.2.1 198.51.100.1 \xb2 443\r\n",
    b"PROXY TCP4 192.0.2.1 localhost 50000 443\r\n",
    b"PROXY TCP4 localhost 192.0.2.1 50000 443\r\n",
    b"PROXY TCP4 192.0.2.256 198.51.100.1 50000 443\r\n",
    b"PROXY TCP4 192.0.2.01 198.51.100.1 50000 443\r\n",
    b"PROXY TCP4 ::1 ::1 50000 443\r\n",
    b"PROXY TCP6 192.0.2.1 192.0.2.1 50000 443\r\n",
    b"PROXY TCP6 fe80::1%eth0 ::1 50000 443\r\n",
    b"PROXY UDP4 192.0.2.1 198.51.100.1 50000 443\r\n",
    b"PROXY UNKNOWN\n\r\n",
    b"PROXY UNKNOWN " + 92 * b"x" + b"\r\n",
    b"PROXY TCP4 192.0.2.1\n198.51.100.1 50000 443\r\n",
    binary(command=0x11),
    binary(command=0x22),
    binary(family=0x12),
    binary(family=0x41),
    binary(family=0x21),
    SIGNATURE + b"\x21\x11\x00\x0b" + 11 * b"\0",
    SIGNATURE + b"\x21\x11\xff\xff",
    binary(more=bytes(MAX_HEADER - 27)),
]


@pytest.mark.parametrize("rest", [b"", b"GET / HTTP/1.1\r\n", b"PROXY UNKNOWN\r\n"])
@pytest.mark.parametrize(("data", "host"), NAMED)
def test_header_has_the_address_of_the_client(data: bytes, host: str, rest: bytes) -> None:
    assert ProxyHeader(host, len(data)) == read_header(data + rest)


@pytest.mark.parametrize("data", UNNAMED)
def test_header_may_have_no_client(data: bytes) -> None:
    assert ProxyHeader(None, len(data)) == read_header(data + b"x")


@pytest.mark.parametrize("data", REFUSED)
def test_malformed_header_is_refused(data: bytes) -> None:
    with pytest.raises(RefusedError) as refused:
        read_header(data)
    assert problems.NO_PROXY_HEADER is refused.value.problem


@pytest.mark.parametrize("data", [*UNNAMED, *(data for data, _ in NAMED[:-1])])
def test_incomplete_header_is_waited_for(data: bytes) -> None:
    assert {None} == {read_header(data[:at]) for at in range(len(data))}


@given(
    st.sampled_from([b"", b"PROXY ", b"PROXY TCP4 ", SIGNATURE, SIGNATURE + b"\x21\x11\0"]),
    st.binary(max_size=130),
)
def test_any_bytes_are_parsed_refused_or_shorter_than_a_header(begin: bytes, data: bytes) -> None:
    try:
        header = read_header(begin + data)
    except RefusedError:
        return
    if header is None:
        assert len(begin + data) < 107 or begin.startswith(SIGNATURE)
    else:
        assert header.size <= len(begin + data)


# On a connection ----------------------------------------------------------------------------------


@pytest.fixture
def listener() -> Iterator[MemoryListener]:
    listener = MemoryListener(hosts=Hosts(BASE_URL), per_client=2)
    yield listener
    listener.close()


def get(host: str = "reviews.example") -> bytes:
    return ask().replace(b"Host: a", f"Host: {host}".encode())


@pytest.mark.parametrize("header", [line("192.0.2.7"), binary("192.0.2.7")])
def test_request_has_the_address_of_the_header(listener: MemoryListener, header: bytes) -> None:
    clients = [listener.connect("127.0.0.1", proxied=True) for _ in range(3)]
    clients[0].send(header, get(), get())
    clients[1].send(header + get() + get())
    data = header + get() + get()
    listener.connections.limits = ConnectionLimits()
    clients[2].send(*(data[at : at + 1] for at in range(len(data))))

    for client in clients:
        assert [200, 200] == client.statuses
    assert {("192.0.2.7", False)} == {
        (request.client, request.loopback) for request in listener.routes.requests
    }


@pytest.mark.parametrize("header", [line("127.0.0.1"), line("::1"), UNNAMED[0], UNNAMED[3]])
def test_own_names_are_only_for_local_clients(listener: MemoryListener, header: bytes) -> None:
    """A proxy on this machine may use them for its health checks."""
    local, remote = (listener.connect("127.0.0.1", proxied=True) for _ in range(2))
    local.send(header + get("localhost"))
    remote.send(line() + get("localhost"))
    assert ([200], [421]) == (local.statuses, remote.statuses)


def test_connections_are_limited_by_client_and_not_by_proxy(listener: MemoryListener) -> None:
    def connect(host: str) -> Client:
        client = listener.connect("127.0.0.1", proxied=True)
        client.send(line(host))
        return client

    clients = [connect(host) for host in ("192.0.2.1", "192.0.2.1", "192.0.2.2")]
    assert [b"", b"", b""] == [client.received for client in clients]
    assert [429] == connect("192.0.2.1").statuses
    clients[0].line.leave()
    clients[1].line.leave()
    assert b"" == connect("192.0.2.1").received


@pytest.mark.parametrize("silent", [b"", b"PRO", SIGNATURE])
def test_connection_counts_for_its_peer_until_the_header(
    listener: MemoryListener, silent: bytes
) -> None:
    """Silent connections are limited like those of any client."""
    clients = [listener.connect("192.0.2.9", proxied=True) for _ in range(2)]
    for client in clients:
        client.send(silent)
    third = listener.connect("192.0.2.9", proxied=True)
    assert [429] == third.statuses
    third.line.leave()
    clients[0].send((binary() if silent == SIGNATURE else line())[len(silent) :])
    assert b"" == listener.connect("192.0.2.9", proxied=True).received


def test_connections_of_a_trusted_proxy_are_not_limited(listener: MemoryListener) -> None:
    assert 5 * [b""] == [listener.connect(PROXY, proxied=True).received for _ in range(5)]


@pytest.mark.parametrize(
    "drip", [b"", b"PROXY TCP4 192.0.2.1 ", SIGNATURE + b"\x21\x11\1\0" + bytes(9)]
)
def test_connection_without_a_header_is_closed(listener: MemoryListener, drip: bytes) -> None:
    client = listener.connect("127.0.0.1", proxied=True)
    for second in range(int(ConnectionLimits().header)):
        assert not client.line.closed, second
        client.send(drip[second : second + 1])
        listener.wait(1)
    assert client.line.closed
    assert b"" == client.received


def test_idle_time_begins_with_the_header(listener: MemoryListener) -> None:
    client = listener.connect("127.0.0.1", proxied=True)
    listener.wait(9)
    client.send(line())
    listener.wait(59)
    assert not client.line.closed
    listener.wait(1)
    assert client.line.closed


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"PROXY x\r\n" + get()])
def test_request_without_header_names_the_reason(listener: MemoryListener, data: bytes) -> None:
    client = listener.connect("127.0.0.1", proxied=True)
    client.send(data)
    assert [400] == client.statuses
    assert problems.NO_PROXY_HEADER.detail in client.texts[0]
    assert client.line.half_closed
    assert [] == listener.routes.requests


def test_connection_without_a_header_is_closed_first_when_full(listener: MemoryListener) -> None:
    listener.connections.limits = ConnectionLimits(connections=2)
    silent, asking = (listener.connect("127.0.0.1", proxied=True) for _ in range(2))
    silent.send(b"PROXY ")
    asking.send(line() + get()[:-2])
    newest = listener.connect("127.0.0.1", proxied=True)
    newest.send(line("192.0.2.2") + get())
    assert ([200], True, False) == (newest.statuses, silent.line.aborted, asking.line.closed)


def test_half_closed_client_without_a_header_is_closed(listener: MemoryListener) -> None:
    client = listener.connect("127.0.0.1", proxied=True)
    client.send(b"PROXY TCP4")
    client.finish()
    assert client.line.closed
    assert b"" == client.received


def test_client_with_a_header_during_the_drain_is_answered_once(listener: MemoryListener) -> None:
    client = listener.connect("127.0.0.1", proxied=True)
    ended = listener.drain()
    client.send(line())
    listener.wait(0.5)
    client.send(get())
    assert [(200, True)] == [(answer.status, answer.closes) for answer in client.answers()]
    assert ["ended"] == ended
