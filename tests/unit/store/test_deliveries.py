"""Deliveries as rows: which are due, claims, fences and ends (D3 to D7, H14)."""

from functools import partial

from reviewsd.domain.subscription import DeliveryFailed, DeliveryGone, DeliverySucceeded
from reviewsd.store import deliveries
from reviewsd.store.deliveries import DeliveryOutcome
from reviewsd.store.rows import Due
from tests.support.hub import FEED, START
from tests.support.hub_rows import CLAIM, HOST, NEW, OLD, WAITS, Rows


def test_subscription_with_an_older_version_is_due(rows: Rows) -> None:
    """No queue is needed (I6, D4)."""
    rows.subscribe(2)
    assert [] == rows.owed(contents=OLD)
    rows.bump()
    assert [1, 2] == [due.id for due in rows.owed()]
    assert [1] == [due.id for due in rows.owed(without=("s1.example.org",))]
    full = [f"full{number}.example.org" for number in range(300_000)]  # SQLite binds 250,000
    assert [1] == [due.id for due in rows.owed(without=("s1.example.org", *full))]


def test_node_with_other_content_than_the_store_sends_nothing(rows: Rows) -> None:
    """It has not loaded the newest data yet."""
    rows.subscribe()
    rows.bump()
    assert [] == rows.owed(contents=OLD)
    assert [] == rows.owed(contents={})
    due = [Due(id=1, host=HOST, active=True)]
    assert ([], []) == rows.run(
        lambda cursor: deliveries.settle_and_claim(cursor, (), due, OLD, "t", START)
    )


def test_delivery_records_the_version_that_was_sent(rows: Rows) -> None:
    """A change during the delivery is still due (D5)."""
    rows.subscribe()
    rows.bump()
    ((claim,), _) = rows.deliver()
    rows.run(lambda cursor: deliveries.bump(cursor, {**NEW, FEED: "f3"}, START, START))
    rows.deliver(
        results=(
            DeliveryOutcome(claim=claim, event=DeliverySucceeded(claim.topic.version), status=200),
        )
    )

    assert [(2, 3)] == rows.sql(
        "SELECT delivered_version, version FROM subscription JOIN topic ON topic.id = topic_id"
    )


def test_claimed_subscription_is_not_due(rows: Rows) -> None:
    """A subscription has one delivery at a time (I4)."""
    rows.subscribe()
    rows.bump()
    assert 1 == len(rows.deliver()[0])
    assert [] == rows.owed(START + CLAIM)
    assert 1 == len(rows.owed(START + CLAIM + 1))


def test_late_outcome_of_a_delivery_changes_nothing(rows: Rows) -> None:
    """Another claim has replaced its own (D5)."""
    rows.subscribe()
    rows.bump()
    ((late,), _) = rows.deliver()
    rows.deliver(START + CLAIM + 1)  # the claim has expired, so the next waits (``rows``)
    assert 1 == len(rows.deliver(START + CLAIM + 2_000, token="u")[0])
    before = rows.sql("SELECT * FROM subscription")
    for event in (DeliverySucceeded(2), DeliveryFailed(WAITS), DeliveryGone(), None):
        outcome = DeliveryOutcome(claim=late, event=event, error="x")
        assert ([], []) == rows.deliver(START + CLAIM + 2_001, (outcome,), token="v")

    assert before == rows.sql("SELECT * FROM subscription")


def test_claim_checks_that_a_delivery_is_still_due(rows: Rows) -> None:
    """The lease, the wait, the version or the claim may have changed since the query."""
    rows.subscribe()
    rows.bump()
    due = rows.owed()

    def claim(now: int) -> list[int]:
        work = partial(
            deliveries.settle_and_claim, outcomes=(), due=due, contents=NEW, token="t", now=now
        )
        return [claim.id for claim in rows.run(work)[0]]

    assert [] == claim(START + 1_000_000)
    rows.connection.execute("UPDATE subscription SET next_attempt_at = ?", (START + 5,))
    assert [] == claim(START + 4)
    assert [1] == claim(START + 5)
    assert [] == claim(START + 5)
    rows.connection.execute("UPDATE subscription SET claim_token = NULL, claim_until = NULL")
    assert [1] == claim(START + 6)
    rows.connection.execute("UPDATE subscription SET delivered_version = 2")
    assert [] == claim(START + 7)
    rows.connection.execute("DELETE FROM subscription")
    assert [] == claim(START + 8)
