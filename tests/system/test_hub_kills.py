"""The hub delivers everything through kill -9 at any time, as the subscribers' log shows (D1, D3 to D6).

A usual run has few kills; ``REVIEWSD_EXAMPLES=20`` makes them 160.
"""

import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.support import examples
from tests.support.daemon import Daemon, until
from tests.support.judge import Delivery, Storm, Totals, find_faults
from tests.support.subscriber import (
    TOPICS,
    LoggedRequest,
    Reply,
    Subscriber,
    ask,
    failing,
    good,
    hub,
    settings,
    until_open,
    until_settled,
)

SUBSCRIPTIONS = 100  # at the beginning of a round, in which more are requested
ROUND = 20  # kills, after which everything must settle
SHORT = examples.number(8)  # kills
STOPS = examples.number(4)


class KillStorm(Storm):
    """Ends a daemon again and again while its data and its subscribers change."""

    def __init__(
        self, directory: Path, subscriber: Subscriber, chance: random.Random, sign: signal.Signals
    ) -> None:
        self._sign = sign
        limits = {"active_per_host": 10_000}
        self._daemon = Daemon(directory, settings(subscriber.ca_file, limits=limits))
        (self._daemon.data / "insights.json").unlink()
        super().__init__(self._daemon.data, subscriber, chance)

    def run(self, kills: int) -> Totals:
        """Kill the daemon so often, and return the totals."""
        self._change()
        try:
            while self.totals.kills < kills:
                self._daemon.start()
                until_open(self._daemon)
                while len(self._subscribed) < SUBSCRIPTIONS:
                    self._subscribe()
                until(self._all_verified, "all verified")
                for _ in range(min(ROUND, kills - self.totals.kills)):
                    self._disturb()
                    self._end()
                    self._daemon.launch()
                self._daemon.wait_ready()
                self._change()
                self._settle()
                self._judge(self._daemon)
                assert 0 == self._daemon.stop()
        finally:
            self._daemon.close()
        assert "Traceback" not in self._daemon.log.read_text()
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
        topic = TOPICS[int(path[1:]) % len(TOPICS)]
        return ask(self._daemon, self._subscriber.url(path), topic=topic, **fields).status

    def _all_verified(self) -> bool:
        state = hub(self._daemon)
        return bool(state["pending"] == 0 and state["active"] == len(self._subscribed))

    def _disturb(self) -> None:
        """Change the data for a while, from the start of the daemon or from when it is ready."""
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


def storm(
    directory: Path, rate: float, kills: int, seed: int, sign: signal.Signals = signal.SIGKILL
) -> Totals:
    """Run a storm in which half of the callbacks fail this part of the deliveries, and the others none."""
    fails = failing(rate, random.Random(seed))

    def reply(request: LoggedRequest) -> Reply | None:
        return (fails if int(request.path[1:]) % 2 else good)(request)

    with Subscriber(directory, reply=reply) as subscriber:
        return KillStorm(directory, subscriber, random.Random(seed), sign).run(kills)


# -- the judge


def delivered(*changes: int) -> list[Delivery]:
    """Deliveries of these changes; those that failed are negative."""
    return [Delivery(change=abs(change), accepted=change > 0) for change in changes]


UNSURE_3 = Delivery(change=3, accepted=True, unsure=True)
UNSURE_FAILURE = Delivery(change=3, accepted=False, unsure=True)
RENEWED_3 = Delivery(change=3, accepted=True, renewed=True)
RENEWED_FAILURE = Delivery(change=3, accepted=False, renewed=True)


@pytest.mark.parametrize(
    ("deliveries", "subscribed", "fault"),
    [
        (delivered(1, 2), True, "lost"),
        (delivered(), True, "lost"),
        (delivered(1, -3), True, "lost"),
        (delivered(2, 1, 3), True, "out of order"),
        (delivered(1, -3, -2, 3), True, "out of order"),
        (delivered(1, 3, 3), True, "repeated"),
        (delivered(1, 3, -3, 3), True, "repeated"),
        (delivered(1, -3, -3), False, "wrongly removed"),
        (delivered(-3, -3, 3), False, "wrongly removed"),
        (delivered(-2, -2, -2, 3), True, "outlived"),
        (delivered(-2, -2, -2, -3), False, "outlived"),
        ([*delivered(1, 3), RENEWED_FAILURE], True, "lost"),
    ],
)
def test_each_fault_is_found(deliveries: list[Delivery], subscribed: bool, fault: str) -> None:
    assert fault in set(find_faults(deliveries, 3, subscribed=subscribed))


@pytest.mark.parametrize(
    ("deliveries", "subscribed"),
    [
        (delivered(1, 3), True),
        (delivered(-1, -2, 2, -3, -3, 3), True),
        ([*delivered(1), UNSURE_3, *delivered(3)], True),
        ([*delivered(1), UNSURE_3, *delivered(-3, 3)], True),
        (delivered(1, -2, -2, -3), False),
        ([*delivered(1, -3, -3), UNSURE_3, *delivered(-3)], False),
        ([*delivered(1, -3, -3), UNSURE_FAILURE, *delivered(3)], True),
        ([*delivered(1, -3, -3), UNSURE_FAILURE], False),
        ([*delivered(1, 3), RENEWED_3], True),
        ([*delivered(1, -3, -3), RENEWED_FAILURE, *delivered(3)], True),
    ],
)
def test_deliveries_that_may_be_are_no_fault(deliveries: list[Delivery], subscribed: bool) -> None:
    assert [] == list(find_faults(deliveries, 3, subscribed=subscribed))


# -- the storm


def test_through_kills_nothing_is_lost_out_of_order_or_wrongly_removed(tmp_path: Path) -> None:
    """D3 to D6, I1, I3, I6, I7, I10"""
    seed = random.randrange(10**6)
    totals = storm(tmp_path, 0.4, SHORT, seed)
    assert Counter() == +totals.faults, f"seed {seed}: {totals}"
    assert totals.deliveries >= SUBSCRIPTIONS // 2  # some are ended before


def test_an_orderly_stop_repeats_no_delivery(tmp_path: Path) -> None:
    """O4: deliveries under way end before the daemon, so D6 is no reason to repeat one."""
    seed = random.randrange(10**6)
    totals = storm(tmp_path, 0.1, STOPS, seed, signal.SIGTERM)
    assert (Counter(), 0) == (+totals.faults, totals.duplicates), f"seed {seed}: {totals}"
