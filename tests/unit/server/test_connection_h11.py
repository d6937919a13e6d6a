"""A connection and h11 read the same requests, wherever the bytes are cut.

Bodies are bytes of requests, and lengths decide whether bytes are a body or a request. Responses are made and taken
at once or later, and the data changes.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from itertools import cycle

import h11
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.defer import Deferred

from reviewsd.http1 import urls
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response
from reviewsd.server.connections import ConnectionLimits
from reviewsd.web.app import Answer
from tests.support.connections import Client, MemoryListener, ask
from tests.support.examples import examples

LARGE = b"/large"
LARGE_BYTES = 70_000  # more than a transport takes while its client takes nothing


def sized(path: str, body: bytes, missing: int) -> bytes:
    """Return a POST whose length is that of its body and some missing bytes."""
    return ask(path, f"Content-Length: {len(body) + missing}", method="POST") + body


def chunked(path: str, body: bytes) -> bytes:
    """Return a POST with its body in one chunk; an empty one ends the body too early."""
    head = ask(path, "Transfer-Encoding: chunked", method="POST")
    return head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


READS = st.sampled_from(
    [
        *(ask("/a"), ask("/b"), ask("/large"), ask("/later"), ask("/a", method="HEAD")),
        *(ask("/a", "A: b"), ask("/b", "Content-Length: 0"), ask("/a", method="POST")),
    ]
)
PATHS = st.sampled_from([urls.HUB, urls.HUB, "/x"])
BODIES = st.binary(max_size=8) | READS | st.builds(sized, PATHS, READS, st.just(0))
MESSAGES = st.one_of(
    READS,
    READS,
    st.builds(sized, PATHS, BODIES, st.sampled_from([0, 0, 0, 1, 40, -1])),
    st.builds(chunked, PATHS, BODIES),
)
EVENTS = st.sampled_from(["", "take", "answer", "change"])
PIECES = st.lists(
    st.tuples(st.integers(1, 5) | st.integers(1, 200), EVENTS), min_size=1, max_size=8
)


def identity(method: bytes, path: bytes, body: bytes) -> str:
    """Return a digest of a request."""
    return sha256(b"%b %b %b" % (method, path, body)).hexdigest()


@dataclass(frozen=True, slots=True)
class Framed:
    """The requests that h11 reads from bytes."""

    requests: list[tuple[bytes, str]]
    """Their methods and identities."""
    rest: bytes
    """The bytes behind them: a part of a request, or malformed."""
    unfinished: bool
    """Whether they are a part of a request."""

    @property
    def heads(self) -> tuple[int, ...]:
        """The positions of responses to HEAD, also of the refusal of the rest."""
        heads = [method == b"HEAD" for method, _ in self.requests]
        heads.append(re.match(rb"HEAD [!-~]+ HTTP/1.1\r\n", self.rest) is not None)
        return tuple(at for at, to_head in enumerate(heads) if to_head)


def framed(data: bytes) -> Framed:
    requests: list[tuple[bytes, str]] = []
    while True:
        for _ in range(2):  # empty lines before a request, which h11 refuses (RFC 9112 2.2)
            data = data.removeprefix(b"\r\n")
        if data in (b"", b"\r"):
            return Framed(requests, data, unfinished=False)
        peer = h11.Connection(h11.SERVER)
        peer.receive_data(data)
        method = target = body = b""
        event: object = None
        while not isinstance(event, h11.EndOfMessage):
            try:
                event = peer.next_event()
            except h11.RemoteProtocolError:
                return Framed(requests, data, unfinished=False)
            match event:
                case h11.Request():
                    method, target = event.method, event.target
                case h11.Data():
                    body += event.data
                case h11.NEED_DATA:
                    return Framed(requests, data, unfinished=True)
        requests.append((method, identity(method, target, body)))
        data, _ = peer.trailing_data


class Exchange:
    """A conversation on a connection whose responses have the digest of their request."""

    def __init__(self, *, slow: bool) -> None:
        self.listener = MemoryListener(requests=1_000)
        self.listener.routes.respond = self._answer
        self._waiting: list[tuple[Deferred[Response], Response]] = []
        self.client: Client = self.listener.connect(slow=slow)

    def _answer(self, request: Request) -> Answer:
        body = bytes(LARGE_BYTES) if request.path == LARGE else b""
        name = identity(request.method, request.path, request.body)
        block = b"Identity: %b\r\nContent-Length: %d\r\n" % (name.encode(), len(body))
        reply = Response(200, block, (body,))
        if request.path != b"/later":
            return reply
        self._waiting.append((Deferred(), reply))
        return self._waiting[-1][0]

    def _finish(self) -> None:
        waiting, reply = self._waiting.pop()
        waiting.callback(reply)

    def hold(self, data: bytes, pieces: Iterable[tuple[int, str]], *, leaves: bool) -> None:
        """Send bytes with an event after each piece; at the end answer all requests that wait.

        Args:
            data: The bytes.
            pieces: The size of each piece and the event behind it, again from the first.
            leaves: Whether the client half-closes the connection.
        """
        again = cycle(pieces)
        while data:
            size, event = next(again)
            if not self.client.line.half_closed:
                self.client.send(data[:size])
            data = data[size:]
            match event:
                case "take":
                    self.client.take_all()
                case "answer" if self._waiting:
                    self._finish()
                case "change":
                    self.listener.connections.snapshot_changed()
        if leaves and not self.client.line.half_closed:
            self.client.finish()
        self.client.take_all()
        while self._waiting:
            self._finish()
            self.client.take_all()

    def answered(self, heads: tuple[int, ...]) -> tuple[list[str], bool]:
        """Return the digests of the answered requests, and whether the rest was refused."""
        answers = self.client.answers(heads)
        refused = bool(answers) and answers[-1].status >= 400
        granted = answers[:-1] if refused else answers
        assert all(answer.status == 200 for answer in granted)
        return [answer.values("Identity")[0] for answer in granted], refused


@examples(200)
@given(st.lists(MESSAGES, max_size=5).map(b"".join), PIECES, st.booleans(), st.booleans())
def test_connection_and_h11_read_the_same_requests(
    data: bytes, pieces: list[tuple[int, str]], slow: bool, leaves: bool
) -> None:
    theirs = framed(data)
    exchange = Exchange(slow=slow)
    exchange.hold(data, pieces, leaves=leaves)
    ours, refused = exchange.answered(theirs.heads)
    assert leaves or refused == exchange.client.line.half_closed

    expected = [identity for _, identity in theirs.requests]
    assert expected[: len(ours)] == ours
    if not refused:
        assert expected == ours
        if leaves:
            assert exchange.client.line.closed
        elif theirs.unfinished:
            assert (
                exchange.client.connection.deadline
                <= exchange.listener.clock.seconds() + ConnectionLimits().body
            )
    exchange.listener.close()
