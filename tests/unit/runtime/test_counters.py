"""Counts and their sums (O9)."""

import pytest

from reviewsd.runtime.counters import BOUNDS, Counters, Durations, merged


def test_events_are_counted_by_name_and_labels() -> None:
    counters = Counters()
    for result in ("good", "bad", "good"):
        counters.count("attempts_total", result)
    counters.count("errors_total")

    assert {
        "attempts_total good": 2,
        "attempts_total bad": 1,
        "errors_total": 1,
    } == counters.counts()


def test_included_counts_are_returned() -> None:
    counters = Counters()
    counters.count("a_total")
    levels = {"open": 3, "a_total": 1}
    counters.include(lambda: levels)

    assert {"a_total": 2, "open": 3} == counters.counts()
    levels["open"] = 4
    assert 4 == counters.counts()["open"]


@pytest.mark.parametrize(
    ("seconds", "bound"),
    [
        (0.0, "0.001"),
        (0.001, "0.001"),
        (0.0011, "0.0025"),
        (0.0025, "0.0025"),
        (0.2, "0.25"),
        (1.0, "1.0"),
        (10.0, "10.0"),
        (10.1, "+Inf"),
    ],
)
def test_duration_is_in_each_bucket_from_its_bound_on(seconds: float, bound: str) -> None:
    durations = Durations()
    durations.add(seconds)
    counts = durations.counts("t", "x")

    bounds = [*map(str, BOUNDS), "+Inf"]
    first = bounds.index(bound)
    expected = {f"t_bucket x {bound}": float(at >= first) for at, bound in enumerate(bounds)}
    assert {**expected, "t_sum x": seconds} == counts


def test_sum_without_counts_is_empty() -> None:
    assert {} == merged()
    assert {} == Counters().counts()
