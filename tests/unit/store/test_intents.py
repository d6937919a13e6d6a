"""Requests as rows: kept, claimed, fenced (D1, D5, H4, H8)."""

from collections.abc import Iterator

import pytest

from reviewsd.domain.subscription import (
    Confirmed,
    NotConfirmed,
)
from reviewsd.store import intents
from reviewsd.store.intents import Due, Verified
from tests.support.hub import START
from tests.support.hub_rows import ASKED, CLAIM, HOST, Rows


@pytest.fixture
def rows() -> Iterator[Rows]:
    made = Rows()
    yield made
    made.connection.close()


def test_the_version_at_the_time_of_the_request_is_kept(rows: Rows) -> None:
    rows.bump()
    rows.ask()

    assert [(2,)] == rows.sql("SELECT topic_version_at_request FROM verification")


def test_the_longest_waiting_is_asked_first_and_chosen_hosts_not_at_all(rows: Rows) -> None:
    for number, at in ((1, 30), (2, 10), (3, 20), (4, 5000)):
        rows.ask(number, next_attempt_at=START + at)

    assert [2, 3, 1] == [each.id for each in rows.verifiable(START + 100)]
    assert [2, 1] == [each.id for each in rows.verifiable(START + 100, ("s3.example.org", "x"))]
    _, following = rows.run(lambda cursor: intents.due(cursor, START + 100, 1, ()))
    assert START + 5000 == following


def test_a_claimed_intent_is_nobody_elses_until_the_claim_is_over(rows: Rows) -> None:
    rows.ask()
    (claim,) = rows.verify()

    assert [] == rows.verifiable(START + CLAIM)
    assert [claim.id] == [each.id for each in rows.verifiable(START + CLAIM + 1)]
    wanted = [Due(id=claim.id, host=HOST, active=False)]
    assert [] == rows.run(
        lambda cursor: intents.turn(cursor, (), wanted, "u", START + 5, START + CLAIM)
    )


def test_a_late_result_of_an_intent_changes_nothing(rows: Rows) -> None:
    """D5: the fence."""
    rows.ask()
    (late,) = rows.verify()
    rows.verify(START + CLAIM + 1)  # it has lapsed, and waits for a moment (``claims``)
    (second,) = rows.verify(START + CLAIM + 2_000, token="u")
    for event in (Confirmed(), NotConfirmed(), None):
        rows.verify(START + CLAIM + 2, (Verified(late, event),), token="v")
    assert [("u",)] == rows.sql("SELECT claim_token FROM verification")

    rows.verify(START + CLAIM + 3, (Verified(second, Confirmed()),))
    assert [(1,)] == rows.sql("SELECT COUNT(*) FROM subscription")


def test_the_result_for_a_request_that_was_replaced_changes_nothing(rows: Rows) -> None:
    """H4."""
    rows.ask()
    (older,) = rows.verify()
    rows.ask(challenge="newer")
    rows.verify(results=(Verified(older, Confirmed()),), token="u")

    assert [(0,)] == rows.sql("SELECT COUNT(*) FROM subscription")
    assert [("newer", "u")] == rows.sql("SELECT challenge, claim_token FROM verification")


def test_what_met_a_crowd_keeps_its_turn(rows: Rows) -> None:
    """H8: all that come later would be before it, again and again."""
    rows.ask()
    (claim,) = rows.verify()
    rows.run(lambda cursor: intents.turn(cursor, (Verified(claim, None),), (), "u", START + 7, 0))
    rows.ask(1, next_attempt_at=START + 1)

    assert [claim.id, claim.id + 1] == [each.id for each in rows.verifiable(START + 7)]
    assert [(0,), (0,)] == rows.sql("SELECT attempts FROM verification")


def test_a_request_that_has_lapsed_is_not_asked_about(rows: Rows) -> None:
    rows.ask()

    assert [] == rows.verifiable(ASKED.expires_at)
