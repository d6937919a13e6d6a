"""When sources are read, and which reviews are gone (sources.md 2 and 3)."""

import datetime

import pytest
from msgspec.structs import replace

from reviewsctl.sources import schedule
from reviewsctl.sources.schedule import GoneRule
from reviewsctl.sources.state import Missing, SourceState
from reviewsd.config.source_schema import ReviewSource

NOW = datetime.datetime(2026, 11, 26, 3, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)
SHOP = ReviewSource(name="shop", type="url")
GOOGLE = ReviewSource(name="google", type="google-business")
DONE = SourceState(state="ok", tried_at=NOW - HOUR, read_at=NOW - HOUR, next_at=NOW)


@pytest.mark.parametrize(
    ("state", "is_due"),
    [
        (SourceState(), True),
        (DONE, True),
        (replace(DONE, next_at=NOW + HOUR), False),
        (replace(DONE, tried_at=NOW + HOUR, next_at=NOW + 2 * HOUR), True),
    ],
    ids=["new", "due", "early", "clock went back"],
)
def test_source_is_due(state: SourceState, *, is_due: bool) -> None:
    assert is_due == schedule.is_due(state, NOW)


@pytest.mark.parametrize(
    ("state", "failures", "every", "pause"),
    [
        ("ok", 0, "1h", HOUR),
        ("ok", 0, "7d", 168 * HOUR),
        ("failed", 1, "1h", HOUR),
        ("failed", 3, "1h", 4 * HOUR),
        ("failed", 90, "1h", 24 * HOUR),
        ("failed", 2, "7d", 168 * HOUR),
        ("stopped", 1, "1h", 24 * HOUR),
    ],
)
def test_pause_after_a_run(
    state: str, failures: int, every: str, pause: datetime.timedelta
) -> None:
    source = replace(SHOP, every=every)
    after = replace(DONE, state=state, failures=failures)
    assert NOW + pause == schedule.next_run(source, after, NOW)


@pytest.mark.parametrize(("hours", "is_full"), [(-1, True), (0, False), (23, False), (24, True)])
def test_all_is_read_after_a_day(hours: int, *, is_full: bool) -> None:
    state = replace(DONE, read_at=NOW - hours * HOUR)
    assert is_full == schedule.is_full_due(SHOP, state, NOW)


@pytest.mark.parametrize(
    ("days", "warning", "is_expired"),
    [
        (9, "", False),
        (10, "its reviews leave in 20 days unless it can be read", False),
        (20, "critical: its reviews leave in 10 days unless it can be read", False),
        (30, "critical: its reviews leave in 0 days unless it can be read", True),
    ],
)
def test_google_reviews_leave_after_30_days(*, days: int, warning: str, is_expired: bool) -> None:
    state = replace(DONE, read_at=NOW - 24 * days * HOUR, places=(("google", "1"),))
    assert warning == schedule.age_warning(GOOGLE, state, NOW)
    assert is_expired == schedule.is_expired(GOOGLE, state, NOW)
    assert not schedule.is_expired(SHOP, state, NOW)


@pytest.mark.parametrize(
    ("count", "hours", "is_gone"),
    [(0, 0, False), (1, 1, False), (1, 6, True), (1, -1, True), (2, 6, True)],
    ids=["first", "too early", "second", "clock went back", "third"],
)
def test_review_is_gone_after_two_reads_apart(count: int, hours: int, *, is_gone: bool) -> None:
    missing = {"a": Missing(count=count, at=NOW - hours * HOUR)} if count else {}
    rule = GoneRule(2, missing, NOW)
    assert is_gone == rule("a")
    assert is_gone == ("a" not in rule.missing)


def test_early_second_read_keeps_the_time_of_the_first() -> None:
    """Else a source that is read every hour would never remove anything."""
    first = Missing(count=1, at=NOW - HOUR)
    rule = GoneRule(2, {"a": first}, NOW)
    assert not rule("a")
    assert {"a": first} == rule.missing
