"""Deliveries as rows: who is owed what, claims, fences, ends (D3 to D7, H14)."""

from collections.abc import Iterator
from functools import partial

import pytest

from reviewsd.domain.subscription import (
    Delivered,
    Failed,
    Gone,
)
from reviewsd.store import deliveries, topics
from reviewsd.store.deliveries import DeliveryOutcome, EndedSubscription
from reviewsd.store.intents import Due
from tests.support.hub import FEED, START
from tests.support.hub_rows import CLAIM, HOST, NEW, OLD, PAIR, WAITS, Rows


@pytest.fixture
def rows() -> Iterator[Rows]:
    made = Rows()
    yield made
    made.connection.close()


def test_who_is_behind_is_owed_the_current_version(rows: Rows) -> None:
    """I6, D4."""
    rows.subscribe(2)
    assert [] == rows.owed(contents=OLD)

    rows.bump()
    assert [1, 2] == [each.id for each in rows.owed()]
    assert [1] == [each.id for each in rows.owed(without=("s1.example.org",))]
    full = [f"full{number}.example.org" for number in range(300_000)]  # SQLite binds 250,000
    assert [1] == [each.id for each in rows.owed(without=("s1.example.org", *full))]


def test_who_has_other_bytes_than_the_store_sends_nothing(rows: Rows) -> None:
    """A process that is behind."""
    rows.subscribe()
    rows.bump()

    assert [] == rows.owed(contents=OLD)
    assert [] == rows.owed(contents={})
    wanted = [Due(id=1, host=HOST, active=True)]
    assert ([], []) == rows.run(
        lambda cursor: deliveries.turn(cursor, (), wanted, OLD, "t", START, START + CLAIM)
    )


def test_a_version_that_was_sent_is_what_is_noted(rows: Rows) -> None:
    """D5: a change meanwhile is owed still."""
    rows.subscribe()
    rows.bump()
    ((claim,), _) = rows.deliver()
    rows.run(lambda cursor: topics.bump(cursor, {**NEW, FEED: "f3"}, START, START))
    rows.deliver(
        results=(DeliveryOutcome(claim=claim, event=Delivered(claim.version), status=200),)
    )

    assert [(2, 3)] == rows.sql(
        "SELECT delivered_version, version FROM subscription JOIN topic ON topic.id = topic_id"
    )


def test_one_delivery_at_a_time(rows: Rows) -> None:
    """I4."""
    rows.subscribe()
    rows.bump()
    assert 1 == len(rows.deliver()[0])
    assert [] == rows.owed(START + CLAIM)
    assert 1 == len(rows.owed(START + CLAIM + 1))


def test_a_late_result_of_a_delivery_changes_nothing(rows: Rows) -> None:
    """D5: the fence."""
    rows.subscribe()
    rows.bump()
    ((late,), _) = rows.deliver()
    rows.deliver(START + CLAIM + 1)  # it has lapsed, and waits for a moment (``claims``)
    assert 1 == len(rows.deliver(START + CLAIM + 2_000, token="u")[0])
    before = rows.sql("SELECT * FROM subscription")
    for event in (Delivered(2), Failed(WAITS), Gone(), None):
        outcome = DeliveryOutcome(claim=late, event=event, error="x")
        assert ([], []) == rows.deliver(START + CLAIM + 2_001, (outcome,), token="v")

    assert before == rows.sql("SELECT * FROM subscription")


def test_three_failures_in_a_row_end_a_subscription(rows: Rows) -> None:
    """H14; and what it asked for stays."""
    rows.subscribe()
    rows.connection.execute("UPDATE subscription SET lease_expires_at = ?", (2 * START,))
    rows.ask(challenge="renewal")
    rows.bump()
    now = START
    for failures in (1, 2, 3):
        ((claim,), _) = rows.deliver(now)
        outcome = DeliveryOutcome(
            claim=claim, event=Failed(WAITS), status=500, error="answered 500"
        )
        _, ended = rows.run(
            partial(
                deliveries.turn,
                results=(outcome,),
                wanted=(),
                contents=NEW,
                token="u",
                now=now,
                claim_until=now,
            )
        )
        if failures < 3:
            wait = WAITS[failures - 1]
            assert [(failures, now + wait, None)] == rows.sql(
                "SELECT consecutive_failures, next_attempt_at, claim_token FROM subscription"
            )
            assert [] == rows.owed(now + wait - 1)
            now += wait
    reason = "3 deliveries in a row failed, the last: answered 500"
    assert [EndedSubscription(PAIR, FEED, reason, denied=False)] == ended
    assert [(reason,)] == rows.sql("SELECT reason FROM ended")
    assert [("renewal",)] == rows.sql("SELECT challenge FROM verification")


def test_nothing_is_owed_when_the_lease_is_over(rows: Rows) -> None:
    """I9, W13."""
    rows.subscribe()
    rows.bump()

    assert 1 == len(rows.owed(START + 999_999))
    assert [] == rows.owed(START + 1_000_000)


def test_a_hint_is_no_claim(rows: Rows) -> None:
    """What was looked up may have changed: the lease, a wait, another's claim, the version."""
    rows.subscribe()
    rows.bump()
    hint = rows.owed()

    def claim(now: int) -> list[int]:
        turn = partial(
            deliveries.turn,
            results=(),
            wanted=hint,
            contents=NEW,
            token="t",
            now=now,
            claim_until=now,
        )
        return [each.id for each in rows.run(turn)[0]]

    assert [] == claim(START + 1_000_000)
    rows.connection.execute("UPDATE subscription SET next_attempt_at = ?", (START + 5,))
    assert [] == claim(START + 4)
    assert [1] == claim(START + 5)
    assert [] == claim(START + 5)
    assert [1] == claim(START + 6)
    rows.connection.execute("UPDATE subscription SET delivered_version = 2")
    assert [] == claim(START + 7)
    rows.connection.execute("DELETE FROM subscription")
    assert [] == claim(START + 8)
