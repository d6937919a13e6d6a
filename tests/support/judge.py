"""Judges the deliveries to subscribers through kills of hubs (D3 to D6)."""

import bisect
import hmac
import json
import random
import re
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from reviewsd.store.postgres import LOCK
from tests.support.daemon import DEMO, Daemon, until
from tests.support.nodes import start
from tests.support.postgres import Server
from tests.support.subscriber import (
    TOPICS,
    LoggedRequest,
    Subscriber,
    ask,
    hub,
    subscriptions,
    until_open,
    until_settled,
)

FAILURES = 3
"""Failures in a row that end a subscription; seed 8."""

ROUND = 20  # kills, after which everything must settle

CLAIM = 90_000  # milliseconds; D5

LAPSE = 10.0
"""Seconds after which a storm ends a claim, instead of 90; attempts take less."""

SURE = 5.0
"""Seconds. The next delivery to a subscription needs its claim: if it comes sooner, the claim had not
expired but ended, so the result of the delivery before was written."""


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


@dataclass(frozen=True, slots=True)
class SharedStore:
    """The database of several nodes."""

    server: Server
    url: str

    def crash(self) -> None:
        """End the server without notice, and start it again."""
        self.server.stop()
        self.server.start()

    def void(self, older: float = 0) -> None:
        """End the claims that are so many seconds old, as if 90 seconds had gone by."""
        before = time.time_ns() // 1_000_000 + CLAIM - round(older * 1000)
        for table in ("subscription", "verification"):
            update = f"UPDATE {table} SET claim_until = 0 WHERE claim_until <= {before}"
            self.server.execute(f"SELECT pg_advisory_xact_lock({LOCK}); {update}", self.url)


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
    """Ends hubs again and again while their data and their subscribers change, and judges the deliveries.

    Args:
        nodes: One hub, or several that share a store.
        subscriber: Gets all deliveries.
        chance: Decides what happens when.
        size: Subscriptions at the beginning of a round, after which everything must settle.
        sign: The signal that ends a hub.
        server: The database of several nodes.
    """

    def __init__(
        self,
        nodes: Sequence[Daemon],
        subscriber: Subscriber,
        chance: random.Random,
        size: int,
        sign: signal.Signals = signal.SIGKILL,
        server: SharedStore | None = None,
    ) -> None:
        self._nodes = nodes
        self._subscriber = subscriber
        self._chance = chance
        self._size = size
        self._sign = sign
        self._server = server
        self._document = json.loads((DEMO / "reviews.json").read_text())
        self._document["reviews"] = self._document["reviews"][:5]
        self._subscribed: list[str] = []  # paths of callbacks
        self._unsubscribed: list[str] = []
        self._ended: dict[str, int] = {}  # deliveries until the end, by the path
        self._voided: list[float] = []  # the times at which all claims were ended
        self._count = 0
        self.totals = Totals()

    def run(self, kills: int) -> Totals:
        """End hubs so often, and return the totals."""
        self._change()
        try:
            while self.totals.kills < kills:
                start(self._nodes)
                for node in self._nodes:
                    until_open(node)
                while len(self._subscribed) < self._size:
                    self._subscribe()
                until(self._all_verified, "all verified")
                for _ in range(min(ROUND, kills - self.totals.kills)):
                    self._disturb()
                    node = self._chance.choice(self._nodes)
                    self._end(node)
                    node.launch()
                self._settle()
                self._judge(self._nodes[0])
                for node in self._nodes:
                    assert 0 == node.stop()
        finally:
            for node in self._nodes:
                node.close()
        for node in self._nodes:
            assert "Traceback" not in node.log.read_text()
        return self.totals

    def _subscribe(self) -> None:
        self._count += 1
        path = f"/{self._count}"
        self._subscribed.append(path)
        assert 202 == self._ask(path, mode="subscribe", secret=path)

    def _unsubscribe(self) -> None:
        path = self._subscribed.pop(self._chance.randrange(len(self._subscribed)))
        self._unsubscribed.append(path)
        assert 202 == self._ask(path, mode="unsubscribe")

    def _ask(self, path: str, **fields: str) -> int:
        """Ask one of the hubs, each in turn."""
        number = int(path[1:])
        node, topic = self._nodes[number % len(self._nodes)], TOPICS[number % len(TOPICS)]
        return ask(node, self._subscriber.url(path), topic=topic, **fields).status

    def _all_verified(self) -> bool:
        state = hub(self._nodes[0])
        return bool(state["pending"] == 0 and state["active"] == len(self._subscribed))

    def _disturb(self) -> None:
        """Change data and subscriptions for a while, from the start of a hub or from when all are ready."""
        if self._chance.random() < 0.6:
            for node in self._nodes:
                node.wait_ready()
            if self._chance.random() < 0.3:
                self._chance.choice((self._subscribe, self._unsubscribe))()
        if self._server is not None and self._chance.random() < 0.1:
            self._server.crash()
        end = time.monotonic() + self._chance.uniform(0.05, 0.3)
        while time.monotonic() < end:
            if self._chance.random() < 0.5:
                self._change()
            time.sleep(self._chance.uniform(0.01, 0.1))
        if self._server is not None:
            self._server.void(LAPSE)
        if self._chance.random() < 0.5:
            self._burst()

    def _burst(self) -> None:
        """Wait for a moment with many deliveries under way: a kill hits most then."""
        self._change()
        before, end = len(self._subscriber.log), time.monotonic() + 2
        while len(self._subscriber.log) < before + 5 and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(self._chance.choice([0, 0, 0.01, 0.05]))

    def _end(self, node: Daemon) -> None:
        assert node.process.poll() is None, node.log.read_text()
        node.stop(self._sign)
        self.totals.kills += 1
        if self._sign is signal.SIGKILL:
            self._subscriber.epoch += 1

    def _settle(self) -> None:
        """End all hubs, start them again, and wait until they have nothing to do."""
        self._burst()
        for node in self._nodes:
            self._end(node)
        until(lambda: self._subscriber.open == 0, "the end of their connections")
        if self._server is not None:
            self._server.void()
            self._voided.append(time.monotonic())
        self._change()
        start(self._nodes)
        newest = f"Change {self.totals.changes}".encode()
        for node in self._nodes:
            until(partial(_serves, node, newest), "the newest data")
        for node in self._nodes:
            until_settled(node)

    def _change(self) -> None:
        self.totals.changes += 1
        self._document["business"]["name"] = f"Change {self.totals.changes}"
        for data in {node.data.resolve() for node in self._nodes}:
            aside = data / ".aside"
            aside.write_text(json.dumps(self._document))
            aside.rename(data / "reviews.json")

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

    def _is_unsure(self, request: LoggedRequest, at: float, epoch: int) -> bool:
        """Return whether the hub may not know of a response.

        A hub alone knows of all but the last one before a kill: the next delivery needs a claim. Of several
        nodes none may know, when a claim may have lapsed since.

        Args:
            request: The delivery.
            at: Monotonic seconds of the next one, or of now.
            epoch: The number of kills until then.
        """
        if self._server is None or epoch == request.epoch:
            return epoch != request.epoch
        void = bisect.bisect(self._voided, at) != bisect.bisect(self._voided, request.at)
        return void or at - request.at > SURE


def _serves(node: Daemon, text: bytes) -> bool:
    return text in node.get("/reviews.json").body
