"""The limits of the open hub, with time as a number (H1 to H3)."""

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.websub.rate_limits import (
    FIRST_BACKOFF,
    LONGEST_BACKOFF,
    STRIKES,
    Backoffs,
    TokenBuckets,
)

DAY = 86_400.0

# Buckets ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("per_minute", [1, 7, 120, 1000])
@pytest.mark.parametrize("now", [0.0, 0.1, 1e8])
def test_a_bucket_gives_a_minutes_worth_at_once_and_no_more(per_minute: int, now: float) -> None:
    buckets = TokenBuckets(per_minute)

    taken = [buckets.take("a", now) for _ in range(per_minute + 30)]

    assert per_minute * [0.0] == taken[:per_minute]
    assert all(wait == pytest.approx(60 / per_minute, abs=1e-3) for wait in taken[per_minute:])


def test_of_150_posts_of_one_network_in_a_second_30_are_too_many() -> None:
    """H1; two tokens come back within the second."""
    buckets = TokenBuckets(120)

    refused = [wait for n in range(150) if (wait := buckets.take("a", n / 150))]

    assert 150 - 120 - 1 <= len(refused) <= 150 - 120
    assert all(0 < wait <= 0.5 for wait in refused)


def test_the_buckets_of_two_keys_are_two() -> None:
    buckets = TokenBuckets(1)

    assert [0.0, 0.0] == [buckets.take(key, 5.0) for key in "ab"]
    assert [60.0, 60.0] == [buckets.take(key, 5.0) for key in "ab"]


def test_a_bucket_is_full_again_after_a_minute_and_never_fuller() -> None:
    buckets = TokenBuckets(10)
    for _ in range(10):
        buckets.take("a", 0.0)

    taken = [buckets.take("a", 3600.0) for _ in range(11)]

    assert 10 * [0.0] == taken[:10]
    assert taken[10] > 0


@given(
    per_minute=st.integers(1, 300),
    steps=st.lists(st.floats(0, 30, allow_subnormal=False), max_size=300),
    start=st.floats(0, 1e7),
)
def test_no_minute_sees_more_than_twice_the_rate_and_who_waits_is_served(
    per_minute: int, steps: list[float], start: float
) -> None:
    """Twice: a full bucket, and what comes in while it is emptied."""
    buckets, now = TokenBuckets(per_minute), start
    granted: list[float] = []
    for pause in steps:
        now += pause
        wait = buckets.take("a", now)
        assert 0.0 <= wait <= 60.001
        if wait:
            now += wait
            assert 0.0 == buckets.take("a", now)
        granted.append(now)

    for at, first in enumerate(granted):
        assert 2 * per_minute >= sum(first <= other < first + 60 for other in granted[at:])


def test_a_million_keys_would_fill_no_memory() -> None:
    """T8: the keys are strangers'. The one in use is not among those that are forgotten."""
    buckets, backoffs = TokenBuckets(2, capacity=1000), Backoffs(capacity=1000)
    keys = random.Random(1)
    tracemalloc.start()
    for n in range(20_000):
        key = f"{keys.randrange(2**32):08x}"
        buckets.take(key, 0.0)
        backoffs.failed(key, 0.0)
        if n % 500 == 0:
            buckets.take("used", 0.0)
            backoffs.failed("used", 0.0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 1_500_000
    assert buckets.take("used", 0.0) > 0
    assert backoffs.wait("used", 0.0) > 0


# Back-offs ----------------------------------------------------------------------------------------


def strike(backoffs: Backoffs, times: int, now: float = 0.0) -> None:
    for _ in range(times):
        backoffs.failed("a", now)


def test_a_host_that_has_not_failed_is_not_waited_for() -> None:
    backoffs = Backoffs()

    assert (0.0, False) == (backoffs.wait("a", 7.0), backoffs.one_at_a_time("a"))


def test_the_20th_failure_in_a_row_begins_a_back_off() -> None:
    backoffs = Backoffs()
    strike(backoffs, STRIKES - 1, now=9.0)
    assert (0.0, False) == (backoffs.wait("a", 9.0), backoffs.one_at_a_time("a"))

    strike(backoffs, 1, now=10.0)

    assert (60.0, True) == (backoffs.wait("a", 10.0), backoffs.one_at_a_time("a"))
    assert (1.0, True) == (backoffs.wait("a", 69.0), backoffs.one_at_a_time("a"))
    assert (0.0, True) == (backoffs.wait("a", 70.0), backoffs.one_at_a_time("a"))
    assert (0.0, False) == (backoffs.wait("b", 10.0), backoffs.one_at_a_time("b"))


def test_every_further_failure_doubles_it_up_to_a_day() -> None:
    backoffs, now, waits = Backoffs(), 0.0, []
    strike(backoffs, STRIKES)
    for _ in range(13):
        waits.append(backoffs.wait("a", now))
        now += waits[-1]
        backoffs.failed("a", now)

    assert FIRST_BACKOFF == waits[0]
    assert [60.0 * 2**n for n in range(11)] == waits[:11]
    assert [LONGEST_BACKOFF, LONGEST_BACKOFF] == waits[11:]
    assert DAY == LONGEST_BACKOFF


def test_what_was_under_way_when_it_began_does_not_prolong_it() -> None:
    """Eight may be in flight; were each counted, the first back-off would be two hours (H2)."""
    backoffs = Backoffs()
    strike(backoffs, STRIKES)
    strike(backoffs, 7, now=15.0)

    assert 45.0 == backoffs.wait("a", 15.0)
    strike(backoffs, 1, now=60.0)
    assert 120.0 == backoffs.wait("a", 60.0)


@pytest.mark.parametrize("failures", [1, STRIKES - 1, STRIKES, STRIKES + 3])
def test_a_success_ends_it_and_the_count(failures: int) -> None:
    backoffs = Backoffs()
    for n in range(failures):
        strike(backoffs, 1, now=n * DAY)

    backoffs.succeeded("a")

    assert (0.0, False) == (backoffs.wait("a", 0.0), backoffs.one_at_a_time("a"))
    strike(backoffs, STRIKES - 1, now=failures * DAY)
    assert 0.0 == backoffs.wait("a", failures * DAY)


def test_the_success_of_a_host_that_has_not_failed_is_nothing_new() -> None:
    Backoffs().succeeded("a")


@given(st.lists(st.tuples(st.sampled_from(["fails", "succeeds"]), st.floats(0, 2 * DAY))))
def test_a_back_off_is_never_longer_than_a_day_nor_without_20_failures(
    steps: list[tuple[str, float]],
) -> None:
    backoffs, now, failures = Backoffs(), 0.0, 0
    for outcome, pause in steps:
        now += pause
        if outcome == "fails":
            backoffs.failed("a", now)
            failures += 1
        else:
            backoffs.succeeded("a")
            failures = 0
        assert 0.0 <= backoffs.wait("a", now) <= LONGEST_BACKOFF
        if backoffs.wait("a", now):
            assert failures >= STRIKES
            assert backoffs.one_at_a_time("a")
