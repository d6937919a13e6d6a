"""Requests as rows: claims, fences and order (D1, D5, H4, H8)."""

from reviewsd.domain.subscription import Confirmed, NotConfirmed
from reviewsd.store import intents
from reviewsd.store.intents import VerificationOutcome
from reviewsd.store.rows import Due
from tests.support.hub import START
from tests.support.hub_rows import CLAIM, HOST, Rows


def test_due_requests_are_ordered_by_time_without_excluded_hosts(rows: Rows) -> None:
    for number, at in ((1, 30), (2, 10), (3, 20), (4, 5000)):
        rows.ask(number, next_attempt_at=START + at)
    assert [2, 3, 1] == [due.id for due in rows.verifiable(START + 100)]
    assert [2, 1] == [due.id for due in rows.verifiable(START + 100, ("s3.example.org", "x"))]
    _, seconds = rows.run(lambda cursor: intents.find_due(cursor, START + 100, 1, ()))
    assert 4.9 == seconds


def test_claimed_request_is_not_due_until_the_claim_expires(rows: Rows) -> None:
    rows.ask()
    (claim,) = rows.verify()
    assert [] == rows.verifiable(START + CLAIM)
    assert [claim.id] == [due.id for due in rows.verifiable(START + CLAIM + 1)]
    due = [Due(id=claim.id, host=HOST, active=False)]
    assert [] == rows.run(lambda cursor: intents.settle_and_claim(cursor, (), due, "u", START + 5))


def test_late_outcome_of_a_verification_changes_nothing(rows: Rows) -> None:
    """Another claim has replaced its own (D5)."""
    rows.ask()
    (late,) = rows.verify()
    rows.verify(START + CLAIM + 1)  # the claim has expired, so the next waits (``rows``)
    (second,) = rows.verify(START + CLAIM + 2_000, token="u")
    for event in (Confirmed(), NotConfirmed(), None):
        rows.verify(START + CLAIM + 2, (VerificationOutcome(late, event),), token="v")
    assert [("u",)] == rows.sql("SELECT claim_token FROM verification")

    rows.verify(START + CLAIM + 3, (VerificationOutcome(second, Confirmed()),))
    assert [(1,)] == rows.sql("SELECT COUNT(*) FROM subscription")


def test_released_claim_keeps_its_place_in_the_order(rows: Rows) -> None:
    """Later requests would otherwise overtake it again and again (H8)."""
    rows.ask()
    (claim,) = rows.verify()
    rows.run(
        lambda cursor: intents.settle_and_claim(
            cursor, (VerificationOutcome(claim, None),), (), "u", START + 7
        )
    )
    rows.ask(1, next_attempt_at=START + 1)

    assert [claim.id, claim.id + 1] == [due.id for due in rows.verifiable(START + 7)]
    assert [(0,), (0,)] == rows.sql("SELECT attempts FROM verification")
