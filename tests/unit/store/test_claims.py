"""Claims of processes that have died: counted, and attempted again with care (D7)."""

import pytest

from reviewsd.domain.subscription import Confirmed, DeliveryFailed, DeliverySucceeded, Unreachable
from reviewsd.store import rows as hub_rows
from reviewsd.store.deliveries import DeliveryOutcome
from reviewsd.store.intents import VerificationOutcome
from tests.support.hub import START
from tests.support.hub_rows import CLAIM, HOST, WAITS, Rows

WAIT = (1_000, 10_000, 30_000, 30_000)
"""Milliseconds after the first death, the second ..."""


def take_over(rows: Rows, now: int) -> list[tuple[str, int]]:
    return rows.run(lambda cursor: hub_rows.take_over(cursor, now))


def test_delivery_of_a_dead_process_waits_longer_after_each_death(rows: Rows) -> None:
    rows.subscribe()
    rows.bump()
    rows.connection.execute("UPDATE subscription SET lease_expires_at = ?", (2 * START,))
    now = START
    for deaths, wait in enumerate(WAIT, 1):
        assert [deaths - 1] == [claim.deaths for claim in rows.deliver(now)[0]]
        assert [(HOST, deaths)] == take_over(rows, now)
        assert [] == rows.owed(now + wait - 1)
        now += wait
        assert [deaths] == [due.deaths for due in rows.owed(now)]


def test_verification_of_a_dead_process_waits_longer_after_each_death(rows: Rows) -> None:
    rows.ask()
    now = START
    for deaths, wait in enumerate(WAIT, 1):
        assert [deaths - 1] == [claim.deaths for claim in rows.verify(now)]
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
def test_any_outcome_resets_deaths(rows: Rows, event: DeliverySucceeded | DeliveryFailed) -> None:
    rows.subscribe()
    rows.bump()
    rows.deliver(START)
    take_over(rows, START)
    (claim,) = rows.deliver(START + 1_000)[0]
    rows.deliver(START + 1_000, (DeliveryOutcome(claim=claim, event=event),))
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
        rows.deliver(now)
        take_over(rows, now)
        now += 30_000
    (claim,) = rows.deliver(now)[0]
    rows.deliver(now, (DeliveryOutcome(claim=claim, event=event),))

    assert [(deaths,)] == rows.sql("SELECT deaths FROM subscription")


def test_outcome_of_a_verification_resets_the_deaths(rows: Rows) -> None:
    rows.ask()
    rows.ask(1)
    rows.verify(START)
    take_over(rows, START)
    first, second = rows.verify(START + 1_000)
    outcomes = VerificationOutcome(first, Unreachable()), VerificationOutcome(second, Confirmed())
    rows.verify(START + 1_000, outcomes)
    assert [(0,)] == rows.sql("SELECT deaths FROM verification")


def test_expired_claim_of_another_node_counts_as_a_death(rows: Rows) -> None:
    """On PostgreSQL no start voids claims: they expire, and the next attempt waits as well."""
    rows.subscribe()
    rows.bump()
    rows.ask(1)
    rows.deliver(START)
    rows.verify(START)
    late = START + CLAIM + 1
    assert ([], []) == (rows.deliver(late)[0], rows.verify(late))

    again = late + 1_000
    assert [1] == [claim.deaths for claim in rows.deliver(again)[0]]
    assert [1] == [claim.deaths for claim in rows.verify(again)]
