"""One connection in memory: refusals, persistence, deadlines, the drain (O4, S1, S2, S3).

``test_bad_input`` proves the refusals at the door; here is what needs a clock, or any bytes at all.
"""

from collections.abc import Iterator
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.abstract import FileDescriptor
from twisted.internet.defer import Deferred
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.internet.interfaces import IReactorFDSet
from twisted.internet.main import CONNECTION_LOST
from twisted.internet.task import Clock
from twisted.internet.tcp import Connection
from twisted.internet.testing import StringTransport, StringTransportWithDisconnection
from twisted.logger import capturedLogs
from twisted.python.failure import Failure
from twisted.web.http import HTTPChannel
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request

from reviewsd.formats import problems
from reviewsd.formats.problems import Problem
from reviewsd.stores.snapshots import Snapshots
from reviewsd.web.channel import (
    DRAIN_SECONDS,
    FRESH_SECONDS,
    IDLE_SECONDS,
    LINGER_SECONDS,
    Channel,
    PublicServer,
)
from reviewsd.web.public import PublicSite
from reviewsd.web.replies import Replies
from tests.support.columns import review
from tests.support.publishing import House

ASK = b"GET /now HTTP/1.1\r\nHost: a\r\n\r\n"
ASK_LATER = b"GET /later HTTP/1.1\r\nHost: a\r\n\r\n"
REPLIES = Replies("https://reviews.example", "public", lambda: 0.0)


class Answers(Resource):
    """Answers ``/now`` at once and all else when told to."""

    isLeaf = True

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Request] = []

    def render(self, request: Request) -> int:
        if request.path != b"/now":
            self.waiting.append(request)
        else:
            self.answer(request)
        return NOT_DONE_YET

    def answer(self, request: Request) -> None:
        request.responseHeaders.setRawHeaders(b"Content-Length", [b"%d" % len(request.path)])
        request.write(request.path)
        request.finish()


class Door:
    """A server whose connections are in memory."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.answers = Answers()
        self.server = PublicServer(self.answers, REPLIES.refusal, self.clock)

    def connect(self) -> tuple[Channel, StringTransportWithDisconnection]:
        channel = self.server.buildProtocol(None)
        assert isinstance(channel, Channel)
        transport = StringTransportWithDisconnection()
        transport.protocol = channel
        channel.makeConnection(transport)
        return channel, transport

    def drain(self) -> list[str]:
        """Begin the drain; the list says when it has ended."""
        ended: list[str] = []
        Deferred.fromCoroutine(self.server.drain()).addCallback(lambda _: ended.append("ended"))
        return ended


@pytest.fixture
def door() -> Iterator[Door]:
    """Nothing may be left in its clock when all connections are gone."""
    one = Door()
    yield one
    for channel in tuple(one.server.channels):
        channel.connectionLost(Failure(ConnectionDone()))
    assert [] == one.clock.getDelayedCalls()


# Pins on Twisted's private names ------------------------------------------------------------------


def test_the_name_that_tells_the_request_line_from_a_field_is_still_there() -> None:
    """``lineLengthExceeded`` reads it; were it renamed, 414 and 431 would be AttributeErrors."""
    channel, transport = Door().connect()

    assert 1 == channel._HTTPChannel__first_line  # type: ignore[attr-defined]
    channel.dataReceived(b"GET / HTTP/1.1\r\n")
    assert 0 == channel._HTTPChannel__first_line  # type: ignore[attr-defined]
    channel.connectionLost(Failure(ConnectionDone()))
    assert transport.connected


@pytest.mark.parametrize(
    "name",
    [
        "_respondToBadRequestAndDisconnect",
        "_maybeChooseTransferDecoder",
        "_failChooseTransferDecoder",
        "_receivedHeaderSize",
        "_receivedHeaderCount",
    ],
)
def test_a_private_name_that_is_used_or_overridden_is_still_there(name: str) -> None:
    assert hasattr(HTTPChannel, name)


def test_command_and_target_are_known_when_the_headers_are() -> None:
    channel, _ = Door().connect()

    channel.dataReceived(b"PUT /x?y HTTP/1.1\r\n")

    assert (b"PUT", b"/x?y") == (channel._command, channel._path)
    channel.connectionLost(Failure(ConnectionDone()))


def test_a_transport_can_be_asked_whether_bytes_wait_in_it() -> None:
    assert (b"", []) == (Connection.dataBuffer, Taking(0)._tempDataBuffer)


# Sending ------------------------------------------------------------------------------------------


class Taking(Connection):
    """A socket's transport, whose kernel takes so many bytes at once; None: the client has left."""

    def __init__(self, size: int | None) -> None:
        FileDescriptor.__init__(self, cast("IReactorFDSet", Clock()))
        self.connected = 1
        self.taken = b""
        self._size = size

    def writeSomeData(self, data: bytes | memoryview) -> int | ConnectionLost:
        if self._size is None:
            return CONNECTION_LOST
        self.taken += data[: self._size]
        return min(self._size, len(data))

    def write(self, data: bytes) -> None:
        if data:
            self._tempDataBuffer.append(data)


@pytest.mark.parametrize(
    ("size", "taken", "queued"),
    [(9, b"abcdef", []), (4, b"abcd", [b"ef"]), (0, b"", [b"abcdef"]), (None, b"", [b"abcdef"])],
)
def test_what_the_kernel_does_not_take_at_once_waits(
    size: int | None, taken: bytes, queued: list[bytes]
) -> None:
    channel, _ = Door().connect()
    transport = channel.transport = Taking(size)

    channel.write(b"abcdef")

    assert (taken, queued) == (transport.taken, transport._tempDataBuffer)


def test_nothing_overtakes_what_waits() -> None:
    channel, _ = Door().connect()
    transport = channel.transport = Taking(1)

    channel.write(b"abc")
    channel.writeSequence((b"d", b"e"))

    assert (b"a", [b"bc", b"de"]) == (transport.taken, transport._tempDataBuffer)


@pytest.mark.parametrize("method", [b"GET", b"HEAD"])
def test_an_answer_leaves_in_one_piece(door: Door, method: bytes) -> None:
    channel, plain = door.connect()
    transport = channel.transport = Taking(9_999)
    channel.dataReceived(method + ASK[3:])

    head, _, body = transport.taken.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert (b"/now" if method == b"GET" else b"") == body
    channel.transport = plain


# Persistence and idling ---------------------------------------------------------------------------


def test_a_connection_answers_one_request_after_the_other(door: Door) -> None:
    channel, transport = door.connect()

    channel.dataReceived(ASK)
    channel.dataReceived(ASK[:10])
    channel.dataReceived(ASK[10:] + ASK)

    assert 3 == transport.value().count(b"HTTP/1.1 200 OK\r\n")
    assert transport.connected
    assert b"Connection:" not in transport.value()


def test_what_is_pipelined_waits_for_the_answer_before_it(door: Door) -> None:
    channel, transport = door.connect()

    channel.dataReceived(ASK_LATER + ASK)
    assert b"" == transport.value()
    door.answers.answer(door.answers.waiting.pop())

    assert transport.value().index(b"/later") < transport.value().index(b"/now")


@pytest.mark.parametrize("sent", [b"", ASK, ASK[:20]], ids=["nothing", "a request", "half of one"])
def test_a_silent_connection_is_closed(door: Door, sent: bytes) -> None:
    channel, transport = door.connect()
    channel.dataReceived(sent)

    door.clock.advance(IDLE_SECONDS - 1)
    assert transport.connected
    door.clock.advance(1)
    assert not transport.connected
    assert set() == door.server.channels


def test_an_answer_may_take_its_time(door: Door) -> None:
    channel, transport = door.connect()
    channel.dataReceived(ASK_LATER)

    door.clock.advance(10 * IDLE_SECONDS)
    door.answers.answer(door.answers.waiting.pop())

    assert transport.value().endswith(b"/later")


def test_a_lost_connection_is_forgotten(door: Door) -> None:
    channel, _ = door.connect()
    other, _ = door.connect()
    channel.dataReceived(ASK_LATER)

    channel.connectionLost(Failure(ConnectionLost()))

    assert {other} == door.server.channels


# Refusals -----------------------------------------------------------------------------------------


class HalfClosable(StringTransport):
    """Can end its writing half, like TCP."""

    def loseWriteConnection(self) -> None:
        self.loseConnection()


def refused(*pieces: bytes) -> bytes:
    """What comes back on a connection whose transport closes as slowly as a real one."""
    door = Door()
    channel = door.server.buildProtocol(None)
    assert channel is not None
    transport = HalfClosable()
    channel.makeConnection(transport)
    for piece in pieces:
        channel.dataReceived(piece)
    assert transport.disconnecting
    assert [] == door.answers.waiting
    channel.connectionLost(Failure(ConnectionDone()))
    assert [] == door.clock.getDelayedCalls()
    return bytes(transport.value())


@pytest.mark.parametrize(
    ("pieces", "problem"),
    [
        ((b"x" * 16_387,), problems.URI_TOO_LONG),
        ((b"x" * 10_000, b"x" * 10_000, b"x" * 10_000), problems.URI_TOO_LONG),
        ((ASK[:-2], b"A: " + b"b" * 16_385), problems.FIELD_TOO_LARGE),
        ((ASK[:-2], *[b"A: b\r\n"] * 600), problems.FIELD_TOO_LARGE),
        ((b"x\r\n", ASK, ASK), problems.NOT_HTTP),
        ((ASK[:-2] + b"Content-Length: 3\r\n", b"\r\n", b"abc", ASK), problems.CONTENT_TOO_LARGE),
        (
            (b"HEAD" + ASK[3:-2] + b"Content-Length: 3\r\n\r\n", b"abc", ASK),
            problems.CONTENT_TOO_LARGE,
        ),
    ],
)
def test_a_refusal_is_one_whole_response_and_the_last(
    pieces: tuple[bytes, ...], problem: Problem
) -> None:
    data = refused(*pieces)

    head, end, body = data.partition(b"\r\n\r\n")
    begin, _, text = REPLIES.refusal(problem).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % problem.status)
    names = [line.partition(b":")[0] for line in begin.split(b"\r\n")]
    assert names == [line.partition(b":")[0] for line in head.split(b"\r\n")]
    assert 1 == data.count(b"HTTP/1.1 ")
    assert b"\r\n\r\n" == end
    assert (b"" if pieces[0].startswith(b"HEAD") else text[:40]) == body[:40]


class Lingering(StringTransportWithDisconnection):
    """Reads on after its writing half has ended, like TCP."""

    def loseWriteConnection(self) -> None:
        self.write(b"(end)")


def linger(door: Door) -> tuple[Channel, Lingering]:
    """A connection with a body that is too large, and more of it to come."""
    channel, transport = door.server.buildProtocol(None), Lingering()
    assert isinstance(channel, Channel)
    transport.protocol = channel
    channel.makeConnection(transport)
    channel.dataReceived(b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n")
    return channel, transport


def test_who_sends_too_large_a_body_is_answered_and_read_past(door: Door) -> None:
    """A closed connection would be reset by what still comes, perhaps before the answer is read."""
    channel, transport = linger(door)
    for _ in range(10):
        channel.dataReceived(ASK)

    assert transport.value().startswith(b"HTTP/1.1 413 ")
    assert transport.value().endswith(b"}(end)")
    assert transport.connected
    assert 1 == transport.value().count(b"HTTP/1.1")


def test_who_goes_on_sending_is_cut_off(door: Door) -> None:
    channel, transport = linger(door)
    for _ in range(LINGER_SECONDS):
        assert transport.connected
        channel.dataReceived(ASK)
        door.clock.advance(1)

    assert not transport.connected


def test_a_body_that_no_read_wants_is_read_past_when_it_is_small(door: Door) -> None:
    channel, transport = door.connect()

    channel.dataReceived(b"POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n")
    channel.dataReceived(65_536 * b"x")
    channel.dataReceived(ASK)

    assert 2 == transport.value().count(b"HTTP/1.1 200 OK\r\n")


# The drain ----------------------------------------------------------------------------------------


def test_without_connections_the_drain_ends_at_once(door: Door) -> None:
    assert ["ended"] == door.drain()


def test_the_drain_closes_idle_connections_at_once(door: Door) -> None:
    channel, transport = door.connect()
    channel.dataReceived(ASK)

    assert ["ended"] == door.drain()
    assert not transport.connected


def test_the_drain_gives_a_connection_that_asked_nothing_yet_a_moment(door: Door) -> None:
    """Its first request may be on the way (O4)."""
    _, transport = door.connect()
    ended = door.drain()

    door.clock.advance(FRESH_SECONDS / 2)
    assert (True, []) == (transport.connected, ended)
    door.clock.advance(FRESH_SECONDS / 2)
    assert (False, ["ended"]) == (transport.connected, ended)


def test_a_first_request_in_that_moment_is_answered(door: Door) -> None:
    channel, transport = door.connect()
    ended = door.drain()
    channel.dataReceived(ASK)

    assert transport.value().startswith(b"HTTP/1.1 200 OK\r\nConnection: close\r\n")
    assert (False, ["ended"]) == (transport.connected, ended)


def test_the_drain_waits_for_the_answer_under_way_and_says_that_it_is_the_last(door: Door) -> None:
    channel, transport = door.connect()
    channel.dataReceived(ASK_LATER + ASK)
    ended = door.drain()

    door.clock.advance(DRAIN_SECONDS - 1)
    assert (True, []) == (transport.connected, ended)
    door.answers.answer(door.answers.waiting.pop())

    assert 1 == transport.value().count(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\nConnection: close\r\n" in transport.value()
    assert transport.value().endswith(b"/later")
    assert (False, ["ended"]) == (transport.connected, ended)


def test_the_drain_lets_a_request_that_is_being_sent_come_to_its_answer(door: Door) -> None:
    channel, transport = door.connect()
    channel.dataReceived(ASK[:20])
    ended = door.drain()
    channel.dataReceived(ASK[20:])

    assert transport.value().startswith(b"HTTP/1.1 200 OK\r\nConnection: close\r\n")
    assert ["ended"] == ended


def test_the_drain_ends_connections_that_do_not(door: Door) -> None:
    channel, _ = door.connect()
    channel.dataReceived(ASK_LATER)
    aborted: list[str] = []
    transport = AbortedTransport(aborted)
    channel.transport = transport
    ended = door.drain()

    door.clock.advance(DRAIN_SECONDS)
    assert ["aborted"] == aborted
    channel.connectionLost(Failure(ConnectionLost()))
    assert ["ended"] == ended


class AbortedTransport(StringTransport):
    """Says that it was aborted."""

    def __init__(self, said: list[str]) -> None:
        super().__init__()
        self._said = said

    def abortConnection(self) -> None:
        self._said.append("aborted")


# Any bytes at all ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> PublicSite:
    house = House(tmp_path_factory.mktemp("house"))
    house.write(*(review(f"r{n}", text="A boiler.") for n in range(3)))
    house.publish()
    snapshots = Snapshots(house.snapshots)
    snapshots.refresh()
    return PublicSite(snapshots, REPLIES, Clock())


METHODS = st.sampled_from([b"GET", b"HEAD", b"OPTIONS", b"POST", b"get", b"CONNECT", b"X"])
PATHS = st.sampled_from(
    [
        *(b"/reviews.json", b"/feed.xml", b"/api/reviews/search", b"/api/reviews/since/", b"*"),
        *(b"http://a/", b"//", b"/%", b"/%2e", b"a:1", b"", b"/healthz", b"/mcp"),
    ]
)
TEXT = st.one_of(st.binary(max_size=12), st.sampled_from([b"2025-01-01", b"?limit=", b"&rating=9"]))
FIELDS = st.tuples(
    st.sampled_from(
        [
            *(b"Host", b"Connection", b"Content-Length", b"Transfer-Encoding", b"Expect"),
            *(b"If-None-Match", b"If-Modified-Since", b"Accept", b"Accept-Encoding", b"Cookie"),
        ]
    ),
    st.one_of(
        TEXT,
        st.sampled_from([b"close", b"chunked", b"3", b"100-continue", b"*", b"*;q=0", b"a..b"]),
    ),
).map(b": ".join)
REQUESTS = st.builds(
    lambda method, path, text, version, fields, body: (
        b"%s %s%s %s\r\n" % (method, path, text, version)
        + b"".join(field + b"\r\n" for field in fields)
        + b"\r\n"
        + body
    ),
    METHODS,
    PATHS,
    TEXT,
    st.sampled_from([b"HTTP/1.1", b"HTTP/1.0", b"HTTP/3.0", b""]),
    st.lists(FIELDS, max_size=5),
    TEXT,
)


@given(
    requests=st.lists(st.one_of(REQUESTS, st.binary(max_size=64)), min_size=1, max_size=3),
    cut=st.integers(1, 200),
)
def test_whatever_is_sent_the_answers_are_whole_and_ours(
    site: PublicSite, requests: list[bytes], cut: int
) -> None:
    server = PublicServer(site.resource(), REPLIES.refusal, Clock(), mcp_max_body=2)
    channel, transport = server.buildProtocol(None), HalfClosable()
    assert channel is not None
    data = b"".join(requests)
    with capturedLogs() as events:
        channel.makeConnection(transport)
        for at in range(0, len(data), cut):
            if not transport.disconnecting:
                channel.dataReceived(data[at : at + cut])
        channel.connectionLost(Failure(ConnectionDone()))

    assert [] == [event for event in events if "log_failure" in event]
    answered = transport.value()
    assert b"<html" not in answered
    for line in answered.split(b"\r\n"):
        if line.startswith(b"HTTP/1."):
            status = int(line.split()[1])
            assert status == 100 or 200 <= status < 500 or status == 501, line
    assert answered.count(b"Server: reviewsd\r\n") == answered.count(b"nosniff\r\n")
    assert b"TwistedWeb" not in answered
    assert b"Traceback" not in answered
