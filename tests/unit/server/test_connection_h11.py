"""A connection and h11 read the same requests, wherever the bytes are cut.

The bytes of a client repeat themselves: requests are sent again, bodies are the bytes of earlier requests, and
lengths decide whether bytes are a body or a request. Responses are made and taken at once or later, and the data changes.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

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

T = TypeVar("T")

HUB = urls.HUB
LARGE = b"/large"
LARGE_BYTES = 70_000  # more than a transport takes while its client takes nothing

READS = [
    ask("/a"),
    ask("/b"),
    ask("/a", method="HEAD"),
    ask("/large"),
    ask("/later"),
    ask("/a", "A: b"),
    ask("/b", "Content-Length: 0"),
    ask("/a", method="POST"),
]


def head(length: int, path: str = HUB) -> bytes:
    """Return the head of a POST; its size is the same for each length."""
    return ask(path, f"Content-Length: {length:05}", method="POST")


class Conversation:
    """The pieces that a client sends, mostly repetitions of earlier ones.

    Args:
        choices: A byte for each choice; drawing each choice alone takes ten times as long.
    """

    def __init__(self, choices: bytes) -> None:
        self._choices = list(choices)
        self._piece = b""
        self.pieces: list[bytes] = []
        self.events: list[str] = []
        """The event after each piece: ``take``, ``answer``, ``change`` or none."""
        moves = [self.read, self.again, self.post, self.post_this, self.part, self.chunk]
        while self._choices:
            self._choose([*moves, self.cut, self.cut])()
        self.cut()

    def __repr__(self) -> str:
        return repr(list(zip(self.pieces, self.events, strict=True)))

    def _choose(self, among: Sequence[T]) -> T:
        return among[self._choices.pop() % len(among) if self._choices else 0]

    @property
    def data(self) -> bytes:
        return b"".join(self.pieces)

    @property
    def last(self) -> bytes:
        """The piece before this one."""
        return self.pieces[-1] if self.pieces else READS[0]

    def cut(self, *, certainly: bool = True) -> None:
        """End the piece."""
        if certainly or self._choose([False, True]):
            self.pieces.append(self._piece)
            self.events.append(self._choose(["", "", "take", "answer", "change"]))
            self._piece = b""

    def read(self) -> None:
        self._piece += self._choose(READS)

    def again(self) -> None:
        self._piece += self.last

    def part(self) -> None:
        """Send the last piece again, in two parts."""
        last = self.last
        at = self._choose(range(len(last) + 1))
        self._piece += last[:at]
        self.cut()
        self._piece += last[at:]

    def post(self) -> None:
        """Send a body that equals the last piece."""
        last = self.last
        self._piece += head(len(last), self._choose([HUB, "/x"]))
        self.cut(certainly=False)
        self._piece += last

    def post_this(self) -> None:
        """Send a body that equals this piece, with its own head."""
        self._piece += head(len(self._piece) + len(head(0)))
        this = self._piece
        self.cut()
        self._piece = this

    def chunk(self) -> None:
        """Send a chunk that equals the last piece."""
        last = self.last
        self._piece += ask(HUB, "Transfer-Encoding: chunked", method="POST") + b"%x\r\n" % len(last)
        self.cut(certainly=False)
        self._piece += last
        self.cut(certainly=False)
        self._piece += b"\r\n0\r\n\r\n"


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

    def hold(self, pieces: Iterable[tuple[bytes, str]], *, leaves: bool) -> None:
        """Send pieces, each followed by an event; at the end answer all requests that wait."""
        for piece, event in pieces:
            if not self.client.line.half_closed:
                self.client.send(piece)
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


CONVERSATIONS = st.builds(Conversation, st.binary(max_size=24))


@examples(150)
@given(CONVERSATIONS, st.booleans(), st.booleans())
def test_connection_and_h11_read_the_same_requests(
    conversation: Conversation,
    slow: bool,  # noqa: FBT001
    leaves: bool,  # noqa: FBT001
) -> None:
    theirs = framed(conversation.data)
    exchange = Exchange(slow=slow)
    exchange.hold(zip(conversation.pieces, conversation.events, strict=True), leaves=leaves)
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


@given(CONVERSATIONS, st.integers(1, 200), st.booleans())
def test_responses_do_not_depend_on_how_bytes_are_cut(
    conversation: Conversation,
    size: int,
    leaves: bool,  # noqa: FBT001
) -> None:
    data, heads = conversation.data, framed(conversation.data).heads
    single, cut = Exchange(slow=False), Exchange(slow=False)
    single.hold([(data, "")], leaves=leaves)
    cut.hold(((data[at : at + size], "") for at in range(0, len(data), size)), leaves=leaves)

    assert single.answered(heads) == cut.answered(heads)
    single.listener.close()
    cut.listener.close()
