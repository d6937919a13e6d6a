"""The rate limits and back-offs of the open hub, with time as a number (H1 to H3)."""

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewsd.websub.rate_limits import (
    FIRST_BACKOFF,
    MAX_BACKOFF,
    MAX_FAILURES,
    Backoffs,
    LRUCache,
    TokenBuckets,
)

DAY = 86_400.0
HOST = "a.example.com"

# Token buckets ------------------------------------------------------------------------------------


@pytest.mark.parametrize("per_minute", [1, 7, 120, 1000])
@pytest.mark.parametrize("now", [0.0, 0.1, 1e8])
def test_bucket_gives_one_minute_of_tokens_at_once(per_minute: int, now: float) -> None:
    buckets = TokenBuckets(per_minute)
    waits = [buckets.take("a", now) for _ in range(per_minute + 30)]
    assert per_minute * [0.0] == waits[:per_minute]
    assert all(wait == pytest.approx(60 / per_minute, abs=1e-3) for wait in waits[per_minute:])


def test_each_key_has_its_own_bucket() -> None:
    buckets = TokenBuckets(1)
    assert [0.0, 0.0] == [buckets.take(key, 5.0) for key in "ab"]
    assert [60.0, 60.0] == [buckets.take(key, 5.0) for key in "ab"]


@given(
    per_minute=st.integers(1, 300),
    pauses=st.lists(st.floats(0, 30, allow_subnormal=False), max_size=300),
    start=st.floats(0, 1e7),
)
def test_minute_has_at_most_twice_rate(per_minute: int, pauses: list[float], start: float) -> None:
    """Twice: a full bucket, and what it gains while it is emptied. A client that waits is served."""
    buckets, now = TokenBuckets(per_minute), start
    times: list[float] = []
    for pause in pauses:
        now += pause
        wait = buckets.take("a", now)
        assert 0.0 <= wait <= 60.001
        if wait:
            now += wait
            assert 0.0 == buckets.take("a", now)
        times.append(now)

    for index, first in enumerate(times):
        assert 2 * per_minute >= sum(first <= other < first + 60 for other in times[index:])


# Bounded memory -----------------------------------------------------------------------------------


def test_keys_of_strangers_fill_no_memory() -> None:
    """The key that is in use is not evicted (T8)."""
    cache: LRUCache[str, float] = LRUCache(1000)
    keys = random.Random(1)
    tracemalloc.start()
    cache["used"] = 1.0
    for number in range(20_000):
        cache[f"{keys.randrange(2**32):08x}"] = 1.0
        if number % 500 == 0:
            cache.get("used")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 500_000
    assert 1000 == len(cache)
    assert 1.0 == cache.get("used")


def test_least_recently_used_key_is_evicted() -> None:
    cache: LRUCache[str, int] = LRUCache(2)
    cache["a"], cache["b"] = 1, 2
    cache.get("a")
    cache["c"] = 3
    assert [1, None, 3] == [cache.get(key) for key in "abc"]
    cache["a"] = 4
    cache["d"] = 5
    assert [4, None, 5] == [cache.get(key) for key in "acd"]


# Back-offs ----------------------------------------------------------------------------------------


def fail(backoffs: Backoffs, times: int, now: float = 0.0) -> None:
    for _ in range(times):
        backoffs.record_failure(HOST, now)


def state(backoffs: Backoffs, now: float) -> tuple[float, bool]:
    return backoffs.seconds_left(HOST, now), backoffs.is_serialized(HOST)


def test_each_further_failure_doubles_the_back_off_up_to_a_day() -> None:
    backoffs, now, lengths = Backoffs(), 0.0, []
    fail(backoffs, MAX_FAILURES)
    for _ in range(13):
        lengths.append(backoffs.seconds_left(HOST, now))
        now += lengths[-1]
        backoffs.record_failure(HOST, now)

    assert FIRST_BACKOFF == lengths[0]
    assert [60.0 * 2**number for number in range(11)] == lengths[:11]
    assert [MAX_BACKOFF, MAX_BACKOFF] == lengths[11:]
    assert DAY == MAX_BACKOFF


def test_failure_of_an_attempt_from_before_does_not_prolong_the_back_off() -> None:
    """Eight may be under way; were each counted, the first back-off would be two hours (H2)."""
    backoffs = Backoffs()
    fail(backoffs, MAX_FAILURES)
    fail(backoffs, 7, now=15.0)
    assert 45.0 == backoffs.seconds_left(HOST, 15.0)
    fail(backoffs, 1, now=60.0)
    assert 120.0 == backoffs.seconds_left(HOST, 60.0)


@pytest.mark.parametrize("failures", [1, MAX_FAILURES - 1, MAX_FAILURES, MAX_FAILURES + 3])
def test_success_ends_the_back_off_and_the_count(failures: int) -> None:
    backoffs = Backoffs()
    for number in range(failures):
        fail(backoffs, 1, now=number * DAY)
    backoffs.record_success(HOST)
    assert (0.0, False) == state(backoffs, 0.0)
    fail(backoffs, MAX_FAILURES - 1, now=failures * DAY)
    assert 0.0 == backoffs.seconds_left(HOST, failures * DAY)


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 2 * DAY))))
def test_back_off_follows_20_failures_for_up_to_a_day(attempts: list[tuple[bool, float]]) -> None:
    backoffs, now, failures = Backoffs(), 0.0, 0
    for succeeds, pause in attempts:
        now += pause
        if succeeds:
            backoffs.record_success(HOST)
            failures = 0
        else:
            backoffs.record_failure(HOST, now)
            failures += 1
        seconds, serialized = state(backoffs, now)
        assert 0.0 <= seconds <= MAX_BACKOFF
        if seconds:
            assert failures >= MAX_FAILURES
            assert serialized
