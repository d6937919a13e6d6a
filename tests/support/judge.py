"""Judges the deliveries that a subscriber has logged through kills of the hub (D3 to D6)."""

import hmac
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.subscriber import LoggedRequest, Subscriber

FAILURES = 3
"""Failures in a row that end a subscription; seed 8."""

FAULTS = ("lost", "out of order", "wrongly removed", "outlived", "repeated", "unsigned")
"""The faults that are counted.

lost: The subscription is there, but the last content that it accepted is not the newest.
out of order: An older content was sent after a newer one.
wrongly removed: The subscription has ended without three failures in a row that the hub can know of.
outlived: Something was sent after three failures in a row that the hub knows of; or the subscription
    is there after its end was requested.
repeated: The same content was accepted twice, without a kill in between.
unsigned: X-Hub-Signature is missing or wrong.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One delivery in the subscriber's log."""

    change: int
    """Number of the change in its content."""
    accepted: bool
    unsure: bool = False
    """The daemon was killed before the next delivery: the log does not tell whether it knows of the
    response."""


def find_faults(deliveries: Sequence[Delivery], newest: int, *, subscribed: bool) -> Iterator[str]:
    """Find the faults in the deliveries to one subscription.

    Args:
        deliveries: In order; at most one is under way at a time.
        newest: The number of the last change, after which everything settled.
        subscribed: Whether the subscription is there at the end.
    """
    failures, last = 0, None
    for index, delivery in enumerate(deliveries):
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

    def __str__(self) -> str:
        faults = " ".join(f"{self.faults[fault]:>{max(len(fault), 5)}}" for fault in FAULTS)
        numbers = (self.kills, self.changes, self.deliveries, self.removed, self.duplicates)
        return " ".join(f"{number:>10}" for number in numbers) + " " + faults


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


def print_runs(storm: Callable[[Path, float, int, int], Totals], rates: Sequence[float]) -> None:
    """Run a storm for each rate of failures, and print the table of the totals.

    The number of kills is the command's argument.
    """
    write = sys.stdout.write
    write(f"rate   seed {'kills':>10} {'changes':>10} deliveries    removed duplicates ")
    write(" ".join(f"{fault:>5}" for fault in FAULTS) + "\n")
    for rate in rates:
        seed = random.randrange(10**6)
        with tempfile.TemporaryDirectory() as directory:
            totals = storm(Path(directory), rate, int(sys.argv[1]), seed)
        write(f"{rate:>4.0%} {seed:>6} {totals}\n")
        sys.stdout.flush()
