"""Responses with events: their beginning, their heartbeat, and their end (mcp.md 2b-13)."""

from collections.abc import Callable

import pytest

from reviewsd.http1.events import EventSource
from reviewsd.server.pace import DRAIN_WINDOW
from reviewsd.server.stream import HEARTBEAT_SECONDS, STREAM_SECONDS
from tests.support.connections import REPLIES, Client, MemoryListener, ask

HEARTBEAT = b":\n\n"


class Events(EventSource):
    """Events that a test adds."""

    def __init__(self) -> None:
        self.waiting: list[bytes] = []
        self.wake: Callable[[], None] | None = None
        self.closed = 0

    def add(self, event: bytes) -> None:
        self.waiting.append(event)
        assert self.wake is not None
        self.wake()

    def open(self, wake: Callable[[], None]) -> None:
        self.wake = wake

    def take(self) -> bytes:
        events, self.waiting = b"".join(self.waiting), []
        return events

    def finish(self) -> bytes:
        return self.take() + b"end"

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def events(listener: MemoryListener) -> Events:
    """The events of the stream that answers each request."""
    events = Events()
    listener.routes.respond = lambda _: REPLIES.event_stream((), (b"first",), events)
    return events


def begin(listener: MemoryListener, *, slow: bool = False) -> Client:
    return listener.sent(ask("/mcp"), slow=slow)


def body(client: Client) -> bytes:
    client.settle()
    return client.received.partition(b"\r\n\r\n")[2]


def test_stream_has_no_length_and_is_unbuffered(listener: MemoryListener, events: Events) -> None:
    client = begin(listener)
    head = client.received.partition(b"\r\n\r\n")[0]

    for line in (
        b"Content-Type: text/event-stream",
        b"X-Accel-Buffering: no",
        b"Connection: close",
    ):
        assert line in head.split(b"\r\n")
    assert b"Content-Length" not in head
    assert (b"first", False, 0) == (body(client), client.line.closed, events.closed)


def test_events_follow_the_body(listener: MemoryListener, events: Events) -> None:
    client = begin(listener)
    events.add(b"1")
    events.add(b"2")
    assert b"first" == body(client)[:5]
    client.settle()
    events.add(b"3")
    assert b"first123" == body(client)


def test_further_bytes_are_skipped(listener: MemoryListener, events: Events) -> None:
    """The connection ends with the stream, so a request behind it has no answer."""
    client = begin(listener)
    client.send(ask(), b"x" * 100_000)
    assert (b"first", b"") == (body(client), client.connection.parser.buffer)
    assert client.line.reading
    assert 0 == events.closed


def test_silent_stream_has_a_heartbeat(listener: MemoryListener, events: Events) -> None:
    client = begin(listener)
    listener.wait(3 * HEARTBEAT_SECONDS)
    assert b"first" + 3 * HEARTBEAT == body(client)
    assert 0 == events.closed


def test_old_stream_is_ended(listener: MemoryListener, events: Events) -> None:
    client = begin(listener)
    listener.wait(STREAM_SECONDS + HEARTBEAT_SECONDS)
    assert body(client).endswith(HEARTBEAT + b"end")
    assert (True, 1) == (client.line.closed, events.closed)


def test_slow_client_gets_later_events_when_it_has_the_earlier_ones(
    listener: MemoryListener, events: Events
) -> None:
    """The source keeps what waits, so the connection has one buffer."""
    client = begin(listener, slow=True)
    client.settle()
    events.add(bytes(200_000))
    client.settle()
    events.add(b"later")
    client.settle()
    assert [b"later"] == events.waiting
    client.take_all()

    assert body(client).endswith(b"\0later")
    assert not client.line.closed


def test_client_that_takes_nothing_is_cut_off(listener: MemoryListener, events: Events) -> None:
    client = begin(listener, slow=True)
    events.add(bytes(200_000))
    client.settle()
    listener.wait(DRAIN_WINDOW + 1)
    assert (True, 1) == (client.line.aborted, events.closed)


@pytest.mark.parametrize("leave", [Client.finish, lambda client: client.line.leave()])
def test_stream_ends_when_its_client_leaves(
    listener: MemoryListener, events: Events, leave: Callable[[Client], None]
) -> None:
    client = begin(listener)
    leave(client)
    events.add(b"1")
    assert (b"first", 1) == (body(client), events.closed)
    assert set() == listener.connections.open


def test_drain_ends_streams(listener: MemoryListener, events: Events) -> None:
    """The client learns that the server has ended the stream, and the daemon does not wait for it."""
    client = begin(listener)
    ended = listener.drain()
    assert (b"firstend", ["ended"], 1) == (body(client), ended, events.closed)


def test_stream_that_begins_during_drain_is_ended(listener: MemoryListener, events: Events) -> None:
    client = listener.connect()
    listener.drain()
    client.send(ask("/mcp"))
    assert b"firstend" == body(client)
    assert 1 == events.closed


def test_stream_is_not_closed_to_make_room(events: Events) -> None:
    """A stream is no idle connection; their number is limited where they are opened."""
    listener = MemoryListener(connections=1)
    listener.routes.respond = lambda _: REPLIES.event_stream((), (b"first",), events)
    client = begin(listener)
    second = listener.connect()
    assert [503] == second.statuses
    assert not client.line.closed
    listener.close()
