"""The state of a target: coalescing, retries, claims (notices.md 4)."""

import pytest
from msgspec.structs import replace

from reviewsd.notices.state import MAX_EVENTS, NoticeEvents, TargetState

NOW = 1_760_000_000_000
DAY = 86_400_000
ONE = TargetState(events=NoticeEvents(reviews=("a",)))


def test_clock_that_is_set_back_delays_no_message() -> None:
    assert replace(ONE, next_attempt_at=NOW + 10 * DAY).is_due(NOW)
    assert replace(ONE, claim_token="t", claim_until=NOW + 10 * DAY).is_abandoned(NOW)


def test_new_events_join_a_failed_message_and_have_three_attempts() -> None:
    state = ONE.claimed("t", NOW).with_reviews(("b",), (), NOW).settled(NOW, sent=False)
    assert (("b", "a"), 1) == (state.events.reviews, state.attempts)
    assert 0 == state.with_reviews(("c",), (), NOW).attempts


def test_condition_that_ended_before_its_message_is_not_reported() -> None:
    assert not TargetState().with_conditions({"x is stopped": "401"}).with_conditions({}).events


@pytest.mark.parametrize("count", [MAX_EVENTS, 3 * MAX_EVENTS])
def test_an_import_of_many_reviews_is_bounded(count: int) -> None:
    ids = tuple(map(str, range(count)))
    state = TargetState().with_reviews(ids, ids, NOW).with_reviews(("new",), ("new",), NOW)
    assert MAX_EVENTS == len(state.events.reviews) == len(state.awaiting)
    assert "new" == state.events.reviews[0] == next(iter(state.awaiting))
