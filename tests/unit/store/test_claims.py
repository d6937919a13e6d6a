"""Claims of processes that have died: counted, and attempted again with care (D7)."""

import pytest

from reviewsd.domain.subscription import Confirmed, DeliveryFailed, DeliverySucceeded, Unreachable
from reviewsd.store import rows as hub_rows
from reviewsd.store.deliveries import DeliveryClaim, DeliveryOutcome
from reviewsd.store.intents import IntentClaim, VerificationOutcome
from tests.support.hub import START
from tests.support.hub_rows import CLAIM, HOST, WAITS, Rows

WAIT = (1_000, 10_000, 30_000, 30_000)
"""Milliseconds after the first death, the second ..."""


def take_over(rows: Rows, now: int) -> list[tuple[str, int]]:
    return rows.run(lambda cursor: hub_rows.take_over(cursor, now))


def deliver(rows: Rows, now: int, *results: DeliveryOutcome) -> list[DeliveryClaim]:
    return rows.deliver(now, results, token=f"t{now}")[0]


def verify(rows: Rows, now: int, *results: VerificationOutcome) -> list[IntentClaim]:
    return rows.verify(now, results, token=f"t{now}")


def test_delivery_of_a_dead_process_waits_longer_after_each_death(rows: Rows) -> None:
    rows.subscribe()
    rows.bump()
    rows.connection.execute("UPDATE subscription SET lease_expires_at = ?", (2 * START,))
    now = START
    for deaths, wait in enumerate(WAIT, 1):
        assert [deaths - 1] == [claim.deaths for claim in deliver(rows, now)]
        assert [(HOST, deaths)] == take_over(rows, now)
        assert [] == rows.owed(now + wait - 1)
        now += wait
        assert [deaths] == [due.deaths for due in rows.owed(now)]


def test_verification_of_a_dead_process_waits_longer_after_each_death(rows: Rows) -> None:
    rows.ask()
    now = START
    for deaths, wait in enumerate(WAIT, 1):
        assert [deaths - 1] == [claim.deaths for claim in verify(rows, now)]
        assert [(HOST, deaths)] == take_over(rows, now)
        assert [] == rows.verifiable(now + wait - 1)
        now += wait
        assert [deaths] == [due.deaths for due in rows.verifiable(now)]


def test_unclaimed_rows_are_due_at_once_after_a_start(rows: Rows) -> None:
    rows.subscribe(2)
    rows.bump()
    assert [] == take_over(rows, START)

    assert [0, 0] == [due.deaths for due in rows.owed()]


@pytest.mark.parametrize("event", [DeliverySucceeded(2), DeliveryFailed(WAITS)])
def test_any_outcome_of_a_delivery_resets_the_deaths(
    rows: Rows, event: DeliverySucceeded | DeliveryFailed
) -> None:
    rows.subscribe()
    rows.bump()
    deliver(rows, START)
    take_over(rows, START)
    (claim,) = deliver(rows, START + 1_000)
    deliver(rows, START + 1_000, DeliveryOutcome(claim=claim, event=event))

    assert [(0,)] == rows.sql("SELECT deaths FROM subscription")


@pytest.mark.parametrize(
    ("deaths", "event"), [(1, None), (hub_rows.MAX_DEATHS, DeliveryFailed(WAITS))]
)
def test_outcome_without_an_attempt_leaves_the_deaths(
    rows: Rows, deaths: int, event: DeliveryFailed | None
) -> None:
    """A claim that is given back, and one that is too deadly to be attempted."""
    rows.subscribe()
    rows.bump()
    now = START
    for _ in range(deaths):
        deliver(rows, now)
        take_over(rows, now)
        now += 30_000
    (claim,) = deliver(rows, now)
    deliver(rows, now, DeliveryOutcome(claim=claim, event=event))

    assert [(deaths,)] == rows.sql("SELECT deaths FROM subscription")


def test_outcome_of_a_verification_resets_the_deaths(rows: Rows) -> None:
    rows.ask()
    rows.ask(1)
    verify(rows, START)
    take_over(rows, START)
    first, second = verify(rows, START + 1_000)
    verify(
        rows,
        START + 1_000,
        VerificationOutcome(first, Unreachable()),
        VerificationOutcome(second, Confirmed()),
    )

    assert [(0,)] == rows.sql("SELECT deaths FROM verification")


def test_expired_claim_of_another_node_counts_as_a_death(rows: Rows) -> None:
    """On PostgreSQL no start voids claims: they expire, and the next attempt waits as well."""
    rows.subscribe()
    rows.bump()
    rows.ask(1)
    deliver(rows, START)
    verify(rows, START)
    late = START + CLAIM + 1
    assert ([], []) == (deliver(rows, late), verify(rows, late))

    again = late + 1_000
    assert [1] == [claim.deaths for claim in deliver(rows, again)]
    assert [1] == [claim.deaths for claim in verify(rows, again)]
