"""A server of a language model on loopback: honest, unless a test gives it something else to do.

It speaks OpenAI's API, and keeps all requests.
"""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Review = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A request."""

    path: str
    headers: dict[str, str]
    """The header fields, by lower-case name."""
    body: bytes

    @property
    def document(self) -> Any:  # noqa: ANN401  JSON
        return json.loads(self.body)

    @property
    def system(self) -> str:
        """The instructions."""
        return str(self.document["messages"][0]["content"])

    @property
    def reviews(self) -> list[Review]:
        reviews: list[Review] = json.loads(self.document["messages"][-1]["content"])
        return reviews


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """An answer as bytes; a length above that of the body cuts it."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    length: int | None = None


Answer = Callable[[Received], "list[Review] | str | Raw"]
"""Entries of reviews, a text of the model, or a whole answer."""


def honest(received: Received) -> list[Review]:
    """Every review with words praises or blames the work, by its stars."""
    return [
        {
            "id": review["id"],
            "aspects": [
                {
                    "id": "work_quality",
                    "sentiment": "positive" if review["rating"] > 3 else "negative",
                    "phrase": review["text"][:20],
                }
            ],
            "technicians": [],
            "services": [],
            "problems": [],
        }
        for review in received.reviews
    ]


class LanguageModel:
    """The server while it runs; made by ``language_model``."""

    def __init__(self, *answers: Answer) -> None:
        self.received: list[Received] = []
        self.answers = list(answers)
        """The answers to the first requests; later requests are answered honestly."""
        self.requests = threading.Semaphore(0)
        """Released with each request."""
        self.ending = threading.Event()
        """Set when the test ends: what holds an answer back waits for it."""
        self.port = 0
        self.tls = False

    @property
    def url(self) -> str:
        """The base URL of its API, which is OpenAI's."""
        scheme = "https" if self.tls else "http"
        return f"{scheme}://127.0.0.1:{self.port}/v1"

    def hold(self, _received: Received) -> Raw:
        """An answer that never comes."""
        self.ending.wait()
        return Raw(status=503)

    def answer(self, received: Received) -> Raw:
        """Return the answer to a request."""
        number = len(self.received)
        self.received.append(received)
        self.requests.release()
        answer = (self.answers[number] if number < len(self.answers) else honest)(received)
        if isinstance(answer, Raw):
            return answer
        text = answer if isinstance(answer, str) else json.dumps({"reviews": answer})
        document: dict[str, object] = {
            "choices": [{"message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 100},
        }
        return Raw(body=json.dumps(document).encode())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(path=self.path, headers=headers, body=body)
        answer = self.server.model.answer(received)
        try:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            length = len(answer.body) if answer.length is None else answer.length
            self.send_header("Content-Length", str(length))
            self.send_header("Content-Type", "application/json")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(answer.body)
        except OSError:  # the client has had enough
            pass

    def log_message(self, *_: object) -> None:
        """Nothing: a test looks at what was received."""


class _Server(ThreadingHTTPServer):
    model: LanguageModel

    def handle_error(self, *_: object) -> None:
        """A client that hangs up, or does not like the certificate, is what a test is about."""


@contextmanager
def language_model(
    *answers: Answer, context: ssl.SSLContext | None = None
) -> Iterator[LanguageModel]:
    """A server for the block."""
    model = LanguageModel(*answers)
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.model = model
        if context is not None:
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
            model.tls = True
        model.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield model
        finally:
            model.ending.set()
            server.shutdown()
            thread.join()
