"""The hub delivers everything through kill -9 at any time, as the subscribers' log shows (D1, D3 to D6).

A usual run has few kills; ``REVIEWSD_EXAMPLES=20`` makes them 160.
"""

import random
import signal
from collections import Counter
from pathlib import Path

import pytest

from tests.support import examples
from tests.support.daemon import Daemon
from tests.support.judge import Delivery, Storm, Totals, find_faults
from tests.support.subscriber import LoggedRequest, Reply, Subscriber, failing, good, settings

SUBSCRIPTIONS = 100
SHORT = examples.number(8)  # kills
STOPS = examples.number(4)


def storm(
    directory: Path, rate: float, kills: int, sign: signal.Signals = signal.SIGKILL
) -> tuple[Totals, int]:
    """Run a storm in which half of the callbacks fail this part of the deliveries, and the others none.

    Returns:
        The totals, and the seed.
    """
    seed = random.randrange(10**6)
    fails = failing(rate, random.Random(seed))

    def reply(request: LoggedRequest) -> Reply | None:
        return (fails if int(request.path[1:]) % 2 else good)(request)

    with Subscriber(directory, reply=reply) as subscriber:
        limits = {"active_per_host": 10_000}
        daemon = Daemon(directory, settings(subscriber.ca_file, limits=limits))
        (daemon.data / "insights.json").unlink()
        chance = random.Random(seed)
        return Storm([daemon], subscriber, chance, SUBSCRIPTIONS, sign).run(kills), seed


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
    totals, seed = storm(tmp_path, 0.4, SHORT)
    assert Counter() == +totals.faults, f"seed {seed}: {totals}"
    assert totals.deliveries >= SUBSCRIPTIONS // 2  # some are ended before


def test_an_orderly_stop_repeats_no_delivery(tmp_path: Path) -> None:
    """O4: deliveries under way end before the daemon, so D6 is no reason to repeat one."""
    totals, seed = storm(tmp_path, 0.1, STOPS, signal.SIGTERM)
    assert (Counter(), 0) == (+totals.faults, totals.duplicates), f"seed {seed}: {totals}"
