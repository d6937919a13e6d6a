"""Events on the admin socket: as they happen, and bounded for each listener (A3)."""

import json
import socket
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest_twisted  # type: ignore[import-untyped] # has no stubs
from twisted.internet import reactor
from twisted.internet.defer import maybeDeferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread
from twisted.logger import Logger, LogPublisher

from reviewsd.admin.events import MAX_LISTENERS, MAX_WAITING, EventRoutes
from tests.support.admin_socket import ask, check_problem, listen

MANY = 5 * MAX_WAITING
TEXT = "x" * 1_000


class Office:
    """The route on a socket, and a log that it observes."""

    def __init__(self, place: Path) -> None:
        self.routes = EventRoutes()
        self.log = Logger(namespace="reviewsd.test", observer=LogPublisher(self.routes))
        self.path = place / "admin.sock"
        self.port = listen(self.path, [self.routes])

    def publish(self, number: int) -> None:
        self.log.info("loaded", type="load", number=number, text=TEXT)

    async def listener(self) -> socket.socket:
        """Connect a client that sends the request, and reads nothing."""
        listeners = len(self.routes._listeners)
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(10)
        connection.connect(str(self.path))
        connection.sendall(b"GET /v1/events HTTP/1.0\r\nHost: reviewsd\r\n\r\n")
        await self.wait_for_listeners(listeners + 1)
        return connection

    async def wait_for_listeners(self, number: int) -> None:
        while len(self.routes._listeners) != number:
            await deferLater(cast("IReactorTime", reactor), 0.01)


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


async def test_events_are_sent_in_order_until_the_daemon_stops(office: Office) -> None:
    reading = deferToThread(read, await office.listener())
    for number in range(100):
        office.publish(number)
    office.routes.stop()
    first, *rest = await reading
    assert {"type": "listening"} == first
    assert list(range(100)) == [event["number"] for event in rest]
    await office.wait_for_listeners(0)


async def test_slow_listener_loses_the_oldest_events_and_gets_their_number(office: Office) -> None:
    """The queue of a listener is bounded."""
    slow = await office.listener()
    for number in range(MANY):
        office.publish(number)
    office.routes.stop()
    events = (await deferToThread(read, slow))[1:]
    (gap,) = [event for event in events if event["type"] == "lost"]
    place = events.index(gap)
    numbers = [event["number"] for event in events if event["type"] == "load"]
    assert MANY == len(numbers) + cast("int", gap["lost"])
    assert list(range(place)) == numbers[:place]
    assert list(range(MANY - MAX_WAITING, MANY)) == numbers[place:]


async def test_listener_that_disconnects_is_removed(office: Office) -> None:
    (await office.listener()).close()
    await office.wait_for_listeners(0)


async def test_listeners_have_a_limit(office: Office) -> None:
    """A script that forgets to leave must not cost more and more."""
    connections = [await office.listener() for _ in range(MAX_LISTENERS)]
    check_problem(await ask(office.path, "GET", "/v1/events"), 503)
    for connection in connections:
        connection.close()
    await office.wait_for_listeners(0)
    (await office.listener()).close()


async def test_only_outcomes_are_events_with_the_fields_of_their_log_line(office: Office) -> None:
    reading = deferToThread(read, await office.listener())
    office.log.info("something")
    office.log.info("something", type="unknown")
    office.log.info("something", type=7)
    office.log.info("published {reviews} reviews", reviews=7, type="load")
    office.routes.stop()
    _, event = await reading
    line = {"level": "info", "event": "published 7 reviews", "reviews": 7}
    assert {"type": "load", "ts": event["ts"], **line} == event
