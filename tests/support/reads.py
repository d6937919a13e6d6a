"""Reads without a daemon: a published data directory, and routes that answer requests."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from reviewsd.http1.head import Fields
from reviewsd.http1.request import Request
from reviewsd.http1.responses import Response, Responses
from reviewsd.snapshot.snapshots import Snapshots
from reviewsd.web.feeds import FeedReads
from reviewsd.web.index import RouteIndex
from reviewsd.web.reads import Reads
from tests.support.budgets import budgets
from tests.support.columns import Review
from tests.support.publishing import Directories

BASE_URL = "https://reviews.example"


class Read(NamedTuple):
    """An answer to a read."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:  # noqa: ANN401  what JSON holds
        """The body, decoded."""
        return msgspec.json.decode(self.body)


class PublishedReads:
    """Answers from a data directory that changes.

    Args:
        place: A folder of its own.
    """

    def __init__(self, place: Path) -> None:
        self.directories = Directories(place)
        self.snapshots = Snapshots(self.directories.snapshots)
        self.clock = Clock()
        responses = Responses(BASE_URL, "public", lambda: 0.0)
        self.reads = Reads(self.snapshots, responses, budgets(self.clock))
        self._routes = RouteIndex((self.reads, FeedReads(self.reads)), responses)

    def publish(self, reviews: Sequence[Review], name: str = "Acme", **members: object) -> None:
        """Publish reviews, and serve them."""
        self.directories.write(*reviews, name=name, **members)
        self.directories.publish()
        self.snapshots.refresh()

    def get(self, target: str, fields: Mapping[str, str] | None = None) -> Read:
        """Return the response to a GET."""
        path, _, query = target.encode().partition(b"?")
        values = {name.lower().encode(): (text.encode(),) for name, text in (fields or {}).items()}
        conditional = any(name.startswith(b"if-") for name in values)
        read = Fields(values, b"reviews.example", 0, True, False, conditional, None)  # noqa: FBT003  in their order
        response = self.wait(self._routes.respond(Request(b"GET", path, query, read)))
        lines = response.block.decode().splitlines()
        headers = dict(line.split(": ", 1) for line in lines)
        return Read(response.status, headers, b"".join(response.body))

    def wait(self, answer: Response | Deferred[Response]) -> Response:
        """Return the response of an answer, when it is there."""
        if isinstance(answer, Response):
            return answer
        responses: list[Response] = []
        answer.addCallback(responses.append)
        while not responses:
            self.clock.advance(1)
        return responses[0]
