"""Judges the deliveries to a subscriber (D3 to D6), and changes the data through kills of the hub."""

import hmac
import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.daemon import DEMO, Daemon
from tests.support.subscriber import LoggedRequest, Subscriber, subscriptions

FAILURES = 3
"""Failures in a row that end a subscription; seed 8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One delivery to a subscriber."""

    change: int
    """Number of the change in its content."""
    accepted: bool
    unsure: bool = False
    """Whether the hub may not know of the response: it was killed before the next delivery."""
    renewed: bool = False
    """Whether the subscription was confirmed again since the delivery before."""


def find_faults(deliveries: Sequence[Delivery], newest: int, *, subscribed: bool) -> Iterator[str]:
    """Find the faults in the deliveries to one subscription.

    Args:
        deliveries: In order; at most one is under way at a time.
        newest: The number of the last change, after which everything settled.
        subscribed: Whether the subscription is there at the end.
    """
    failures, last = 0, None
    for index, delivery in enumerate(deliveries):
        if delivery.renewed:
            failures, last = 0, None
        if failures >= FAILURES:
            yield "outlived"
        if index and delivery.change < deliveries[index - 1].change:
            yield "out of order"
        if last is not None and last.change == delivery.change and not last.unsure:
            yield "repeated"
        last = delivery if delivery.accepted else last
        failures = 0 if delivery.accepted else failures + (not delivery.unsure)
    if subscribed:
        if failures >= FAILURES:
            yield "outlived"
        if last is None or last.change != newest:
            yield "lost"
    else:
        certain = [item for item in deliveries if not (item.accepted and item.unsure)]
        if len(certain) < FAILURES or any(item.accepted for item in certain[-FAILURES:]):
            yield "wrongly removed"


@dataclass(slots=True)
class Totals:
    """The counts of a run."""

    kills: int = 0
    changes: int = 0
    deliveries: int = 0
    removed: int = 0
    duplicates: int = 0
    """Contents that had been accepted before; without "repeated" there is a kill before each."""
    faults: Counter[str] = field(default_factory=Counter)
    """The faults by kind:

    lost: The subscription is there, but the last content that it accepted is not the newest.
    out of order: An older content was sent after a newer one.
    wrongly removed: The subscription has ended without three failures in a row that the hub can know of.
    outlived: Something was sent after three failures in a row that the hub knows of; or the subscription
        is there after its end was requested.
    repeated: The same content was accepted twice, without a kill in between.
    unsigned: X-Hub-Signature is missing or wrong.
    """


def change_of(body: bytes) -> int:
    """Return the number of the change in a content."""
    match = re.search(rb"Change (\d+)", body)
    assert match is not None
    return int(match[1])


def count_duplicates(requests: Sequence[LoggedRequest]) -> int:
    """Count the requests with a content that had been accepted before."""
    accepted: set[str] = set()
    count = 0
    for request in requests:
        count += request.sha256 in accepted
        if request.accepted:
            accepted.add(request.sha256)
    return count


def is_signed(request: LoggedRequest, subscriber: Subscriber) -> bool:
    """Return whether a delivery is signed by the secret of its subscription, which is its path."""
    body = subscriber.bodies[request.sha256]
    digest = hmac.new(request.path.encode(), body, "sha256").hexdigest()
    return f"sha256={digest}" == request.field("X-Hub-Signature")


class Storm:
    """Changes data while hubs are killed, and knows what their subscriber may have received."""

    def __init__(self, data: Path, subscriber: Subscriber, chance: random.Random) -> None:
        self._data = data
        self._subscriber = subscriber
        self._chance = chance
        self._document = json.loads((DEMO / "reviews.json").read_text())
        self._document["reviews"] = self._document["reviews"][:5]
        self._subscribed: list[str] = []  # paths of callbacks
        self._unsubscribed: list[str] = []
        self._ended: dict[str, int] = {}  # deliveries until the end, by the path
        self._count = 0
        self.totals = Totals()

    def _change(self) -> None:
        self.totals.changes += 1
        self._document["business"]["name"] = f"Change {self.totals.changes}"
        aside = self._data / ".aside"
        aside.write_text(json.dumps(self._document))
        aside.rename(self._data / "reviews.json")

    def _judge(self, node: Daemon) -> None:
        """Compare the state of the hub with the log of the subscriber."""
        requests = defaultdict(list)
        for request in tuple(self._subscriber.log):
            if request.method == "POST":
                requests[request.path].append(request)
        self.totals.deliveries = sum(map(len, requests.values()))
        self.totals.faults["outlived"] += sum(
            len(requests[path]) != count for path, count in self._ended.items()
        )
        remaining = {"/" + row["callback"].rpartition("/")[2] for row in subscriptions(node)}
        for path in self._subscribed:
            deliveries = list(self._deliveries(requests[path]))
            subscribed = path in remaining
            faults = find_faults(deliveries, self.totals.changes, subscribed=subscribed)
            self.totals.faults.update(faults)
            if not subscribed:
                self._ended[path] = len(deliveries)
        for path in self._unsubscribed:
            self.totals.faults["outlived"] += path in remaining
            self._ended[path] = len(requests[path])
        self.totals.removed += len(self._subscribed)
        self._subscribed = [path for path in self._subscribed if path in remaining]
        self.totals.removed -= len(self._subscribed)
        self._unsubscribed = []
        self.totals.duplicates = sum(map(count_duplicates, requests.values()))
        self.totals.faults["unsigned"] = sum(
            not is_signed(request, self._subscriber)
            for same in requests.values()
            for request in same
        )

    def _deliveries(self, requests: Sequence[LoggedRequest]) -> Iterator[Delivery]:
        ends = [(request.at, request.epoch) for request in requests[1:]]
        ends.append((time.monotonic(), self._subscriber.epoch))
        for request, (at, epoch) in zip(requests, ends, strict=True):
            yield Delivery(
                change=change_of(self._subscriber.bodies[request.sha256]),
                accepted=request.accepted,
                unsure=self._is_unsure(request, at, epoch),
            )

    def _is_unsure(self, request: LoggedRequest, at: float, epoch: int) -> bool:  # noqa: ARG002
        """Return whether the hub may not know of a response.

        A hub alone knows of all but the last one before a kill: the next delivery needs a claim.

        Args:
            request: The delivery.
            at: Monotonic seconds of the next one, or of now.
            epoch: The number of kills until then.
        """
        return epoch != request.epoch
