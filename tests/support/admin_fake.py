"""A daemon's admin socket with scripted answers: a real HTTP server on a real UNIX socket.

For the tests of reviewsctl, which must not depend on the daemon. It serves
in threads and each request is answered by what was scripted for its method and target.
"""

import contextlib
import http.server
import json
import socketserver
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WAIT_SECONDS = 30.0  # seconds until an unopened gate ends the test instead of hanging it

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


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it arrived."""

    method: str
    target: str
    headers: Mapping[str, str]


class AdminFake(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """The server. ``script`` maps ``GET /v1/status`` to its answer; others are a 404 problem."""

    daemon_threads = True

    def __init__(self, path: Path, script: Mapping[str, Scripted]) -> None:
        super().__init__(str(path), _Answering)
        self.path = path
        self.script = script
        self.asked: list[Asked] = []


class _Answering(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: AdminFake

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _answer(self) -> None:
        self.close_connection = True
        self.server.asked.append(Asked(self.command, self.path, dict(self.headers)))
        missing = problem(404, "Not Found", f"There is no {self.path}.")
        answer = self.server.script.get(f"{self.command} {self.path}", missing)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may leave early
            self._write(answer)

    def _write(self, answer: Scripted) -> None:
        self.send_response(answer.status)
        for name, text in answer.headers.items():
            self.send_header(name, text)
        if answer.whole:
            length = sum(len(part) for part in answer.parts if isinstance(part, bytes))
            self.send_header("Content-Length", str(length))
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in answer.parts:
            if isinstance(part, threading.Event):
                part.wait(WAIT_SECONDS)
            else:
                self.wfile.write(part if answer.whole else b"%x\r\n%b\r\n" % (len(part), part))
                self.wfile.flush()
        if not (answer.whole or answer.cut):
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: object) -> None:
        """Says nothing: the server's base class logs every request to stderr."""


@contextlib.contextmanager
def admin_fake(path: Path, script: Mapping[str, Scripted]) -> Iterator[AdminFake]:
    """A fake daemon on ``path`` while the block runs."""
    with AdminFake(path, script) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
