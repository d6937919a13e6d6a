"""A subscriber that is a witness: a TLS server in threads of its own that writes down what it hears.

Standard library only, for tests of a real daemon, which wait where ``tests.support.callbacks`` would
have to run a reactor. Its log is the evidence: a request is in it before it is answered, with what
it was answered.
"""

import hashlib
import http.server
import json
import os
import random
import socket
import socketserver
import ssl
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlencode

from tests.support.authority import authority
from tests.support.daemon import NO_PAGES, Answer, Daemon, until

HOST = "127.0.0.1"
BACKLOG = 512
HUB = "/api/websub/hub"
TOPICS = ("/feed.xml", "/api/feed.json", "/reviews.json")
FORM = {"Content-Type": "application/x-www-form-urlencoded"}

Reply = tuple[int, bytes]
"""Status and body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One request, and what it was answered."""

    at: float
    """Monotonic seconds."""
    epoch: int
    """What ``Subscriber.epoch`` was."""
    method: str
    target: str
    fields: tuple[tuple[str, str], ...]
    """In their order, names as they were spelt."""
    sha256: str
    """Of the body; ``Subscriber.bodies`` has it."""
    status: int | None = None
    """Of the answer; None: there was none."""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def taken(self) -> bool:
        """Whether the answer was a 2xx."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def parameters(self) -> dict[str, str]:
        """Of the query; the last one counts."""
        query = parse_qs(self.target.partition("?")[2], keep_blank_values=True)
        return {name: values[-1] for name, values in query.items()}

    def field(self, name: str) -> str | None:
        return next((value for key, value in self.fields if key.lower() == name.lower()), None)


def good(heard: Heard) -> Reply | None:
    """Confirms verifications, accepts deliveries."""
    return 200, heard.parameters.get("hub.challenge", "").encode()


def silent(_heard: Heard) -> Reply | None:
    """Reads, and says nothing."""
    return None


def deliveries_get(status: int) -> Callable[[Heard], Reply | None]:
    """Confirms verifications, and answers deliveries so."""
    return lambda heard: (status, b"") if heard.method == "POST" else good(heard)


def failing(rate: float, chance: random.Random) -> Callable[[Heard], Reply | None]:
    """Confirms verifications, and fails this part of the deliveries."""

    def reply(heard: Heard) -> Reply | None:
        if heard.method == "POST" and chance.random() < rate:
            return 500, b"out of order"
        return good(heard)

    return reply


class Subscriber:
    """Listens on entering; on leaving all connections are closed and all threads have ended.

    Attributes:
        log: All requests in the order in which they were complete.
        bodies: By their sha256.
        reply: Answers a request; None hangs until the end. May be replaced at any time.
        epoch: Goes into the log.
        context: Of its TLS.

    Args:
        directory: Gets its certificate and, as ``ca.pem``, the authority's.
        host: The address to listen on.
        reply: Answers a request.
        port: To listen on; by default one that is free.
        names: In its certificate, beside the address.
    """

    def __init__(
        self,
        directory: Path,
        host: str = HOST,
        reply: Callable[[Heard], Reply | None] = good,
        *,
        port: int = 0,
        names: Sequence[str] = ("localhost",),
    ) -> None:
        self.log: list[Heard] = []
        self.bodies: dict[str, bytes] = {}
        self.reply = reply
        self.epoch = 0
        self.ca_file = authority().identity.write(directory / "ca.pem")
        identity = authority().issue(*names, host).write_with_key(directory / f"{host}.pem")
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(identity)
        self._host = host
        self._server = _Server(self, host, port, self.context)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def open(self) -> int:
        """Connections that are open now."""
        return len(self._server.connections)

    @property
    def errors(self) -> list[BaseException]:
        """What went wrong in the subscriber itself."""
        return self._server.errors

    def url(self, path: str = "/callback", host: str | None = None) -> str:
        return f"https://{host or self._host}:{self._server.server_address[1]}{path}"

    def deliveries(self, path: str = "/callback") -> list[Heard]:
        """To a callback with this path."""
        return [each for each in tuple(self.log) if (each.method, each.path) == ("POST", path)]

    def asked(self, mode: str, path: str = "/callback") -> list[Heard]:
        """GETs with this ``hub.mode``."""
        return [
            each
            for each in tuple(self.log)
            if (each.method, each.path, each.parameters.get("hub.mode")) == ("GET", path, mode)
        ]

    def until_deliveries(self, count: int, path: str = "/callback") -> Heard:
        """Wait for so many; returns the last of them."""
        until(lambda: len(self.deliveries(path)) >= count, f"{count} deliveries to {path}")
        return self.deliveries(path)[count - 1]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.end()
        assert [] == self.errors


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = False
    request_queue_size = BACKLOG

    def __init__(
        self, subscriber: Subscriber, host: str, port: int, context: ssl.SSLContext
    ) -> None:
        self.subscriber = subscriber
        self.context = context
        self.connections: set[int] = set()
        self.errors: list[BaseException] = []
        self.ending = threading.Event()
        super().__init__((host, port), _Conversation)

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # HTTPServer's would look up the host's name

    def handle_error(self, *_: object) -> None:
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):  # else: the daemon was killed
            self.errors.append(error)

    def end(self) -> None:
        self.ending.set()
        for descriptor in tuple(self.connections):
            with suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as connection:
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()


class _Conversation(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        self._descriptor = self.request.fileno()
        self.server.connections.add(self._descriptor)
        try:
            # Here, in the connection's own thread: a handshake must not hold up the others.
            self.request = self.server.context.wrap_socket(self.request, server_side=True)
            super().setup()
        except BaseException:
            self._leave()
            raise

    def finish(self) -> None:
        try:
            super().finish()
        finally:
            self._leave()

    def _leave(self) -> None:
        self.server.connections.discard(self._descriptor)
        self.request.close()

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) == length:
            self._answer(body)
        else:
            self.close_connection = True

    def _answer(self, body: bytes) -> None:
        subscriber = self.server.subscriber
        digest = hashlib.sha256(body).hexdigest()
        heard = Heard(
            at=time.monotonic(),
            epoch=subscriber.epoch,
            method=self.command,
            target=self.path,
            fields=tuple(self.headers.items()),
            sha256=digest,
        )
        reply = subscriber.reply(heard)
        subscriber.bodies.setdefault(digest, body)
        if reply is None:
            subscriber.log.append(heard)
            self.close_connection = True
            self.server.ending.wait()
            return
        status, text = reply
        subscriber.log.append(replace(heard, status=status))
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Its log is another one."""


# The daemon's side -----------------------------------------------------------------------------------


def settings(ca_file: Path, **hub: Mapping[str, Any] | float) -> str:
    """A configuration in which this machine may be called back, and everything is quick.

    Args:
        ca_file: The authority to trust.
        hub: Further keys of ``hub``, section by section.
    """
    sections: dict[str, Any] = {
        "min_interval": 0,
        "lease": {"min": 1},
        "delivery": {"retry_delays": [0.1, 0.1], "jitter": 0},
        "limits": {"requests_per_minute": 1_000_000, "requests_per_minute_and_host": 1_000_000},
        "callbacks": {"allow_networks": ["127.0.0.0/8"], "ca_file": str(ca_file)},
    }
    for name, values in hub.items():
        if isinstance(values, Mapping):
            sections[name] = {**sections.get(name, {}), **values}
        else:
            sections[name] = values
    watching = {"poll_interval": 0.05, "settle": 0.02}
    return f"{NO_PAGES}data: {json.dumps(watching)}\nhub: {json.dumps(sections)}\n"


def ask(daemon: Daemon, callback: str, **fields: str | int) -> Answer:
    """POST to the hub, to subscribe to the feed; fields, without their ``hub.``, change that."""
    asked = {"mode": "subscribe", "topic": "/feed.xml", "callback": callback, **fields}
    form = urlencode({f"hub.{name}": value for name, value in asked.items()})
    return daemon.request("POST", HUB, FORM, form.encode())


def hub(daemon: Daemon) -> Any:  # noqa: ANN401  JSON
    """The hub's own account, with its topics."""
    return daemon.admin("GET", "/v1/hub").json()


def until_open(daemon: Daemon) -> None:
    """Wait until the hub of an empty state directory knows its topics and takes subscriptions."""
    until(lambda: len(hub(daemon)["topics"]) == len(TOPICS), "the topics")


def until_settled(daemon: Daemon, seconds: float = 60) -> None:
    """Wait until what is served now has been announced, and nobody is owed anything."""
    digests = {path: hashlib.sha256(daemon.get(path).body).hexdigest() for path in TOPICS}

    def settled() -> bool:
        topics = hub(daemon)["topics"]  # as they are at one moment, which the rest may not be of
        announced = {topic["path"]: topic["sha256"] for topic in topics} == digests
        return announced and not any(topic["due"] for topic in topics)

    until(settled, "nothing due", seconds)


def subscriptions(daemon: Daemon) -> list[dict[str, Any]]:
    """All that the hub knows of, as ``reviewsctl subs list --json`` has them."""
    found: list[dict[str, Any]] = []
    while True:
        after = f"?after={found[-1]['id']}" if found else ""
        page = daemon.admin("GET", f"/v1/subscriptions{after}").json()
        found += page["subscriptions"]
        if not page["next"]:
            return found
