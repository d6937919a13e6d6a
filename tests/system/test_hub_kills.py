"""kill -9 in the midst of everything, with the subscribers' own log as witness (D1, D3 to D6).

A short run for each failure rate is a test. A long one is a command, which prints the totals:

    python -m tests.system.test_hub_kills 200
"""

import hmac
import json
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.daemon import DEMO, Daemon, until
from tests.support.subscriber import (
    TOPICS,
    Heard,
    Subscriber,
    ask,
    failing,
    hub,
    settings,
    subscriptions,
    until_open,
    until_settled,
)

SUBSCRIPTIONS = 200  # at the beginning of a round; more are asked for in it
ROUND = 20  # kills, after which everything must settle
FAILURES = 3  # in a row, which end a subscription; seed 8
RATES = (0.0, 0.05, 0.4)
SHORT = 8  # kills

FAULTS = ("lost", "out of order", "wrongly removed", "outlived", "repeated", "unsigned")
"""What must not be:

lost: kept, but the last content that it took is not the newest.
out of order: an older content after a newer one.
wrongly removed: ended without three failures in a row that the hub can have known of.
outlived: heard something after three failures in a row that the hub must have known of; or is there
    after it was asked to end.
repeated: the same content taken twice, without a kill in between.
unsigned: X-Hub-Signature is missing or wrong.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A delivery, as the witness has it."""

    change: int
    """The number of the change that its content shows."""
    taken: bool
    unsure: bool = False
    """The daemon was killed before another one: whether it knows of the answer nobody can say."""


def judged(told: Sequence[Told], newest: int, *, kept: bool) -> Iterator[str]:
    """The faults in all that one subscription was told, one by one.

    Args:
        told: In order; at most one delivery is under way at a time.
        newest: The number of the last change, after which everything settled.
        kept: Whether the subscription exists at the end.
    """
    failures, last = 0, None
    for at, each in enumerate(told):
        if failures >= FAILURES:
            yield "outlived"
        if at and each.change < told[at - 1].change:
            yield "out of order"
        if last is not None and last.change == each.change and not last.unsure:
            yield "repeated"
        last = each if each.taken else last
        failures = 0 if each.taken else failures + (not each.unsure)
    if kept:
        if failures >= FAILURES:
            yield "outlived"
        if last is None or last.change != newest:
            yield "lost"
    else:
        known = [each for each in told if not (each.taken and each.unsure)]
        if len(known) < FAILURES or any(each.taken for each in known[-FAILURES:]):
            yield "wrongly removed"


@dataclass(slots=True)
class Totals:
    """What a run came to."""

    kills: int = 0
    changes: int = 0
    deliveries: int = 0
    removed: int = 0
    duplicates: int = 0
    """Contents that were taken already; without "repeated" there is a kill before each."""
    faults: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        faults = " ".join(f"{self.faults[each]:>{max(len(each), 5)}}" for each in FAULTS)
        numbers = (self.kills, self.changes, self.deliveries, self.removed, self.duplicates)
        return " ".join(f"{each:>10}" for each in numbers) + " " + faults


class Storm:
    """A daemon that is ended again and again while its data and its subscribers change.

    Args:
        directory: The daemon's.
        subscriber: The witness.
        chance: Of what happens when.
        sign: How it is ended.
    """

    def __init__(
        self, directory: Path, subscriber: Subscriber, chance: random.Random, sign: signal.Signals
    ) -> None:
        self._subscriber = subscriber
        self._chance = chance
        self._sign = sign
        at_once = {"per_host": 64, "per_address": 64}
        limits = {"active_per_host": 10_000, "pending_per_client": 10_000}
        self._daemon = Daemon(
            directory,
            settings(subscriber.ca_file, limits=limits, delivery=at_once, verification=at_once),
        )
        (self._daemon.data / "insights.json").unlink()
        self._document = json.loads((DEMO / "reviews.json").read_text())
        self._document["reviews"] = self._document["reviews"][:5]
        self._subscribed: list[str] = []  # paths of callbacks
        self._unsubscribed: list[str] = []
        self._ended: dict[str, int] = {}  # how much those heard whose subscription is over
        self._lives = 0
        self.totals = Totals()

    def run(self, kills: int) -> Totals:
        """So many times; returns what it came to."""
        self._change()
        try:
            while self.totals.kills < kills:
                self._daemon.start()
                until_open(self._daemon)
                while len(self._subscribed) < SUBSCRIPTIONS:
                    self._subscribe()
                until(self._all_verified, "all verified")
                for _ in range(min(ROUND, kills - self.totals.kills)):
                    self._weather()
                    self._end()
                    self._daemon.launch()
                self._daemon.wait_ready()
                self._change()
                self._settle()
                self._judge()
                assert 0 == self._daemon.stop()
        finally:
            self._daemon.close()
        assert "Traceback" not in self._daemon.log.read_text()
        return self.totals

    def _change(self) -> None:
        self.totals.changes += 1
        self._document["business"]["name"] = f"Change {self.totals.changes}"
        aside = self._daemon.data / ".aside"
        aside.write_text(json.dumps(self._document))
        aside.rename(self._daemon.data / "reviews.json")

    def _subscribe(self) -> None:
        self._lives += 1
        path = f"/{self._lives}"
        self._subscribed.append(path)
        assert 202 == self._ask(path, mode="subscribe", secret=path)

    def _unsubscribe(self) -> None:
        path = self._subscribed.pop(self._chance.randrange(len(self._subscribed)))
        self._unsubscribed.append(path)
        assert 202 == self._ask(path, mode="unsubscribe")

    def _ask(self, path: str, **fields: str) -> int:
        topic = TOPICS[int(path[1:]) % len(TOPICS)]
        return ask(self._daemon, self._subscriber.url(path), topic=topic, **fields).status

    def _all_verified(self) -> bool:
        now = hub(self._daemon)
        return bool(now["pending"] == 0 and now["active"] == len(self._subscribed))

    def _weather(self) -> None:
        """Changes for a while, which begins with the daemon's start or when it is ready."""
        if self._chance.random() < 0.7:
            self._daemon.wait_ready()
            if self._chance.random() < 0.3:
                self._chance.choice((self._subscribe, self._unsubscribe))()
        end = time.monotonic() + self._chance.uniform(0.05, 0.3)
        while time.monotonic() < end:
            if self._chance.random() < 0.5:
                self._change()
            time.sleep(self._chance.uniform(0.01, 0.1))

    def _end(self) -> None:
        assert self._daemon.process is not None
        assert self._daemon.process.poll() is None, self._daemon.log.read_text()
        self._daemon.stop(self._sign)
        self.totals.kills += 1
        until(lambda: self._subscriber.open == 0, "the end of its connections")
        if self._sign is signal.SIGKILL:
            self._subscriber.epoch += 1

    def _settle(self) -> None:
        """Wait until the hub has nothing left to do."""
        newest = f"Change {self.totals.changes}".encode()
        until(lambda: newest in self._daemon.get("/reviews.json").body, "the newest data")
        until_settled(self._daemon)

    def _judge(self) -> None:
        """Hold the hub's state against the witness."""
        heard = defaultdict(list)
        for each in tuple(self._subscriber.log):
            if each.method == "POST":
                heard[each.path].append(each)
        self.totals.deliveries = sum(map(len, heard.values()))
        self.totals.faults["outlived"] += sum(
            len(heard[path]) != count for path, count in self._ended.items()
        )
        kept = {"/" + each["callback"].rpartition("/")[2] for each in subscriptions(self._daemon)}
        for path in self._subscribed:
            told = self._told(heard[path])
            self.totals.faults.update(judged(told, self.totals.changes, kept=path in kept))
            if path not in kept:
                self._ended[path] = len(told)
        for path in self._unsubscribed:
            self.totals.faults["outlived"] += path in kept
            self._ended[path] = len(heard[path])
        self.totals.removed += len(self._subscribed)
        self._subscribed = [path for path in self._subscribed if path in kept]
        self.totals.removed -= len(self._subscribed)
        self._unsubscribed = []
        self.totals.duplicates = sum(map(_duplicates, heard.values()))
        self.totals.faults["unsigned"] = sum(
            not self._signed(each) for all_of_one in heard.values() for each in all_of_one
        )

    def _told(self, heard: Sequence[Heard]) -> list[Told]:
        """A delivery is unsure if it is the last one before a kill: the next one needs a claim."""
        following = [*(each.epoch for each in heard[1:]), self._subscriber.epoch]
        return [
            Told(
                change=_change(self._subscriber.bodies[each.sha256]),
                taken=each.taken,
                unsure=each.epoch != epoch,
            )
            for each, epoch in zip(heard, following, strict=True)
        ]

    def _signed(self, heard: Heard) -> bool:
        body = self._subscriber.bodies[heard.sha256]
        digest = hmac.new(heard.path.encode(), body, "sha256").hexdigest()
        return f"sha256={digest}" == heard.field("X-Hub-Signature")


def _change(body: bytes) -> int:
    found = re.search(rb"Change (\d+)", body)
    assert found is not None
    return int(found[1])


def _duplicates(heard: Sequence[Heard]) -> int:
    taken: set[str] = set()
    count = 0
    for each in heard:
        count += each.sha256 in taken
        if each.taken:
            taken.add(each.sha256)
    return count


def storm(
    directory: Path, rate: float, kills: int, seed: int, sign: signal.Signals = signal.SIGKILL
) -> Totals:
    """A run with this part of the deliveries failing."""
    chance = random.Random(seed)
    with Subscriber(directory, reply=failing(rate, random.Random(seed))) as subscriber:
        return Storm(directory, subscriber, chance, sign).run(kills)


# -- the judge


def told(*changes: int) -> list[Told]:
    """Deliveries of these changes; those that failed are negative."""
    return [Told(change=abs(each), taken=each > 0) for each in changes]


@pytest.mark.parametrize(
    ("heard", "kept", "fault"),
    [
        (told(1, 2), True, "lost"),
        (told(), True, "lost"),
        (told(1, -3), True, "lost"),
        (told(2, 1, 3), True, "out of order"),
        (told(1, -3, -2, 3), True, "out of order"),
        (told(1, 3, 3), True, "repeated"),
        (told(1, 3, -3, 3), True, "repeated"),
        (told(1, -3, -3), False, "wrongly removed"),
        (told(-3, -3, 3), False, "wrongly removed"),
        (told(-2, -2, -2, 3), True, "outlived"),
        (told(-2, -2, -2, -3), False, "outlived"),
    ],
)
def test_the_judge_sees_a_fault(heard: list[Told], kept: bool, fault: str) -> None:  # noqa: FBT001
    assert fault in set(judged(heard, 3, kept=kept))


UNSURE_3 = Told(change=3, taken=True, unsure=True)
UNSURE_FAILURE = Told(change=3, taken=False, unsure=True)


@pytest.mark.parametrize(
    ("heard", "kept"),
    [
        (told(1, 3), True),
        (told(-1, -2, 2, -3, -3, 3), True),
        ([*told(1), UNSURE_3, *told(3)], True),
        ([*told(1), UNSURE_3, *told(-3, 3)], True),
        (told(1, -2, -2, -3), False),
        ([*told(1, -3, -3), UNSURE_3, *told(-3)], False),
        ([*told(1, -3, -3), UNSURE_FAILURE, *told(3)], True),
        ([*told(1, -3, -3), UNSURE_FAILURE], False),
    ],
)
def test_the_judge_lets_pass_what_may_be(heard: list[Told], kept: bool) -> None:  # noqa: FBT001
    assert [] == list(judged(heard, 3, kept=kept))


# -- the storm


@pytest.mark.parametrize("rate", RATES)
def test_through_kills_nothing_is_lost_out_of_order_or_wrongly_removed(
    tmp_path: Path, rate: float
) -> None:
    """D3 to D6, I1, I3, I6, I7, I10"""
    seed = random.randrange(10**6)
    totals = storm(tmp_path, rate, SHORT, seed)
    assert Counter() == +totals.faults, f"seed {seed}: {totals}"
    assert totals.deliveries >= SUBSCRIPTIONS
    assert rate > 0 or totals.removed == 0


def test_a_stop_repeats_nothing(tmp_path: Path) -> None:
    """O4: what is under way ends before the daemon does, so D6's reason for a repetition is none."""
    seed = random.randrange(10**6)
    totals = storm(tmp_path, 0.05, SHORT, seed, signal.SIGTERM)
    assert (Counter(), 0) == (+totals.faults, totals.duplicates), f"seed {seed}: {totals}"


def main(kills: int) -> None:
    """Long runs, and the table of their totals."""
    say = sys.stdout.write
    say(f"rate seed {'kills':>8} {'changes':>10} deliveries    removed duplicates ")
    say(" ".join(f"{each:>5}" for each in FAULTS) + "\n")
    for rate in RATES:
        seed = random.randrange(10**6)
        with tempfile.TemporaryDirectory() as place:
            totals = storm(Path(place), rate, kills, seed)
        say(f"{rate:>4.0%} {seed:>6} {totals}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
