"""A subscriber for tests of a real daemon: a TLS server in threads that logs each request.

It needs no reactor, unlike ``tests.support.callbacks``. A request is in the log before its response is
sent.
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
class LoggedRequest:
    """A request and its response."""

    at: float
    """Monotonic seconds."""
    epoch: int
    """The value of ``Subscriber.epoch`` at that time."""
    method: str
    target: str
    fields: tuple[tuple[str, str], ...]
    """The header fields in their order, with names as they were sent."""
    sha256: str
    """Digest of the body, which is in ``Subscriber.bodies``."""
    status: int | None = None
    """Status of the response; None without one."""

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def accepted(self) -> bool:
        """Whether the response was a 2xx."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the query; the last of a name counts."""
        query = parse_qs(self.target.partition("?")[2], keep_blank_values=True)
        return {name: values[-1] for name, values in query.items()}

    def field(self, name: str) -> str | None:
        return next((value for key, value in self.fields if key.lower() == name.lower()), None)


def good(request: LoggedRequest) -> Reply | None:
    """Confirm verifications and accept deliveries."""
    return 200, request.parameters.get("hub.challenge", "").encode()


def silent(_request: LoggedRequest) -> Reply | None:
    """Read the request and never respond."""
    return None


def deliveries_get(status: int) -> Callable[[LoggedRequest], Reply | None]:
    """Confirm verifications, and respond to deliveries with a status."""
    return lambda request: (status, b"") if request.method == "POST" else good(request)


def failing(rate: float, chance: random.Random) -> Callable[[LoggedRequest], Reply | None]:
    """Confirm verifications, and fail a part of the deliveries."""

    def reply(request: LoggedRequest) -> Reply | None:
        if request.method == "POST" and chance.random() < rate:
            return 500, b"out of order"
        return good(request)

    return reply


class Subscriber:
    """Listens between ``__enter__`` and ``__exit__``, which leaves no connection and no thread.

    Attributes:
        log: All requests in the order in which they were complete.
        bodies: Bodies by their sha256.
        reply: Returns the response to a request; None hangs until the end. May be replaced.
        epoch: A number that is logged with each request.
        context: Its TLS context.

    Args:
        directory: Where its certificate is written, and the CA's as ``ca.pem``.
        host: The address to listen on.
        reply: As above.
        port: The port to listen on; by default a free one.
        names: Names in its certificate besides the address.
    """

    def __init__(
        self,
        directory: Path,
        host: str = HOST,
        reply: Callable[[LoggedRequest], Reply | None] = good,
        *,
        port: int = 0,
        names: Sequence[str] = ("localhost",),
    ) -> None:
        self.log: list[LoggedRequest] = []
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
        """Errors of the subscriber itself."""
        return self._server.errors

    def url(self, path: str = "/callback", host: str | None = None) -> str:
        return f"https://{host or self._host}:{self._server.server_address[1]}{path}"

    def deliveries(self, path: str = "/callback") -> list[LoggedRequest]:
        """Return the POSTs to a path."""
        return [
            request
            for request in tuple(self.log)
            if (request.method, request.path) == ("POST", path)
        ]

    def gets(self, mode: str, path: str = "/callback") -> list[LoggedRequest]:
        """Return the GETs to a path with a ``hub.mode``."""
        return [
            request
            for request in tuple(self.log)
            if (request.method, request.path) == ("GET", path)
            and request.parameters.get("hub.mode") == mode
        ]

    def until_deliveries(self, count: int, path: str = "/callback") -> LoggedRequest:
        """Wait for a number of deliveries; return the last of them."""
        until(lambda: len(self.deliveries(path)) >= count, f"{count} deliveries to {path}")
        return self.deliveries(path)[count - 1]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
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
        socketserver.TCPServer.server_bind(self)  # HTTPServer would look up the host's name

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
            # In the thread of the connection: a handshake must not delay others
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
        request = LoggedRequest(
            at=time.monotonic(),
            epoch=subscriber.epoch,
            method=self.command,
            target=self.path,
            fields=tuple(self.headers.items()),
            sha256=digest,
        )
        reply = subscriber.reply(request)
        subscriber.bodies.setdefault(digest, body)
        if reply is None:
            subscriber.log.append(request)
            self.close_connection = True
            self.server.ending.wait()
            return
        status, text = reply
        subscriber.log.append(replace(request, status=status))
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Write no log."""


# The daemon's side -----------------------------------------------------------------------------------


def settings(ca_file: Path, **hub: Mapping[str, Any] | float) -> str:
    """A configuration with short delays that allows callbacks on this machine.

    Args:
        ca_file: The certificate authority of the callbacks.
        hub: Keys of the section ``hub`` to add or to replace.
    """
    sections: dict[str, Any] = {
        "min_interval": 0,
        "delivery": {"retry_delays": [0.1, 0.1]},
        "limits": {"requests_per_minute": 1_000_000},
        "callbacks": {"allow_networks": ["127.0.0.0/8"], "ca_file": str(ca_file)},
    }
    for name, values in hub.items():
        if isinstance(values, Mapping):
            sections[name] = {**sections.get(name, {}), **values}
        else:
            sections[name] = values
    watching = {"poll_interval": 0.05}
    return f"{NO_PAGES}data: {json.dumps(watching)}\nhub: {json.dumps(sections)}\n"


def ask(daemon: Daemon, callback: str, **fields: str | int) -> Answer:
    """POST a request to the hub, by default to subscribe to the feed.

    Args:
        daemon: The daemon.
        callback: The callback.
        fields: Fields of the form, without ``hub.``.
    """
    parameters = {"mode": "subscribe", "topic": "/feed.xml", "callback": callback, **fields}
    form = urlencode({f"hub.{name}": value for name, value in parameters.items()})
    return daemon.request("POST", HUB, FORM, form.encode())


def subscribe(daemon: Daemon, callback: str, **fields: str | int) -> None:
    """Request a subscription, and wait until it is verified."""
    active = hub(daemon)["active"]
    assert 202 == ask(daemon, callback, **fields).status
    until(lambda: hub(daemon)["active"] == active + 1, "the subscription")


def hub(daemon: Daemon) -> Any:
    """Return the state of the hub, with its topics."""
    return daemon.admin("GET", "/v1/hub").json()


def until_open(daemon: Daemon) -> None:
    """Wait until the hub of an empty state directory knows its topics and takes subscriptions."""
    until(lambda: len(hub(daemon)["topics"]) == len(TOPICS), "the topics")


def until_settled(daemon: Daemon) -> None:
    """Wait until all that is served now has been delivered."""
    digests = {path: hashlib.sha256(daemon.get(path).body).hexdigest() for path in TOPICS}

    def settled() -> bool:
        topics = hub(daemon)["topics"]  # one request: all topics at the same moment
        announced = {topic["path"]: topic["sha256"] for topic in topics} == digests
        return announced and not any(topic["due"] for topic in topics)

    until(settled, "nothing due")


def subscriptions(daemon: Daemon) -> list[dict[str, Any]]:
    """Return all subscriptions, as in ``reviewsctl subs list --json``."""
    rows: list[dict[str, Any]] = []
    while True:
        after = f"?after={rows[-1]['id']}" if rows else ""
        page = daemon.admin("GET", f"/v1/subscriptions{after}").json()
        rows += page["subscriptions"]
        if not page["next"]:
            return rows
