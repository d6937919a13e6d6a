"""Well-behaved and badly behaved clients of a soak test; each checks its answers.

A visitor is an endless generator, which does one thing after the other and yields what that was. What
is not as it should be raises an AssertionError.
"""

import base64
import gzip
import hashlib
import json
import random
import re
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from urllib.parse import urlencode

from tests.benchmarks.search_peer import get

REVIEWS, FEED, ATOM = "/reviews.json", "/api/feed.json", "/feed.xml"
_PATHS = (REVIEWS, FEED, ATOM, "/insights.json", "/.well-known/openapi.json", "/healthz")
_PATIENCE = 60
_MCP_VERSION = "2025-06-18"
_SLOW = 300_000  # bytes a second
_WORDS = ("great", "boiler", "service", "mike", "%C3%A9", "late", "clean", "zzz", "on+time", "the")

Visitor = Iterator[str]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it was received."""

    status: int
    fields: Mapping[str, str]
    """Names in lower case."""
    body: bytes


class Line:
    """A connection, which is opened again after the server has announced that it closes it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None
        self._received = b""

    def send(self, data: bytes) -> None:
        """Send."""
        if self._socket is None:
            self._socket = open_to(self._port)
            self._received = b""
        self._socket.sendall(data)

    def receive(self, *, head_only: bool = False, rate: int = 0) -> Answer:
        """The next answer.

        Args:
            head_only: No body comes, whatever its length.
            rate: Bytes a second that are taken of it; 0: all.
        """
        while (end := self._received.find(b"\r\n\r\n")) < 0:
            self._received += self._more(rate)
        first, *lines = self._received[:end].decode("latin-1").split("\r\n")
        fields = {name.lower(): value for name, _, value in (x.partition(": ") for x in lines)}
        status = int(first.split(" ")[1])
        bodiless = head_only or status in {204, 304}
        size = 0 if bodiless else int(fields["content-length"])
        parts = [self._received[end + 4 :]]
        have = len(parts[0])
        while have < size:
            parts.append(self._more(rate))
            have += len(parts[-1])
        everything = b"".join(parts)
        self._received = everything[size:]
        if fields.get("connection") == "close":
            self.close()
        return Answer(status, fields, everything[:size])

    def _more(self, rate: int) -> bytes:
        assert self._socket is not None, "an answer was expected on a connection that is closed"
        if rate:
            time.sleep(0.05)
        piece = self._socket.recv(rate // 20 or 1 << 20)
        assert piece, "closed before the answer was complete"
        return piece

    def ask(self, request: bytes) -> Answer:
        """Send and receive."""
        self.send(request)
        return self.receive(head_only=request.startswith(b"HEAD"))

    def close(self) -> None:
        """End it."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def open_to(port: int) -> socket.socket:
    """A new connection."""
    return socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE)


def tagged(answer: Answer) -> None:
    """The entity tag is made from the bytes."""
    body, tag = answer.body, answer.fields["etag"].strip('"')
    if answer.fields.get("content-encoding") == "gzip":
        body, tag = gzip.decompress(body), tag.removesuffix("-gzip")
    digest = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).decode()[:22]
    assert tag == digest, (tag, digest)


def reader(port: int) -> Visitor:
    """Reads documents: whole, packed, known ones, their heads only."""
    line = Line(port)
    while True:
        path = random.choice(_PATHS[:-1])
        plain = line.ask(get(path))
        assert plain.status == 200, plain
        tagged(plain)
        yield "200"
        packed = line.ask(get(path, "Accept-Encoding: gzip"))
        assert packed.status == 200, packed
        tagged(packed)
        yield "200 gzip"
        tag = plain.fields["etag"]
        conditional = line.ask(get(path, f"If-None-Match: {tag}"))
        assert conditional.status == 304 or conditional.fields["etag"] != tag, conditional.fields
        yield str(conditional.status)
        head = line.ask(get(path).replace(b"GET", b"HEAD", 1))
        assert head.status == 200, head
        assert int(head.fields["content-length"]) > 0
        yield "HEAD"
        assert line.ask(get("/healthz")).status == 200
        assert line.ask(get("/nothing/here")).status == 404
        yield "404"


def searcher(port: int) -> Visitor:
    """Searches, each for something else, and reads what is new."""
    line = Line(port)
    for number in count():
        limit = random.randint(1, 100)
        day = f"20{random.randint(18, 25)}-{random.randint(1, 12):02}-{random.randint(1, 28):02}"
        rating = f"&min_rating=1.{number}" if number % 3 else ""
        query = f"query={random.choice(_WORDS)}&since={day}&limit={limit}{rating}"
        answer = line.ask(get(f"/api/reviews/search?{query}"))
        assert answer.status == 200, (query, answer)
        counted(json.loads(answer.body), limit)
        yield "search"
        answer = line.ask(get(f"/api/reviews/since/{day}"))
        assert answer.status == 200, answer
        result = json.loads(answer.body)
        assert result["returned"] == len(result["reviews"]) == result["matched"]
        assert all(review["date"] >= day for review in result["reviews"])
        yield "since"
        assert line.ask(get("/api/reviews/search?limit=0&since=never")).status == 400
        yield "400"


def counted(result: dict[str, object], limit: int) -> None:
    """A page of a search says truly how long it is."""
    reviews, matched = result["reviews"], result["matched"]
    assert isinstance(reviews, list)
    assert isinstance(matched, int)
    assert result["returned"] == len(reviews) == min(limit, matched)


def post(path: str, body: bytes, *headers: str) -> bytes:
    """A request."""
    lines = (f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *headers)
    return "\r\n".join((*lines, "", "")).encode() + body


def agent(port: int) -> Visitor:
    """Opens a session, calls tools, and ends it, or leaves it behind."""
    line = Line(port)
    kinds = ("Content-Type: application/json", "Accept: application/json, text/event-stream")

    def call(session: str, method: str, params: object) -> Answer:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        in_session = (f"Mcp-Session-Id: {session}", f"Mcp-Protocol-Version: {_MCP_VERSION}")
        extra = in_session if session else ()
        return line.ask(post("/mcp", json.dumps(message).encode(), *kinds, *extra))

    while True:
        params = {
            "protocolVersion": _MCP_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "soak", "version": "1"},
        }
        opened = call("", "initialize", params)
        assert opened.status == 200, opened
        session = opened.fields["mcp-session-id"]
        yield "MCP initialize"
        for _ in range(10):
            arguments = {"query": random.choice(("great", "boiler", "late")), "limit": 5}
            answer = call(session, "tools/call", {"name": "search_reviews", "arguments": arguments})
            assert answer.status == 200, answer
            counted(json.loads(answer.body)["result"]["structuredContent"], 5)
            yield "MCP call"
        assert json.loads(call(session, "nothing/such", {}).body)["error"]["code"] == -32601
        yield "MCP error"
        if random.random() < 0.5:
            lines = ("DELETE /mcp HTTP/1.1", "Host: localhost", f"Mcp-Session-Id: {session}")
            assert line.ask("\r\n".join((*lines, "", "")).encode()).status == 204
            assert call(session, "ping", {}).status == 404
            yield "MCP session ended"


def subscriber(port: int, callback: Callable[[int], str]) -> Visitor:
    """Subscribes, renews and leaves by turns; and asks for what the hub must refuse.

    Args:
        port: Of the daemon.
        callback: Makes URLs of callbacks that confirm.
    """
    line = Line(port)

    def ask(**fields: str) -> Answer:
        form = urlencode({f"hub.{name}": value for name, value in fields.items()}).encode()
        return line.ask(
            post("/api/websub/hub", form, "Content-Type: application/x-www-form-urlencoded")
        )

    for number in count():
        mode = "unsubscribe" if number % 10 == 9 else "subscribe"
        url = callback(number % 20)
        answer = ask(mode=mode, topic=(ATOM, FEED)[number % 2], callback=url, secret="s" * 20)
        assert answer.status == 202, answer
        yield f"hub {mode}"
        assert ask(mode="subscribe", topic="/nothing", callback=url).status == 400
        assert ask(mode="subscribe", topic=ATOM, callback="http://a.example/").status == 400
        assert ask(mode="subscribe", topic=ATOM, callback="https://10.0.0.1/").status == 403
        yield "hub refusal"
        head = b"POST /api/websub/hub HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000\r\n\r\n"
        assert line.ask(head).status == 413
        line.close()
        yield "413"


def pipeliner(port: int) -> Visitor:
    """Sends several requests at once, in pieces too; the answers come in their order."""
    line = Line(port)
    while True:
        chosen = [random.choice(_PATHS) for _ in range(random.randint(2, 8))]
        data = b"".join(map(get, chosen))
        cut = random.randrange(len(data))
        line.send(data[:cut])
        time.sleep(random.choice((0, 0.01)))
        line.send(data[cut:])
        for path in chosen:
            answer = line.receive()
            assert answer.status == 200, (path, answer)
            if path == "/healthz":
                assert "etag" not in answer.fields
            else:
                tagged(answer)
            if answer.fields.get("connection") == "close":  # what was asked after that is void
                break
        yield "pipelined"


def slow_reader(port: int) -> Visitor:
    """Takes a large answer slowly, but fast enough."""
    while True:
        line = Line(port)
        line.send(get(REVIEWS))
        answer = line.receive(rate=_SLOW)
        assert answer.status == 200, answer
        tagged(answer)
        line.close()
        yield "slowly read"


def vandal(port: int) -> Visitor:
    """Leave in the middle of a request, and send bytes that are no HTTP."""
    request = get(REVIEWS)
    while True:
        for data, wait in (
            (b"", 0.0),
            (request[: len(request) // 2], 0.0),
            (request, 0.0),
            (request * 3, 0.002),
            (post("/api/websub/hub", b"x" * 100)[:-50], 0.0),
            (post("/mcp", b"{}")[:-1], 0.0),
        ):
            with open_to(port) as connection:
                connection.sendall(data)
                time.sleep(wait)
                if random.random() < 0.5:  # a reset, instead of an orderly end
                    linger = struct.pack("ii", 1, 0)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            yield "left"
        for data in (
            b"nonsense\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx",
            b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20_000 + b"\r\n\r\n",
            post("/mcp", b"", "Transfer-Encoding: chunked") + b"xx\r\n",
        ):
            with open_to(port) as connection:
                connection.sendall(data)
                received = b""
                while piece := connection.recv(65_536):
                    received += piece
            answers = re.findall(rb"HTTP/1\.1 (\d{3}) ", received)
            assert len(answers) == 1, (data[:60], received[:200])
            assert 400 <= int(answers[0]) < 500, (data[:60], received[:200])
            yield "refused"


VISITORS: Mapping[Callable[[int], Visitor], tuple[int, float]] = {
    reader: (4, 0.02),
    searcher: (3, 0.02),
    agent: (2, 0.05),
    pipeliner: (2, 0.05),
    slow_reader: (2, 0.5),
    vandal: (2, 0.05),
}
"""The number of each, and the seconds between its actions."""
