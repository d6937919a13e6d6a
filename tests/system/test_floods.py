"""Clients that request much and read nothing take little memory, and do not delay others (S5, S14)."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.support.columns import review
from tests.support.daemon import BASE_URL, Daemon, until
from tests.support.raw import Wire, responses

FLOODING, SECOND = "192.0.2.1", "198.51.100.1"
SHARE = 32 << 20
"""The bytes of memory that responses to one client may hold."""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon with twenty long reviews."""
    directory = tmp_path_factory.mktemp("daemon")
    (directory / "data").mkdir()
    reviews = [review(f"r{number:02}", text=2_000 * "é") for number in range(20)]
    data = {"business": {"name": "Acme"}, "reviews": reviews}
    (directory / "data" / "reviews.json").write_text(json.dumps(data))
    with Daemon(directory) as running:
        yield running
        assert [] == [line for line in running.unusual if "notify" not in line]


def post(daemon: Daemon, client: str, method: str, times: int = 50, **params: object) -> bytes:
    """Return the bytes of a POST: a batch of equal requests, or one request."""
    begin = {"protocolVersion": "2025-03-26"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin}
    headers = {"Content-Type": "application/json", "X-Forwarded-For": client}
    opened = daemon.request("POST", "/mcp", headers, json.dumps(message).encode())
    message |= {"method": method, "params": params}
    body = json.dumps(message if times == 1 else times * [message]).encode()
    lines = [f"{name}: {value}" for name, value in headers.items()]
    lines.append(f"Mcp-Session-Id: {opened.headers['Mcp-Session-Id']}")
    lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(["POST /mcp HTTP/1.1", "Host: localhost", *lines, "", ""]).encode() + body


def reader(daemon: Daemon, data: bytes) -> Wire:
    """Return a connection that sends a request, and reads only the status line."""
    wire = Wire(daemon.port, 4_096)
    wire.send(data)
    wire.read_until(lambda: len(wire.received) >= 12 or wire.read(0.1, 12))
    return wire


def answered(daemon: Daemon, data: bytes) -> tuple[int, Any]:
    """Return the status and JSON of a response that is read."""
    with Wire(daemon.port) as wire:
        (answer,) = responses(wire.ask(data))
    return answer.status, json.loads(answer.body)


def test_resources_take_no_memory(daemon: Daemon) -> None:
    """Twelve answers of 4 MB are views of mapped files."""
    data = post(daemon, FLOODING, "resources/read", uri=f"{BASE_URL}/reviews.json")
    before = daemon.memory()
    with ExitStack() as stack:
        wires = [stack.enter_context(reader(daemon, data)) for _ in range(12)]
        assert {b"HTTP/1.1 200"} == {wire.received[:12] for wire in wires}
        assert daemon.memory() - before < 10 << 20
        assert 200 == daemon.get("/healthz").status


def test_client_that_holds_too_much_gets_503_and_others_are_answered(daemon: Daemon) -> None:
    search = {"name": "search_reviews", "arguments": {}}
    batch, one = (post(daemon, FLOODING, "tools/call", times, **search) for times in (50, 1))
    before = daemon.memory()
    with ExitStack() as stack:
        for _ in range(24):
            stack.enter_context(reader(daemon, batch))
        assert daemon.memory() - before < 4 * SHARE  # three times as much without the limit
        for data in (one, batch):
            status, refused = answered(daemon, data)
            assert (503, -32603) == (status, refused["error"]["code"])
        headers = {"X-Forwarded-For": FLOODING}
        for path in ("/api/reviews/search", "/reviews.json", "/healthz"):
            assert 200 == daemon.get(path, headers).status
        status, answer = answered(daemon, post(daemon, SECOND, "tools/call", 1, **search))
        assert status == 200
        assert answer["result"]["structuredContent"]["reviews"]
    until(lambda: answered(daemon, one)[0] == 200, "room again", seconds=5)
