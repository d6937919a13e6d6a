"""A daemon's admin socket with scripted answers: a real HTTP server on a real UNIX socket.

For the tests of reviewsctl, which must not depend on the daemon. Each request is answered by what was scripted for
its method and target.
"""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from tests.support.source_stub import Asked, Stub

HEADERS: Mapping[str, str] = {"Reviewsd-Api": "1", "Reviewsd-Version": "0.1.0"}

STATUS: dict[str, Any] = {
    "api": 1,
    "version": "0.1.0",
    "pid": 123,
    "started_at": "2026-11-21T07:00:00Z",
    "uptime_seconds": 12.5,
    "base_url": "https://reviews.example.com",
    "listen": ["tcp:127.0.0.1:8080"],
    "snapshot": {
        "revision": "3f2a9c0d1e4b",
        "published_at": "2026-11-21T07:00:00Z",
        "review_count": 120,
        "updated_at": "2026-11-20T12:00:00Z",
        "insights": True,
    },
    "data": {
        "dir": "/srv/reviews",
        "state": "ok",
        "last_reload": {"at": "2026-11-21T07:00:00Z", "outcome": "published", "seconds": 0.42},
        "failing_since": None,
        "problems": [],
    },
}
"""The answer of a healthy daemon to ``GET /v1/status``."""

PROBLEMS = [f"reviews.json: $.reviews[{n}].rating: expected 1..5, got 7{' ' * 80}." for n in (1, 2)]
DEGRADED: dict[str, Any] = {
    **STATUS,
    "data": {
        "dir": "/srv/reviews",
        "state": "degraded",
        "last_reload": {"at": "2026-11-21T08:00:00Z", "outcome": "refused", "seconds": 0.42},
        "failing_since": "2026-11-21T08:00:00Z",
        "problems": PROBLEMS,
    },
}
"""The answer of a daemon that refuses the newest data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripted:
    """A scripted answer.

    ``parts`` are written one after the other, flushed, as chunks if there is no ``length``; an
    Event among them holds the answer back until it is set.
    """

    status: int = 200
    parts: tuple[bytes | threading.Event, ...] = ()
    headers: Mapping[str, str]
    whole: bool = False
    """Sent with a Content-Length instead of chunked."""
    cut: bool = False
    """Hang up without the end of the body."""

    def pieces(self) -> Iterator[bytes | threading.Event]:
        """Yield the bytes of the response, and what they wait for."""
        length = sum(len(part) for part in self.parts if isinstance(part, bytes))
        framing = f"Content-Length: {length}" if self.whole else "Transfer-Encoding: chunked"
        fields = [f"{name}: {text}" for name, text in self.headers.items()]
        status_line = f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"
        yield "\r\n".join([status_line, *fields, framing, "", ""]).encode("latin-1")
        for part in self.parts:
            if self.whole or isinstance(part, threading.Event):
                yield part
            else:
                yield b"%x\r\n%b\r\n" % (len(part), part)
        if not (self.whole or self.cut):
            yield b"0\r\n\r\n"


def document(value: object, *, status: int = 200, **headers: str) -> Scripted:
    """A JSON document, indented as no client should rely on it not to be."""
    return Scripted(
        status=status,
        parts=(json.dumps(value, indent=1, ensure_ascii=False).encode(),),
        headers={**HEADERS, "Content-Type": "application/json"}
        | {name.replace("_", "-"): text for name, text in headers.items()},
        whole=True,
    )


def problem(status: int, title: str, detail: str) -> Scripted:
    """An RFC 9457 problem."""
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return document(body, status=status, Content_Type="application/problem+json")


def events(*parts: object, cut: bool = False) -> Scripted:
    """An NDJSON stream; each part is an event, or an Event to wait for."""
    lines = (
        part if isinstance(part, threading.Event) else json.dumps(part).encode() + b"\n"
        for part in parts
    )
    headers = {**HEADERS, "Content-Type": "application/x-ndjson"}
    return Scripted(parts=tuple(lines), headers=headers, cut=cut)


class AdminFake(Stub):
    """The server. ``script`` maps ``GET /v1/status`` to its answer; others are a 404 problem."""

    address_family = socket.AF_UNIX

    def __init__(self, path: Path, script: Mapping[str, Scripted]) -> None:
        super().__init__(address=str(path))
        self.path = path
        self.script = script
        self.answer = self._answer

    def _answer(self, asked: Asked) -> Iterator[bytes | threading.Event]:
        missing = problem(404, "Not Found", f"There is no {asked.target}.")
        return self.script.get(f"{asked.method} {asked.target}", missing).pieces()


@contextlib.contextmanager
def admin_fake(path: Path, script: Mapping[str, Scripted]) -> Iterator[AdminFake]:
    """A fake daemon on ``path`` while the block runs."""
    with AdminFake(path, script) as server:
        yield server
