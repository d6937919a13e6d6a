"""An McpServer without HTTP, and the messages that clients of both eras send."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from msgspec.structs import replace

from reviewsd.http1.representation import Buffer
from reviewsd.http1.request import Request
from reviewsd.mcp.change_streams import ChangeStreams
from reviewsd.mcp.introduction import Introduction
from reviewsd.mcp.methods import Methods
from reviewsd.mcp.server import McpAnswer, McpServer
from reviewsd.mcp.sessions import Session, Sessions
from reviewsd.mcp.stateless import CLIENT_CAPABILITIES, PROTOCOL_VERSION
from reviewsd.runtime.counters import Counters
from reviewsd.snapshot.snapshots import Snapshot
from tests.support.columns import review
from tests.support.publishing import Directories
from tests.support.steps import finish
from tests.support.tools import published

NOW = 1_760_000_000.0
LIFETIME = 30 * 86_400
SECRET = bytes(range(32))
LATEST = "2025-11-25"
MODERN = "2026-07-28"

TECHNICIAN = {"name": "Sam", "mention_count": 1, "positive_pct": 100, "review_ids": ["b"]}
INSIGHTS = {"entities": {"technicians": [TECHNICIAN]}}


def publish(directories: Directories) -> Snapshot:
    """Publish three reviews, one of which mentions Sam."""
    directories.write(
        review("a", date="2025-01-01", rating=3, text="Slow."),
        review("b", date="2025-02-01", text='Sam fixed the "boiler".'),
        review("c", date="2025-03-01", text="Great boiler. 🎉"),
        insights=INSIGHTS,
    )
    return published(directories)


@dataclass(frozen=True, slots=True)
class Reply:
    """A response as the client receives it."""

    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def session(self) -> bytes:
        return self.headers["Mcp-Session-Id"].encode()

    @property
    def code(self) -> int:
        """The code of the error."""
        code: int = self.json["error"]["code"]
        return code


def reply(answer: McpAnswer) -> Reply:
    headers = {name.decode(): value.decode() for name, value in answer.headers}
    return Reply(answer.status, b"".join(bytes(part) for part in answer.body), headers)


def request(method: str, request_id: object = 1, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def notification(method: str, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def modern(method: str, request_id: object = 1, **params: object) -> dict[str, object]:
    """Return a request of the stateless era."""
    meta = {PROTOCOL_VERSION: MODERN, CLIENT_CAPABILITIES: {}}
    return request(method, request_id, **{"_meta": meta} | params)


_FIELDS = {
    "sessions": b"mcp-session-id",
    "versions": b"mcp-protocol-version",
    "methods": b"mcp-method",
    "names": b"mcp-name",
    "accept": b"accept",
}


def http_request(body: bytes = b"", **fields: Sequence[bytes]) -> Request:
    """Return the HTTP request with a body and with all values of each field."""
    request = Request(b"POST", b"/mcp", body=body)
    values = {_FIELDS[name]: tuple(lines) for name, lines in fields.items() if lines}
    return replace(request, fields=replace(request.fields, values=values))


class Room:
    """Room for an answer of any size, which records the reserved parts."""

    def __init__(self) -> None:
        self.most = 1_000_000
        self.held: list[Buffer] = []
        self.released = 0

    @property
    def full(self) -> bool:
        return sum(map(len, self.held)) >= self.most

    def reserve(self, parts: Sequence[Buffer]) -> None:
        self.held += parts

    def release(self) -> None:
        self.released += 1


class Bench:
    """A server, a snapshot and a clock."""

    def __init__(
        self, snapshot: Snapshot, secrets: Sequence[bytes] = (SECRET,), max_streams: int = 1_000
    ) -> None:
        self.snapshot = snapshot
        self.now = NOW
        self.room = Room()
        self.ended: set[bytes] = set()
        numbers = count(1)
        introduction = Introduction("1.2.3")
        self.wakes: list[None] = []
        """An entry for each time that a stream has said that it has events."""
        self.streams = ChangeStreams(introduction, lambda _: "network", max_streams)
        self.streams.published(snapshot)
        self.server = McpServer(
            Sessions(secrets, self.ended.__contains__, LIFETIME),
            Methods(introduction, Counters()),
            self.streams,
            lambda size: next(numbers).to_bytes(size, "big"),
        )

    def send(self, message: object, **fields: Sequence[bytes]) -> Reply:
        """POST a message, or raw bytes."""
        return reply(self.answer(message, **fields))

    def answer(self, message: object, **fields: Sequence[bytes]) -> McpAnswer:
        """Return the answer to a message, or to raw bytes."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        request = http_request(body, **fields)
        return finish(self.server.post(request, self.snapshot, self.now, self.room))

    def initialize(self, version: str = "2025-06-18", **fields: Sequence[bytes]) -> Reply:
        client = {"name": "test", "version": "1"}
        message = request("initialize", protocolVersion=version, capabilities={}, clientInfo=client)
        return self.send(message, **fields)

    def session(self, version: str = "2025-06-18") -> bytes:
        return self.initialize(version).session

    def ask(self, session: bytes, method: str, **params: object) -> Reply:
        """Send a request in a session."""
        return self.send(request(method, **params), sessions=[session])

    def ask_modern(self, method: str, /, *names: bytes, **params: object) -> Reply:
        """Send a request of the stateless era; ``names`` are the values of ``Mcp-Name``."""
        return self.send(modern(method, **params), **mirrors(method, names))

    def delete(self, *sessions: bytes, versions: Sequence[bytes] = ()) -> Reply | Session:
        ending = self.server.delete(http_request(sessions=sessions, versions=versions), self.now)
        return ending if isinstance(ending, Session) else reply(ending)


def mirrors(
    method: str, names: Sequence[bytes] = (), version: str = MODERN
) -> dict[str, Sequence[bytes]]:
    """Return the header fields of a request of the stateless era."""
    return {"versions": [version.encode()], "methods": [method.encode()], "names": names}
