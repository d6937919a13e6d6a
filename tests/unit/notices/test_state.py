"""The state of a target: coalescing, retries, claims (notices.md 4)."""

import pytest
from msgspec.structs import replace

from reviewsd.notices.state import (
    CLAIM,
    INTERVAL,
    MAX_EVENTS,
    RETRY_PAUSES,
    NoticeEvents,
    TargetState,
)

NOW = 1_760_000_000_000
DAY = 86_400_000
ONE = TargetState(events=NoticeEvents(reviews=("a",)))


def test_message_is_due_at_once_after_a_quiet_time() -> None:
    assert not TargetState().is_due(NOW)
    assert ONE.is_due(NOW)


def test_next_message_waits_for_the_interval() -> None:
    sent = ONE.claimed("t", NOW).settled(NOW, sent=True)
    assert not sent.is_due(NOW + INTERVAL)
    later = sent.with_reviews(("b",), (), NOW + 1).with_reviews(("c",), (), NOW + 2)
    assert NoticeEvents(reviews=("c", "b")) == later.events
    assert not later.is_due(NOW + INTERVAL - 1)
    assert later.is_due(NOW + INTERVAL)


def test_clock_that_is_set_back_delays_no_message() -> None:
    assert replace(ONE, next_attempt_at=NOW + 10 * DAY).is_due(NOW)
    assert replace(ONE, claim_token="t", claim_until=NOW + 10 * DAY).is_abandoned(NOW)


def test_third_failure_ends_a_message() -> None:
    state = ONE
    for attempt, pause in enumerate(RETRY_PAUSES, 1):
        state = state.claimed("t", NOW).settled(NOW, sent=False)
        assert (attempt, NOW + pause) == (state.attempts, state.next_attempt_at)
        assert NoticeEvents(reviews=("a",)) == state.events
    state = state.claimed("t", NOW).settled(NOW, sent=False)
    assert TargetState(next_attempt_at=NOW + INTERVAL) == state


def test_new_events_join_a_failed_message_and_have_three_attempts() -> None:
    state = ONE.claimed("t", NOW).with_reviews(("b",), (), NOW).settled(NOW, sent=False)
    assert (("b", "a"), 1) == (state.events.reviews, state.attempts)
    assert 0 == state.with_reviews(("c",), (), NOW).attempts


def test_claimed_message_is_not_due_until_its_claim_ends() -> None:
    claimed = ONE.claimed("t", NOW).with_reviews(("b",), (), NOW)
    assert not claimed.is_due(NOW)
    assert not claimed.is_abandoned(NOW + CLAIM)
    assert claimed.is_abandoned(NOW + CLAIM + 1)


def test_events_of_a_claim_that_was_left_behind_are_not_repeated() -> None:
    """The message may have arrived."""
    released = ONE.claimed("t", NOW).with_reviews(("b",), (), NOW).released()
    assert TargetState(events=NoticeEvents(reviews=("b",))) == released


def test_review_without_a_reply_is_reported_once_after_its_days() -> None:
    state = TargetState().with_reviews((), ("a",), NOW).with_reviews((), ("b",), NOW + DAY)
    early = state.with_overdue(3, NOW + 3 * DAY - 1)
    assert state == early
    due = state.with_overdue(3, NOW + 3 * DAY)
    assert (("a",), {"b": NOW + DAY}) == (due.events.unanswered, due.awaiting)
    assert due == due.with_overdue(3, NOW + 3 * DAY)


def test_condition_is_reported_once_until_it_ends() -> None:
    begun = TargetState().with_conditions({"x is stopped": "401"})
    assert {"x is stopped": "401"} == begun.events.conditions
    sent = begun.claimed("t", NOW).settled(NOW, sent=True)
    assert not sent.with_conditions({"x is stopped": "403"}).events
    again = sent.with_conditions({}).with_conditions({"x is stopped": "403"})
    assert {"x is stopped": "403"} == again.events.conditions


def test_condition_that_ended_before_its_message_is_not_reported() -> None:
    assert not TargetState().with_conditions({"x is stopped": "401"}).with_conditions({}).events


@pytest.mark.parametrize("count", [MAX_EVENTS, 3 * MAX_EVENTS])
def test_an_import_of_many_reviews_is_bounded(count: int) -> None:
    ids = tuple(map(str, range(count)))
    state = TargetState().with_reviews(ids, ids, NOW).with_reviews(("new",), ("new",), NOW)
    assert MAX_EVENTS == len(state.events.reviews) == len(state.awaiting)
    assert "new" == state.events.reviews[0] == next(iter(state.awaiting))
