"""Events on the admin socket: as they happen, and bounded for each listener (A3)."""

import json
import socket
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import cast

import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet import reactor
from twisted.internet.defer import maybeDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread

from reviewsd.admin.events import MAX_WAITING, EventRoutes
from reviewsd.monitoring.events import Events, Listener
from tests.support.admin_socket import listen

MANY = 5 * MAX_WAITING
TEXT = "x" * 1_000


class Source(Events):
    """Events that the test publishes."""

    def __init__(self) -> None:
        self.listeners: list[Listener] = []

    def listen(self, listener: Listener) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def tell(self, number: int) -> None:
        for listener in tuple(self.listeners):
            listener({"type": "load", "number": number, "text": TEXT})


class Office:
    """The route on a socket."""

    def __init__(self, place: Path) -> None:
        self.source = Source()
        self.routes = EventRoutes(self.source)
        self.path = place / "admin.sock"
        self.port = listen(self.path, [self.routes])

    async def listener(self) -> socket.socket:
        """A client that has asked, and reads nothing."""
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(10)
        connection.connect(str(self.path))
        connection.sendall(b"GET /v1/events HTTP/1.0\r\nHost: reviewsd\r\n\r\n")
        while not self.source.listeners:
            await deferLater(cast("IReactorTime", reactor), 0.01)
        return connection


@pytest_twisted.async_yield_fixture  # type: ignore[untyped-decorator] # has no stubs
async def office() -> AsyncIterator[Office]:
    with tempfile.TemporaryDirectory() as name:  # a short path
        office = Office(Path(name))
        yield office
        office.routes.stop()
        await maybeDeferred(office.port.stopListening)


def read(connection: socket.socket) -> list[dict[str, object]]:
    """Read all events until the end, in a thread."""
    with connection:
        received = b""
        while piece := connection.recv(65_536):
            received += piece
    body = received.partition(b"\r\n\r\n")[2]
    return [json.loads(line) for line in body.splitlines()]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_events_are_sent_in_order_until_the_daemon_stops(office: Office) -> None:
    reading = deferToThread(read, await office.listener())
    for number in range(100):
        office.source.tell(number)
    office.routes.stop()
    first, *rest = await reading
    assert {"type": "listening"} == first
    assert list(range(100)) == [event["number"] for event in rest]
    assert [] == office.source.listeners


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_slow_listener_loses_the_oldest_events_and_gets_their_number(office: Office) -> None:
    """The queue of a listener is bounded."""
    slow = await office.listener()
    for number in range(MANY):
        office.source.tell(number)
    office.routes.stop()
    events = (await deferToThread(read, slow))[1:]
    (gap,) = [event for event in events if event["type"] == "lost"]
    place = events.index(gap)
    numbers = [event["number"] for event in events if event["type"] == "load"]
    assert MANY == len(numbers) + cast("int", gap["lost"])
    assert list(range(place)) == numbers[:place]
    assert list(range(MANY - MAX_WAITING, MANY)) == numbers[place:]


@pytest_twisted.ensureDeferred  # type: ignore[untyped-decorator] # has no stubs
async def test_listener_that_disconnects_is_removed(office: Office) -> None:
    (await office.listener()).close()
    while office.source.listeners:
        await deferLater(cast("IReactorTime", reactor), 0.01)
