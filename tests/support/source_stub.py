"""An HTTP server for tests of sources, with scripted answers, over real sockets on loopback."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from twisted.internet import reactor
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.endpoints import TCP4ServerEndpoint
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.task import Clock

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


class Stub:
    """A server; ``answer`` makes the response to a request, None leaves it open."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answer: Callable[[Asked], bytes | None] = lambda _: response()
        self.url = ""
        self._port: Any = None

    async def start(self) -> None:
        endpoint = TCP4ServerEndpoint(reactor, 0, interface="127.0.0.1")
        self._port = await endpoint.listen(Factory.forProtocol(lambda: _Connection(self)))
        self.url = f"http://127.0.0.1:{self._port.getHost().port}"

    def stop(self) -> Deferred[None]:
        return maybeDeferred(self._port.stopListening)


class _Connection(Protocol):
    def __init__(self, stub: Stub) -> None:
        self._stub = stub
        self._received = b""

    def dataReceived(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        fields = (line.partition(": ") for line in lines)
        headers = {name.lower(): value for name, _, value in fields}
        if not end or len(body) < int(headers.get("content-length", 0)):
            return
        method, target, _ = first.split(" ")
        self._stub.asked.append(Asked(method, target, headers, body.decode()))
        answer = self._stub.answer(self._stub.asked[-1])
        if answer is not None and self.transport is not None:
            self.transport.write(answer)
            self.transport.loseConnection()


class Hurried:
    """The real reactor with pauses that end at once, and timeouts that a test moves by ``clock``."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.pauses: list[float] = []
        """Seconds that were to be waited."""

    def callLater(self, delay: float, function: Any, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401  # Twisted's
        if getattr(function, "__name__", "") != "callback":  # of deferLater: a pause
            return self.clock.callLater(delay, function, *arguments, **named)
        self.pauses.append(delay)
        return reactor.callLater(0, function, *arguments, **named)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever a reactor has
        return getattr(reactor, name)
