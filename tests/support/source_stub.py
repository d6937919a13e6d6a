"""An HTTP server with scripted answers, over real sockets."""

import socketserver
import ssl
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

_REASONS = {200: "OK", 304: "Not Modified"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request."""

    method: str
    target: str
    headers: dict[str, str]
    body: str

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query))

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body))


def response(body: str | bytes = "", status: int = 200, *, cut: int = 0, **headers: str) -> bytes:
    """The bytes of a response.

    Args:
        body: Its content.
        status: Its status.
        cut: Bytes that are missing at the end.
        headers: Underscores stand for hyphens.
    """
    content = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Other')}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    lines += [f"Content-Length: {len(content)}", "Connection: close", "", ""]
    return "\r\n".join(lines).encode() + content[: len(content) - cut]


Response = bytes | Iterable[bytes | threading.Event] | None
"""Pieces are sent one after the other; an Event holds back what follows until it is set. None leaves it open."""


class Stub(socketserver.ThreadingTCPServer):
    """A server; ``answer`` makes the response to a request.

    Args:
        name: The host of its address.
        identity: Its certificate with the key; it then speaks TLS.
        address: What it listens on.
    """

    daemon_threads = True
    block_on_close = False

    def __init__(
        self,
        name: str = "127.0.0.1",
        identity: Path | None = None,
        address: Any = ("127.0.0.1", 0),
    ) -> None:
        super().__init__(address, _Connection)
        self.asked: list[Asked] = []
        self.answer: Callable[[Asked], Response] = lambda _: response()
        self.linger = 0.0
        """Seconds between an answer and the end of its connection."""
        self.closing = threading.Event()
        self.url = f"http://{name}:{self.server_address[1]}"
        if identity is not None:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(identity)
            self.socket = context.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )
            self.url = self.url.replace("http", "https")

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, *_: object) -> None:
        """Say nothing: a client may leave at any time."""


class _Connection(socketserver.StreamRequestHandler):
    server: Stub

    def handle(self) -> None:
        method, target, _ = self.rfile.readline().decode().split(" ")
        headers = {}
        while line := self.rfile.readline().decode().strip():
            name, _, value = line.partition(": ")
            headers[name.lower()] = value
        body = self.rfile.read(int(headers.get("content-length", 0))).decode()
        asked = Asked(method, target, headers, body)
        self.server.asked.append(asked)
        answer = self.server.answer(asked)
        if answer is None:
            self.server.closing.wait(60)
            return
        for piece in [answer] if isinstance(answer, bytes) else answer:
            if isinstance(piece, threading.Event):
                piece.wait(60)
            else:
                self.wfile.write(piece)
        self.server.closing.wait(self.server.linger)
